#include "spine/disk.h"

namespace ace::spine {

Result<std::string> read_whole(Disk& disk, const std::string& name) {
  Result<std::unique_ptr<File>> file = disk.open(name, false);
  if (!file) return std::move(file).error();
  const Result<std::uint64_t> size = (*file)->size();
  if (!size) return Error(size.error());
  return (*file)->read(0, *size);
}

namespace {

/// Fills an empty file beside the name, then gives it the name.
template <class Fill>
Result<void> replace_whole(Disk& disk, const std::string& name, const Fill& fill) {
  const std::string beside = name + ".tmp";
  Result<std::unique_ptr<File>> file = disk.open(beside, true);
  if (!file) return std::move(file).error();
  if (Result<void> done = (*file)->truncate(0); !done) return done;
  if (Result<void> done = fill(**file); !done) return done;
  if (Result<void> done = (*file)->sync(); !done) return done;
  if (Result<void> done = disk.rename(beside, name); !done) return done;
  return disk.sync_directory();
}

}  // namespace

Result<void> write_whole(Disk& disk, const std::string& name, std::string_view bytes) {
  return replace_whole(disk, name, [&](File& file) { return file.write(0, bytes); });
}

Result<std::unique_ptr<Mapping>> map_whole(Disk& disk, const std::string& name, std::uint64_t size) {
  Result<std::unique_ptr<Mapping>> mapping = disk.map(name, size);
  if (mapping || mapping.error().code() != Errc::not_found) return mapping;
  const Result<void> made = replace_whole(disk, name, [&](File& file) { return file.allocate(size); });
  if (!made) return Error(made.error());
  return disk.map(name, size);
}

}  // namespace ace::spine
