#pragma once
/// One machine under test: the store on a disk that forgets, workers and a scheduler drawn from a seed, an oracle that
/// remembers what was promised, and the books of what is left.
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "books.h"
#include "core/rng.h"
#include "spine/spine.h"

namespace ace::sim {

/// A promise was broken; the message says which.
struct Broken {
  std::string why;
};

/// How one life of the process ends.
struct Fault {
  enum class Kind : std::uint8_t {
    none,          ///< it is closed
    kill,          ///< the process dies, the machine does not
    power,         ///< the machine stops at operation `at` and keeps of unsynced writes what `loss` says
    input_output,  ///< operation `at` fails
    full,          ///< from operation `at` on there is no room, until the next life
    full_once,     ///< only operation `at` finds no room
    sync,          ///< sync number `at` fails, and its pages are dropped
    allocation,    ///< allocation number `at` fails
  } kind = Kind::none;
  std::uint64_t at = 0;
  spine::MemoryDisk::Loss loss = spine::MemoryDisk::Loss::all;
  std::optional<std::size_t> sectors{};  ///< that a torn write keeps; any number, if not said
};

/// The allocation with this number, from now on, throws std::bad_alloc; 0 = none does. Of this thread alone.
void fail_allocation(std::uint64_t number);
/// Allocations since then.
std::uint64_t allocations();
/// While it lives, allocations are the harness's own: they neither count nor fail.
class Unharmed {
 public:
  Unharmed();
  ~Unharmed();
  Unharmed(const Unharmed&) = delete;
  Unharmed& operator=(const Unharmed&) = delete;

 private:
  std::uint64_t fails_, count_;
};

class Machine {
 public:
  Machine(std::uint64_t seed, const spine::Signer& signer);

  /// A life: boots, works through `events` of the seed's workload with `fault` armed, and ends.
  /// @param boot_faults one after the other strikes while it boots; after the last it boots without
  /// @throw Broken
  void live(std::uint64_t events, const Fault& fault, const std::vector<Fault>& boot_faults = {});
  /// Removes the oldest segment, where there is one to spare, with `fault` armed. @throw Broken
  void prune(const Fault& fault);
  /// Boots once more without faults and compares the log with every promise. @throw Broken
  void judge();
  /// Operations on the disk, syncs and allocations of the last life after its boot, or of the last pruning.
  std::uint64_t operations = 0, syncs = 0, allocated = 0;
  std::vector<std::size_t> sectors;  ///< that each of those operations wrote to
  std::uint64_t boot_operations = 0;
  /// What happened at least once, and how often: a test that never gets there shows nothing.
  std::map<std::string, std::uint64_t> happened;
  [[nodiscard]] std::uint64_t acknowledged() const { return created_.size(); }
  [[nodiscard]] std::uint64_t digest() const { return digest_; }  ///< of the log as last judged

 private:
  struct Offered {
    event::Key key;
    std::string bytes;
  };
  class Armed;
  void boot(const std::vector<Fault>& faults);
  void arm(const Fault& fault);
  void end(const Fault& fault);
  void work(std::uint64_t events);
  void declare();
  void offer();
  void offer(const event::Record& record);
  void step();
  void open();

  spine::MemoryDisk disk_;
  Rng rng_;
  Instant now_;
  spine::StoreOptions options_;
  std::unique_ptr<spine::Store> store_;
  Books books_;
  Requests requests_;
  bool declared_ = false;      ///< the log has the fleet that all events are of
  bool must_keep_all_ = true;  ///< no power was lost since the last judgement: the spools hold everything

  std::map<std::pair<std::uint32_t, std::uint64_t>, Offered> in_flight_;  ///< by worker and position
  std::map<event::Key, std::set<std::string>> offered_;
  std::vector<event::Key> keys_;
  std::set<event::Key> in_memory_;                ///< accepted by a spool, not known to be in the log
  std::map<std::uint64_t, std::string> created_;  ///< by sequence number: acknowledged as new
  std::map<event::Key, std::set<std::string>> conflicts_;
  std::uint64_t pruned_to_ = 0;
  std::uint64_t digest_ = 0;
};

}  // namespace ace::sim
