/// One request on its way through the fold: from facts to what it cost, and back where a fact comes late.
#include <cmath>

#include "ledger/spine_state.h"

namespace ace {
namespace {

Result<void> beyond(const char* what) {
  return Error(Errc::corrupt, std::string(what) + " that the fleet of this event does not have");
}

/// A fact of another fleet under the numbers of the one the request was admitted under; none where it has no such.
OfferId translated(OfferId id, const Snapshot& from, const Snapshot& to) {
  if (!id.valid() || &from == &to) return id;
  const Fleet& theirs = from.fleet();
  const auto destination = to.fleet().destination(theirs.destinations[from[id].destination.value].name);
  const auto model = to.fleet().model(theirs.models[from[id].model.value].name);
  if (!destination || !model) return {};
  for (std::uint32_t o = 0; o < to.offers().size(); ++o)
    if (to.offers()[o].destination == *destination && to.offers()[o].model == *model) return OfferId{o};
  return {};
}

bool within(OfferId id, const Snapshot& fleet) { return !id.valid() || id.value < fleet.offers().size(); }

}  // namespace

void FoldedRequest::reset() {
  state = State::open;
  live = true;
  sequence = 0;
  era = 0;
  admitted = decided = completed = in_gap = semantic_hit = false;
  decided_ordinal = completed_ordinal = 0;
  hold_at = {};
  hold_output = 0;
  ticket = {};
  booked_cost = {};
  ordinals.clear();
  attempts.clear();
}

Result<void> SpineLedger::State::enter(FoldedRequest& request, const event::Record& record, std::uint32_t number) {
  const Snapshot& fleet = *eras[number].snapshot;
  if (const auto* const admitted = std::get_if<event::Admitted>(&record.event)) {
    const Fleet& f = fleet.fleet();
    if (admitted->requested.value >= f.models.size()) return beyond("a model");
    if (admitted->slo.valid() && admitted->slo.value >= f.slo_classes.size()) return beyond("an SLO class");
    if (admitted->compliance.valid() && admitted->compliance.value >= f.compliance.size())
      return beyond("a compliance class");
    if (admitted->declared_tenant.valid() && admitted->declared_tenant.value >= f.tenants.size())
      return beyond("a tenant");
    // What came before was under the numbers of its own fleet.
    if (request.era != number && (request.decided || request.completed || !request.attempts.empty())) {
      const Snapshot& before = *eras[request.era].snapshot;
      for (OfferId* offer : {&request.d.decision.chosen, &request.d.cheapest_payg, &request.c.offer})
        *offer = translated(*offer, before, fleet);
      for (event::Attempted& attempt : request.attempts) {
        attempt.offer = translated(attempt.offer, before, fleet);
        attempt.billed_as = translated(attempt.billed_as, before, fleet);
      }
    }
    request.admitted = true;
    request.era = number;
    request.a = *admitted;
    request.a.tenant = tenants.number_of(admitted->tenant);
    request.a.team = teams.number_of(admitted->team);
    request.a.project = projects.number_of(admitted->project);
    request.a.key = keys.number_of(admitted->key);
    return {};
  }
  if (!request.admitted && !request.decided && !request.completed && request.attempts.empty()) request.era = number;
  const Snapshot& own = *eras[request.era].snapshot;
  if (const auto* const decided = std::get_if<event::Decided>(&record.event)) {
    if (!within(decided->decision.chosen, fleet) || !within(decided->cheapest_payg, fleet)) return beyond("an offer");
    if (request.decided && record.ordinal < request.decided_ordinal) return {};
    request.decided = true;
    request.decided_ordinal = record.ordinal;
    request.d = *decided;
    request.d.decision.chosen = translated(decided->decision.chosen, fleet, own);
    request.d.cheapest_payg = translated(decided->cheapest_payg, fleet, own);
  } else if (const auto* const attempted = std::get_if<event::Attempted>(&record.event)) {
    if (!within(attempted->offer, fleet) || !within(attempted->billed_as, fleet)) return beyond("an offer");
    const auto at = std::lower_bound(request.ordinals.begin(), request.ordinals.end(), record.ordinal);
    const auto place = at - request.ordinals.begin();
    request.ordinals.insert(at, record.ordinal);
    event::Attempted attempt = *attempted;
    attempt.offer = translated(attempted->offer, fleet, own);
    attempt.billed_as = translated(attempted->billed_as, fleet, own);
    request.attempts.insert(request.attempts.begin() + place, attempt);
  } else if (const auto* const completed = std::get_if<event::Completed>(&record.event)) {
    if (!within(completed->offer, fleet)) return beyond("an offer");
    if (request.completed && record.ordinal < request.completed_ordinal) return {};
    request.completed = true;
    request.completed_ordinal = record.ordinal;
    request.c = *completed;
    request.c.offer = translated(completed->offer, fleet, own);
  } else if (const auto* const hit = std::get_if<event::CacheHit>(&record.event)) {
    request.semantic_hit = hit->kind == event::CacheHit::Kind::semantic;
  }
  return {};
}

const std::vector<std::uint32_t>& SpineLedger::State::budgets_for(const FoldedRequest& request) {
  static const std::vector<std::uint32_t> kNone;
  if (budgets.budgets().empty()) return kNone;
  const std::string& model = eras[request.era].snapshot->fleet().models[request.a.requested.value].name;
  const auto [at, fresh] = matching.try_emplace(
      {request.a.tenant, request.a.team, request.a.project, request.a.key, request.era, request.a.requested.value});
  if (fresh)
    at->second = budgets.matching({tenants.names()[request.a.tenant], teams.names()[request.a.team],
                                   projects.names()[request.a.project], keys.names()[request.a.key], model});
  return at->second;
}

void SpineLedger::State::admit(FoldedRequest& request, std::uint64_t sequence) {
  const Hold hold = eras[request.era].holds->worst_case(request.a);
  request.hold_at = hold.dearest;
  request.hold_output = hold.output.value;
  // Where a gate stood, as the gate counted it; a log that was ingested comes in any order.
  const bool gated = eras[request.era].declared.source == event::FleetChanged::Source::live;
  request.ticket =
      budgets.hold(budgets_for(request), hold.amount, gated ? budgets.advance(request.a.at) : request.a.at);
  entry.add({Account::Kind::held, request.a.tenant}, hold.amount);
  entry.add({Account::Kind::reserve, 0}, -hold.amount);
  commit(JournalEntry::What::reserve, sequence, request.a.at, request.id);
}

bool SpineLedger::State::in_gap(const FoldedRequest& request) const {
  const Instant when = request.decided ? request.d.at : request.a.at;
  return std::any_of(gaps.begin(), gaps.end(),
                     [&](const event::Gap& gap) { return when >= gap.from && when < gap.to; });
}

Settled SpineLedger::State::settle(const FoldedRequest& request) const {
  const FleetEra& era = eras[request.era];
  event::Completed completed = request.c;
  std::span<const event::Attempted> attempts = request.attempts;
  std::vector<event::Attempted> with_estimate;
  if (request.state == FoldedRequest::State::estimated) {
    // Nobody says how it ended. It counts as not served, so that it can save nothing, and costs what is known; where no
    // answer is known, what was decided at the length that was predicted, else the hold.
    completed = {};
    completed.id = request.id;
    completed.at = request.a.at;
    completed.outcome = event::Outcome::not_served;
    const bool answered =
        std::any_of(attempts.begin(), attempts.end(), [](const event::Attempted& a) { return a.answered; });
    event::Attempted lost;
    lost.id = request.id;
    lost.from = lost.to = lost.energy_hour = request.a.at;
    lost.offer = request.decided ? request.d.decision.chosen : request.hold_at;
    const double mean = request.d.predicted.output_mean;
    // A predicted count of tokens becomes a billed one: to the nearest, within the hold.
    const std::int64_t output = request.decided && mean >= 0.0 && mean < 1e9
                                    ? std::min(static_cast<std::int64_t>(mean + 0.5), request.hold_output)
                                    : request.hold_output;
    lost.billed = Usage(request.a.prompt, Tokens{0}, Tokens{output});
    if (!answered && lost.offer.valid()) {
      with_estimate.assign(attempts.begin(), attempts.end());
      with_estimate.push_back(lost);
      attempts = with_estimate;
    }
  }
  // What ACE dispatched without a word on why cannot be made again, and saves nothing that counts.
  const bool ran = completed.outcome == event::Outcome::served || completed.outcome == event::Outcome::client_abort;
  const bool unexplained = ran && !request.decided && era.declared.source != event::FleetChanged::Source::observed;
  if (request.in_gap || unexplained) completed.in_gap = true;
  if (request.semantic_hit) completed.exact_match = false;
  return settle_recorded(*era.settler, era.declared.source, request.a, request.decided ? &request.d : nullptr, attempts,
                         completed);
}

void SpineLedger::State::book(FoldedRequest& request, int sign) {
  FleetEra& era = eras[request.era];
  const Settled settled = settle(request);
  const Ledger::Receipt receipt = era.accounts.book(*era.settler, ledger_options, settled, sign);
  if (settled.completed.observed_cost_nano >= 0)
    era.accounts.compare(receipt, Usd{settled.completed.observed_cost_nano}, sign);
  const Usd cost = settled.chain.c[4];
  const auto signed_amount = [sign](Usd amount) { return sign > 0 ? amount : -amount; };
  if (sign > 0) request.booked_cost = cost;
  const bool estimated = request.state == FoldedRequest::State::estimated;
  if (estimated) {
    FoldedFacts& facts = era.facts[day_of(request.a.at)];
    facts.estimated += static_cast<std::uint64_t>(std::int64_t{sign});
    facts.estimated_cost += signed_amount(cost);
  }
  entry.add({estimated ? Account::Kind::estimated : Account::Kind::spent, request.a.tenant}, signed_amount(cost));
  // Each attempt is owed where it ran; what is left is the look-up, or an answer of which no attempt says. What a log
  // says is for all of them, and owed where the last one ran.
  const bool logged = settled.completed.observed_cost_nano >= 0 && settled.grade == Grade::observed;
  Usd rest = cost;
  OfferId owed = settled.completed.offer;
  for (const event::Attempted& attempt : request.attempts) {
    if (!attempt.offer.valid()) continue;
    const OfferId billed = attempt.billed_as.valid() ? attempt.billed_as : attempt.offer;
    if (logged) {
      owed = billed;
      continue;
    }
    const Usd paid = era.settler->paid({&attempt, 1});
    entry.add({Account::Kind::destination, era.destinations[(*era.snapshot)[billed].destination.value]},
              signed_amount(-paid));
    rest -= paid;
  }
  if (rest == Usd{}) return;
  if (estimated) owed = request.decided ? request.d.decision.chosen : request.hold_at;
  if (owed.valid())
    entry.add({Account::Kind::destination, era.destinations[(*era.snapshot)[owed].destination.value]},
              signed_amount(-rest));
  else
    entry.add(
        {settled.completed.outcome == event::Outcome::cache_hit ? Account::Kind::look_ups : Account::Kind::elsewhere,
         0},
        signed_amount(-rest));
}

void SpineLedger::State::end(FoldedRequest& request, FoldedRequest::State how, std::uint64_t sequence, Instant at) {
  request.state = how;
  request.in_gap = in_gap(request);
  entry.add({Account::Kind::held, request.a.tenant}, -request.ticket.held);
  entry.add({Account::Kind::reserve, 0}, request.ticket.held);
  book(request, 1);
  // Nobody knows when a request ended whose process died; surely not when the next one started.
  budgets.post(request.ticket, request.booked_cost, how == FoldedRequest::State::estimated ? latest : at);
  using What = JournalEntry::What;
  const What what = how == FoldedRequest::State::estimated ? What::estimate
                    : request.booked_cost == Usd{}         ? What::release
                                                           : What::post;
  commit(what, sequence, at, request.id);
}

}  // namespace ace
