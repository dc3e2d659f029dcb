/// Where the keys of providers are: variables of this process, and files that nobody else may read.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "adapters/fleet_files.h"
#include "adapters/provider.h"

namespace ace {
namespace {

constexpr std::size_t kSecretMost = 16 * 1024;

/// Links are followed: Kubernetes mounts secrets behind one.
Result<Secret> read_secret_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return Error(errno == ENOENT ? Errc::not_found : Errc::unavailable,
                 fmt::format("opening the key file {}: {}", path, std::strerror(errno)));
  struct stat status {};
  std::string text(kSecretMost, '\0');
  const bool known = ::fstat(fd, &status) == 0;
  const ssize_t size = known && S_ISREG(status.st_mode) ? ::read(fd, text.data(), text.size()) : -1;
  ::close(fd);
  if (!known || !S_ISREG(status.st_mode)) return Error(Errc::bad_input, path + ": expected a plain file with a key");
  if ((status.st_mode & 077) != 0) return Error(Errc::bad_input, path + ": others may read this key; chmod 600 it");
  if (size < 0) return Error(Errc::unavailable, fmt::format("reading the key file {}", path));
  text.resize(static_cast<std::size_t>(size));
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  return Secret(std::move(text));
}

}  // namespace

ReadSecret secrets_of_process(std::string folder) {
  const rlimit none{0, 0};
  (void)::setrlimit(RLIMIT_CORE, &none);  // a core would hold every key
  return [folder = std::move(folder)](const SecretName& name) -> Result<Secret> {
    if (name.env.empty())
      return read_secret_file(name.file.starts_with('/') || folder.empty() ? name.file : folder + "/" + name.file);
    const std::optional<std::string> value = environment(name.env);
    if (!value) return Error(Errc::not_found, fmt::format("the environment variable {} is not set", name.env));
    return Secret(*value);
  };
}

}  // namespace ace
