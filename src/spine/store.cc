#include "spine/store.h"

#include <fmt/format.h>

namespace ace::spine {

Result<std::unique_ptr<Store>> Store::open(Disk& disk, const StoreOptions& options, Instant now) {
  Recovery recovery;
  Result<Log> log = Log::open(disk, options.log, now, recovery);
  if (!log) return std::move(log).error();
  std::unique_ptr<Store> store(new Store(*std::move(log), options));
  store->recovery_ = recovery;
  // Spools of more workers than there are now may hold events too.
  const Result<std::vector<std::string>> names = disk.list();
  if (!names) return Error(names.error());
  std::uint32_t spools = options.workers;
  for (const std::string& name : *names)
    if (name.starts_with("spool-") && name.size() == 9)
      spools = std::max(spools, static_cast<std::uint32_t>(std::atoi(name.c_str() + 6)) + 1);
  for (std::uint32_t worker = 0; worker < spools; ++worker) {
    Result<std::unique_ptr<Spool>> spool = Spool::open(disk, fmt::format("spool-{:03}", worker), options.spool_bytes);
    if (!spool) return std::move(spool).error().with("opening the spine");
    store->taken_.push_back((*spool)->tail());
    store->spools_.push_back(*std::move(spool));
  }
  if (Result<void> done = disk.sync_directory(); !done) return std::move(done).error();
  const auto what = recovery.bytes_cut > 0 ? event::Lifecycle::What::recovered : event::Lifecycle::What::started;
  // What the last process left comes first: behind this event a reader knows of the world what the new one says.
  Result<void> done = store->drain(now);
  if (done) done = store->log_.append_own(event::Lifecycle{what, now, recovery.bytes_cut}, now);
  // What was decided since the last word, and is not in the log, cannot be verified.
  if (done && (recovery.bytes_cut > 0 || recovery.may_lack) && recovery.last_word < now)
    done = store->log_.append_own(event::Gap{event::Gap::Cause::crash, recovery.last_word, now, -1}, now);
  if (done) done = store->commit(now);
  if (!done && done.error().code() != Errc::out_of_range) return std::move(done).error();
  return store;
}

/// Entries of all spools into the batch, in turn, up to its size.
Result<bool> Store::take(Instant now) {
  bool any = false;
  for (std::uint32_t worker = 0; worker < spools_.size(); ++worker) {
    event::Key key;
    while (log_.pending_bytes() < options_.batch_bytes) {
      const std::uint64_t next = spools_[worker]->peek(taken_[worker], key, entry_);
      if (next == 0) break;
      const Result<Appended> appended = log_.append(key, entry_, now);
      if (!appended) return Error(appended.error());
      taken_[worker] = next;
      waiting_.push_back({worker, next, *appended});
      if (!deadline_) deadline_ = now + options_.group_delay;
      any = true;
    }
  }
  return any;
}

/// Tells whoever waits, and lets the workers have their room again.
void Store::settle() {
  for (const Waiting& done : waiting_)
    if (acked) acked(done.worker, done.position, done.appended);
  waiting_.clear();
  deadline_.reset();
}

/// Makes what was taken durable and tells whoever waits for it.
Result<void> Store::commit(Instant now) {
  if (Result<void> done = log_.commit(now); !done) return done;
  unsynced_since_.reset();
  for (std::uint32_t worker = 0; worker < spools_.size(); ++worker) spools_[worker]->drained(taken_[worker]);
  settle();
  return {};
}

Result<bool> Store::step(Instant now) {
  if (!looked_ || now - *looked_ >= options_.look_every) {
    looked_ = now;
    // Where there is no room to say what goes, there may be some later.
    if (Result<void> done = log_.prune_as_asked(now); !done && done.error().code() != Errc::out_of_range)
      return std::move(done).error();
  }
  if (log_.full()) {
    if (Result<void> room = log_.resume(now); !room) return std::move(room).error();
  }
  const Result<bool> any = take(now);
  if (!any) {
    // Room ran out. What was taken before is safe, and whoever waits for it hears so.
    if (any.error().code() == Errc::out_of_range && !waiting_.empty())
      if (Result<void> done = commit(now); !done) return std::move(done).error();
    return any;
  }
  if (options_.log.durability == Durability::relaxed) return relaxed_step(now, *any);
  const bool due = deadline_ && (options_.log.durability == Durability::strict || now >= *deadline_ ||
                                 log_.pending_bytes() >= options_.batch_bytes);
  if (due)
    if (Result<void> done = commit(now); !done) return std::move(done).error();
  return *any || due;
}

/// Acknowledged when the kernel has it; on the disk after the window.
Result<bool> Store::relaxed_step(Instant now, bool any) {
  if (!unsynced_since_ && log_.durable() < log_.next()) unsynced_since_ = now;
  if (unsynced_since_ && now - *unsynced_since_ >= options_.relaxed_window) {
    if (Result<void> done = commit(now); !done) return std::move(done).error();
    return true;
  }
  if (!any) return false;
  if (Result<void> done = log_.commit(now, false); !done) return std::move(done).error();
  settle();
  return true;
}

Result<void> Store::drain(Instant now) {
  while (true) {
    const Result<bool> any = take(now);
    if (!any) return Error(any.error());
    if (Result<void> done = commit(now); !done) return done;
    if (!*any) return {};
  }
}

Result<void> Store::close(Instant now) {
  if (Result<void> done = drain(now); !done) return done;
  if (Result<void> done = log_.append_own(event::Lifecycle{event::Lifecycle::What::stopped, now, 0}, now); !done)
    return done;
  if (Result<void> done = log_.checkpoint(now); !done) return done;
  return log_.commit(now);
}

Health Store::health() const {
  Health h;
  h.durability = options_.log.durability;
  h.loss_window = h.durability == Durability::relaxed ? options_.relaxed_window : Duration{0};
  h.spool_window = h.durability == Durability::strict ? Duration{0} : options_.group_delay;
  h.next = log_.next();
  h.durable = log_.durable();
  h.conflicts = log_.conflicts();
  h.bytes_cut = recovery_.bytes_cut;
  h.full = log_.full();
  if (log_.failure()) h.failure = log_.failure()->what();
  return h;
}

}  // namespace ace::spine
