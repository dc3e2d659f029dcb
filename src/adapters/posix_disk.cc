#include "adapters/posix_disk.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "adapters/durable_file.h"

namespace ace {
namespace {

/// What the system says; want of room is out_of_range, as the port has it.
Error failed(const std::string& doing, int code) {
  const bool room = code == ENOSPC || code == EDQUOT || code == EFBIG;
  const Errc errc = room ? Errc::out_of_range : code == ENOENT ? Errc::not_found : Errc::unavailable;
  return Error(errc, fmt::format("{}: {}", doing, std::strerror(code)));
}

class PosixFile : public spine::File {
 public:
  PosixFile(int fd, std::string name) : fd_(fd), name_(std::move(name)) {}
  ~PosixFile() override { ::close(fd_); }
  PosixFile(const PosixFile&) = delete;
  PosixFile& operator=(const PosixFile&) = delete;

  Result<std::uint64_t> size() override {
    struct stat status {};
    if (::fstat(fd_, &status) != 0) return failed("looking at " + name_, errno);
    return static_cast<std::uint64_t>(status.st_size);
  }
  Result<std::string> read(std::uint64_t offset, std::size_t length) override {
    std::string bytes(length, '\0');
    std::size_t got = 0;
    while (got < length) {
      const ssize_t n = ::pread(fd_, bytes.data() + got, length - got, static_cast<off_t>(offset + got));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return failed("reading " + name_, errno);
      if (n == 0) break;
      got += static_cast<std::size_t>(n);
    }
    bytes.resize(got);
    return bytes;
  }
  Result<void> write(std::uint64_t offset, std::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t n = ::pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return failed("writing " + name_, errno);
      bytes.remove_prefix(static_cast<std::size_t>(n));
      offset += static_cast<std::uint64_t>(n);
    }
    return {};
  }
  Result<void> allocate(std::uint64_t bytes) override {
    // Not every file system can, and then only a write tells whether there is room.
    if (::fallocate(fd_, 0, 0, static_cast<off_t>(bytes)) == 0) return {};
    if (errno != EOPNOTSUPP) return failed("making room for " + name_, errno);
    const std::string zeros(1U << 20, '\0');
    for (std::uint64_t at = 0; at < bytes; at += zeros.size()) {
      const auto length = std::min<std::uint64_t>(zeros.size(), bytes - at);
      if (Result<void> done = write(at, std::string_view(zeros).substr(0, length)); !done) return done;
    }
    return {};
  }
  Result<void> truncate(std::uint64_t bytes) override {
    return ::ftruncate(fd_, static_cast<off_t>(bytes)) == 0 ? Result<void>() : failed("cutting " + name_, errno);
  }
  Result<void> sync() override {
    // fdatasync writes the length too, where it changed; no time stamp matters here.
    return ::fdatasync(fd_) == 0 ? Result<void>() : failed("syncing " + name_, errno);
  }

 private:
  int fd_;
  std::string name_;
};

class PosixMapping : public spine::Mapping {
 public:
  PosixMapping(void* at, std::size_t size) : bytes_(static_cast<char*>(at), size) {}
  ~PosixMapping() override { ::munmap(bytes_.data(), bytes_.size()); }
  PosixMapping(const PosixMapping&) = delete;
  PosixMapping& operator=(const PosixMapping&) = delete;
  std::span<char> bytes() override { return bytes_; }

 private:
  std::span<char> bytes_;
};

}  // namespace

Result<std::unique_ptr<PosixDisk>> PosixDisk::open(const std::string& directory, Access access) {
  if (access == Access::own && ::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST)
    return failed("making the directory " + directory, errno).with("opening the spine");
  const int fd = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) {
    if (errno == ELOOP || errno == ENOTDIR)
      return Error(Errc::bad_input, directory + ": expected a directory, and no symbolic link to one");
    return failed("opening the directory " + directory, errno);
  }
  std::unique_ptr<PosixDisk> disk(new PosixDisk(fd, access));
  if (access == Access::read) return disk;
  struct stat status {};
  if (::fstat(fd, &status) != 0) return failed("looking at " + directory, errno);
  if (status.st_uid != ::geteuid())
    return Error(Errc::bad_input, fmt::format("{}: it belongs to user {}, not to this one", directory, status.st_uid));
  if (access == Access::beside) return disk;
  if (Result<void> locked = disk->lock(); !locked) return std::move(locked).error().with(directory);
  return disk;
}

PosixDisk::~PosixDisk() {
  if (lock_ >= 0) ::close(lock_);
  ::close(directory_);
}

/// The kernel drops the lock with the process, so a dead owner's is free.
Result<void> PosixDisk::lock() {
  lock_ = ::openat(directory_, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (lock_ < 0) return failed("opening its file \"lock\"", errno);
  if (::flock(lock_, LOCK_EX | LOCK_NB) != 0) {
    char owner[32] = "";
    const ssize_t got = ::pread(lock_, owner, sizeof owner - 1, 0);
    std::string pid(owner, static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    while (!pid.empty() && pid.back() == '\n') pid.pop_back();
    return Error(Errc::conflict, "locked by process " + pid + "; one process owns a spine at a time");
  }
  const std::string pid = fmt::format("{}\n", ::getpid());
  if (::ftruncate(lock_, 0) != 0 || ::pwrite(lock_, pid.data(), pid.size(), 0) < 0)
    return failed("writing its file \"lock\"", errno);
  return {};
}

Result<std::vector<std::string>> PosixDisk::list() {
  const int copy = ::openat(directory_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* const entries = copy < 0 ? nullptr : ::fdopendir(copy);
  if (entries == nullptr) return failed("listing the directory", errno);
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(entries))
    if (const std::string name = entry->d_name; name != "." && name != "..") names.push_back(name);
  ::closedir(entries);
  std::sort(names.begin(), names.end());
  return names;
}

Result<std::unique_ptr<spine::File>> PosixDisk::open(const std::string& name, bool create) {
  const int write = access_ == Access::read ? O_RDONLY : O_RDWR;
  const int fd = ::openat(directory_, name.c_str(), write | (create ? O_CREAT : 0) | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0 && errno == ELOOP) return Error(Errc::bad_input, name + ": it is a symbolic link");
  if (fd < 0) return failed("opening " + name, errno);
  return std::unique_ptr<spine::File>(std::make_unique<PosixFile>(fd, name));
}

Result<void> PosixDisk::rename(const std::string& from, const std::string& to) {
  return ::renameat(directory_, from.c_str(), directory_, to.c_str()) == 0 ? Result<void>()
                                                                           : failed("renaming " + from, errno);
}

Result<void> PosixDisk::remove(const std::string& name) {
  return ::unlinkat(directory_, name.c_str(), 0) == 0 ? Result<void>() : failed("removing " + name, errno);
}

Result<void> PosixDisk::sync_directory() {
  return ::fsync(directory_) == 0 ? Result<void>() : failed("syncing the directory", errno);
}

Result<std::unique_ptr<spine::Mapping>> PosixDisk::map(const std::string& name, std::uint64_t size) {
  Result<std::unique_ptr<spine::File>> file = open(name, false);
  if (!file) return std::move(file).error();
  const Result<std::uint64_t> there = (*file)->size();
  if (!there) return Error(there.error());
  if (*there != size) {
    return Error(Errc::conflict, fmt::format("{}: expected {} bytes, got {}", name, size, *there));
  }
  const int fd = ::openat(directory_, name.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return failed("opening " + name, errno);
  void* const at = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
  const int code = errno;
  ::close(fd);
  if (at == MAP_FAILED) return failed("mapping " + name, code);
  return std::unique_ptr<spine::Mapping>(std::make_unique<PosixMapping>(at, size));
}

Result<spine::Signer> signer_at(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0 && errno == ENOENT) {
    spine::Signer made = spine::Signer::generate();
    const std::string pem = made.to_pem();
    if (Result<void> done = write_durably(path, pem); !done) return std::move(done).error().with("the signing key");
    return made;
  }
  if (fd < 0) return failed("opening the signing key " + path, errno);
  PosixFile file(fd, path);
  struct stat status {};
  if (::fstat(fd, &status) != 0) return failed("looking at " + path, errno);
  if ((status.st_mode & 077) != 0)
    return Error(Errc::bad_input, path + ": others may read this signing key; chmod 600 it");
  const Result<std::string> pem = file.read(0, 4096);
  if (!pem) return Error(pem.error());
  Result<spine::Signer> signer = spine::Signer::from_pem(*pem);
  if (!signer) return std::move(signer).error().with(path);
  return signer;
}

}  // namespace ace
