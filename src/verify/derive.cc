#include "verify/derive.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace ace::verify {
namespace {

Result<std::optional<Mismatch>> nothing() { return std::optional<Mismatch>(); }
Result<std::optional<Mismatch>> differs(std::string expected, std::string got) {
  return std::optional(Mismatch{std::move(expected), std::move(got)});
}

std::string name_of(const Snapshot& fleet, OfferId id) {
  if (!id.valid()) return "none";
  const Offer& offer = fleet[id];
  return fleet.fleet().destinations[offer.destination.value].name + "/" + fleet.fleet().models[offer.model.value].name;
}

/// C3's price is that of the cheapest API that could have served the answer as predicted.
OfferId cheapest_payg(const Snapshot& fleet, const event::Admitted& admitted, const event::Decided& decided) {
  const OfferId chosen = decided.decision.chosen;
  if (decided.decision.verdict != Verdict::dispatched || fleet[chosen].tier == Tier::payg) return {};
  const std::int64_t cached = std::min(decided.cached_predicted.value, admitted.prompt.value);
  const Usage usage(Tokens{admitted.prompt.value - cached}, Tokens{cached},
                    Tokens{static_cast<std::int64_t>(decided.predicted.output_mean + 0.5)});
  return event::cheapest_payg(fleet, admitted, fleet[chosen].model, usage);
}

/// Is this a fact of a request that has ended, or of none? Then only the books know it.
std::optional<RequestId> request_of(const event::Event& event) {
  if (const auto* attempt = std::get_if<event::Attempted>(&event)) return attempt->id;
  if (const auto* end = std::get_if<event::Completed>(&event)) return end->id;
  return std::nullopt;
}

}  // namespace

Derivation::Derivation(Fleets& fleets, SpineLedger::Recall recall, SpineLedger::DecidedIn decided_in)
    : fleets_(fleets), ledger_([&] {
        SpineLedger::Options options;
        options.fleets = [&](std::uint64_t number, const event::FleetChanged&) { return fleets_.at(number); };
        options.recall = std::move(recall);
        options.decided_in = std::move(decided_in);
        options.shapley = false;
        return options;
      }()) {}

Result<Derived> Derivation::derived() const {
  Derived derived = derived_;
  derived.open = open_.size();
  derived.fixed_costs = fixed_.derived();
  for (const Grade grade : ledger_.grades())
    for (const std::uint64_t snapshot : ledger_.snapshots(grade)) {
      ClosingPolicies alone;
      alone.snapshot = snapshot;
      const Result<FoldedBooks> books = ledger_.close(grade, alone);
      if (!books) return Error(books.error());
      derived.baseline += books->statement.c0;
      derived.actual += books->statement.c4;
      derived.fixed += books->statement.fixed;
    }
  return derived;
}

Result<event::Hindsight*> Derivation::hindsight(std::uint64_t snapshot) {
  std::unique_ptr<event::Hindsight>& world = worlds_[snapshot];
  if (world == nullptr) {
    const Result<const Snapshot*> fleet = fleets_.at(snapshot);
    if (!fleet) return Error(fleet.error());
    world = std::make_unique<event::Hindsight>(**fleet);
  }
  return world.get();
}

Derivation::Found Derivation::hear(std::uint64_t sequence, std::string_view payload) {
  const Result<event::Record> read = event::decode(payload);
  if (!read && read.error().code() == Errc::bad_input) {
    ++derived_.unknown;
    return nothing();
  }
  if (!read) return differs("an event", read.error().what());
  if (Found declared = of_a_fleet(*read); !declared || *declared) return declared;
  const std::optional<RequestId> request = request_of(read->event);
  if (request && !open_.contains(*request)) {
    const std::uint64_t before = ledger_.corrections();
    Found booked = book(sequence, *read);
    if (!booked || *booked) return booked;
    if (ledger_.corrections() == before)
      return differs(std::holds_alternative<event::Completed>(read->event) ? "the end of a request that is open"
                                                                           : "an attempt for a request that is open",
                     to_string(*request));
    ++derived_.corrected;
    return booked;
  }
  Found follows = follows_so_far(*read);
  if (!follows || *follows) return follows;
  return book(sequence, *read);
}

/// Indices mean something only in a fleet that a record before this one declares.
Derivation::Found Derivation::of_a_fleet(const event::Record& record) const {
  using event::Kind;
  const Kind kind = event::kind_of(record.event);
  if (kind == Kind::fleet_changed || kind == Kind::named || kind == Kind::lifecycle) return nothing();
  const bool of_a_request = kind == Kind::admitted || kind == Kind::decided || kind == Kind::attempted ||
                            kind == Kind::completed || kind == Kind::cache_hit || kind == Kind::passed;
  if (declared_.contains(record.snapshot) || (record.snapshot == 0 && !of_a_request)) return nothing();
  return differs("an event of a fleet that a record before it declares",
                 fmt::format("{} of snapshot {}", event::name_of(kind), record.snapshot));
}

/// What does not fit the records before it has no place in the books.
Derivation::Found Derivation::book(std::uint64_t sequence, const event::Record& record) {
  const Result<void> booked = ledger_.add(sequence, record);
  if (booked) return nothing();
  if (booked.error().code() != Errc::corrupt) return Error(booked.error());
  return differs("what fits the records before it", booked.error().what());
}

Derivation::Found Derivation::follows_so_far(const event::Record& record) {
  using event::Lifecycle;
  if (const auto* e = std::get_if<event::Admitted>(&record.event)) {
    Open open;
    open.admitted = *e;
    open.snapshot = record.snapshot;
    if (!open_.try_emplace(e->id, std::move(open)).second)
      return differs("a request that was not admitted before", to_string(e->id));
  } else if (const auto* decision = std::get_if<event::Decided>(&record.event)) {
    return decided(record, *decision);
  } else if (const auto* attempt = std::get_if<event::Attempted>(&record.event)) {
    return attempted(record, *attempt);
  } else if (const auto* first = std::get_if<event::FirstToken>(&record.event)) {
    if (const auto found = open_.find(first->id); found != open_.end()) found->second.ttft = first->ttft;
  } else if (const auto* end = std::get_if<event::Completed>(&record.event)) {
    return completed(record, *end);
  } else if (const auto* handed_on = std::get_if<event::Passed>(&record.event)) {
    return passed(record, *handed_on);
  } else if (const auto* cell = std::get_if<event::SettlementClosed>(&record.event)) {
    return closed(record, *cell);
  } else if (const auto* fleet = std::get_if<event::FleetChanged>(&record.event)) {
    fleets_.hear(record);
    declared_[record.snapshot] = fleet->source;
  } else if (const auto* own = std::get_if<Lifecycle>(&record.event)) {
    // Whoever starts has forgotten what it knew of the world, and says anew what differs from its priors.
    if (own->what == Lifecycle::What::started || own->what == Lifecycle::What::recovered) worlds_.clear();
  } else if (record.snapshot != 0) {
    const Result<event::Hindsight*> world = hindsight(record.snapshot);
    if (!world) return Error(world.error());
    (*world)->hear(record.event);
    return fixed_.hear(**fleets_.at(record.snapshot), record);
  }
  return nothing();
}

Derivation::Found Derivation::decided(const event::Record& record, const event::Decided& decided) {
  const auto found = open_.find(decided.id);
  if (found == open_.end()) return differs("a decision on a request that is open", to_string(decided.id));
  Open& open = found->second;
  const Result<event::Hindsight*> world = hindsight(record.snapshot);
  if (!world) return Error(world.error());
  const Snapshot& fleet = **fleets_.at(record.snapshot);
  if (const Result<void> within = event::belongs(fleet, open.admitted, record); !within)
    return differs("indices of snapshot " + std::to_string(record.snapshot), within.error().what());
  const Decision again = (*world)->decide_again(open.admitted, record);
  Found same = same_choice(fleet, open, record, again);
  if (!same || *same) return same;
  ++open.decisions;
  open.verdict = decided.decision.verdict;
  if (open.verdict == Verdict::dispatched) open.chosen.push_back(decided.decision.chosen);
  ++derived_.decisions;
  return same;
}

Derivation::Found Derivation::same_choice(const Snapshot& fleet, const Open& open, const event::Record& record,
                                          const Decision& again) const {
  const auto& decided = std::get<event::Decided>(record.event);
  const Decision& then = decided.decision;
  const auto of = [&] { return " for " + to_string(decided.id); };
  if (then.verdict != again.verdict)
    return differs(fmt::format("verdict {}{}", name_of(again.verdict), of()), std::string(name_of(then.verdict)));
  if (then.chosen != again.chosen)
    return differs(fmt::format("{}{}, decided again from its evidence", name_of(fleet, again.chosen), of()),
                   name_of(fleet, then.chosen));
  if (const std::string other = event::difference(record, again); !other.empty())
    return differs("the decision" + of() + " that follows from its evidence", other);
  if (then.verdict == Verdict::dispatched) {
    const auto& live = record.evidence.live;
    const auto column = std::find_if(live.begin(), live.end(),
                                     [&](const event::LiveColumn& c) { return c.offer == then.chosen.value; });
    if (column == live.end() || column->cached != decided.cached_predicted.value)
      return differs(fmt::format("{} cached tokens{}, as in the column of its choice",
                                 column == live.end() ? 0 : column->cached, of()),
                     std::to_string(decided.cached_predicted.value));
  }
  if (const OfferId cheapest = cheapest_payg(fleet, open.admitted, decided); cheapest != decided.cheapest_payg)
    return differs(fmt::format("{} as the cheapest API{}", name_of(fleet, cheapest), of()),
                   decided.cheapest_payg.value < fleet.offers().size() ? name_of(fleet, decided.cheapest_payg)
                   : decided.cheapest_payg.valid()                     ? std::to_string(decided.cheapest_payg.value)
                                                                       : "none");
  return nothing();
}

Derivation::Found Derivation::attempted(const event::Record& record, const event::Attempted& attempted) {
  Open& open = open_.at(attempted.id);
  open.attempts.push_back(attempted);
  if (open.decisions == 0 || beside(record.snapshot)) return nothing();
  const std::size_t n = open.attempts.size();
  const Result<const Snapshot*> at = fleets_.at(record.snapshot);
  if (!at) return Error(at.error());
  const Snapshot& fleet = **at;
  if (n > open.chosen.size())
    return differs(
        fmt::format("at most {} attempts for {}, one for each decision", open.chosen.size(), to_string(attempted.id)),
        std::to_string(n));
  if (open.chosen[n - 1] != attempted.offer)
    return differs(fmt::format("attempt {} for {} at {}, as decided", n, to_string(attempted.id),
                               name_of(fleet, open.chosen[n - 1])),
                   attempted.offer.value < fleet.offers().size() ? name_of(fleet, attempted.offer)
                                                                 : "an offer that is not in the fleet");
  return nothing();
}

Derivation::Found Derivation::completed(const event::Record& record, const event::Completed& completed) {
  const auto found = open_.find(completed.id);
  const Open open = std::move(found->second);
  open_.erase(found);
  ++derived_.requests;
  const Result<const Snapshot*> fleet = fleets_.at(record.snapshot);
  if (!fleet) return Error(fleet.error());
  if (open.decisions > 0) return follows(**fleet, open, completed);
  const bool ran = completed.outcome == event::Outcome::served || completed.outcome == event::Outcome::client_abort;
  if (ran && declared_.at(open.snapshot) != event::FleetChanged::Source::observed)
    return differs("a decision on " + to_string(completed.id) + " before its end, since ACE dispatched it", "none");
  ++derived_.undecided;
  return nothing();
}

/// What a request came to, from its attempts and its class.
Derivation::Found Derivation::follows(const Snapshot& fleet, const Open& open,
                                      const event::Completed& completed) const {
  const auto of = [&] { return " for " + to_string(completed.id); };
  const bool served = completed.outcome == event::Outcome::served;
  const bool answered = !open.attempts.empty() && open.attempts.back().answered;
  if (served != answered && completed.outcome != event::Outcome::client_abort)
    return differs(
        answered ? "outcome served" + of() + ", since its last attempt was answered" : "no outcome served" + of(),
        std::string(event::name_of(completed.outcome)));
  if (!served) {
    if (completed.outcome == event::Outcome::not_served && open.verdict != Verdict::dispatched &&
        completed.verdict != open.verdict && !beside(open.snapshot))
      return differs(fmt::format("verdict {}{}, as decided last", name_of(open.verdict), of()),
                     std::string(name_of(completed.verdict)));
    return nothing();
  }
  const event::Attempted& answer = open.attempts.back();
  if (completed.offer != answer.offer)
    return differs("served by " + name_of(fleet, answer.offer) + of(),
                   completed.offer.value < fleet.offers().size() ? name_of(fleet, completed.offer) : "another");
  if (completed.usage != answer.billed) return differs("the usage" + of() + " that its answer was billed", "another");
  if (open.ttft && *open.ttft != completed.ttft)
    return differs(fmt::format("TTFT {} ns{}, as its first token came", open.ttft->count(), of()),
                   std::to_string(completed.ttft.count()));
  // Its class is one of the fleet it was admitted under, where the books have looked it up already.
  const Result<const Snapshot*> admitted_under = fleets_.at(open.snapshot);
  if (!admitted_under) return Error(admitted_under.error());
  const Fleet& f = (*admitted_under)->fleet();
  const SloId slo = open.admitted.slo.valid() ? open.admitted.slo : f.default_slo;
  if (completed.slo_met !=
      f.slo_classes[slo.value].kept(completed.ttft, completed.tpot, completed.at - open.admitted.at))
    return differs(fmt::format("SLO {}{}, by the limits of its class", completed.slo_met ? "missed" : "met", of()),
                   completed.slo_met ? "met" : "missed");
  return nothing();
}

/// What is handed on unread is not decided, but no rule is broken for it.
Derivation::Found Derivation::passed(const event::Record& record, const event::Passed& passed) {
  const Result<const Snapshot*> world = fleets_.at(record.snapshot);
  if (!world) return Error(world.error());
  const Fleet& fleet = (*world)->fleet();
  const auto within = [](auto index, const auto& all) { return !index.valid() || index.value < all.size(); };
  if (!passed.destination.valid() || !within(passed.destination, fleet.destinations) ||
      !within(passed.declared_tenant, fleet.tenants) || !within(passed.compliance, fleet.compliance))
    return differs("indices of snapshot " + std::to_string(record.snapshot), "others");
  const std::string_view data_class =
      passed.declared_tenant.valid() ? fleet.tenants[passed.declared_tenant.value].data_class : std::string_view();
  const std::string& destination = fleet.destinations[passed.destination.value].name;
  if (!(*world)->data_class_allowed(passed.compliance, data_class) ||
      (*world)->compliance(passed.compliance, data_class, passed.destination) != Exclusion::none)
    return differs("a destination that may see " + to_string(passed.id), destination);
  if (record.ordinal == 0) ++derived_.passed;
  return nothing();
}

/// The cell as the books have it now, gates included; a small one is judged by what its day holds so far.
Derivation::Found Derivation::closed(const event::Record& record, const event::SettlementClosed& closed) {
  if (const Result<const Snapshot*> fleet = fleets_.at(record.snapshot); !fleet) return Error(fleet.error());
  const Result<Cell> cell = ledger_.cell(record.snapshot, closed.hour, closed.tenant, closed.model);
  if (!cell && cell.error().code() == Errc::corrupt) return differs("a model of its snapshot", cell.error().what());
  if (!cell) return Error(cell.error());
  const Usd disallowed = cell->disallowed.sum();
  const event::SettlementClosed as_booked{closed.at,
                                          closed.hour,
                                          closed.tenant,
                                          closed.model,
                                          static_cast<std::int64_t>(cell->requests),
                                          cell->baseline,
                                          cell->actual,
                                          cell->claimed.sum() - disallowed,
                                          disallowed,
                                          static_cast<std::uint32_t>(cell->failed)};
  const auto text = [](const event::SettlementClosed& c) {
    return fmt::format(
        "{} requests, baseline {} USD, actual {} USD, counted {} USD, disallowed {} USD, gate {}", c.requests,
        to_decimal(c.baseline), to_decimal(c.actual), to_decimal(c.counted), to_decimal(c.disallowed),
        c.gate < kReasons ? std::string(ace::name_of(static_cast<Reason>(c.gate))) : std::to_string(c.gate));
  };
  if (as_booked != closed) return differs("a cell of " + text(as_booked), text(closed));
  ++derived_.cells;
  return nothing();
}

}  // namespace ace::verify
