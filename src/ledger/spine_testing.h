#pragma once
/// Requests as the records that a spine would hold of them.
#include <map>
#include <string>
#include <vector>

#include "core/check.h"
#include "ledger/ledger_testing.h"
#include "ledger/spine_ledger.h"

namespace ace::ledger_testing {

/// That a fleet is in force, without its files.
inline event::FleetChanged in_force(const Fleet& fleet, event::FleetChanged::Source source) {
  const auto names = [](const auto& things) {
    std::vector<std::string> all;
    for (const auto& thing : things) all.push_back(event::label_of(thing.name));
    return all;
  };
  event::FleetChanged e;
  e.source = source;
  e.destinations = names(fleet.destinations);
  e.models = names(fleet.models);
  e.slo_classes = names(fleet.slo_classes);
  e.compliance = names(fleet.compliance);
  e.tenants = names(fleet.tenants);
  return e;
}

/// Fleets by the digest that a FleetChanged of the tests carries.
class Fleets {
 public:
  /// The event that puts a world in force under a snapshot number.
  event::Record changed(const World& w, std::uint64_t number,
                        event::FleetChanged::Source source = event::FleetChanged::Source::shadow) {
    event::FleetChanged e = in_force(*w.fleet, source);
    e.digest = reinterpret_cast<std::uintptr_t>(&w);
    known_[e.digest] = &w;
    event::Record r;
    r.id = {number, 1};
    r.snapshot = number;
    r.event = e;
    return r;
  }
  [[nodiscard]] SpineLedger::Options options() const {
    SpineLedger::Options options;
    options.fleets = [this](std::uint64_t, const event::FleetChanged& e) -> Result<const Snapshot*> {
      const auto found = known_.find(e.digest);
      if (found == known_.end()) return Error(Errc::not_found, "no such fleet");
      return &found->second->snapshot;
    };
    return options;
  }

 private:
  std::map<std::uint64_t, const World*> known_;
};

inline event::Record record_of(RequestId id, std::uint64_t snapshot, event::Event event, std::uint32_t ordinal = 0) {
  event::Record r;
  r.id = {id.high, id.low};
  r.snapshot = snapshot;
  r.ordinal = ordinal;
  r.event = std::move(event);
  return r;
}

inline event::Record named(event::Named::Kind kind, std::uint32_t symbol, std::string name) {
  return record_of({9, symbol + 1000 * static_cast<std::uint64_t>(kind)}, 0,
                   event::Named{kind, {}, symbol, std::move(name)});
}

/// What C3 asks for is worked out from the answer when it is settled, as a replay does.
inline void with_cheapest(const World& w, Events& e) {
  const auto outcome = e.completed.outcome;
  const bool ran = outcome == event::Outcome::served || outcome == event::Outcome::client_abort;
  e.decided.cheapest_payg = {};
  if (ran && w.snapshot[e.completed.offer].tier != Tier::payg)
    if (const auto found = w.snapshot.cheapest_payg(w.snapshot[e.completed.offer].model, e.admitted.compliance, "",
                                                    e.completed.usage, w.settler.slo(e.admitted.slo).deferrable()))
      e.decided.cheapest_payg = found->offer;
}

/// The facts of one request, in the order in which they happen.
inline std::vector<event::Record> records_of(const Events& e, std::uint64_t snapshot) {
  const RequestId id = e.admitted.id;
  event::Completed completed = e.completed;
  completed.id = id;
  std::vector<event::Record> records = {record_of(id, snapshot, e.admitted), record_of(id, snapshot, e.decided)};
  for (std::uint32_t i = 0; i < e.attempts.size(); ++i) records.push_back(record_of(id, snapshot, e.attempts[i], i));
  records.push_back(record_of(id, snapshot, completed));
  return records;
}

/// Tenants and teams as any_events() has them, one further: symbol 0 is nobody.
inline const std::vector<std::string>& spine_tenants() {
  static const std::vector<std::string> table = {"", "beta", "acme", "corp"};
  return table;
}
inline const std::vector<std::string>& spine_teams() {
  static const std::vector<std::string> table = {"", "search", "ads"};
  return table;
}
inline std::vector<event::Record> preamble(Fleets& fleets, const World& w) {
  std::vector<event::Record> records = {fleets.changed(w, 1)};
  for (std::uint32_t i = 1; i < 4; ++i) records.push_back(named(event::Named::Kind::tenant, i, spine_tenants()[i]));
  for (std::uint32_t i = 1; i < 3; ++i) records.push_back(named(event::Named::Kind::team, i, spine_teams()[i]));
  return records;
}
inline Events any_spine_events(const World& w, Rng& rng) {
  Events e = any_events(w, rng);
  ++e.admitted.tenant;
  ++e.admitted.team;
  e.admitted.max_output = Tokens{rng.chance(0.5) ? 0 : rng.between(1, 1000)};
  with_cheapest(w, e);
  return e;
}

/// A stretch of log: requests that overlap, each with its facts in order; fixed cost and bookings between them.
inline std::vector<event::Record> any_log(const World& w, Rng& rng, std::uint64_t snapshot, int requests,
                                          std::vector<Events>* all = nullptr) {
  std::vector<std::vector<event::Record>> open;
  std::vector<event::Record> log;
  while (requests > 0 || !open.empty()) {
    if (requests > 0 && (open.empty() || rng.chance(0.3))) {
      const Events e = any_spine_events(w, rng);
      if (all != nullptr) all->push_back(e);
      open.push_back(records_of(e, snapshot));
      --requests;
      continue;
    }
    const std::size_t at = rng.below(open.size());
    log.push_back(open[at].front());
    open[at].erase(open[at].begin());
    if (open[at].empty()) open.erase(open.begin() + static_cast<std::ptrdiff_t>(at));
  }
  return log;
}

inline SpineLedger folded(const Fleets& fleets, const std::vector<event::Record>& log) {
  SpineLedger ledger(fleets.options());
  for (std::size_t i = 0; i < log.size(); ++i) {
    const Result<void> added = ledger.add(i, log[i]);
    ACE_CHECK(added.has_value(), "a made log folds");
  }
  return ledger;
}
inline FoldedBooks closed(const SpineLedger& ledger, Grade grade = Grade::modelled) {
  Result<FoldedBooks> books = ledger.close(grade, {});
  ACE_CHECK(books.has_value(), "a made log closes");
  return *std::move(books);
}

}  // namespace ace::ledger_testing
