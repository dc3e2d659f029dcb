#pragma once
/// The spine's store with a thread and a clock: many workers append, one thread writes.
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>

#include "adapters/posix_disk.h"

namespace ace {

class SpineWriter {
 public:
  /// Opens the directory, recovers, and starts the thread that writes.
  /// @param clock read by that thread; it outlives the writer
  static Result<std::unique_ptr<SpineWriter>> open(const std::string& directory, const spine::StoreOptions& options,
                                                   Clock& clock);
  ~SpineWriter();  ///< closes, if nobody did
  SpineWriter(const SpineWriter&) = delete;
  SpineWriter& operator=(const SpineWriter&) = delete;

  /// Puts an event into the worker's spool; never waits. A kill of the process cannot lose it any more.
  /// @param worker below StoreOptions::workers; each is one thread's own
  /// @return its position in the spool, for wait(); unavailable if the spool is full or the log has failed
  Result<std::uint64_t> append(std::uint32_t worker, const event::Key& key, std::string_view bytes);
  /// Waits until the fate of an event is settled, which for `created` means that it is durable.
  Result<spine::Appended> wait(std::uint32_t worker, std::uint64_t position);
  /// Everything that was appended is durable when this returns.
  Result<void> flush();
  /// Ends in good order.
  Result<void> close();
  [[nodiscard]] spine::Health health();
  [[nodiscard]] const spine::Recovery& recovery() const { return store_->recovery(); }
  /// Called on the writing thread for each event as it is settled, instead of keeping its fate for wait().
  void on_settled(std::function<void(std::uint32_t, std::uint64_t, const spine::Appended&)> told);

 private:
  SpineWriter(std::unique_ptr<PosixDisk> disk, Clock& clock) : disk_(std::move(disk)), clock_(clock) {}
  void run();

  std::unique_ptr<PosixDisk> disk_;
  Clock& clock_;
  std::unique_ptr<spine::Store> store_;
  std::thread thread_;
  std::mutex mutex_;  ///< of everything below, and of the store while it steps
  std::condition_variable work_, settled_;
  std::function<void(std::uint32_t, std::uint64_t, const spine::Appended&)> told_;
  struct Fates {
    std::uint64_t settled = 0;  ///< position
    std::unordered_map<std::uint64_t, spine::Appended> of;
  };
  std::vector<Fates> fates_;
  std::optional<Error> failure_;
  std::atomic<bool> failed_{false}, idle_{false};
  bool stopping_ = false, closed_ = false;
};

}  // namespace ace
