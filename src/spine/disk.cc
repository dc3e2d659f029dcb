#include "spine/disk.h"

namespace ace::spine {

Result<std::string> read_whole(Disk& disk, const std::string& name) {
  Result<std::unique_ptr<File>> file = disk.open(name, false);
  if (!file) return std::move(file).error();
  const Result<std::uint64_t> size = (*file)->size();
  if (!size) return Error(size.error());
  return (*file)->read(0, *size);
}

Result<void> write_whole(Disk& disk, const std::string& name, std::string_view bytes) {
  const std::string beside = name + ".tmp";
  Result<std::unique_ptr<File>> file = disk.open(beside, true);
  if (!file) return std::move(file).error();
  if (Result<void> done = (*file)->truncate(0); !done) return done;
  if (Result<void> done = (*file)->write(0, bytes); !done) return done;
  if (Result<void> done = (*file)->sync(); !done) return done;
  if (Result<void> done = disk.rename(beside, name); !done) return done;
  return disk.sync_directory();
}

}  // namespace ace::spine
