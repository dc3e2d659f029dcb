#pragma once
/// A disk in memory that forgets on purpose: what was not synced may be lost, torn or reordered when the power goes.
/// As LevelDB's and SQLite's test file systems do it, only meaner about directories.
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/rng.h"
#include "spine/disk.h"

namespace ace::spine {

/// Thrown by the operation at which the machine stops; whatever holds the disk is gone with it.
struct PowerCut {};

class MemoryDisk : public Disk {
 public:
  /// What the platter keeps of what was not synced.
  enum class Loss : std::uint8_t {
    none,         ///< everything: the process died, the machine did not
    all,          ///< nothing
    reordered,    ///< any sectors of any writes
    torn_sector,  ///< all writes but the last, of which whole sectors from its beginning
    torn_byte,    ///< likewise, cut at any byte
  };
  static constexpr std::size_t kLosses = 5;
  static constexpr std::size_t kSector = 512;

  /// From now on: the operation with this number (from 0, counted since then) is the last, and only begins.
  void cut_power_at(std::uint64_t operation) {
    operations_ = 0;
    sectors_.clear();
    cut_at_ = operation;
  }
  /// The operation with this number fails; with `full` for want of room. Every later one does too, where `lasting`.
  void fail_at(std::uint64_t operation, bool full, bool lasting) {
    operations_ = 0;
    fail_at_ = operation;
    fail_full_ = full;
    fail_lasting_ = lasting;
  }
  /// The sync with this number fails, and what it should have written is dropped though reads still show it.
  void fail_sync_at(std::uint64_t sync) {
    syncs_ = 0;
    fail_sync_at_ = sync;
  }
  /// Of the write at which the power goes, `torn_sector` keeps this many sectors from its beginning; else any number.
  void tear_after(std::optional<std::size_t> sectors) { tear_ = sectors; }
  void heal() { cut_at_ = fail_at_ = fail_sync_at_ = kNever; }
  [[nodiscard]] std::uint64_t operations() const { return operations_; }  ///< since the last of the above
  [[nodiscard]] std::uint64_t syncs() const { return syncs_; }
  /// Sectors that each of those operations wrote to.
  [[nodiscard]] const std::vector<std::size_t>& sectors() const { return sectors_; }

  /// The machine starts again with what is left. Every File and Mapping of before must be gone.
  void restart(Loss loss, Rng& rng);

  /// The bytes of a file, to be looked at or damaged. The file must be there.
  std::string& bytes(const std::string& name);
  [[nodiscard]] bool has(const std::string& name) const { return names_.contains(name); }
  void put(const std::string& name, std::string bytes);

  Result<std::vector<std::string>> list() override;
  Result<std::unique_ptr<File>> open(const std::string& name, bool create) override;
  Result<void> rename(const std::string& from, const std::string& to) override;
  Result<void> remove(const std::string& name) override;
  Result<void> sync_directory() override;
  Result<std::unique_ptr<Mapping>> map(const std::string& name, std::uint64_t size) override;

 private:
  friend class MemoryFile;
  /// One write, or a new length where `bytes` is empty.
  struct Pending {
    std::uint64_t offset = 0;
    std::string bytes;
    std::uint64_t size = 0;  ///< of the file after it
  };
  struct Inode {
    std::string seen, kept;  ///< through the cache, and on the platter
    std::vector<Pending> pending;
    bool mapped = false;
  };
  using Names = std::map<std::string, std::shared_ptr<Inode>>;

  /// Counts an operation; throws or fails if it is its turn.
  /// @param last set where the power goes during it @param sectors that it writes to
  Result<void> operation(bool& last, std::size_t sectors = 0);
  void settle(Inode& inode, Loss loss, Rng& rng) const;

  Names names_, kept_names_;
  std::vector<Names> pending_names_;  ///< after each operation on the directory since it was synced
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};
  std::uint64_t operations_ = 0, syncs_ = 0;
  std::uint64_t cut_at_ = kNever, fail_at_ = kNever, fail_sync_at_ = kNever;
  bool fail_full_ = false, fail_lasting_ = false;
  std::optional<std::size_t> tear_;
  std::vector<std::size_t> sectors_;
};

}  // namespace ace::spine
