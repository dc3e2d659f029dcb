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
  const Fleet& f = fleet.fleet();
  const std::string_view data_class =
      admitted.declared_tenant.valid() ? f.tenants[admitted.declared_tenant.value].data_class : std::string_view();
  const SloId slo = admitted.slo.valid() ? admitted.slo : f.default_slo;
  const auto cheapest = fleet.cheapest_payg(fleet[chosen].model, admitted.compliance, data_class, usage,
                                            admitted.batch || f.slo_classes[slo.value].deferrable());
  return cheapest ? cheapest->offer : OfferId{};
}

bool kept(const SloClass& slo, const event::Admitted& admitted, const event::Completed& completed) {
  return (!slo.ttft || completed.ttft <= *slo.ttft) && (!slo.tpot || completed.tpot <= *slo.tpot) &&
         (!slo.deadline || completed.at - admitted.at <= *slo.deadline);
}

/// Are all indices that settling a request looks up within its fleet?
bool within(const Snapshot& fleet, const event::Admitted& admitted, std::span<const event::Attempted> attempts,
            const event::Completed& completed) {
  const Fleet& f = fleet.fleet();
  const auto in = [](auto index, std::size_t size) { return !index.valid() || index.value < size; };
  const auto offered = [&](OfferId offer) { return in(offer, fleet.offers().size()); };
  return in(admitted.requested, f.models.size()) && in(admitted.slo, f.slo_classes.size()) &&
         in(admitted.compliance, f.compliance.size()) && in(admitted.declared_tenant, f.tenants.size()) &&
         offered(completed.offer) && std::all_of(attempts.begin(), attempts.end(), [&](const event::Attempted& a) {
           return offered(a.offer) && offered(a.billed_as);
         });
}

}  // namespace

Derived Derivation::derived() const {
  Derived derived = derived_;
  derived.open = open_.size();
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

Derivation::Found Derivation::hear(std::string_view payload) {
  const Result<event::Record> read = event::decode(payload);
  if (!read && read.error().code() == Errc::bad_input) {
    ++derived_.unknown;
    return nothing();
  }
  if (!read) return differs("an event", read.error().what());
  const event::Record& record = *read;
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
  } else if (const auto* cell = std::get_if<event::SettlementClosed>(&record.event)) {
    return closed(record, *cell);
  } else if (std::holds_alternative<event::FleetChanged>(record.event)) {
    fleets_.hear(record);
  } else if (const auto* own = std::get_if<Lifecycle>(&record.event)) {
    // Whoever starts has forgotten what it knew of the world, and says anew what differs from its priors.
    if (own->what == Lifecycle::What::started || own->what == Lifecycle::What::recovered) worlds_.clear();
  } else if (record.snapshot != 0) {
    const Result<event::Hindsight*> world = hindsight(record.snapshot);
    if (!world) return Error(world.error());
    (*world)->hear(record.event);
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
  const auto found = open_.find(attempted.id);
  if (found == open_.end()) return differs("an attempt for a request that is open", to_string(attempted.id));
  Open& open = found->second;
  open.attempts.push_back(attempted);
  if (open.decisions == 0) return nothing();
  const std::size_t n = open.attempts.size();
  const Snapshot& fleet = **fleets_.at(record.snapshot);
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
  if (found == open_.end()) return differs("the end of a request that is open", to_string(completed.id));
  const Open open = std::move(found->second);
  open_.erase(found);
  ++derived_.requests;
  const Result<const Snapshot*> fleet = fleets_.at(record.snapshot);
  if (!fleet) return Error(fleet.error());
  if (!within(**fleet, open.admitted, open.attempts, completed))
    return differs("indices of snapshot " + std::to_string(record.snapshot), "others for " + to_string(completed.id));
  if (open.decisions == 0) {
    ++derived_.undecided;
  } else if (Found found_wrong = follows(**fleet, open, completed); !found_wrong || *found_wrong) {
    return found_wrong;
  }
  settle(**fleet, record.snapshot, open, completed);
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
        completed.verdict != open.verdict)
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
  const Fleet& f = fleet.fleet();
  const SloId slo = open.admitted.slo.valid() ? open.admitted.slo : f.default_slo;
  if (completed.slo_met != kept(f.slo_classes[slo.value], open.admitted, completed))
    return differs(fmt::format("SLO {}{}, by the limits of its class", completed.slo_met ? "missed" : "met", of()),
                   completed.slo_met ? "met" : "missed");
  return nothing();
}

void Derivation::settle(const Snapshot& fleet, std::uint64_t snapshot, const Open& open,
                        const event::Completed& completed) {
  // A log that was brought in may not say where a request ran, and then nobody can say what it cost.
  if (!open.admitted.requested.valid() || std::any_of(open.attempts.begin(), open.attempts.end(),
                                                      [](const event::Attempted& a) { return !a.offer.valid(); }))
    return;
  const Settler& settler = settlers_.try_emplace(snapshot, fleet).first->second;
  event::Decided decided;  // only C3 asks where else it might have gone
  decided.id = completed.id;
  const Settled settled = settler.settle(open.admitted, decided, open.attempts, completed);
  Cell& cell = cells_[{hour_of(open.admitted.at), open.admitted.tenant,
                       fleet.fleet().models[open.admitted.requested.value].name}];
  ++cell.requests;
  cell.baseline += settled.chain.c[0];
  cell.actual += settled.chain.c[4];
  derived_.baseline += settled.chain.c[0];
  derived_.actual += settled.chain.c[4];
}

Derivation::Found Derivation::closed(const event::Record& record, const event::SettlementClosed& closed) {
  const Result<const Snapshot*> fleet = fleets_.at(record.snapshot);
  if (!fleet) return Error(fleet.error());
  const Fleet& f = (*fleet)->fleet();
  if (closed.model.value >= f.models.size())
    return differs("a model of its snapshot", std::to_string(closed.model.value));
  const Cell cell = cells_[{closed.hour, closed.tenant, f.models[closed.model.value].name}];
  const auto text = [](std::int64_t requests, Usd baseline, Usd actual) {
    return fmt::format("{} requests, baseline {} USD, actual {} USD", requests, to_decimal(baseline),
                       to_decimal(actual));
  };
  if (cell.requests != closed.requests || cell.baseline != closed.baseline || cell.actual != closed.actual)
    return differs("a cell of " + text(cell.requests, cell.baseline, cell.actual),
                   text(closed.requests, closed.baseline, closed.actual));
  ++derived_.cells;
  return nothing();
}

}  // namespace ace::verify
