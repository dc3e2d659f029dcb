/// The decision spelled out plainly, one candidate after the other as ECONOMICS 2 to 5 write it, against decide() with
/// every kernel: whatever the fast way skips, prepares or does eight at a time, nothing of a decision may differ.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/testing.h"
#include "dispatch/generate_testing.h"
#include "dispatch/weigh.h"

namespace ace {
namespace {

const Instant kNow = instant(1'780'000'000'000'000'000);
constexpr std::size_t kPrefill = 0, kSlots = 1, kKv = 2, kTokens = 3, kRequests = 4;

double nano(double x) { return std::nearbyint(std::clamp(x, -0x1p50, 0x1p50)); }

struct Entrant {
  OfferId id;
  Exclusion why = Exclusion::none;
  double mean = 0.0, p90 = 0.0;  ///< output tokens
  double cached = 0.0, uncached = 0.0;
  double price = 0.0, rho = 0.0;
};

/// List price where a long prompt has one of its own; else nothing changes.
void price_by_tier(const Snapshot& fleet, const Request& request, Entrant& c, double& dearest_output) {
  const Offer& offer = fleet[c.id];
  if (!offer.price) return;
  const PriceRow& row = fleet.fleet().prices.rows[offer.price->value];
  if (row.tiers.size() < 2 || request.prompt <= row.tiers[1].above) return;
  const Destination& at = fleet.fleet().destinations[offer.destination.value];
  const Rates& rates = rates_for(row, request.prompt, at.service);
  const double factor = static_cast<double>(at.uplift_ppm) * 1e-6 * 1e-6;
  const auto per_token = [&](Unit unit) { return static_cast<double>(rates[unit]->nano) * factor; };
  c.price = nano(c.uncached * per_token(Unit::input) + c.cached * per_token(Unit::cached_input) +
                 c.mean * per_token(Unit::output));
  if (c.why == Exclusion::none) dearest_output = std::max(dearest_output, per_token(Unit::output));
}

Exclusion why_out(const Snapshot& fleet, const Live& live, const Request& request,
                  const std::vector<OfferId>& attempted, Entrant& c) {
  const std::size_t i = c.id.value;
  const Tier tier = fleet[c.id].tier;
  const auto after = [&](std::size_t r, double amount) { return live.use[r][i] + live.per_unit[r][i] * amount; };
  if (const Exclusion fixed = fixed_exclusion(fleet, request, c.id); fixed != Exclusion::none) return fixed;
  if (live.running[i] == 0) return Exclusion::not_running;
  if ((request.slo.valid() ? live.ready[request.slo.value] : live.resident)[i] == 0) return Exclusion::not_resident;
  if (live.tripped_until[i] > nanos(kNow)) return Exclusion::tripped;
  if (live.throttled_until[i] > nanos(kNow)) return Exclusion::throttled;
  if (runs_on_gpus(tier)) {
    const double prompt = static_cast<double>(request.prompt.value);
    const bool waits = fleet.fleet().slo_classes[request.slo.value].only_waits();
    const double prefill = waits ? live.sustained[i] + live.per_unit[kPrefill][i] * (kSustainedWeight * c.uncached)
                                 : after(kPrefill, c.uncached);
    const double wait = live.wait_scale[request.slo.value][i] * (live.wait[i] + live.wait_per_token[i] * c.uncached);
    c.rho = std::max({prefill, wait, after(kSlots, 1.0), after(kKv, prompt + c.p90)});
    if (c.rho >= 1.0) return Exclusion::saturated;
  } else if (tier == Tier::reserved) {
    if (live.use[kTokens][i] >= 1.0 || live.use[kRequests][i] >= 1.0) return Exclusion::saturated;
  } else {
    const double weighted = c.uncached + live.meter_cached[i] * c.cached + live.meter_output[i] * c.p90;
    if (after(kTokens, weighted) > 1.0 || after(kRequests, 1.0) > 1.0) return Exclusion::saturated;
  }
  return std::count(attempted.begin(), attempted.end(), c.id) > 0 ? Exclusion::attempted : Exclusion::none;
}

double congestion_of(double v, double rho, double knee) {
  const double a = 0.98 * knee;
  if (rho <= a) return 0.0;
  const double s = (rho - a) / (knee - a), t = std::min(s, 1.0);
  const double z = rho > knee ? (rho - knee) / (1.0 - rho) : 0.0;
  return nano(v * (t * t + 2.0 * (s - t) + z * z));
}

double scarcity_of(const Snapshot& fleet, const Live& live, const Request& request, const Entrant& c, double knee) {
  const std::size_t i = c.id.value, r = live.scarce[i];
  if (!(live.shadow_price[i] > 0.0)) return 0.0;
  const double prompt = static_cast<double>(request.prompt.value);
  const double amounts[] = {c.uncached, 1.0, prompt + c.mean,
                            c.uncached + live.meter_cached[i] * c.cached + live.meter_output[i] * c.mean, 1.0};
  const bool minute = r == kPrefill && fleet.fleet().slo_classes[request.slo.value].only_waits();
  const double filled = (minute ? live.sustained[i] : live.use[r][i]) / (r < kQueueing ? knee : 1.0);
  const double tightness = std::clamp((filled - 0.5) * 2.5, 0.0, 1.0);
  return nano(live.shadow_price[i] * (live.per_unit[r][i] * amounts[r] * tightness));
}

Decision plainly(const Snapshot& fleet, const Live& live, const Request& request,
                 const std::vector<OfferId>& attempted) {
  const double prompt = static_cast<double>(request.prompt.value);
  Decision d;
  d.reserve_short = live.reserve_short;
  std::vector<Entrant> all;
  double dearest = 0.0, dearest_output = 0.0;
  for (const OfferRange& range : fleet.ranges(request.model))
    for (std::uint32_t i = range.first.value; i < range.first.value + range.count; ++i) {
      Entrant& c = all.emplace_back();
      c.id = OfferId{i};
      c.mean = request.predicted.output_mean * range.verbosity;
      c.p90 = request.predicted.output_p90 * range.verbosity;
      c.cached = std::min(static_cast<double>(live.cached[i]), prompt);
      c.uncached = prompt - c.cached;
      c.price = nano(std::max(
          c.uncached * live.price_input[i] + c.cached * live.price_cached[i] + c.mean * live.price_output[i], 0.0));
      c.why = why_out(fleet, live, request, attempted, c);
      if (c.why == Exclusion::none) {
        ++d.feasible;
        dearest = std::max(dearest, c.price);
        dearest_output = std::max(dearest_output, live.price_output[i]);
      } else {
        ++d.excluded[static_cast<std::size_t>(c.why)];
      }
      price_by_tier(fleet, request, c, dearest_output);
      if (c.why == Exclusion::none) dearest = std::max(dearest, c.price);
    }
  const auto out = [&](Exclusion first, Exclusion last) {
    return std::any_of(d.excluded.begin() + static_cast<int>(first), d.excluded.begin() + static_cast<int>(last) + 1,
                       [](std::uint32_t n) { return n > 0; });
  };
  if (d.feasible == 0) {
    const bool compliance = out(Exclusion::jurisdiction, Exclusion::retention);
    const bool capability = out(Exclusion::context, Exclusion::unpriced);
    d.verdict = out(Exclusion::not_running, Exclusion::attempted) ? Verdict::no_capacity
                : compliance && !capability                       ? Verdict::no_compliant_destination
                                                                  : Verdict::no_capable_destination;
    return d;
  }
  const SloClass& slo = fleet.fleet().slo_classes[request.slo.value];
  if (live.reserve_short && fleet.fleet().policies.reserve_enforce && slo.deferrable()) {
    d.verdict = Verdict::no_capacity;
    return d;
  }
  d.verdict = Verdict::dispatched;
  const double v = reference_price(fleet.fleet(), request, dearest);
  d.reference_price = static_cast<std::int64_t>(v);
  const double miss = slo.miss_value ? static_cast<double>(slo.miss_value->nano) : v;
  using Place = std::tuple<double, DestinationId, ModelId>;
  std::optional<Place> least, least_uncongested;
  for (const Entrant& c : all) {
    if (c.why != Exclusion::none && c.why != Exclusion::saturated) continue;
    const std::size_t i = c.id.value;
    const double knee = std::min(live.knee[i], live.knee_by_class[request.slo.value][i]);
    const double warmth = nano(live.warmth[i]), bias = nano(live.bias[i] * (prompt + c.mean));
    const double risk = nano(live.fail_probability[i] * (c.mean * dearest_output + miss) +
                             (live.derate[i] - 1.0) * std::max(c.price, v));
    const double scarcity = scarcity_of(fleet, live, request, c, knee);
    const auto at = [&](double key) { return Place(key, fleet[c.id].destination, fleet[c.id].model); };
    const Place uncongested = at(c.price + warmth + scarcity + risk + bias);
    if (!least_uncongested || uncongested < *least_uncongested) {
      least_uncongested = uncongested;
      d.cheapest_uncongested = c.id;
    }
    if (c.why != Exclusion::none) continue;
    const double congestion = congestion_of(v, c.rho, knee);
    const Place place = at(c.price + warmth + std::max(congestion, scarcity) + risk + bias);
    if (least && !(place < *least)) continue;
    least = place;
    d.chosen = c.id;
    const auto whole = [](double x) { return static_cast<std::int64_t>(x); };
    d.terms = {whole(c.price), whole(warmth), whole(congestion), whole(scarcity), whole(risk), whole(bias), c.rho};
  }
  return d;
}

/// A world with what gen::live leaves out: meters of APIs in their own units, a reserve that is short.
Live live_of(Rng& rng, const Snapshot& snapshot) {
  Live live = rng.chance(0.3) ? Live(snapshot) : gen::live(rng, snapshot, kNow);  // as built: ties abound
  live.reserve_short = rng.chance(0.2);
  for (std::size_t i = 0; i < snapshot.offers().size(); ++i) {
    if (runs_on_gpus(snapshot.offers()[i].tier) || !rng.chance(0.2)) continue;
    live.meter_output[i] = rng.chance(0.5) ? 0.0 : 8.0;
    live.meter_cached[i] = rng.chance(0.5) ? 0.0 : 0.25;
  }
  return live;
}

void decides_as_if_spelled_out(Rng& rng, std::size_t destinations_max) {
  const auto fleet = gen::fleet(rng, destinations_max);
  for (Destination& d : fleet->destinations)
    if (d.tier == Tier::payg && rng.chance(0.1)) d.service = ServiceTier::batch;
  fleet->policies.reserve_enforce = rng.chance(0.5);
  const Snapshot snapshot(*fleet);
  Scratch scratch(snapshot);
  for (int world = 0; world < 2; ++world) {
    const Live live = live_of(rng, snapshot);
    const Request request = gen::request(rng, *fleet);
    scratch.attempted.clear();
    for (int attempt = 0; attempt < 3; ++attempt) {
      const Decision want = plainly(snapshot, live, request, scratch.attempted);
      for (const Kernel* kernel : kernels())
        ASSERT_EQ(decide(snapshot, live, request, kNow, scratch, *kernel), want) << kernel->name;
      if (!want.chosen.valid()) break;
      scratch.attempted.push_back(want.chosen);
    }
  }
}

TEST(Decide, is_what_it_says_spelled_out_whatever_the_kernel) {
  for_each_seed(6000, [](Rng& rng) { decides_as_if_spelled_out(rng, 12); });
}

TEST(Decide, is_what_it_says_spelled_out_in_fleets_of_hundreds) {
  for_each_seed(200, [](Rng& rng) { decides_as_if_spelled_out(rng, 400); });
}

}  // namespace
}  // namespace ace
