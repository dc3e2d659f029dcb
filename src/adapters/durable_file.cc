#include "adapters/durable_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

namespace ace {
namespace {

Error failed(const std::string& doing) {
  return Error(Errc::unavailable, doing + ": " + std::error_code(errno, std::generic_category()).message());
}

Result<void> sync_directory_of(const std::string& path) {
  const std::string directory = std::filesystem::path(path).parent_path().string();
  const int folder = ::open(directory.empty() ? "." : directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return failed("opening " + directory);
  const bool fine = ::fsync(folder) == 0;
  ::close(folder);
  return fine ? Result<void>() : failed("syncing " + directory);
}

}  // namespace

Result<void> write_durably(const std::string& path, std::string_view bytes) {
  const std::string beside = fmt::format("{}.{}.tmp", path, ::getpid());
  const int file = ::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return failed("writing " + beside);
  bool fine = true;
  for (std::size_t at = 0; fine && at < bytes.size();) {
    const ssize_t written = ::write(file, bytes.data() + at, bytes.size() - at);
    fine = written > 0 || (written < 0 && errno == EINTR);
    if (written > 0) at += static_cast<std::size_t>(written);
  }
  fine = fine && ::fsync(file) == 0;
  fine = ::close(file) == 0 && fine;
  if (!fine || ::rename(beside.c_str(), path.c_str()) != 0) {
    Error error = failed("writing " + path);
    ::unlink(beside.c_str());
    return error;
  }
  return sync_directory_of(path);
}

}  // namespace ace
