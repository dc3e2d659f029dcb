#pragma once
/// Decisions made again from their records: each must follow from the evidence beside it, and what became of the
/// request from the decision. Decides with `dispatch`, on the fleet compiled again from the files that the log names,
/// and books with `ledger`: what the log says of a closed cell must be what its records come to.
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ledger/spine_ledger.h"
#include "spine/spine.h"
#include "verify/difference.h"
#include "verify/fixed.h"

namespace ace::verify {

/// The fleets of a log, by the number of their snapshot.
class Fleets {
 public:
  virtual ~Fleets() = default;
  virtual void hear(const event::Record& record) = 0;  ///< every FleetChanged, in order
  /// @return not_found or corrupt if it cannot be compiled again
  virtual Result<const Snapshot*> at(std::uint64_t number) = 0;
};

/// What was derived.
struct Derived {
  std::uint64_t decisions = 0;    ///< made again, and equal
  std::uint64_t requests = 0;     ///< that ended, and whose end follows
  std::uint64_t undecided = 0;    ///< of those, on which ACE never decided: brought in from another log
  std::uint64_t open = 0;         ///< admitted, not ended
  std::uint64_t unknown = 0;      ///< events of kinds that a newer version wrote
  std::uint64_t cells = 0;        ///< that the log says are closed, with amounts and gate that follow
  std::uint64_t passed = 0;       ///< requests handed on unread, each to a destination that its rule allows
  std::uint64_t corrected = 0;    ///< facts about requests that had ended: booked, not held against a decision
  Usd baseline{}, actual{};       ///< C0 and C4 of the requests of every grade, booked again
  std::uint64_t fixed_costs = 0;  ///< stretches of fixed cost, derived again from fleet file and bookings
  Usd fixed{};                    ///< F, as the books have it
};

/// Hears the events of a log in order, from its very first one.
class Derivation {
 public:
  /// @param fleets outlive this @param recall, decided_in of requests that ended long ago, see SpineLedger; may be
  /// empty
  explicit Derivation(Fleets& fleets, SpineLedger::Recall recall = {}, SpineLedger::DecidedIn decided_in = {});
  /// @param sequence of the record, of type event @param payload of it
  /// @return what is not as it must be; an error if a fleet is not there
  Result<std::optional<Mismatch>> hear(std::uint64_t sequence, std::string_view payload);
  [[nodiscard]] Result<Derived> derived() const;

 private:
  using Found = Result<std::optional<Mismatch>>;
  /// A request that has not ended.
  struct Open {
    event::Admitted admitted;
    std::uint64_t snapshot = 0;
    std::uint32_t decisions = 0;
    Verdict verdict = Verdict::dispatched;  ///< of the last decision
    std::vector<OfferId> chosen;            ///< by each decision that dispatched
    std::vector<event::Attempted> attempts;
    std::optional<Duration> ttft;
  };
  struct HashId {
    std::size_t operator()(const RequestId& id) const { return static_cast<std::size_t>(id.high * 31 ^ id.low); }
  };

  [[nodiscard]] Found of_a_fleet(const event::Record& record) const;
  Found follows_so_far(const event::Record& record);
  Found book(std::uint64_t sequence, const event::Record& record);
  /// Of a fleet whose requests went where others sent them: their ends do not follow from ACE's decisions.
  [[nodiscard]] bool beside(std::uint64_t snapshot) const {
    const auto found = declared_.find(snapshot);
    return found != declared_.end() && found->second == event::FleetChanged::Source::shadow;
  }
  Found decided(const event::Record& record, const event::Decided& decided);
  Found attempted(const event::Record& record, const event::Attempted& attempted);
  Found completed(const event::Record& record, const event::Completed& completed);
  Found follows(const Snapshot& fleet, const Open& open, const event::Completed& completed) const;
  Found passed(const event::Record& record, const event::Passed& passed);
  Found closed(const event::Record& record, const event::SettlementClosed& closed);
  Result<event::Hindsight*> hindsight(std::uint64_t snapshot);
  Found same_choice(const Snapshot& fleet, const Open& open, const event::Record& record, const Decision& again) const;

  Fleets& fleets_;
  std::map<std::uint64_t, std::unique_ptr<event::Hindsight>> worlds_;  ///< by snapshot
  std::unordered_map<RequestId, Open, HashId> open_;
  std::map<std::uint64_t, event::FleetChanged::Source> declared_;  ///< snapshots, and where events under them come from
  SpineLedger ledger_;
  FixedCosts fixed_;
  Derived derived_;
};

}  // namespace ace::verify
