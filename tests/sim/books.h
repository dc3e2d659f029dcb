#pragma once
/// Requests as a gateway writes them, and a model of what a ledger makes of the log that is left of them. The model
/// knows one price and keeps a handful of facts of each request; the ledger is the real one.
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/rng.h"
#include "dispatch/dispatch.h"
#include "spine/spine.h"

namespace ace::sim {

/// Records of a log that were folded, with their sequence numbers.
using Records = std::vector<std::pair<std::uint64_t, event::Record>>;

/// Draws the events of a workload, each request's in order, several requests at once.
class Requests {
 public:
  event::Record next(Instant now, Rng& rng);

 private:
  std::vector<std::vector<event::Record>> open_;  ///< what is still to come of each, the next one last
};

/// One destination that is paid by the token.
class Books {
 public:
  Books();
  /// What a log says before anything else.
  [[nodiscard]] event::Record fleet() const;
  /// Folds a log from its first record and holds every sum against the model: what was spent and estimated, what is
  /// held, and that saving the ledger and going on changes nothing.
  /// @param stop where it is saved and restored, as a number of records
  /// @throw Broken
  void judge(const Records& log, std::size_t stop) const;

 private:
  std::unique_ptr<Fleet> fleet_;
  std::unique_ptr<Snapshot> snapshot_;
};

}  // namespace ace::sim
