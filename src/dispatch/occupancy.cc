#include "dispatch/occupancy.h"

#include <algorithm>
#include <cmath>

#include "dispatch/dispatch.h"
#include "dispatch/roofline.h"

namespace ace {
namespace {

constexpr auto kPrefill = static_cast<std::size_t>(Resource::prefill);
constexpr auto kSlots = static_cast<std::size_t>(Resource::slots);
constexpr auto kKv = static_cast<std::size_t>(Resource::kv);
constexpr auto kTokensUsed = static_cast<std::size_t>(Resource::tokens);
constexpr auto kRequestsUsed = static_cast<std::size_t>(Resource::requests);
constexpr auto kTpm = static_cast<std::size_t>(RateLimit::tokens);
constexpr auto kRpm = static_cast<std::size_t>(RateLimit::requests);
constexpr auto kItpm = static_cast<std::size_t>(RateLimit::input_tokens);
constexpr auto kOtpm = static_cast<std::size_t>(RateLimit::output_tokens);

/// Weight of an output token where only output is limited: large enough that the input beside it does not count.
constexpr double kOutputOnly = 1e6;

/// How long what a provider says of its windows is believed: no longer than this, and where it does not say until when.
constexpr Duration kSaidMost = kHour, kSaidUnsaid = 10 * kSecond;

/// Output of a request when nothing else is known, tokens.
constexpr double kOutputUsual = 211.0;

}  // namespace

void MinuteWindow::advance(Instant now) {
  const std::int64_t second = floor_div(nanos(now), nanos(kSecond));
  if (second <= second_) return;
  const std::int64_t gone = std::min(second - second_, kBins);
  for (std::int64_t i = 1; i <= gone; ++i) {
    Counts& bin = bins_[static_cast<std::size_t>((second - gone + i) % kBins)];
    for (std::size_t k = 0; k < kRateLimits; ++k) sum_[k] -= bin[k];
    bin = {};
  }
  second_ = second;
}

void MinuteWindow::add(Instant now, const Counts& counts) {
  advance(now);
  Counts& bin = bins_[static_cast<std::size_t>(second_ % kBins)];
  for (std::size_t k = 0; k < kRateLimits; ++k) bin[k] += counts[k], sum_[k] += counts[k];
}

void MinuteWindow::correct(Instant then, Instant now, const Counts& difference) {
  advance(now);
  const std::int64_t second = floor_div(nanos(then), nanos(kSecond));
  if (second <= second_ - kBins || second > second_) return;
  Counts& bin = bins_[static_cast<std::size_t>(second % kBins)];
  for (std::size_t k = 0; k < kRateLimits; ++k) bin[k] += difference[k], sum_[k] += difference[k];
}

std::int64_t MinuteWindow::after(Instant then, RateLimit limit) const {
  const std::int64_t second = floor_div(nanos(then), nanos(kSecond));
  std::int64_t sum = 0;
  for (std::int64_t s = std::max(second + 1, second_ - kBins + 1); s <= second_; ++s)
    sum += bins_[static_cast<std::size_t>(s % kBins)][static_cast<std::size_t>(limit)];
  return sum;
}

Occupancy::Occupancy(const Snapshot& snapshot, const LatencyFit& latency, Live& live)
    : snapshot_(&snapshot),
      latency_(&latency),
      holds_(snapshot.offers().size()),
      stations_(snapshot.fleet().destinations.size()) {
  const Fleet& fleet = snapshot.fleet();
  for (std::uint32_t i = 0; i < holds_.size(); ++i)
    stations_[snapshot.offers()[i].destination.value].offers.push_back(OfferId{i});
  for (std::uint32_t d = 0; d < stations_.size(); ++d) {
    Station& station = stations_[d];
    const Destination& destination = fleet.destinations[d];
    station.units = destination.units.units;
    for (const OfferId o : station.offers) {
      const Offer& offer = snapshot[o];
      if (offer.profile) {
        station.queues = true;
        holds_[o.value].replicas = offer.resident ? destination.units.units * offer.replicas_per_unit : 0;
        holds_[o.value].tpot_s = step_seconds(*offer.profile, static_cast<double>(offer.profile->batch_max) / 2.0, 0.0);
      } else {
        holds_[o.value].ttft_s = to_seconds(destination.latency.ttft_p50);
        holds_[o.value].tpot_s = to_seconds(destination.latency.tpot_p50);
      }
      holds_[o.value].residence = residence(o, kOutputUsual);
      // One bucket per block: each model fills it in its own weighted tokens, here in shares.
      if (!station.meter && (offer.serving->ptu || offer.serving->gsu)) {
        const CommitmentMeter whole =
            offer.serving->ptu ? CommitmentMeter(*offer.serving->ptu) : CommitmentMeter(*offer.serving->gsu);
        if (whole.capacity() > 0.0)
          station.meter.emplace(whole.rate() / whole.capacity(), from_seconds(whole.capacity() / whole.rate()));
      }
    }
    station.windows = destination.tier == Tier::payg;
    if (station.windows && !destination.unlimited)
      limit(DestinationId{d},
            {static_cast<double>(destination.rpm.value_or(0)), static_cast<double>(destination.tpm.value_or(0)), 0, 0},
            live);
  }
}

std::int64_t Occupancy::held(const Claim& claim) {
  return std::int64_t{claim.prompt} + static_cast<std::int64_t>(claim.output_p90 + 0.5);
}

MinuteWindow::Counts Occupancy::rated(const Claim& claim, std::int64_t output, std::int64_t cached) {
  return {1, claim.prompt + output, std::max<std::int64_t>(claim.prompt - cached, 0), output};
}

double Occupancy::metered(const Claim& claim, double output, std::int64_t cached, const Live& live) const {
  const std::size_t o = claim.offer.value;
  const double uncached = static_cast<double>(claim.prompt - cached);
  return uncached + live.meter_cached[o] * static_cast<double>(cached) + live.meter_output[o] * output;
}

/// 1 with no decode running; else how much longer a chunk of prompt takes because each step also decodes.
double Occupancy::decode_slowdown(const ServerProfile& p, const Hold& hold) {
  if (hold.claims == 0) return 1.0;
  const double per_replica = 1.0 / static_cast<double>(hold.replicas);
  const double batch = hold.claims * per_replica;
  const double step = p.step_base_s * std::min(batch, 1.0) + p.step_per_sequence_s * batch +
                      p.step_per_kv_token_s * static_cast<double>(hold.kv_tokens) * per_replica;
  return 1.0 + step * p.prefill_tokens_per_s / static_cast<double>(std::max<std::int64_t>(p.prefill_chunk, 1));
}

void Occupancy::show_queues(Instant now, Station& station, bool prefill, Live& live) {
  double slots = 0.0, kv = 0.0, offered = 0.0, sustained = 0.0, waiting_s = 0.0, slot = 0.0;
  for (const OfferId o : station.offers) {
    const Hold& hold = holds_[o.value];
    if (hold.replicas == 0) continue;
    slot = std::max(slot, live.per_unit[kSlots][o.value]);
    slots += hold.claims * live.per_unit[kSlots][o.value];
    kv += static_cast<double>(hold.kv_tokens) * live.per_unit[kKv][o.value];
    if (!prefill) continue;
    const ServerProfile& curve = latency_->curve(o);
    const double per_second =
        decode_slowdown(curve, hold) / (curve.prefill_tokens_per_s * static_cast<double>(hold.replicas));
    // A prompt waits for its share of all replicas' work, but is itself prefilled by one of them.
    const double alone = per_second * static_cast<double>(hold.replicas);
    live.per_unit[kPrefill][o.value] = per_second / to_seconds(kPrefillWindow);
    live.wait_per_token[o.value] = alone;
    waiting_s += static_cast<double>(hold.waiting) * per_second;
    offered += std::max(0.0, hold.prefill.per_second(now)) * per_second;
    sustained += std::max(0.0, hold.sustained.per_second(now)) * per_second;
  }
  if (const Station::Others& others = station.others; now < others.until) {
    slots = std::max(slots + static_cast<double>(others.requests) * slot, others.slots_least);
    kv += others.kv;
  }
  for (const OfferId o : station.offers) {
    live.use[kSlots][o.value] = slots;
    live.use[kKv][o.value] = kv;
    if (!prefill) continue;
    live.use[kPrefill][o.value] = offered;
    live.sustained[o.value] = sustained;
    live.wait[o.value] = waiting_s;
  }
}

Occupancy::Fill Occupancy::fill_of(const Station& station, std::size_t k) {
  Fill fill{0.0, station.caps[k]};
  if (fill.limit > 0.0) fill.use = static_cast<double>(station.window.sum()[k]) * (1.0 / fill.limit);
  const Station::Said& said = station.said[k];
  if (!station.hears || said.limit <= 0.0 || station.seen >= said.until) return fill;
  const double left = to_seconds(said.until - station.seen) / to_seconds(said.until - said.at);
  const double ours = static_cast<double>(station.window.after(said.sent, static_cast<RateLimit>(k)));
  const double use = (said.gone * left + ours) / said.limit;
  return use > fill.use ? Fill{use, said.limit} : fill;
}

void Occupancy::show_windows(Instant now, Station& station, Live& live) {
  station.seen = std::max(station.seen, now);
  if (station.hears)
    station.hears = std::any_of(station.said.begin(), station.said.end(),
                                [&](const Station::Said& said) { return station.seen < said.until; });
  std::size_t binding = kTpm;
  Fill tokens = fill_of(station, kTpm);
  for (const std::size_t k : {kItpm, kOtpm})
    if (const Fill fill = fill_of(station, k); fill.limit > 0.0 && (fill.use > tokens.use || tokens.limit == 0.0)) {
      binding = k;
      tokens = fill;
    }
  const Fill requests = fill_of(station, kRpm);
  if (binding != station.binding || tokens.limit != station.shown_tokens) {
    station.binding = static_cast<std::uint8_t>(binding);
    station.shown_tokens = tokens.limit;
    const double weight = binding == kOtpm ? kOutputOnly : 1.0;
    for (const OfferId o : station.offers) {
      live.per_unit[kTokensUsed][o.value] = tokens.limit > 0.0 ? 1.0 / (tokens.limit * weight) : 0.0;
      live.meter_output[o.value] = binding == kItpm ? 0.0 : weight;
      live.meter_cached[o.value] = binding == kTpm ? 1.0 : 0.0;
    }
  }
  if (requests.limit != station.shown_requests) {
    station.shown_requests = requests.limit;
    for (const OfferId o : station.offers)
      live.per_unit[kRequestsUsed][o.value] = requests.limit > 0.0 ? 1.0 / requests.limit : 0.0;
  }
  for (const OfferId o : station.offers) {
    live.use[kTokensUsed][o.value] = tokens.use;
    live.use[kRequestsUsed][o.value] = requests.use;
  }
}

void Occupancy::show_meter(Instant now, const Station& station, Live& live) {
  const double level = station.meter->level(now);
  for (const OfferId o : station.offers) live.use[kTokensUsed][o.value] = level;
}

double Occupancy::rho(OfferId offer, const Live& live) {
  double most = 0.0;
  for (std::size_t r = 0; r < kQueueing; ++r) most = std::max(most, live.use[r][offer.value]);
  return most;
}

double Occupancy::felt_rho(const Claim& claim, const Live& live) const {
  const std::size_t o = claim.offer.value;
  if (!claim.slo.valid()) return rho(claim.offer, live);
  // By now its own prompt waits too, as its share of all replicas' work.
  const double waits = live.wait[o] * live.wait_scale[claim.slo.value][o];
  const bool only_waits = snapshot_->fleet().slo_classes[claim.slo.value].only_waits();
  const double prefill = only_waits ? live.sustained[o] : live.use[kPrefill][o];
  return std::max({live.use[kSlots][o], live.use[kKv][o], prefill, waits});
}

double Occupancy::share(const Claim& claim, const Live& live) const {
  const std::size_t o = claim.offer.value;
  const double uncached = static_cast<double>(claim.prompt - claim.cached);
  double prefill = live.per_unit[kPrefill][o];
  if (claim.slo.valid()) {
    if (snapshot_->fleet().slo_classes[claim.slo.value].only_waits()) prefill *= kSustainedWeight;
    prefill = std::max(prefill, live.wait_per_token[o] * live.wait_scale[claim.slo.value][o]);
  }
  return std::max(
      {live.per_unit[kSlots][o], live.per_unit[kKv][o] * static_cast<double>(held(claim)), prefill * uncached});
}

Duration Occupancy::residence(OfferId offer, double output_mean) const {
  const Hold& hold = holds_[offer.value];
  return from_seconds(hold.ttft_s + hold.tpot_s * output_mean);
}

void Occupancy::paced(const Claim& claim, const Observed& seen) {
  Hold& hold = holds_[claim.offer.value];
  constexpr double kWeight = 1.0 / 32.0;
  const double output = static_cast<double>(seen.output.value);
  hold.ttft_s += kWeight * (to_seconds(seen.ttft) - hold.ttft_s);
  if (seen.tpot.count() > 0) hold.tpot_s += kWeight * (to_seconds(seen.tpot) - hold.tpot_s);
  const Duration took = from_seconds(to_seconds(seen.ttft) + to_seconds(seen.tpot) * output);
  hold.residence += (took - hold.residence) / 32;
}

double Occupancy::meter_level(DestinationId d, Instant now) const {
  const Station& station = stations_[d.value];
  return station.meter ? station.meter->level(now) : 0.0;
}

LatencyFit::Load Occupancy::load(const Claim& claim) const {
  const Hold& hold = holds_[claim.offer.value];
  const Station& station = stations_[(*snapshot_)[claim.offer].destination.value];
  const double per_replica = 1.0 / static_cast<double>(hold.replicas);
  return {(hold.claims + 1.0) * per_replica, static_cast<double>(station.prefilled - claim.prefilled) * per_replica,
          static_cast<double>(station.prompts - claim.prompts) * per_replica};
}

/// What the claim will run beside, unless a prompt waits anywhere at its destination.
void Occupancy::look_beside(const Station& station, Claim& claim) const {
  for (const OfferId o : station.offers)
    if (holds_[o.value].waiting > 0) return;
  const Hold& hold = holds_[claim.offer.value];
  if (hold.replicas == 0) return;
  const double per_replica = 1.0 / static_cast<double>(hold.replicas);
  claim.sequences_beside = hold.claims * per_replica;
  claim.kv_beside = static_cast<double>(hold.kv_tokens) * per_replica;
}

void Occupancy::admit(Instant now, Claim& claim, Live& live) {
  const Offer& offer = (*snapshot_)[claim.offer];
  Station& station = stations_[offer.destination.value];
  Hold& hold = holds_[claim.offer.value];
  if (station.queues) look_beside(station, claim);
  ++hold.claims;
  if (station.queues) {
    hold.kv_tokens += held(claim);
    hold.waiting += claim.prompt - claim.cached;
    hold.prefill.add(now, static_cast<double>(claim.prompt - claim.cached));
    hold.sustained.add(now, static_cast<double>(claim.prompt - claim.cached));
    show_queues(now, station, true, live);
    claim.rho = felt_rho(claim, live);
  }
  if (station.meter) {
    const double estimate = metered(claim, claim.output_p90, claim.cached, live);
    if (station.meter->admit(now, estimate * live.per_unit[kTokensUsed][claim.offer.value]))
      claim.meter_estimate = estimate;
    show_meter(now, station, live);
  }
  if (station.windows) {
    station.window.add(now, rated(claim, static_cast<std::int64_t>(claim.output_p90 + 0.5), claim.cached));
    show_windows(now, station, live);
  }
}

void Occupancy::release(Instant now, const Claim& claim, std::int64_t output, std::int64_t cached, Live& live) {
  Station& station = stations_[(*snapshot_)[claim.offer].destination.value];
  Hold& hold = holds_[claim.offer.value];
  ACE_CHECK(hold.claims > 0, "a claim was given back twice");
  --hold.claims;
  if (station.queues) {
    hold.kv_tokens -= held(claim);
    if (!claim.first_token_seen) hold.waiting -= claim.prompt - claim.cached;
    show_queues(now, station, !claim.first_token_seen, live);
  }
  if (station.meter && claim.meter_estimate > 0.0) {
    const double share = live.per_unit[kTokensUsed][claim.offer.value];
    station.meter->reconcile(now, claim.meter_estimate * share,
                             metered(claim, static_cast<double>(output), cached, live) * share);
    show_meter(now, station, live);
  }
  if (station.windows) {
    const MinuteWindow::Counts booked = rated(claim, static_cast<std::int64_t>(claim.output_p90 + 0.5), claim.cached);
    MinuteWindow::Counts difference = rated(claim, output, cached);
    for (std::size_t k = 0; k < kRateLimits; ++k) difference[k] -= booked[k];
    station.window.correct(claim.at, now, difference);
    show_windows(now, station, live);
  }
}

void Occupancy::first_token(Instant now, Claim& claim, Live& live) {
  Station& station = stations_[(*snapshot_)[claim.offer].destination.value];
  if (!station.queues) return;
  claim.prefilled = station.prefilled += claim.prompt - claim.cached;
  claim.prompts = ++station.prompts;
  holds_[claim.offer.value].waiting -= claim.prompt - claim.cached;
  show_queues(now, station, true, live);
}

void Occupancy::undo(Instant now, const Claim& claim, Live& live) {
  Station& station = stations_[(*snapshot_)[claim.offer].destination.value];
  Hold& hold = holds_[claim.offer.value];
  ACE_CHECK(hold.claims > 0, "a claim was given back twice");
  --hold.claims;
  if (station.queues) {
    hold.kv_tokens -= held(claim);
    if (!claim.first_token_seen) hold.waiting -= claim.prompt - claim.cached;
    hold.prefill.add(now, -static_cast<double>(claim.prompt - claim.cached));
    hold.sustained.add(now, -static_cast<double>(claim.prompt - claim.cached));
    show_queues(now, station, true, live);
  }
  if (station.meter && claim.meter_estimate > 0.0) {
    const double share = live.per_unit[kTokensUsed][claim.offer.value];
    station.meter->reconcile(now, claim.meter_estimate * share, 0.0);
    show_meter(now, station, live);
  }
  if (station.windows) {
    MinuteWindow::Counts difference = rated(claim, static_cast<std::int64_t>(claim.output_p90 + 0.5), claim.cached);
    for (std::int64_t& count : difference) count = -count;
    station.window.correct(claim.at, now, difference);
    show_windows(now, station, live);
  }
}

void Occupancy::decay(Instant now, Live& live) {
  for (Station& station : stations_) {
    if (station.queues) show_queues(now, station, true, live);
    if (station.meter) show_meter(now, station, live);
    if (station.windows) {
      station.window.advance(now);
      show_windows(now, station, live);
    }
  }
}

void Occupancy::scraped(Instant now, DestinationId destination, const EngineLoad& load, Live& live) {
  Station& station = stations_[destination.value];
  if (!station.queues) return;
  std::int64_t claims = 0;
  double kv = 0.0;
  for (const OfferId o : station.offers) {
    claims += holds_[o.value].claims;
    kv += static_cast<double>(holds_[o.value].kv_tokens) * live.per_unit[kKv][o.value];
  }
  const std::int64_t running = std::clamp<std::int64_t>(load.running, 0, 1'000'000);
  const std::int64_t waiting = std::clamp<std::int64_t>(load.waiting, 0, 1'000'000);
  Station::Others& others = station.others;
  others.requests = std::max<std::int64_t>(running + waiting - claims, 0);
  others.kv = std::max(0.0, std::clamp(load.kv_share, 0.0, 1.0) - kv);
  const bool full = waiting >= std::max<std::int64_t>(2, running / 10);
  others.slots_least =
      full ? static_cast<double>(running + waiting) / static_cast<double>(std::max<std::int64_t>(running, 1)) : 0.0;
  others.until = now + kEngineLoadLife;
  show_queues(now, station, true, live);
}

void Occupancy::units(Instant now, DestinationId destination, std::int64_t running_units, Live& live) {
  live.size_to(*snapshot_, destination, running_units);
  Station& station = stations_[destination.value];
  station.units = running_units;
  holds(now, destination, live);
  if (station.windows) limit(destination, station.caps, live);
}

void Occupancy::holds(Instant now, DestinationId destination, Live& live) {
  Station& station = stations_[destination.value];
  for (const OfferId o : station.offers)
    holds_[o.value].replicas = live.resident[o.value] != 0 ? station.units * (*snapshot_)[o].replicas_per_unit : 0;
  if (station.queues) show_queues(now, station, true, live);
}

void Occupancy::shrink(DestinationId destination, double cap_share, Live& live) {
  for (const OfferId o : stations_[destination.value].offers) {
    const double whole = (*snapshot_)[o].unit_capacity[kTokensUsed];
    live.per_unit[kTokensUsed][o.value] = whole > 0.0 ? 1.0 / (whole * cap_share) : 0.0;
  }
}

void Occupancy::limit(DestinationId destination, const RateCaps& caps, Live& live) {
  Station& station = stations_[destination.value];
  station.caps = caps;
  station.shown_tokens = station.shown_requests = -1.0;  // somebody else may have written there
  show_windows(station.seen, station, live);
}

void Occupancy::told(Instant now, const Claim& claim, const RateWindows& windows, Live& live) {
  Station& station = stations_[(*snapshot_)[claim.offer].destination.value];
  if (!station.windows) return;
  for (std::size_t k = 0; k < kRateLimits; ++k) {
    const RateWindow& window = windows[k];
    Station::Said& said = station.said[k];
    if (window.remaining < 0 || claim.at < said.sent) continue;  // an answer that was overtaken says nothing new
    // Without a limit what is left is all there is.
    const std::int64_t limit = std::max({window.limit, window.remaining, std::int64_t{1}});
    const Duration reset = window.reset > Duration{0} ? std::min(window.reset, kSaidMost) : kSaidUnsaid;
    said = {static_cast<double>(limit), static_cast<double>(limit - window.remaining), claim.at, now, now + reset};
    station.hears = true;
  }
  show_windows(now, station, live);
}

void Occupancy::inherit_pace(const Occupancy& before, const Kin& kin) {
  for (std::size_t o = 0; o < kin.offers.size(); ++o) {
    if (!kin.offers[o].valid()) continue;
    const Hold& old = before.holds_[kin.offers[o].value];
    holds_[o].ttft_s = old.ttft_s;
    holds_[o].tpot_s = old.tpot_s;
    holds_[o].residence = old.residence;
  }
}

}  // namespace ace
