#pragma once
/// The spine as its users see it: spools in front of a log, drained by one writer. Steps when told to, so that a test
/// can be the scheduler; adapters/spine_writer.h gives it a thread and a clock.
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "spine/log.h"
#include "spine/spool.h"

namespace ace::spine {

struct StoreOptions {
  LogOptions log;
  std::uint32_t workers = 1;
  std::uint64_t spool_bytes = 4U << 20;                 ///< of each worker
  Duration group_delay = std::chrono::milliseconds{5};  ///< `group`: an event waits no longer for its sync
  Duration look_every = std::chrono::seconds{1};        ///< whether somebody asked to prune
  Duration relaxed_window = std::chrono::seconds{1};    ///< `relaxed`: what a loss of power may take
  std::size_t batch_bytes = 4U << 20;                   ///< a batch is committed early at this size
};

/// What operators must be able to see.
struct Health {
  Durability durability = Durability::group;
  Duration loss_window{0};   ///< of an acknowledged event, when the power goes; 0 unless relaxed
  Duration spool_window{0};  ///< of an event that is not acknowledged yet
  std::uint64_t next = 0, durable = 0, conflicts = 0, bytes_cut = 0;
  bool full = false;
  std::string failure;  ///< empty = none
};

class Store {
 public:
  /// Opens the log, then takes over what the last process left in its spools.
  static Result<std::unique_ptr<Store>> open(Disk& disk, const StoreOptions& options, Instant now);

  [[nodiscard]] Spool& spool(std::uint32_t worker) { return *spools_[worker]; }
  /// Moves what workers left into the log and commits it when it is time to. Acknowledges through `acked`.
  /// @return true if there was something to do; an error of the log (unavailable: open the store again)
  Result<bool> step(Instant now);
  /// Everything that is in the spools is in the log and durable when this returns.
  Result<void> drain(Instant now);
  /// Ends in good order: drains, writes a checkpoint and that it stopped.
  Result<void> close(Instant now);

  /// Called in order of the log for each event whose fate is settled.
  std::function<void(std::uint32_t worker, std::uint64_t position, const Appended& appended)> acked;

  [[nodiscard]] Health health() const;
  [[nodiscard]] Log& log() { return log_; }
  [[nodiscard]] const Recovery& recovery() const { return recovery_; }
  /// When the oldest event in the open batch must be durable, if there is one.
  [[nodiscard]] std::optional<Instant> deadline() const { return deadline_; }

 private:
  Store(Log log, StoreOptions options) : log_(std::move(log)), options_(std::move(options)) {}
  Result<bool> take(Instant now);
  Result<void> commit(Instant now);
  Result<bool> relaxed_step(Instant now, bool any);
  void settle();

  Log log_;
  StoreOptions options_;
  Recovery recovery_;
  std::vector<std::unique_ptr<Spool>> spools_;
  std::vector<std::uint64_t> taken_;  ///< by worker: in the log, perhaps not durable yet
  struct Waiting {
    std::uint32_t worker = 0;
    std::uint64_t position = 0;
    Appended appended;
  };
  std::vector<Waiting> waiting_;
  std::optional<Instant> deadline_;
  std::optional<Instant> unsynced_since_;  ///< relaxed
  std::optional<Instant> looked_;          ///< whether somebody asked to prune
  std::string entry_;
};

}  // namespace ace::spine
