#include "gateway/keys_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "core/check.h"

namespace ace::gateway {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] bool good() const { return number_ >= 0; }

 private:
  int number_;
};

Error failure(std::string_view doing, const std::string& path) {
  const int why = errno;
  return {why == ENOENT ? Errc::not_found : Errc::unavailable,
          fmt::format("{} {}: {}", doing, path, std::strerror(why))};
}

Result<std::string> read_private(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.good()) return failure("cannot open", path);
  struct stat found {};
  if (::fstat(file.number(), &found) != 0) return failure("cannot look at", path);
  if (!S_ISREG(found.st_mode)) return Error(Errc::bad_input, path + " is no file");
  if (found.st_uid != ::geteuid() && found.st_uid != 0)
    return Error(
        Errc::bad_input,
        fmt::format("{} belongs to user {}, who could let anybody in; it must be ours or root's", path, found.st_uid));
  if ((found.st_mode & 077U) != 0)
    return Error(Errc::bad_input, fmt::format("others may read or change {} (mode {:o}); run: chmod 600 {}", path,
                                              found.st_mode & 0777U, path));
  std::string text;
  char buffer[1 << 16];
  for (;;) {
    const ssize_t size = ::read(file.number(), buffer, sizeof buffer);
    if (size < 0) return failure("cannot read", path);
    if (size == 0) return text;
    text.append(buffer, static_cast<std::size_t>(size));
  }
}

/// Makes a file that must not exist: who has made it holds off whoever else wants to.
Result<Descriptor> make_private(const std::string& path) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (file.good()) return file;
  if (errno != EEXIST) return failure("cannot write", path);
  return Error(Errc::conflict,
               fmt::format("another process changes the keys, or died at it: if none does, remove {}", path));
}

/// Returns when it is on the disk.
Result<void> write_all(const Descriptor& file, const std::string& path, std::string_view text) {
  while (!text.empty()) {
    const ssize_t size = ::write(file.number(), text.data(), text.size());
    if (size < 0) return failure("cannot write", path);
    text.remove_prefix(static_cast<std::size_t>(size));
  }
  if (::fsync(file.number()) != 0) return failure("cannot write", path);
  return {};
}

}  // namespace

Result<KeyRing> load_keys(const std::string& path) {
  const Result<std::string> text = read_private(path);
  if (!text) return text.error();
  return KeyRing::read(*text, path);
}

Result<void> change_keys(const std::string& path, const std::function<Result<void>(KeyRing&)>& change) {
  const std::string beside = path + ".new";
  // From before we read until it takes the place of the other.
  const Result<Descriptor> claimed = make_private(beside);
  if (!claimed) return Error(claimed.error());
  const auto changed = [&]() -> Result<void> {
    Result<KeyRing> ring = load_keys(path);
    if (!ring && ring.error().code() == Errc::not_found) ring = KeyRing();
    if (!ring) return std::move(ring).error();
    if (Result<void> done = change(*ring); !done) return done;
    if (Result<void> written = write_all(*claimed, beside, ring->write()); !written) return written;
    if (std::rename(beside.c_str(), path.c_str()) != 0) return failure("cannot replace", path);
    const std::filesystem::path folder = std::filesystem::absolute(path).parent_path();
    const Descriptor directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!directory.good() || ::fsync(directory.number()) != 0) return failure("cannot sync", folder.string());
    return {};
  }();
  if (!changed) ::unlink(beside.c_str());
  return changed;
}

std::string new_key(Role role) {
  std::array<std::uint8_t, 32> entropy{};
  ACE_CHECK(::getrandom(entropy.data(), entropy.size(), 0) == static_cast<ssize_t>(entropy.size()),
            "the system gives 32 random bytes");
  return make_key(role, entropy);
}

}  // namespace ace::gateway
