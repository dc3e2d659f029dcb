/// The fold: one settled request into its accounts. Integers only, no allocation except for a new account.
#include "ledger/ledger.h"

#include <algorithm>

#include "ledger/fold.h"

namespace ace {
namespace fold {

Slot& Slot::operator+=(const Slot& o) {
  requests += o.requests;
  served += o.served;
  slo_met += o.slo_met;
  gated_requests += o.gated_requests;
  inexact_hits += o.inexact_hits;
  disproven += o.disproven;
  baseline += o.baseline;
  actual += o.actual;
  claimed += o.claimed;
  withheld += o.withheld;
  gated += o.gated;
  other += o.other;
  cheapest += o.cheapest;
  assumed += o.assumed;
  all_payg += o.all_payg;
  all_payg_uncached += o.all_payg_uncached;
  return *this;
}

Used& Used::operator+=(const Used& o) {
  requests += o.requests;
  input += o.input;
  cached += o.cached;
  output += o.output;
  parts += o.parts;
  marginal += o.marginal;
  baseline += o.baseline;
  logged_requests += o.logged_requests;
  logged += o.logged;
  by_prices += o.by_prices;
  return *this;
}

Totals& Totals::operator+=(const Totals& o) {
  if (o.any) {
    first = any ? std::min(first, o.first) : o.first;
    last = any ? std::max(last, o.last) : o.last;
    any = true;
  }
  requests += o.requests;
  cache_hits += o.cache_hits;
  aborted += o.aborted;
  spilled += o.spilled;
  retried += o.retried;
  observed_requests += o.observed_requests;
  untimed += o.untimed;
  priced_requests += o.priced_requests;
  reserve_short += o.reserve_short;
  for (std::size_t i = 0; i < not_served_by_verdict.size(); ++i) not_served_by_verdict[i] += o.not_served_by_verdict[i];
  for (std::size_t i = 0; i < kReasons; ++i) {
    requests_by_reason[i] += o.requests_by_reason[i];
    disallowed_by_reason[i] += o.disallowed_by_reason[i];
    excluded_c0[i] += o.excluded_c0[i];
  }
  input += o.input;
  cached += o.cached;
  output += o.output;
  goodput += o.goodput;
  denominator += o.denominator;
  observed += o.observed;
  for (std::size_t i = 0; i < coalitions.size(); ++i) coalitions[i] += o.coalitions[i];
  return *this;
}

}  // namespace fold

namespace {

/// Adds to accounts, or takes back.
class Entry {
 public:
  explicit Entry(int sign) : sign_(sign) {}
  void operator()(Usd& account, Usd amount) const { sign_ > 0 ? account += amount : account -= amount; }
  void operator()(Levers& account, const Levers& amount) const { sign_ > 0 ? account += amount : account -= amount; }
  void operator()(TokenParts& account, const TokenParts& part) const { sign_ > 0 ? account += part : account -= part; }
  void operator()(std::int64_t& account, std::int64_t count) const { account += sign_ * count; }
  void operator()(std::uint64_t& account, bool counts = true) const {
    if (counts) account += static_cast<std::uint64_t>(std::int64_t{sign_});  // modulo 2^64: -1 takes one back
  }
  void operator()(fold::One& account, Usd baseline, Usd saving, const AllowedAmount& allowed) const {
    (*this)(account.requests);
    (*this)(account.baseline, baseline);
    (*this)(account.claimed, saving);
    (*this)(account.withheld, allowed.withheld);
    (*this)(account.gated, allowed.gated);
  }

 private:
  int sign_;
};

/// The parts of an allowance, each as one amount.
AllowedAmount sums(const Allowance& a) { return {a.withheld.sum(), a.gated.sum(), a.loss.sum()}; }

constexpr std::size_t index(Reason reason) { return static_cast<std::size_t>(reason); }

}  // namespace

Ledger::Receipt fold::Accounts::book(const Settler& settler, const Ledger::Options& options, const Settled& given,
                                     int sign) {
  Settled rebased;
  const Settled* request = &given;
  if (options.baseline == BaselineKind::all_payg_uncached) {
    rebased = against_uncached(given);
    request = &rebased;
  }
  const Settled& s = *request;
  const Entry enter(sign);
  const event::Admitted& admitted = s.admitted;
  const event::Completed& completed = s.completed;
  const bool answered = s.answered(), hit = completed.outcome == event::Outcome::cache_hit;
  const bool met = answered && completed.slo_met;
  const Usd c0 = s.chain.c[0], c4 = s.chain.c[4];
  const Allowance allowance = allow(s, options.gates);

  Ledger::Receipt receipt;
  receipt.slot = slots.number_of({hour_of(admitted.at), admitted.tenant, admitted.requested, admitted.slo});
  receipt.answered = answered;
  receipt.excluded = given.excluded != Reason::none;
  receipt.reason = allowance.reason;
  receipt.actual = c4;
  receipt.withheld_lever = allowance.withheld_lever;
  fold::Slot& slot = slots.at(receipt.slot);
  enter(slot.requests);
  enter(slot.served, answered);
  enter(slot.slo_met, met);
  enter(slot.inexact_hits, hit && !completed.exact_match);
  enter(slot.disproven, answered && s.quality_disproven);
  const bool gated = allowance.gated != Levers{};
  enter(slot.gated_requests, gated);
  enter(slot.baseline, c0);
  enter(slot.actual, c4);
  enter(slot.claimed, levers_of(s.chain));
  if (gated) enter(slot.gated, allowance.gated);
  const bool withheld = allowance.withheld != Levers{};
  if (withheld) enter(slot.withheld, allowance.withheld);
  const Usd cheapest = answered ? s.cheapest_compliant_baseline : Usd{};
  // What has no baseline saves nothing and is in no denominator.
  const bool priced = answered && given.excluded == Reason::none;
  enter(slot.cheapest, priced ? cheapest : Usd{}, cheapest - c4, allow_amount(cheapest - c4, allowance));
  // Both forms of all-PAYG, whichever the levers decompose. The parts of a chain tell what is withheld where one lever
  // is.
  const Usd priced_c0 = priced ? given.chain.c[0] : Usd{};
  const bool whole = allowance.lever_reason == Reason::none;
  enter(slot.all_payg, priced_c0, given.chain.saving(),
        whole ? allow_amount(given.chain.saving(), allowance) : sums(allow(given, options.gates)));
  const Usd uncached = answered ? given.uncached_baseline : Usd{};
  enter(slot.all_payg_uncached, priced ? uncached : Usd{}, uncached - c4,
        whole ? allow_amount(uncached - c4, allowance) : sums(allow(against_uncached(given), options.gates)));
  if (s.baseline_assumed) enter(slot.assumed, c0, c0 - c4, sums(allowance));

  const Usage& tokens = completed.usage;
  const Tokens prompt = answered ? tokens.prompt() : Tokens{}, completion = answered ? tokens.completion() : Tokens{};
  const std::int64_t cached = answered ? tokens[Unit::cached_input] : 0;
  fold::UsageKey key{hour_of(admitted.at), admitted.tenant, admitted.team, admitted.project, s.used, {}, admitted.slo};
  if (const OfferId billed = s.billed_offer(); answered && billed.valid())
    key.destination = settler.snapshot()[billed].destination;
  fold::Used& used = usage[key];
  enter(used.requests);
  enter(used.input, prompt.value - cached);
  enter(used.cached, cached);
  enter(used.output, completion.value);
  if (answered) enter(used.parts, parts_of(tokens));
  enter(used.marginal, c4);
  enter(used.baseline, c0);
  if (s.by_prices) {
    enter(used.logged_requests);
    enter(used.logged, c4);
    enter(used.by_prices, *s.by_prices);
  }

  fold::Totals& t = days[{day_of(admitted.at)}];
  const Instant end = std::max(admitted.at, completed.at);
  t.first = t.any ? std::min(t.first, admitted.at) : admitted.at;
  t.last = t.any ? std::max(t.last, end) : end;
  t.any = true;
  enter(t.requests);
  enter(t.cache_hits, hit);
  enter(t.aborted, completed.outcome == event::Outcome::client_abort);
  enter(t.spilled, s.spilled);
  enter(t.retried, s.attempts > 1);
  enter(t.reserve_short, s.ran() && s.decided.decision.reserve_short);  // its last decision sent it
  if (!answered) enter(t.not_served_by_verdict[static_cast<std::size_t>(completed.verdict)]);
  enter(t.input, prompt.value - cached);
  enter(t.cached, cached);
  enter(t.output, completion.value);
  if (met && !hit) enter(t.goodput, completion.value);
  if (answered) enter(minutes[{floor_div(nanos(admitted.at), nanos(kMinute))}], (prompt + completion).value);
  if (answered && s.excluded == Reason::none) {
    enter(t.priced_requests);
    enter(t.denominator, c0);
  }
  if (s.excluded != Reason::none) enter(t.excluded_c0[index(s.excluded)], c0);
  if (allowance.lever_reason != Reason::none) {
    enter(t.requests_by_reason[index(allowance.lever_reason)]);
    enter(t.disallowed_by_reason[index(allowance.lever_reason)], allowance.withheld_lever);
  }
  const Usd rest = allowance.withheld.sum() - allowance.withheld_lever;
  if (!answered || s.excluded != Reason::none || rest != Usd{}) {
    enter(t.requests_by_reason[index(allowance.reason)]);
    enter(t.disallowed_by_reason[index(allowance.reason)], rest);
  }
  const SloClass& promise = settler.slo(admitted.slo);
  const bool answered_by_model = answered && !hit;
  enter(t.untimed, s.grade == Grade::observed && answered_by_model &&
                       ((promise.ttft && completed.ttft == Duration{0}) ||
                        ((promise.deadline || promise.tpot) && completed.at == admitted.at)));
  if (completed.observed_cost_nano >= 0) {
    enter(t.observed_requests);
    enter(t.observed, Usd{completed.observed_cost_nano});
  }
  if (options.shapley) {
    const Coalitions v = settler.coalitions(s);
    for (std::size_t i = 0; i < v.size(); ++i) enter(t.coalitions[i], v[i]);
  }
  return receipt;
}

void fold::Accounts::compare(const Ledger::Receipt& r, Usd other_baseline, int sign) {
  const Usd paid = !r.answered ? Usd{} : r.excluded ? r.actual : other_baseline;
  Allowance allowance;
  allowance.reason = r.reason;
  allowance.withheld_lever = r.withheld_lever;
  const Usd saving = paid - r.actual;
  const Entry enter(sign);
  enter(slots.at(r.slot).other, r.answered && !r.excluded ? paid : Usd{}, saving, allow_amount(saving, allowance));
}

void fold::Accounts::book(const event::FixedCost& cost, int sign) {
  const Entry enter(sign);
  const Fixed whole = part_of(cost);
  Fixed& account = fixed[{cost.destination, cost.kind}];
  enter(account.amount, whole.amount);
  enter(account.used, whole.used);
}

fold::Fixed fold::part_of(const event::FixedCost& cost, const Period& period) {
  // Of capacity whose use nobody states all is idle; ACE's own hosts serve everybody.
  const std::int64_t ppm = !cost.destination.valid() ? 1'000'000 : std::max<std::int64_t>(cost.used_ppm, 0);
  ACE_CHECK(ppm <= 1'000'000, "no more than the whole of a capacity is used");
  const Usd used{static_cast<std::int64_t>(divide_half_away(int128{cost.amount.nano} * ppm, 1'000'000))};
  return part_of({cost.amount, used}, cost.from, cost.to, period);
}

fold::Fixed fold::part_of(const Fixed& whole, Instant from, Instant to, const Period& period) {
  if (period.all()) return whole;
  const std::int64_t length = nanos(to - from);
  if (length <= 0) return period.holds(from) ? whole : Fixed{};
  const auto part = [&](Usd amount) {
    const auto until = [&](Instant t) {
      const std::int64_t passed = nanos(std::clamp(t, from, to) - from);
      return static_cast<std::int64_t>(divide_half_away(int128{amount.nano} * passed, length));
    };
    return Usd{until(period.to) - until(period.from)};
  };
  return {part(whole.amount), part(whole.used)};
}

namespace {

std::uint32_t renamed(const std::vector<std::uint32_t>& to, std::uint32_t symbol) {
  return to.empty() ? symbol : to[symbol];
}
template <class Tag>
Index<Tag> renamed(const std::vector<std::uint32_t>& to, Index<Tag> id) {
  return to.empty() || !id.valid() ? id : Index<Tag>{to[id.value]};
}

}  // namespace

void fold::Accounts::merge(const Accounts& other, const Renaming& to) {
  for (const auto& [key, slot] : other.slots.entries())
    slots[{key.hour, renamed(to.tenants, key.tenant), renamed(to.models, key.model),
           renamed(to.slo_classes, key.slo)}] += slot;
  for (const auto& [key, used] : other.usage.entries())
    usage[{key.hour, renamed(to.tenants, key.tenant), renamed(to.teams, key.team), renamed(to.projects, key.project),
           renamed(to.models, key.model), renamed(to.destinations, key.destination),
           renamed(to.slo_classes, key.slo)}] += used;
  minutes.merge(other.minutes);
  days.merge(other.days);
  for (const auto& [key, amount] : other.fixed) fixed[{renamed(to.destinations, key.first), key.second}] += amount;
}

fold::Totals fold::Accounts::totals(const Period& period) const {
  Totals sum;
  for (const auto& [key, day] : days.entries())
    if (period.holds(instant(key.day * nanos(kDay)))) sum += day;
  return sum;
}

fold::Accounts fold::Accounts::within(const Period& period) const {
  Accounts part;
  for (const auto& [key, slot] : slots.entries())
    if (period.holds(instant(key.hour * nanos(kHour)))) part.slots[key] = slot;
  for (const auto& [key, used] : usage.entries())
    if (period.holds(instant(key.hour * nanos(kHour)))) part.usage[key] = used;
  for (const auto& [key, tokens] : minutes.entries())
    if (period.holds(instant(key.minute * nanos(kMinute)))) part.minutes[key] = tokens;
  for (const auto& [key, day] : days.entries())
    if (period.holds(instant(key.day * nanos(kDay)))) part.days[key] = day;
  return part;
}

fold::Measures fold::measures_of(const Settler& settler) {
  const Fleet& fleet = settler.snapshot().fleet();
  Measures measures{{}, fleet.slo_classes, fleet.default_slo};
  for (std::uint32_t m = 0; m < fleet.models.size(); ++m) measures.weights.push_back(settler.weights(ModelId{m}));
  return measures;
}

std::vector<Reservation> reservations_of(const Fleet& fleet, std::vector<std::string>& tenants) {
  std::vector<Reservation> all;
  for (const Tenant& tenant : fleet.tenants) {
    if (tenant.reserved.empty()) continue;
    auto at = std::find(tenants.begin(), tenants.end(), tenant.name);
    if (at == tenants.end()) at = tenants.insert(at, tenant.name);
    for (const ReservedShare& share : tenant.reserved)
      all.push_back({share.destination, static_cast<std::uint32_t>(at - tenants.begin()), share.share_ppm});
  }
  return all;
}

Ledger::Ledger(const Snapshot& fleet, const Options& options) : state_(std::make_unique<State>(fleet, options)) {
  reserve(options.reservations);
}

void Ledger::reserve(std::vector<Reservation> reservations) {
  std::map<DestinationId, std::int64_t> reserved;
  for (const Reservation& r : reservations)
    ACE_CHECK(r.share_ppm >= 0 && (reserved[r.destination] += r.share_ppm) <= 1'000'000,
              "the reserved shares of a destination are at most the whole of it");
  state_->options.reservations = std::move(reservations);
}
Ledger::~Ledger() = default;
Ledger::Ledger(Ledger&&) noexcept = default;
Ledger& Ledger::operator=(Ledger&&) noexcept = default;

Ledger::Receipt Ledger::add(const Settled& request) {
  return state_->accounts.book(state_->settler, state_->options, request, 1);
}

void Ledger::compare(const Receipt& receipt, Usd other_baseline) { state_->accounts.compare(receipt, other_baseline); }

void Ledger::compensate(const Settled& booked, const Settled& right) {
  ACE_CHECK(booked.admitted.id == right.admitted.id, "a compensating entry is about the request it corrects");
  state_->accounts.book(state_->settler, state_->options, booked, -1);
  state_->accounts.book(state_->settler, state_->options, right, 1);
}

void Ledger::add(const event::FixedCost& cost) { state_->accounts.book(cost); }

Result<void> Ledger::add(const event::GpuBooking& booking) { return state_->bookings.add(booking); }

void Ledger::merge(const Ledger& other) {
  state_->accounts.merge(other.state_->accounts);
  ACE_CHECK(state_->bookings.merge(other.state_->bookings).has_value(), "a GPU-millisecond is booked in two ledgers");
}

Statement Ledger::close(const SymbolNames& names) const {
  return fold::close(state_->accounts, state_->bookings, fold::measures_of(state_->settler), state_->options, names);
}

}  // namespace ace
