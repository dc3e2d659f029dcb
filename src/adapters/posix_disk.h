#pragma once
/// A directory of a real file system as the spine's disk.
#include <memory>
#include <string>

#include "spine/spine.h"

namespace ace {

/// Not for several threads at once, but for reading: every call is one or two system calls.
class PosixDisk : public spine::Disk {
 public:
  enum class Access : std::uint8_t {
    own,     ///< takes the lock of the directory, so that one process owns it; makes the directory if it is not there
    read,    ///< no lock, nothing is ever written
    beside,  ///< no lock, for files that leave word for the owner
  };
  /// @return conflict ("locked by process 123") if another process owns it; not_found for a directory that is not
  /// there; bad_input where it cannot be written, is a symbolic link or belongs to somebody else
  static Result<std::unique_ptr<PosixDisk>> open(const std::string& directory, Access access);
  ~PosixDisk() override;
  PosixDisk(const PosixDisk&) = delete;
  PosixDisk& operator=(const PosixDisk&) = delete;

  Result<std::vector<std::string>> list() override;
  Result<std::unique_ptr<spine::File>> open(const std::string& name, bool create) override;
  Result<void> rename(const std::string& from, const std::string& to) override;
  Result<void> remove(const std::string& name) override;
  Result<void> sync_directory() override;
  Result<std::unique_ptr<spine::Mapping>> map(const std::string& name, std::uint64_t size) override;

 private:
  PosixDisk(int directory, Access access) : directory_(directory), access_(access) {}
  Result<void> lock();
  int directory_ = -1, lock_ = -1;
  Access access_;
};

/// The key that signs checkpoints, in a file of mode 0600 (PEM); made if it is not there.
/// @return bad_input if others may read the file
Result<spine::Signer> signer_at(const std::string& path);

}  // namespace ace
