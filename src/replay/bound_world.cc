#include "replay/bound_world.h"

#include <algorithm>

#include "replay/usage_of.h"

namespace ace {
namespace {

constexpr std::int64_t kBucketsMax = 2048;
/// Tokens that a running sequence holds on average, to tell which limit of a batch binds.
constexpr std::int64_t kTypicalHeld = 2048;
/// Stretches of a meter are this many windows long, so that the window's burst is a tenth of what they admit.
constexpr std::int64_t kWindowsPerStretch = 10;
/// Rounding of the plant's own doubles.
constexpr double kSlack = 1.0 + 1e-9;

/// Can the market take units away?
bool units_evicted(const Destination& d) {
  return d.rental && (d.rental->hazard_per_hour > 0.0 || !d.rental->availability.values.empty());
}

Duration limit_of(const SloClass& slo) {
  if (slo.ttft) return *slo.ttft;
  if (slo.deadline) return *slo.deadline;
  return Engine::Options{}.patience;
}

double nano(Usd amount) { return static_cast<double>(amount.nano); }
double hours(Duration d) { return to_seconds(d) / 3600.0; }

}  // namespace

BoundWorld::BoundWorld(const Snapshot& snapshot, const RunFacts& facts, const Options& options)
    : fleet_(&snapshot), options_(options) {
  const Fleet& fleet = snapshot.fleet();
  std::optional<Duration> shortest;
  for (std::size_t s = 0; s < fleet.slo_classes.size(); ++s) {
    const Duration longest = s < facts.longest.size() ? facts.longest[s] : Duration{0};
    window_.push_back(limit_of(fleet.slo_classes[s]) + longest);
    drain_ = std::max(drain_, longest);
    if (longest > Duration{0}) shortest = std::min(shortest.value_or(window_.back()), window_.back());
  }
  shortest_window_ = shortest.value_or(kMinute);
  places_.resize(fleet.destinations.size());
  profiles_.resize(fleet.destinations.size());
  for (std::uint32_t i = 0; i < fleet.destinations.size(); ++i) {
    const Destination& d = fleet.destinations[i];
    has_cache_.push_back(runs_on_gpus(d.tier) || fleet.providers[d.provider.value].cache.enabled ? 1 : 0);
    if (runs_on_gpus(d.tier))
      add_gpus(d, DestinationId{i}, facts);
    else
      add_meters(d, places_[i]);
  }
}

TimeGrid BoundWorld::grid(Duration width_min) const {
  const Duration span = std::max<Duration>(options_.last - options_.first, kSecond);
  const Duration width = std::max({width_min, span / kBucketsMax + Duration{1}, kSecond});
  return {options_.first, width, static_cast<std::size_t>(nanos(span) / nanos(width) + 1)};
}

/// Each unit and each increment is booked on its own and rounded.
constexpr double kBookedLess = 1.0 - 1e-5;

/// Idle power of one unit over [from, to) in nano-USD, at least: it is paid for as long as anything runs on it.
double BoundWorld::idle_power(double watts, Instant from, Instant to) const {
  const Electricity& electricity = fleet_->fleet().electricity;
  double sum = 0.0;
  for (Instant t = from; t < to;) {
    const Instant end = std::min(instant((hour_of(t) + 1) * nanos(kHour)), to);
    const double cost =
        watts * electricity.pue * hours(end - t) / 1000.0 * static_cast<double>(electricity.booked(t).nano);
    sum += cost > 0.0 ? cost * kBookedLess : cost / kBookedLess;
    t = end;
  }
  return sum;
}

/// Rent of one unit over [from, to) in nano-USD, at least. A unit is billed in whole increments for as long as anything
/// runs on it, each at the price of the hour it begins in: the cheapest one from an increment before.
double BoundWorld::rent(const Destination& d, Instant from, Instant to) const {
  const Rental& rental = *d.rental;
  double hourly = nano(rental.hourly);
  if (!rental.hourly_series.empty()) {
    hourly = nano(rental.at(to));
    for (Instant t = from - rental.increment; t < to; t += kHour) hourly = std::min(hourly, nano(rental.at(t)));
  }
  return hourly * kBookedLess * hours(to - from);
}

void BoundWorld::add_gpus(const Destination& d, DestinationId id, const RunFacts& facts) {
  Place& place = places_[id.value];
  double watts_idle = 0.0;
  for (const Offer& offer : fleet_->offers()) {
    if (offer.destination != id || !offer.profile) continue;
    if (offer.resident && profiles_[id.value] == nullptr) profiles_[id.value] = &*offer.profile;
    if (watts_idle == 0.0) watts_idle = offer.profile->watts_idle * static_cast<double>(d.replicas_per_unit());
  }
  // Units under notice work on beside those that replace them, which come with the next minute.
  const bool evicted = units_evicted(d);
  const Duration notice = evicted ? std::min(d.rental->notice, drain_) : Duration{0};
  const std::int64_t most = d.units.at_most() * (evicted ? 2 + notice / kMinute : 1);
  place.may_run = most > 0 && profiles_[id.value] != nullptr;
  place.ran = false;
  if (!place.may_run) return;
  Limit limit{grid(shortest_window_), {}, {}, false};
  const auto replicas = static_cast<double>(std::max<std::int64_t>(d.replicas_per_unit(), 1));
  std::vector<std::int64_t> units(limit.grid.buckets);
  for (std::size_t c = 0; c < facts.units.size(); ++c) {
    const event::UnitsChanged& change = facts.units[c];
    if (change.destination != id) continue;
    place.ran = place.ran || change.after > 0;
    const bool last = c + 1 == facts.units.size() || facts.units[c + 1].destination != id;
    // Units that were released finish what they have, and are the first to come back.
    const Instant until = last ? options_.last : facts.units[c + 1].at + (evicted ? Duration{0} : drain_);
    for (std::size_t t = limit.grid.of(change.at); t <= limit.grid.of(until); ++t)
      units[t] = std::max(units[t], change.after);
  }
  for (const event::UnitsChanged& change : facts.units) {
    if (change.destination != id || !evicted || change.after >= change.before) continue;
    for (std::size_t t = limit.grid.of(change.at); t <= limit.grid.of(change.at + drain_); ++t)
      units[t] += change.before - change.after;
  }
  // Where one unit is taken in the minute in which another gets ready, no change is seen.
  if (evicted && d.units.reactive) units.assign(limit.grid.buckets, most);
  place.once = d.tier == Tier::owned
                   ? nano(d.amortization_hourly) * static_cast<double>(most) * hours(options_.last - options_.first)
                   : 0.0;
  for (std::size_t t = 0; t < limit.grid.buckets; ++t) {
    const Instant from = limit.grid.from(t);
    const Instant to = std::min(from + limit.grid.width, options_.last);
    const double seconds = to_seconds(std::max(to - from, Duration{1})) * replicas * kSlack;
    limit.as_run.push_back(static_cast<double>(units[t]) * seconds);
    limit.at_most.push_back(static_cast<double>(most) * seconds);
    double running = 0.0;
    if (from < to && d.tier == Tier::owned) running = idle_power(watts_idle, from, to);
    if (from < to && d.rental) running = rent(d, from, to);
    place.running.push_back(running * static_cast<double>(most));
  }
  place.limits = {limit, limit};
}

void BoundWorld::add_meters(const Destination& d, Place& place) {
  const bool gives_back = d.latency.error_rate > 0.0 || options_.states_maximum;
  const auto limit = [&](const CommitmentMeter& meter, bool may_give_back) {
    const Duration window = from_seconds(meter.rate() > 0.0 ? meter.capacity() / meter.rate() : 0.0);
    const Duration span = options_.last - options_.first;
    const TimeGrid stretches = grid(may_give_back ? span + kSecond : window * kWindowsPerStretch);
    std::vector<double> capacity;
    for (std::size_t t = 0; t < stretches.buckets; ++t) {
      const Duration length = std::clamp(options_.last - stretches.from(t), Duration{0}, stretches.width);
      capacity.push_back((meter.rate() * to_seconds(length) + meter.capacity()) * kSlack);
    }
    return Limit{stretches, capacity, capacity, true};
  };
  if (!d.unlimited && d.tpm)
    place.limits[0] = limit(CommitmentMeter(static_cast<double>(*d.tpm) / 60.0, kMinute), gives_back);
  if (!d.unlimited && d.rpm)
    place.limits[1] = limit(CommitmentMeter(static_cast<double>(*d.rpm) / 60.0, kMinute), false);
  if (!d.serving.empty() && d.serving.front().ptu)
    place.limits[0] = limit(CommitmentMeter(*d.serving.front().ptu), gives_back);
  if (!d.serving.empty() && d.serving.front().gsu)
    place.limits[0] = limit(CommitmentMeter(*d.serving.front().gsu), gives_back);
  if (d.tier == Tier::reserved) place.once = nano(d.commitment_hourly) * hours(options_.last - options_.first);
  if (place.limits[0]) place.running.assign(place.limits[0]->grid.buckets, 0.0);
}

std::span<const BoundWorld::Choice> BoundWorld::choices(const Demand& demand, std::int32_t cached) {
  choices_.clear();
  const Arrival& arrival = demand.arrival;
  const std::span<const std::uint8_t> fixed = fleet_->fixed_exclusions(demand.compliance);
  const std::uint32_t needs = kText | arrival.needs;
  const bool waits = arrival.batch || fleet_->fleet().slo_classes[demand.slo.value].deferrable();
  for (const OfferId id : fleet_->candidates(demand.model)) {
    const Offer& offer = (*fleet_)[id];
    if (fixed[id.value] != 0 || (needs & ~offer.capabilities) != 0) continue;
    if (!fleet_->data_class_allowed(demand.compliance, demand.data_class)) continue;
    if (arrival.max_output > offer.context_max.value - arrival.prompt) continue;
    if (offer.output_max.value > 0 && arrival.max_output > offer.output_max.value) continue;
    if (only_for_deferrable(fleet_->fleet().destinations[offer.destination.value].service) && !waits) continue;
    if (runs_on_gpus(offer.tier) && (!places_[offer.destination.value].may_run || (!offer.resident && !offer.guest())))
      continue;
    choose(id, demand, cached);
    const auto& spill = fleet_->fleet().destinations[offer.destination.value].native_spill;
    if (!spill) continue;
    for (const OfferId other : fleet_->candidates(offer.model))  // the provider's own rule, not ours
      if ((*fleet_)[other].destination == *spill && (*fleet_)[other].model == offer.model)
        choose(other, demand, cached);
  }
  return choices_;
}

void BoundWorld::choose(OfferId id, const Demand& demand, std::int32_t cached) {
  const Offer& offer = (*fleet_)[id];
  const Arrival& arrival = demand.arrival;
  std::int64_t output = arrival.output;
  if (offer.model != demand.model)
    for (const Equivalent& e : fleet_->fleet().models[demand.model.value].equivalents)
      if (e.model == offer.model)
        output = std::max<std::int64_t>(1, (arrival.output * e.verbosity_ppm + 500'000) / 1'000'000);
  if (arrival.blocks.empty())  // only the log knows, and it speaks of an API
    cached = offer.tier == Tier::payg ? std::clamp(arrival.cached, 0, arrival.prompt) : 0;
  else if (has_cache_[offer.destination.value] == 0)
    cached = 0;
  cached = std::clamp(cached, 0, arrival.prompt);

  // The price is linear in the cached tokens between the points at which they displace another part of the prompt, so
  // it is least at one of those.
  std::optional<Usd> least;
  const std::int64_t whole = arrival.prompt, text = whole - arrival.audio_prompt - arrival.image_prompt;
  std::int64_t before = -1;
  for (const std::int64_t point : {std::int64_t{0}, text - arrival.cache_write, text - arrival.cache_write_1h, text,
                                   whole - arrival.audio_prompt, whole}) {
    const std::int64_t hit = std::clamp<std::int64_t>(point, 0, cached);
    if (hit == before) continue;
    before = hit;
    const Result<Usd> price = fleet_->price(id, usage_of(arrival, hit, output), arrival.at);
    if (price && (!least || *price < *least)) least = *price;
  }
  if (!least) return;
  Choice choice{offer.destination.value, nano(*least), {}};
  const Place& place = places_[choice.place];
  const std::int64_t prompt = arrival.prompt;
  if (profiles_[choice.place] != nullptr) {
    const ServerProfile* const p = offer.resident ? profiles_[choice.place] : &*offer.profile;
    const auto held = static_cast<double>(prompt + (output + 1) / 2);
    const auto after_first = static_cast<double>(std::max<std::int64_t>(output, 1) - 1);
    const double overhead = after_first * (p->step_per_sequence_s + p->step_per_kv_token_s * held);
    const bool by_memory = p->kv_tokens_max < p->batch_max * kTypicalHeld;
    const double share = by_memory
                             ? std::min(1.0, held / static_cast<double>(std::max<std::int64_t>(p->kv_tokens_max, 1)))
                             : 1.0 / static_cast<double>(std::max<std::int64_t>(p->batch_max, 1));
    const auto computed = static_cast<double>(std::max<std::int64_t>(prompt - cached, 1));
    const double slowdown = options_.slowdown.of(*p);
    choice.use = {(computed / p->prefill_tokens_per_s + overhead) * slowdown,
                  (after_first * p->step_base_s * share + overhead) * slowdown};
  } else {
    const Serving& serving = *offer.serving;
    const auto weighted = [&](std::int64_t hit) {
      // A provider that estimates from max_tokens may know of no more than that until the end.
      const Tokens uncached{prompt - hit}, reused{hit},
          out{arrival.max_output > 0 ? std::min<std::int64_t>(output, arrival.max_output) : output};
      if (serving.ptu) return normalized_tokens(*serving.ptu, uncached, reused, out);
      if (serving.gsu) return normalized_tokens(*serving.gsu, uncached, reused, out);
      return static_cast<double>(prompt + out.value);
    };
    if (place.limits[0]) choice.use[0] = std::min(weighted(0), weighted(cached));
    if (place.limits[1]) choice.use[1] = 1.0;
  }
  choices_.push_back(choice);
}

}  // namespace ace
