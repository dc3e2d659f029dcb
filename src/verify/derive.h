#pragma once
/// Decisions made again from their records: each must follow from the evidence beside it, and what became of the
/// request from the decision. Decides with `dispatch`, on the fleet compiled again from the files that the log names.
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "ledger/ledger.h"
#include "spine/spine.h"
#include "verify/difference.h"

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
  std::uint64_t decisions = 0;  ///< made again, and equal
  std::uint64_t requests = 0;   ///< that ended, and whose end follows
  std::uint64_t undecided = 0;  ///< of those, on which ACE never decided: brought in from another log
  std::uint64_t open = 0;       ///< admitted, not ended
  std::uint64_t unknown = 0;    ///< events of kinds that a newer version wrote
  std::uint64_t cells = 0;      ///< that the log says are closed, with amounts that follow
  Usd baseline{}, actual{};     ///< C0 and C4 of the requests, settled again
};

/// Hears the events of a log in order, from its very first one.
class Derivation {
 public:
  explicit Derivation(Fleets& fleets) : fleets_(fleets) {}
  /// @param payload of a record of type event @return what is not as it must be; an error if a fleet is not there
  Result<std::optional<Mismatch>> hear(std::string_view payload);
  [[nodiscard]] Derived derived() const;

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
  /// Admission hour, tenant, requested model by name.
  using CellKey = std::tuple<std::int64_t, std::uint32_t, std::string>;
  struct Cell {
    std::int64_t requests = 0;
    Usd baseline{}, actual{};
  };
  struct HashId {
    std::size_t operator()(const RequestId& id) const { return static_cast<std::size_t>(id.high * 31 ^ id.low); }
  };

  Found decided(const event::Record& record, const event::Decided& decided);
  Found attempted(const event::Record& record, const event::Attempted& attempted);
  Found completed(const event::Record& record, const event::Completed& completed);
  Found follows(const Snapshot& fleet, const Open& open, const event::Completed& completed) const;
  Found closed(const event::Record& record, const event::SettlementClosed& closed);
  void settle(const Snapshot& fleet, std::uint64_t snapshot, const Open& open, const event::Completed& completed);
  Result<event::Hindsight*> hindsight(std::uint64_t snapshot);
  Found same_choice(const Snapshot& fleet, const Open& open, const event::Record& record, const Decision& again) const;

  Fleets& fleets_;
  std::map<std::uint64_t, std::unique_ptr<event::Hindsight>> worlds_;  ///< by snapshot
  std::map<std::uint64_t, Settler> settlers_;                          ///< likewise
  std::unordered_map<RequestId, Open, HashId> open_;
  std::map<CellKey, Cell> cells_;
  Derived derived_;
};

}  // namespace ace::verify
