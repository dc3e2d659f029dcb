#include "adapters/spine_writer.h"

#include <algorithm>

namespace ace {
namespace {
/// While a batch is open its spools are looked at this often, so that none fills up.
constexpr Duration kNap = std::chrono::milliseconds{1};
}  // namespace

Result<std::unique_ptr<SpineWriter>> SpineWriter::open(const std::string& directory, const spine::StoreOptions& options,
                                                       Clock& clock) {
  Result<std::unique_ptr<PosixDisk>> disk = PosixDisk::open(directory, PosixDisk::Access::own);
  if (!disk) return std::move(disk).error();
  std::unique_ptr<SpineWriter> writer(new SpineWriter(*std::move(disk), clock));
  Result<std::unique_ptr<spine::Store>> store = spine::Store::open(*writer->disk_, options, clock.now());
  if (!store) return std::move(store).error().with(directory);
  writer->store_ = *std::move(store);
  writer->fates_.resize(options.workers);
  SpineWriter* const self = writer.get();
  writer->store_->acked = [self](std::uint32_t worker, std::uint64_t position, const spine::Appended& appended) {
    if (worker >= self->fates_.size()) return;  // left by more workers than there are now
    self->fates_[worker].settled = position;
    if (self->told_)
      self->told_(worker, position, appended);
    else
      self->fates_[worker].of[position] = appended;
  };
  writer->thread_ = std::thread([self] { self->run(); });
  return writer;
}

SpineWriter::~SpineWriter() {
  if (store_ != nullptr) (void)close();
}

void SpineWriter::on_settled(std::function<void(std::uint32_t, std::uint64_t, const spine::Appended&)> told) {
  const std::lock_guard lock(mutex_);
  told_ = std::move(told);
}

Result<std::uint64_t> SpineWriter::append(std::uint32_t worker, const event::Key& key, std::string_view bytes) {
  if (failed_.load(std::memory_order_acquire)) {
    const std::lock_guard lock(mutex_);
    return *failure_;
  }
  const std::uint64_t position = store_->spool(worker).offer(key, bytes);
  if (position == 0) return Error(Errc::unavailable, "the spine is behind: the spool of this worker is full");
  if (idle_.load(std::memory_order_acquire)) work_.notify_one();
  return position;
}

void SpineWriter::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    const Instant now = clock_.now();
    const Result<bool> any = store_->step(now);
    settled_.notify_all();
    if (!any && any.error().code() != Errc::out_of_range) {
      failure_ = any.error();
      failed_.store(true, std::memory_order_release);
      return;
    }
    if (const std::optional<Instant> due = store_->deadline(); any && due) {
      // Who comes while a batch is open joins it: a worker that woke us for each event would pay for it.
      work_.wait_for(lock, std::clamp<Duration>(*due - now, Duration{1}, kNap));
      continue;
    }
    // A full disk is looked at again every second; otherwise a worker wakes us.
    const auto pause = !any ? std::chrono::milliseconds{1000} : std::chrono::milliseconds{1};
    if (any && *any) {
      lock.unlock();  // whoever waits for the mutex gets it
      lock.lock();
      continue;
    }
    idle_.store(true, std::memory_order_release);
    work_.wait_for(lock, pause);
    idle_.store(false, std::memory_order_release);
  }
}

Result<spine::Appended> SpineWriter::wait(std::uint32_t worker, std::uint64_t position) {
  std::unique_lock lock(mutex_);
  settled_.wait(lock, [&] { return failure_ || closed_ || fates_[worker].settled >= position; });
  const auto found = fates_[worker].of.find(position);
  if (found == fates_[worker].of.end())
    return failure_ ? *failure_ : Error(Errc::unavailable, "the spine was closed before this event was durable");
  const spine::Appended appended = found->second;
  fates_[worker].of.erase(found);
  return appended;
}

Result<void> SpineWriter::flush() {
  const std::lock_guard lock(mutex_);
  if (failure_) return *failure_;
  Result<void> done = store_->drain(clock_.now());
  settled_.notify_all();
  return done;
}

Result<void> SpineWriter::close() {
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return {};
    stopping_ = true;
  }
  work_.notify_all();
  if (thread_.joinable()) thread_.join();
  const std::lock_guard lock(mutex_);
  closed_ = true;
  Result<void> done;
  if (failure_) done = *failure_;
  if (done) done = store_->close(clock_.now());
  settled_.notify_all();
  return done;
}

spine::Health SpineWriter::health() {
  const std::lock_guard lock(mutex_);
  return store_->health();
}

}  // namespace ace
