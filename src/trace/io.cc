#include "trace/io.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/core.h>

namespace ace {
namespace {

class FileInput : public ByteInput {
 public:
  FileInput(int fd, std::string name, bool owned) : fd_(fd), name_(std::move(name)), owned_(owned) {
    regular_ = ::fstat(fd_, &opened_) == 0 && S_ISREG(opened_.st_mode);
    if (regular_) (void)::posix_fadvise(fd_, 0, 0, POSIX_FADV_SEQUENTIAL);
  }
  FileInput(const FileInput&) = delete;
  FileInput& operator=(const FileInput&) = delete;
  ~FileInput() override {
    if (owned_) ::close(fd_);
  }

  Result<std::size_t> read(std::span<char> into) override {
    for (;;) {
      const ssize_t got = ::read(fd_, into.data(), into.size());
      if (got > 0) {
        done_ += got;
        return static_cast<std::size_t>(got);
      }
      if (got == 0) return at_end();
      if (errno != EINTR) {
        return Error(Errc::unavailable, fmt::format("reading {}: {}", name_, std::strerror(errno)));
      }
    }
  }

  Result<void> rewind() override {
    if (!regular_ || ::lseek(fd_, start_, SEEK_SET) < 0) {
      return Error(Errc::unavailable, fmt::format("{} is a stream: it can be read only once", name_));
    }
    done_ = 0;
    return {};
  }

  [[nodiscard]] double progress() const override {
    if (!regular_ || opened_.st_size == 0) return -1.0;
    return std::min(1.0, static_cast<double>(done_) / static_cast<double>(opened_.st_size));
  }

 private:
  Result<std::size_t> at_end() {
    if (!regular_) return std::size_t{0};
    struct stat now {};
    const bool same = ::fstat(fd_, &now) == 0 && now.st_size == opened_.st_size && done_ == opened_.st_size - start_ &&
                      now.st_mtim.tv_sec == opened_.st_mtim.tv_sec && now.st_mtim.tv_nsec == opened_.st_mtim.tv_nsec;
    if (same) return std::size_t{0};
    return Error(Errc::conflict,
                 fmt::format("{}: changed_during_read: {} bytes when opened, {} now, {} read; try a copy of it", name_,
                             opened_.st_size, now.st_size, done_));
  }

  int fd_;
  std::string name_;
  bool owned_;
  bool regular_ = false;
  struct stat opened_ {};
  off_t start_ = regular_start();
  off_t done_ = 0;

  /// A redirected file may have been read from before it got here.
  [[nodiscard]] off_t regular_start() const { return std::max<off_t>(0, ::lseek(fd_, 0, SEEK_CUR)); }
};

class MemoryInput : public ByteInput {
 public:
  MemoryInput(std::string text, std::size_t piece) : text_(std::move(text)), piece_(std::max<std::size_t>(piece, 1)) {}
  Result<std::size_t> read(std::span<char> into) override {
    const std::size_t n = std::min({into.size(), piece_, text_.size() - done_});
    std::memcpy(into.data(), text_.data() + done_, n);
    done_ += n;
    return n;
  }
  Result<void> rewind() override {
    done_ = 0;
    return {};
  }
  [[nodiscard]] double progress() const override {
    return text_.empty() ? -1.0 : static_cast<double>(done_) / static_cast<double>(text_.size());
  }

 private:
  std::string text_;
  std::size_t piece_;
  std::size_t done_ = 0;
};

}  // namespace

Result<std::unique_ptr<ByteInput>> open_file(const std::string& path) {
  if (path == "-") return std::unique_ptr<ByteInput>(std::make_unique<FileInput>(STDIN_FILENO, "stdin", false));
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return Error(Errc::unavailable, fmt::format("opening {}: {}", path, std::strerror(errno)));
  struct stat info {};
  if (::fstat(fd, &info) == 0 && S_ISDIR(info.st_mode)) {
    ::close(fd);
    return Error(Errc::bad_input, fmt::format("{} is a directory, expected a file", path));
  }
  return std::unique_ptr<ByteInput>(std::make_unique<FileInput>(fd, path, true));
}

std::unique_ptr<ByteInput> bytes_of(std::string text, std::size_t piece) {
  return std::make_unique<MemoryInput>(std::move(text), piece);
}

}  // namespace ace
