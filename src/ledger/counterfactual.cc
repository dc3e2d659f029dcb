#include "ledger/counterfactual.h"

#include <algorithm>
#include <limits>

#include "core/statistics.h"
#include "ledger/usage.h"

namespace ace {
namespace {

/// Refused before any work was done on it.
bool turned_away(Rejection why) {
  return why == Rejection::throttled || why == Rejection::overloaded || why == Rejection::refused;
}

/// Do its audits show fewer answers as good as the requested model's than were promised?
bool disproven(const Equivalent& pair) {
  return pair.audit.judged > 0 && wilson_upper(pair.audit.good, pair.audit.judged) < pair.quality_min;
}

}  // namespace

std::string_view name_of(Lever lever) {
  constexpr std::array<std::string_view, kLevers> names = {"caching", "routing", "arbitrage", "utilization"};
  return names[static_cast<std::size_t>(lever)];
}

std::string_view name_of(Reason reason) {
  constexpr std::array<std::string_view, kReasons> names = {
      "none",           "unpriced",     "no_baseline",           "slo_request", "cell_served_fraction",
      "cell_slo",       "cell_quality", "insufficient_evidence", "gap",         "not_served",
      "assumed_routing"};
  return names[static_cast<std::size_t>(reason)];
}

/// Does `a` ask at most what `b` asks for any usage that `b` serves? Decided for rows of one context tier.
bool Settler::never_dearer(const Quote& a, const Quote& b) {
  if (a.row->tiers.size() != 1 || b.row->tiers.size() != 1) return false;
  if (only_for_deferrable(a.service) != only_for_deferrable(b.service)) return false;
  if (a.context_max < b.context_max) return false;
  if (a.output_max.value > 0 && (b.output_max.value == 0 || a.output_max < b.output_max)) return false;
  const auto at_most = [&](const Rates& left, const Rates& right) {
    if ((right.mask() & ~left.mask()) != 0) return false;
    for (std::size_t i = 0; i < kUnits; ++i) {
      const auto unit = static_cast<Unit>(i);
      if (right[unit] && int128{left.priced(unit).nano} * a.uplift_ppm > int128{right.priced(unit).nano} * b.uplift_ppm)
        return false;
    }
    return true;
  };
  const auto& left = a.row->tiers.front().by_service;
  const auto& right = b.row->tiers.front().by_service;
  const auto batch = static_cast<std::size_t>(ServiceTier::batch);
  return at_most(left[static_cast<std::size_t>(a.service)], right[static_cast<std::size_t>(b.service)]) &&
         at_most(left[batch], right[batch]);
}

void Settler::prune(Market& market) {
  std::vector<Quote> best;
  for (const Quote& quote : market.payg) {
    if (std::any_of(best.begin(), best.end(), [&](const Quote& other) { return never_dearer(other, quote); })) continue;
    std::erase_if(best, [&](const Quote& other) { return never_dearer(quote, other); });
    best.push_back(quote);
  }
  market.payg = std::move(best);
  if (!market.standard || market.payg.size() != 1) return;
  const Quote& only = market.payg.front();
  market.standard_is_cheapest = only.row == market.standard->row && only.service == market.standard->service &&
                                only.uplift_ppm == market.standard->uplift_ppm && !only_for_deferrable(only.service);
}

Settler::Settler(const Snapshot& snapshot)
    : snapshot_(&snapshot), data_classes_(snapshot.fleet()), models_(snapshot.fleet().models.size()) {
  const Fleet& fleet = snapshot.fleet();
  markets_.resize((fleet.compliance.size() + 1) * data_classes_.size() * models_);
  for (std::size_t rule = 0; rule <= fleet.compliance.size(); ++rule)
    for (std::size_t data = 0; data < data_classes_.size(); ++data) {
      Market* const row = &markets_[(rule * data_classes_.size() + data) * models_];
      const ComplianceId id = rule == 0 ? ComplianceId{} : ComplianceId{static_cast<std::uint32_t>(rule - 1)};
      const auto may = [&](DestinationId destination) {
        return snapshot.compliance(id, data_classes_[data], destination) == Exclusion::none;
      };
      for (std::size_t m = 0; m < models_; ++m) {
        const std::optional<Baseline>& baseline = fleet.models[m].baseline;
        if (!baseline || !may(baseline->destination)) continue;
        const Destination& seller = fleet.destinations[baseline->destination.value];
        const std::optional<OfferId> there = offer_at(baseline->destination, ModelId{static_cast<std::uint32_t>(m)});
        const Offer* const limits = there ? &snapshot[*there] : nullptr;
        row[m].standard = Quote{&fleet.prices.rows[baseline->price.value], seller.service, seller.uplift_ppm,
                                limits ? limits->context_max : Tokens{std::numeric_limits<std::int64_t>::max()},
                                limits ? limits->output_max : Tokens{0}};
        row[m].contracted = baseline->contracted;
      }
      for (const Offer& offer : snapshot.offers()) {
        if (offer.tier != Tier::payg || !offer.price || !may(offer.destination)) continue;
        const Destination& seller = fleet.destinations[offer.destination.value];
        row[offer.model.value].payg.push_back({&fleet.prices.rows[offer.price->value], seller.service,
                                               seller.uplift_ppm, offer.context_max, offer.output_max});
      }
      for (std::size_t m = 0; m < models_; ++m) prune(row[m]);
    }
  for (const Model& model : fleet.models) {
    Weights w;
    if (model.baseline) {
      const Rates& rates = rates_for(fleet.prices.rows[model.baseline->price.value], Tokens{0}, ServiceTier::standard);
      const auto input = rates[Unit::input], cached = rates[Unit::cached_input], output = rates[Unit::output];
      if (input && output && input->nano > 0 && output->nano >= 0) {
        const auto ratio = [&](UsdPerMtok price) {
          const int128 ppm = divide_half_away(int128{price.nano} * 1'000'000, input->nano);
          return static_cast<std::int64_t>(std::clamp<int128>(ppm, 0, 1'000'000'000));
        };
        w = {1'000'000, cached ? ratio(*cached) : 1'000'000, ratio(*output)};
      }
    }
    weights_.push_back(w);
  }
}

const SloClass& Settler::slo(SloId id) const {
  const Fleet& fleet = snapshot_->fleet();
  return fleet.slo_classes[id.valid() ? id.value : fleet.default_slo.value];
}

bool Settler::deferrable(const event::Admitted& admitted) const {
  return admitted.batch || slo(admitted.slo).deferrable();
}

const Settler::Market& Settler::market(const event::Admitted& admitted, ModelId model) const {
  const std::size_t rule = admitted.compliance.valid() ? admitted.compliance.value + 1U : 0;
  return markets_[(rule * data_classes_.size() + data_classes_.of(admitted.declared_tenant)) * models_ + model.value];
}

Result<Usd> Settler::price(const Quote& quote, const Usage& usage, bool deferrable) {
  return price_of(usage, *quote.row, deferrable ? ServiceTier::batch : quote.service, quote.uplift_ppm);
}

bool Settler::takes(const Quote& quote, const Usage& usage) {
  const Tokens completion = usage.completion();
  return usage.prompt() + completion <= quote.context_max &&
         (quote.output_max.value == 0 || completion <= quote.output_max);
}

Result<Usd> Settler::cheapest(const Market& market, const Usage& usage, bool deferrable) {
  std::optional<Usd> least;
  bool offered = false;
  for (const Quote& quote : market.payg) {
    if (only_for_deferrable(quote.service) && !deferrable) continue;
    if (!takes(quote, usage)) continue;
    offered = true;
    if (const Result<Usd> asked = price(quote, usage, deferrable); asked && (!least || *asked < *least)) least = *asked;
  }
  if (least) return *least;
  if (offered) return Error(Errc::unpriced, "no compliant offer prices every unit that was used");
  return Error(Errc::not_found, "no compliant pay-as-you-go offer");
}

Result<Usd> Settler::standard(const Market& market, const Usage& usage, bool deferrable) {
  return market.standard && takes(*market.standard, usage) ? price(*market.standard, usage, deferrable)
                                                           : cheapest(market, usage, deferrable);
}

/// A batch or flex price stands for a request only if its class may wait; the others see the standard price there.
Result<Usd> Settler::at_offer(OfferId id, const Usage& usage, Instant at, bool deferrable) const {
  const Offer& offer = (*snapshot_)[id];
  const Destination& seller = snapshot_->fleet().destinations[offer.destination.value];
  if (offer.tier == Tier::payg && offer.price && only_for_deferrable(seller.service) && !deferrable)
    return price_of(usage, snapshot_->fleet().prices.rows[offer.price->value], ServiceTier::standard,
                    seller.uplift_ppm);
  return snapshot_->price(id, usage, at);
}

std::optional<OfferId> Settler::offer_at(DestinationId destination, ModelId model) const {
  const std::span<const Offer> offers = snapshot_->offers();
  const auto at = std::lower_bound(offers.begin(), offers.end(), std::pair(model, destination),
                                   [](const Offer& offer, const std::pair<ModelId, DestinationId>& wanted) {
                                     return std::pair(offer.model, offer.destination) < wanted;
                                   });
  if (at == offers.end() || at->model != model || at->destination != destination) return std::nullopt;
  return OfferId{static_cast<std::uint32_t>(at - offers.begin())};
}

const Equivalent* Settler::pair(ModelId requested, ModelId used) const {
  for (const Equivalent& equivalent : snapshot_->fleet().models[requested.value].equivalents)
    if (equivalent.model == used) return &equivalent;
  return nullptr;
}

/// The tokens the requested model would have used: the same prompt; the same completion if the model was not changed,
/// else the completion over the pair's verbosity. What the event states is taken where it agrees to a token with the
/// declared ratio, so that no event can make a baseline larger than the fleet file allows.
const Usage& Settler::as_requested(const event::Admitted& admitted, const event::Completed& completed, ModelId used,
                                   Usage& scratch) const {
  if (used == admitted.requested) return completed.usage;
  const Equivalent* const equivalent = pair(admitted.requested, used);
  const std::int64_t verbosity =
      equivalent != nullptr ? std::max<std::int64_t>(equivalent->verbosity_ppm, 1) : 1'000'000;
  const std::int64_t visible = completed.usage[Unit::output], hidden = completed.usage[Unit::reasoning];
  const std::int64_t total = visible + hidden;
  const int128 stated_as_used = divide_half_away(int128{completed.output_requested.value} * verbosity, 1'000'000);
  const int128 off = stated_as_used - total;
  const std::int64_t wanted = off >= -1 && off <= 1
                                  ? completed.output_requested.value
                                  : static_cast<std::int64_t>(divide_half_away(int128{total} * 1'000'000, verbosity));
  const std::int64_t reasoning =
      total == 0 ? 0 : static_cast<std::int64_t>(divide_half_away(int128{hidden} * wanted, total));
  scratch = completed.usage;
  scratch.set(Unit::reasoning, reasoning);
  scratch.set(Unit::output, wanted - reasoning);
  return scratch;
}

/// Every attempt as it was billed: the answer, which C3 may need, apart from what failed. Fills who answered.
Settler::Bill Settler::bill(std::span<const event::Attempted> attempts, Settled& s) const {
  Bill bill;
  const event::Completed& completed = s.completed;
  const bool ran = s.ran();
  bool answered = false;
  for (const event::Attempted& attempt : attempts) {
    const OfferId billed_as = attempt.billed_as.valid() ? attempt.billed_as : attempt.offer;
    const Result<Usd> cost = snapshot_->price(billed_as, attempt.billed, attempt.energy_hour);
    // A fast rejection that another answered is spill: nobody worked on it, so it is no retry.
    s.spilled = s.spilled || (ran && !attempt.answered && turned_away(attempt.rejection));
    if (!cost) {
      bill.priced = false;
    } else if (ran && attempt.answered && !answered) {
      answered = true;
      bill.answer = *cost;
      s.billed_as = billed_as;
      s.native_spill = billed_as != attempt.offer;
      s.spilled = s.spilled || s.native_spill || attempt.offer != s.decided.decision.chosen;
    } else {
      bill.failed += *cost;
    }
  }
  if (completed.outcome == event::Outcome::cache_hit) bill.answer = completed.lookup_cost;
  if (!ran || answered) return bill;
  // The record lacks the answer: it is priced where the completion says, and unknown where that names nobody.
  const Result<Usd> cost = completed.offer.valid() ? snapshot_->price(completed.offer, completed.usage, s.admitted.at)
                                                   : Result<Usd>(Error(Errc::unpriced, "nobody answered"));
  bill.priced = bill.priced && cost.has_value();
  bill.answer = cost.value_or(Usd{});
  s.billed_as = completed.offer;
  s.spilled = s.spilled || completed.offer != s.decided.decision.chosen;
  return bill;
}

Usd Settler::paid(std::span<const event::Attempted> attempts) const {
  Usd sum{};
  for (const event::Attempted& attempt : attempts)
    sum +=
        snapshot_
            ->price(attempt.billed_as.valid() ? attempt.billed_as : attempt.offer, attempt.billed, attempt.energy_hour)
            .value_or(Usd{});
  return sum;
}

/// Was it answered by an API, by a deployment that a provider spilled to, or where the log does not say? Then the price
/// there is what it cost.
bool Settler::paid_by_token(const Settled& s) const {
  return s.native_spill || !s.billed_as.valid() || (*snapshot_)[s.billed_as].tier == Tier::payg;
}

Settled Settler::settle(const event::Admitted& admitted, const event::Decided& decided,
                        std::span<const event::Attempted> attempts, const event::Completed& completed,
                        Costs costs) const {
  Settled s;
  s.admitted = admitted;
  s.decided = decided;
  s.completed = completed;
  s.attempts = static_cast<std::uint32_t>(attempts.size());
  s.used = completed.offer.valid() ? (*snapshot_)[completed.offer].model : admitted.requested;
  Bill paid = bill(attempts, s);
  if (costs == Costs::logged && completed.observed_cost_nano >= 0) {  // of all its attempts together
    if (paid.priced) s.by_prices = paid.answer + paid.failed;
    paid = {};
    (s.answered() ? paid.answer : paid.failed) = Usd{completed.observed_cost_nano};
  }
  std::array<Usd, 5>& c = s.chain.c;
  c[4] = paid.answer + paid.failed;
  if (!s.answered()) {  // it can only lose money
    s.chain.lever[static_cast<std::size_t>(Lever::utilization)] = -c[4];
    return s;
  }

  const bool waits = deferrable(admitted);
  const Market& requested = market(admitted, admitted.requested);
  Usage scratch[4];
  const Usage& wanted = as_requested(admitted, completed, s.used, scratch[0]);
  const Usage& baseline = with_cached(wanted, admitted.h0, false, scratch[1]);
  // An API does not say what it runs on: where hardware is asked for, none could have served.
  const Result<Usd> c0 = slo(admitted.slo).hardware.none()
                             ? standard(requested, baseline, waits)
                             : Result<Usd>(Error(Errc::not_found, "no pay-as-you-go offer names its hardware"));
  if (!c0 || !paid.priced) {  // what it cost stands in baseline and actual alike
    s.excluded = !c0 && c0.error().code() == Errc::not_found ? Reason::no_baseline : Reason::unpriced;
    c.fill(c[4]);
    s.cheapest_compliant_baseline = s.uncached_baseline = c[4];
    return s;
  }
  c[0] = *c0;
  s.baseline_assumed = !(requested.standard && requested.contracted && takes(*requested.standard, baseline));
  s.cheapest_compliant_baseline = !requested.standard || requested.standard_is_cheapest
                                      ? c[0]
                                      : cheapest(requested, baseline, waits).value_or(c[0]);
  s.uncached_baseline =
      admitted.h0.value <= 0
          ? c[0]
          : standard(requested, with_cached(wanted, Tokens{0}, false, scratch[2]), waits).value_or(c[0]);
  if (!s.ran()) {
    c[1] = c[2] = c[3] = paid.answer;
  } else {
    const Usage& asked = with_cached(wanted, completed.h1, true, scratch[2]);
    c[1] = &asked == &baseline ? c[0] : standard(requested, asked, waits).value_or(c[0]);
    const bool changed = s.used != admitted.requested;
    const Usage& served = changed ? with_cached(completed.usage, completed.h1, true, scratch[3]) : asked;
    c[2] = c[1];
    if (changed) {
      const Equivalent* const equivalent = pair(admitted.requested, s.used);
      s.routing_assumed = equivalent == nullptr || equivalent->evidence.empty();
      s.quality_disproven = equivalent != nullptr && disproven(*equivalent);
      const Result<Usd> c2 = standard(market(admitted, s.used), served, waits);
      if (!c2) {  // the model used has no PAYG price: nobody can say which lever it was
        c[3] = c[1];
        s.chain.lever[0] = c[0] - c[1];
        s.chain.unattributed = c[1] - c[4];
        s.unattributed = true;
        return s;
      }
      c[2] = *c2;
    }
    if (paid_by_token(s))
      c[3] = paid.answer;
    else if (decided.cheapest_payg.valid() && (*snapshot_)[decided.cheapest_payg].model == s.used)
      c[3] = at_offer(decided.cheapest_payg, served, admitted.at, waits).value_or(c[2]);
    else
      c[3] = c[2];  // no PAYG was feasible at admission: nothing to arbitrage
  }
  for (std::size_t i = 0; i < kLevers; ++i) s.chain.lever[i] = c[i] - c[i + 1];
  return s;
}

Settled settle(const Snapshot& fleet, const event::Admitted& admitted, const event::Decided& decided,
               std::span<const event::Attempted> attempts, const event::Completed& completed) {
  return Settler(fleet).settle(admitted, decided, attempts, completed);
}

Settled against_uncached(Settled request) {
  request.chain.lever[0] += request.uncached_baseline - request.chain.c[0];
  request.chain.c[0] = request.uncached_baseline;
  request.admitted.h0 = Tokens{0};
  return request;
}

}  // namespace ace
