#pragma once
/// What came of requests, counted the same way for what really happened and for what a simulation says: cost, times,
/// promises kept.
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/statistics.h"
#include "ledger/ledger.h"
#include "spine/spine.h"

namespace ace {

/// Requests of one model at one destination, or all of them.
struct Experience {
  std::uint64_t requests = 0, served = 0, cache_hits = 0;  ///< the rest was not served
  std::uint64_t slo_met = 0, spilled = 0;                  ///< of those served
  std::uint64_t unpriced = 0;                              ///< of those served: nobody knows what they cost
  Usd cost{};                                              ///< marginal, of those that are priced
  Histogram ttft_us, tpot_us;                              ///< of those served whose times are known
  Usd fixed{};                                             ///< of a total: what accrued whether used or not
};

/// One request that has ended.
struct Ended {
  event::Outcome outcome = event::Outcome::served;
  std::optional<Usd> cost;
  Duration ttft{0}, tpot{0};  ///< 0 = not known
  bool slo_met = false, spilled = false;
};

class Experiences {
 public:
  /// @param model asked for @param destination that answered; "" for none or one that is not known
  void add(const std::string& model, const std::string& destination, const Ended& end);
  /// What a ledger settled.
  void add(const Snapshot& fleet, const Settled& settled);
  void add_fixed(Usd amount) { total_.fixed += amount; }
  [[nodiscard]] const Experience& total() const { return total_; }
  /// By model, then destination.
  [[nodiscard]] const std::map<std::pair<std::string, std::string>, Experience>& parts() const { return parts_; }

 private:
  Experience total_;
  std::map<std::pair<std::string, std::string>, Experience> parts_;
};

/// Folds the events of a spine into what really happened. A request that ACE decided on costs what its attempts cost by
/// the prices of its snapshot; one that was only seen costs what the log said, else the same.
class Realised {
 public:
  struct Options {
    /// Compiles a recorded snapshot. @see Snapshots
    std::function<Result<const Snapshot*>(std::uint64_t)> snapshot;
    Instant from = Instant::min(), to = Instant::max();  ///< of arrivals
    std::optional<std::uint64_t> only;                   ///< requests under this snapshot
  };
  explicit Realised(Options options) : options_(std::move(options)) {}
  /// In the order of the log.
  Result<void> hear(const event::Record& record);
  [[nodiscard]] const Experiences& seen() const { return seen_; }
  /// Requests by the snapshot they were recorded under.
  [[nodiscard]] const std::map<std::uint64_t, std::uint64_t>& snapshots() const { return snapshots_; }
  [[nodiscard]] std::uint64_t decided() const { return decided_; }  ///< requests that ACE decided on

 private:
  struct Open {
    event::Admitted admitted;
    std::optional<event::Decided> decided;
    std::vector<event::Attempted> attempts;
  };
  struct IdHash {
    std::size_t operator()(RequestId id) const { return static_cast<std::size_t>(id.high * 31 ^ id.low); }
  };
  Result<void> end(std::uint64_t snapshot, const Open& open, const event::Completed& completed);

  Options options_;
  Experiences seen_;
  std::unordered_map<RequestId, Open, IdHash> open_;  ///< looked up only
  std::map<std::uint64_t, std::uint64_t> snapshots_;
  std::map<std::uint64_t, Settler> settlers_;
  std::uint64_t decided_ = 0;
};

}  // namespace ace
