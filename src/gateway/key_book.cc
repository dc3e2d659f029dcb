#include "gateway/key_book.h"

#include <sys/stat.h>

namespace ace::gateway {

KeyBook::Stamp KeyBook::stamp() const {
  struct stat found {};
  if (::stat(path_.c_str(), &found) != 0) return {};
  return {found.st_mtim.tv_sec * 1'000'000'000 + found.st_mtim.tv_nsec, found.st_size, found.st_ino};
}

Result<void> KeyBook::load() {
  const Stamp now = stamp();  // before it is read: a change meanwhile is noticed the next time
  Result<KeyRing> ring = load_keys(path_);
  if (!ring) return std::move(ring).error();
  seen_ = now;
  const std::lock_guard lock(mutex_);
  ring_ = std::make_shared<const KeyRing>(*std::move(ring));
  return {};
}

Result<std::unique_ptr<KeyBook>> KeyBook::open(std::string path) {
  std::unique_ptr<KeyBook> book(new KeyBook(std::move(path)));
  if (Result<void> loaded = book->load(); !loaded) return std::move(loaded).error().with("loading the keys");
  return book;
}

std::shared_ptr<const KeyRing> KeyBook::ring() const {
  const std::lock_guard lock(mutex_);
  return ring_;
}

Result<void> KeyBook::change(const std::function<Result<void>(KeyRing&)>& change) {
  const std::lock_guard lock(changing_);
  if (Result<void> changed = change_keys(path_, change); !changed) return changed;
  return load();
}

Result<bool> KeyBook::refresh() {
  const std::lock_guard lock(changing_);
  if (stamp() == seen_) return false;
  if (Result<void> loaded = load(); !loaded) return std::move(loaded).error();
  return true;
}

}  // namespace ace::gateway
