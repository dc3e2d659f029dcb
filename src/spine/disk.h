#pragma once
/// What the log needs of the world: a directory of files. The real one is in adapters/; memory_disk.h forgets on
/// purpose.
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace ace::spine {

/// Every failure is `unavailable`, but a full disk is `out_of_range`: it does not fit. After a failed sync nobody knows
/// what is on the disk: the caller gives the file up and recovers.
class File {
 public:
  virtual ~File() = default;
  virtual Result<std::uint64_t> size() = 0;
  /// Fewer bytes than asked for only at the end of the file.
  virtual Result<std::string> read(std::uint64_t offset, std::size_t length) = 0;
  virtual Result<void> write(std::uint64_t offset, std::string_view bytes) = 0;
  /// Makes it `size` bytes long, zeros where there was nothing, with room on the disk for all of them.
  virtual Result<void> allocate(std::uint64_t size) = 0;
  virtual Result<void> truncate(std::uint64_t size) = 0;
  /// Returns when contents and length are on the disk.
  virtual Result<void> sync() = 0;
};

/// A file as memory: what is written here outlives the process, but not a loss of power.
class Mapping {
 public:
  virtual ~Mapping() = default;
  virtual std::span<char> bytes() = 0;
};

/// Names are plain: no folders.
class Disk {
 public:
  virtual ~Disk() = default;
  virtual Result<std::vector<std::string>> list() = 0;  ///< sorted
  /// @return not_found, if it is not there and shall not be made
  virtual Result<std::unique_ptr<File>> open(const std::string& name, bool create) = 0;
  /// Atomic; durable after sync_directory().
  virtual Result<void> rename(const std::string& from, const std::string& to) = 0;
  virtual Result<void> remove(const std::string& name) = 0;
  virtual Result<void> sync_directory() = 0;
  /// @return not_found if it is not there, conflict if it is there with another size
  virtual Result<std::unique_ptr<Mapping>> map(const std::string& name, std::uint64_t size) = 0;
};

/// The whole file. @return not_found if it is not there
Result<std::string> read_whole(Disk& disk, const std::string& name);
/// Beside the name first, synced, then renamed, and the directory synced: a reader sees all of it or what was before.
Result<void> write_whole(Disk& disk, const std::string& name, std::string_view bytes);
/// The file as memory. If it is not there, it is made in the same way, of this many zeros, all of it allocated: nobody
/// ever sees a shorter one.
Result<std::unique_ptr<Mapping>> map_whole(Disk& disk, const std::string& name, std::uint64_t size);

}  // namespace ace::spine
