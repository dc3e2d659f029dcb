#pragma once
/// Decisions derived on a thread of their own while another one checks the bytes.
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "verify/verify.h"

namespace ace::cli {

class DeriveAside {
 public:
  explicit DeriveAside(verify::Derivation& derivation) : derivation_(derivation), thread_([this] { run(); }) {}
  ~DeriveAside() { (void)finish(); }
  DeriveAside(const DeriveAside&) = delete;
  DeriveAside& operator=(const DeriveAside&) = delete;

  /// Copies the event and goes on; waits while the other thread is far behind. What does not follow is said by
  /// finish().
  Result<std::optional<verify::Mismatch>> operator()(const verify::Entry& entry);
  /// The first difference, once every event that was handed over is derived. @return the error of a fleet
  Result<std::optional<verify::Difference>> finish();

 private:
  /// Events of one file, one behind the other.
  struct Batch {
    std::string file, bytes;
    struct Event {
      std::uint64_t offset = 0, sequence = 0;
      std::size_t end = 0;  ///< in `bytes`
    };
    std::vector<Event> events;
  };
  static constexpr std::size_t kBatchEvents = 4096, kBatchesAhead = 8;
  void hand_over();
  void run();
  bool derive(const Batch& batch);

  verify::Derivation& derivation_;
  Batch filling_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Batch> waiting_;
  bool ended_ = false, stopped_ = false;  ///< no more will come; no more is wanted
  std::optional<verify::Difference> difference_;
  std::optional<Error> error_;
  std::thread thread_;
};

}  // namespace ace::cli
