#include "spine/memory_disk.h"

#include <algorithm>
#include <utility>

namespace ace::spine {

/// A handle; several may be open.
class MemoryFile : public File {
 public:
  MemoryFile(MemoryDisk& disk, std::shared_ptr<MemoryDisk::Inode> inode) : disk_(&disk), inode_(std::move(inode)) {}

  Result<std::uint64_t> size() override { return inode_->seen.size(); }
  Result<std::string> read(std::uint64_t offset, std::size_t length) override {
    if (offset >= inode_->seen.size()) return std::string();
    return inode_->seen.substr(offset, length);
  }
  Result<void> write(std::uint64_t offset, std::string_view bytes) override {
    bool last = false;
    const std::size_t sectors =
        (offset + bytes.size() + MemoryDisk::kSector - 1) / MemoryDisk::kSector - offset / MemoryDisk::kSector;
    if (Result<void> done = disk_->operation(last, sectors); !done) return done;
    if (inode_->seen.size() < offset + bytes.size()) inode_->seen.resize(offset + bytes.size(), '\0');
    std::copy(bytes.begin(), bytes.end(), inode_->seen.begin() + static_cast<std::ptrdiff_t>(offset));
    inode_->pending.push_back({offset, std::string(bytes), inode_->seen.size()});
    if (last) throw PowerCut{};
    return {};
  }
  Result<void> allocate(std::uint64_t size) override {
    return resize(std::max<std::uint64_t>(size, inode_->seen.size()));
  }
  Result<void> truncate(std::uint64_t size) override { return resize(size); }
  Result<void> sync() override {
    bool last = false;
    if (Result<void> done = disk_->operation(last); !done) return done;
    if (last) throw PowerCut{};  // it never came to it
    if (disk_->syncs_++ == disk_->fail_sync_at_) {
      inode_->pending.clear();
      return Error(Errc::unavailable, "sync failed: input/output error");
    }
    // Only what is dirty is written: pages that an earlier sync dropped are clean, and stay lost.
    for (const MemoryDisk::Pending& p : inode_->pending) {
      inode_->kept.resize(
          p.bytes.empty() ? p.size : std::max<std::size_t>(inode_->kept.size(), p.offset + p.bytes.size()), '\0');
      std::copy(p.bytes.begin(), p.bytes.end(), inode_->kept.begin() + static_cast<std::ptrdiff_t>(p.offset));
    }
    inode_->pending.clear();
    return {};
  }

 private:
  Result<void> resize(std::uint64_t size) {
    bool last = false;
    if (Result<void> done = disk_->operation(last); !done) return done;
    inode_->seen.resize(size, '\0');
    inode_->pending.push_back({size, "", size});
    if (last) throw PowerCut{};
    return {};
  }
  MemoryDisk* disk_;
  std::shared_ptr<MemoryDisk::Inode> inode_;
};

namespace {
class MemoryMapping : public Mapping {
 public:
  MemoryMapping(std::string& bytes, std::shared_ptr<void> owner) : bytes_(&bytes), owner_(std::move(owner)) {}
  std::span<char> bytes() override { return {bytes_->data(), bytes_->size()}; }

 private:
  std::string* bytes_;
  std::shared_ptr<void> owner_;
};
}  // namespace

Result<void> MemoryDisk::operation(bool& last, std::size_t sectors) {
  const std::uint64_t number = operations_++;
  sectors_.push_back(sectors);
  last = number == cut_at_;
  if (number == fail_at_ || (fail_lasting_ && number > fail_at_ && fail_at_ != kNever)) {
    return fail_full_ ? Error(Errc::out_of_range, "no space left on the disk")
                      : Error(Errc::unavailable, "input/output error");
  }
  return {};
}

std::string& MemoryDisk::bytes(const std::string& name) { return names_.at(name)->seen; }

void MemoryDisk::put(const std::string& name, std::string bytes) {
  auto inode = std::make_shared<Inode>();
  inode->seen = inode->kept = std::move(bytes);
  names_[name] = kept_names_[name] = std::move(inode);
}

Result<std::vector<std::string>> MemoryDisk::list() {
  std::vector<std::string> names;
  for (const auto& [name, inode] : names_) names.push_back(name);
  return names;
}

Result<std::unique_ptr<File>> MemoryDisk::open(const std::string& name, bool create) {
  auto found = names_.find(name);
  if (found == names_.end()) {
    if (!create) return Error(Errc::not_found, name + ": no such file");
    bool last = false;
    if (Result<void> done = operation(last); !done) return std::move(done).error();
    found = names_.emplace(name, std::make_shared<Inode>()).first;
    pending_names_.push_back(names_);
    if (last) throw PowerCut{};
  }
  return std::unique_ptr<File>(std::make_unique<MemoryFile>(*this, found->second));
}

Result<void> MemoryDisk::rename(const std::string& from, const std::string& to) {
  bool last = false;
  if (Result<void> done = operation(last); !done) return done;
  const auto found = names_.find(from);
  if (found == names_.end()) return Error(Errc::not_found, from + ": no such file");
  names_[to] = found->second;
  names_.erase(from);
  pending_names_.push_back(names_);
  if (last) throw PowerCut{};
  return {};
}

Result<void> MemoryDisk::remove(const std::string& name) {
  bool last = false;
  if (Result<void> done = operation(last); !done) return done;
  if (names_.erase(name) == 0) return Error(Errc::not_found, name + ": no such file");
  pending_names_.push_back(names_);
  if (last) throw PowerCut{};
  return {};
}

Result<void> MemoryDisk::sync_directory() {
  bool last = false;
  if (Result<void> done = operation(last); !done) return done;
  if (last) throw PowerCut{};
  kept_names_ = names_;
  pending_names_.clear();
  return {};
}

Result<std::unique_ptr<Mapping>> MemoryDisk::map(const std::string& name, std::uint64_t size) {
  const auto found = names_.find(name);
  if (found == names_.end()) return Error(Errc::not_found, name + ": no such file");
  const std::shared_ptr<Inode>& inode = found->second;
  if (inode->seen.size() != size) return Error(Errc::conflict, name + ": it is there with another size");
  inode->mapped = true;
  return std::unique_ptr<Mapping>(std::make_unique<MemoryMapping>(inode->seen, inode));
}

/// What the platter holds of one file after the power is back.
void MemoryDisk::settle(Inode& inode, Loss loss, Rng& rng) const {
  if (loss == Loss::none) return;
  if (inode.mapped) {  // pages are written back whenever the kernel likes, a sector at a time
    for (std::size_t at = 0; at < inode.seen.size(); at += kSector) {
      const std::size_t length = std::min(kSector, inode.seen.size() - at);
      const bool lost = loss == Loss::all || (loss == Loss::reordered && rng.chance(0.5));
      if (!lost || inode.kept.size() < at + length) continue;
      std::copy_n(inode.kept.begin() + static_cast<std::ptrdiff_t>(at), length,
                  inode.seen.begin() + static_cast<std::ptrdiff_t>(at));
    }
    return;
  }
  std::string now = inode.kept;
  for (std::size_t i = 0; i < inode.pending.size() && loss != Loss::all; ++i) {
    const Pending& p = inode.pending[i];
    const bool last = i + 1 == inode.pending.size();
    if (p.bytes.empty()) {
      if (loss != Loss::reordered || rng.chance(0.5)) now.resize(p.size, '\0');
      continue;
    }
    std::size_t length = p.bytes.size();
    if (last && loss == Loss::torn_byte) length = rng.below(length + 1);
    // Sectors are of the disk, not of the write.
    std::size_t kept = 0;
    for (std::uint64_t at = p.offset, end = 0; at < p.offset + length; at = end, ++kept) {
      end = std::min<std::uint64_t>((at / kSector + 1) * kSector, p.offset + length);
      if (loss == Loss::reordered && rng.chance(0.5)) continue;
      if (last && loss == Loss::torn_sector && (tear_ ? kept == *tear_ : rng.chance(0.3))) break;
      if (now.size() < end) now.resize(end, '\0');
      std::copy_n(p.bytes.begin() + static_cast<std::ptrdiff_t>(at - p.offset), end - at,
                  now.begin() + static_cast<std::ptrdiff_t>(at));
    }
  }
  inode.seen = std::move(now);
}

void MemoryDisk::restart(Loss loss, Rng& rng) {
  heal();
  if (loss == Loss::all) {
    names_ = kept_names_;
  } else if (loss == Loss::reordered && !pending_names_.empty()) {
    const std::uint64_t kept = rng.below(pending_names_.size() + 1);
    names_ = kept == 0 ? kept_names_ : pending_names_[kept - 1];
  }
  for (auto& [name, inode] : names_) {
    settle(*inode, loss, rng);
    // After a mere crash of the process the cache is still there and the platter still behind it.
    if (loss == Loss::none) continue;
    inode->kept = inode->seen;
    inode->pending.clear();
    inode->mapped = false;
  }
  if (loss == Loss::none) return;
  kept_names_ = names_;
  pending_names_.clear();
}

}  // namespace ace::spine
