#include "verify/derive.h"

#include <fmt/format.h>

#include <algorithm>

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
  const auto of = [&] { return " for " + to_string(completed.id); };
  if (open.decisions == 0) {
    ++derived_.undecided;
    return nothing();
  }
  const Snapshot& fleet = **fleets_.at(record.snapshot);
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

}  // namespace ace::verify
