#pragma once
/// Sealed segments kept in another directory, each compressed with zstd, and a log read together with them.
/// An archive is a log of its own that ends with a seal: whatever reads a log reads it. docs/SPINE.md, "Archive".
#include <cstdint>
#include <string>
#include <string_view>

#include "spine/disk.h"

namespace ace::spine {

/// What an archive holds, and what this run added.
struct Archived {
  std::uint32_t first = 1, last = 0;  ///< segments; none if last < first
  std::uint32_t added = 0;
  std::uint64_t bytes = 0, bytes_packed = 0;  ///< of those added, before and after
};

/// Copies to the archive each sealed segment that it does not hold. A copy counts once it was synced, read back,
/// unpacked and found to be the same bytes, and its records follow those before it. Needs no lock on the log.
/// @return conflict if the archive is of another log or a segment between is gone, corrupt for a damaged segment
Result<Archived> archive(Disk& log, Disk& to);

/// Whether the archive holds segments [first, last] of the log, byte for byte. @return check_failed, naming one that
/// it does not
Result<void> archive_holds(Disk& log, Disk& archived, std::uint32_t first, std::uint32_t last);

/// A log with its archive as one directory, to be read. Where both hold a file, it is the log's.
class ArchivedDisk : public Disk {
 public:
  /// @param log, archived outlive this; they may be the same, to read an archive by itself
  ArchivedDisk(Disk& log, Disk& archived) : log_(log), archived_(archived) {}
  Result<std::vector<std::string>> list() override;
  Result<std::unique_ptr<File>> open(const std::string& name, bool create) override;
  Result<void> rename(const std::string& from, const std::string& to) override;
  Result<void> remove(const std::string& name) override;
  Result<void> sync_directory() override;
  Result<std::unique_ptr<Mapping>> map(const std::string& name, std::uint64_t size) override;

 private:
  Disk &log_, &archived_;
};

/// One zstd frame with a checksum of what it holds.
std::string packed(std::string_view bytes);
/// @return corrupt if it is not one whole frame, or holds more than any segment does
Result<std::string> unpacked(std::string_view bytes);

}  // namespace ace::spine
