#pragma once
/// The keys in force, behind which their file changes.
#include <memory>
#include <mutex>
#include <string>

#include "gateway/keys_store.h"

namespace ace::gateway {

/// For the whole process, from any thread. A file that cannot be used leaves what is in force as it is.
class KeyBook {
 public:
  /// @return as load_keys()
  static Result<std::unique_ptr<KeyBook>> open(std::string path);

  [[nodiscard]] std::shared_ptr<const KeyRing> ring()
      const;  ///< shared: requests under way keep the one they came in under
  /// Changes the file, then what is in force. @return as change_keys()
  Result<void> change(const std::function<Result<void>(KeyRing&)>& change);
  /// Takes over what others, such as `ace keys revoke`, made of the file. @return whether it had changed
  Result<bool> refresh();
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  explicit KeyBook(std::string path) : path_(std::move(path)) {}
  struct Stamp {  ///< by which a changed file is known
    std::int64_t modified = 0, size = 0;
    std::uint64_t inode = 0;
    friend bool operator==(const Stamp&, const Stamp&) = default;
  };
  [[nodiscard]] Stamp stamp() const;
  Result<void> load();

  const std::string path_;
  std::mutex changing_;  ///< held over the file
  Stamp seen_;
  mutable std::mutex mutex_;  ///< of the pointer alone
  std::shared_ptr<const KeyRing> ring_;
};

}  // namespace ace::gateway
