#include "replay/plant.h"

#include <algorithm>
#include <cmath>

#include "core/numeric.h"

namespace ace {
namespace {

constexpr std::size_t kQuantiles = 1024;
constexpr std::int64_t kBlocksMost = 1 << 24;  // of one destination: 8 billion tokens

/// Quantile of the standard normal (Acklam's rational approximation, relative error below 1.2e-9), without libm.
double normal_quantile(double p) {
  static constexpr double a[] = {-3.969683028665376e+01, 2.209460984245205e+02,  -2.759285104469687e+02,
                                 1.383577518672690e+02,  -3.066479806614716e+01, 2.506628277459239e+00};
  static constexpr double b[] = {-5.447609879822406e+01, 1.615858368580409e+02, -1.556989798598866e+02,
                                 6.680131188771972e+01, -1.328068155288572e+01};
  static constexpr double c[] = {-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00,
                                 -2.549732539343734e+00, 4.374664141464968e+00,  2.938163982698783e+00};
  static constexpr double d[] = {7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00,
                                 3.754408661907416e+00};
  const auto tail = [](double q) {
    return (((((c[0] * q + c[1]) * q + c[2]) * q + c[3]) * q + c[4]) * q + c[5]) /
           ((((d[0] * q + d[1]) * q + d[2]) * q + d[3]) * q + 1.0);
  };
  if (p < 0.02425) return tail(std::sqrt(-2.0 * numeric::log(p)));
  if (p > 1.0 - 0.02425) return -tail(std::sqrt(-2.0 * numeric::log(1.0 - p)));
  const double q = p - 0.5;
  const double r = q * q;
  return (((((a[0] * r + a[1]) * r + a[2]) * r + a[3]) * r + a[4]) * r + a[5]) * q /
         (((((b[0] * r + b[1]) * r + b[2]) * r + b[3]) * r + b[4]) * r + 1.0);
}

/// The log-normal through a median and a 95th percentile, as a table of equally likely values in seconds.
std::vector<double> lognormal_table(Duration p50, Duration p95) {
  const double median = std::max(to_seconds(p50), 1e-6);
  const double sigma = numeric::log(std::max(to_seconds(p95) / median, 1.0)) / normal_quantile(0.95);
  std::vector<double> values(kQuantiles);
  for (std::size_t i = 0; i < kQuantiles; ++i)
    values[i] = median * numeric::exp(sigma * normal_quantile((static_cast<double>(i) + 0.5) / kQuantiles));
  return values;
}

}  // namespace

Plant::Plant(const Snapshot& fleet, const Options& options, const Rng& rng, Instant start)
    : fleet_(&fleet), options_(options), start_(start), rng_(rng.split("plant")) {
  const auto& destinations = fleet.fleet().destinations;
  pools_.resize(destinations.size());
  apis_.resize(destinations.size());
  for (std::size_t i = 0; i < destinations.size(); ++i) {
    const Destination& d = destinations[i];
    const DestinationId id{static_cast<std::uint32_t>(i)};
    PrefixIndex::Rules rules{.block = options.block_tokens};
    if (d.tier == Tier::payg || d.tier == Tier::reserved) {
      Api& api = apis_[i];
      api.ttft_s = lognormal_table(d.latency.ttft_p50, d.latency.ttft_p95);
      api.tpot_s = lognormal_table(d.latency.tpot_p50, d.latency.tpot_p95);
      api.error_rate = d.latency.error_rate;
      if (!d.unlimited && d.tpm) api.tokens.emplace(static_cast<double>(*d.tpm) / 60.0, kMinute);
      if (!d.unlimited && d.rpm) api.requests.emplace(static_cast<double>(*d.rpm) / 60.0, kMinute);
      if (!d.serving.empty() && d.serving.front().ptu) api.tokens.emplace(*d.serving.front().ptu);
      if (!d.serving.empty() && d.serving.front().gsu) api.tokens.emplace(*d.serving.front().gsu);
      const PromptCache& cache = fleet.fleet().providers[d.provider.value].cache;
      rules.min_prefix = cache.min_prefix;
      rules.granularity = cache.block;
      rules.ttl = cache.ttl;
      rules.blocks_max = cache.enabled ? 1 << 18 : 0;
    } else {
      // One engine of the first resident model stands for the replica; its other resident models share it.
      Pool& pool = pools_[i];
      for (const Offer& offer : fleet.offers())
        if (offer.destination == id && offer.resident && offer.profile && !pool.profile)
          pool.profile = pool.home = &*offer.profile;
      pool.replicas_per_unit = static_cast<std::size_t>(std::max<std::int64_t>(d.replicas_per_unit(), 1));
      const auto blocks = [&](const ServerProfile& profile) {
        return profile.kv_tokens_max / std::max<std::int64_t>(options.block_tokens.value, 1) *
               static_cast<std::int64_t>(pool.replicas_per_unit) * std::max<std::int64_t>(d.units.at_most(), 1);
      };
      rules.blocks_max = pool.profile ? static_cast<std::size_t>(std::min(blocks(*pool.profile), kBlocksMost)) : 0;
    }
    caches_.emplace_back(rules);
  }
}

Plant::InFlight& Plant::in_flight(std::uint32_t flight) {
  if (flight >= in_flight_.size()) in_flight_.resize(std::max<std::size_t>(flight + 1, in_flight_.size() * 2));
  return in_flight_[flight];
}

std::int32_t Plant::cached_tokens(const Work& work, Instant now) {
  const Offer& offer = (*fleet_)[work.offer];
  if (work.blocks.empty()) return offer.tier == Tier::payg ? std::min(work.logged_cached, work.prompt) : 0;
  PrefixIndex& cache = caches_[offer.destination.value];
  const Tokens hit = cache.matched(work.blocks, Tokens{work.prompt}, now);
  cache.insert(work.blocks, now);
  return static_cast<std::int32_t>(hit.value);
}

Plant::Answer Plant::offer(Instant now, const Work& work) {
  const Offer& offer = (*fleet_)[work.offer];
  const DestinationId destination = offer.destination;
  return offer.profile ? offer_server(now, work, destination) : offer_api(now, work, destination);
}

Plant::Answer Plant::offer_server(Instant now, const Work& work, DestinationId destination) {
  Pool& pool = pools_[destination.value];
  if (pool.active.empty())
    return {.accepted = false, .why = Rejection::refused, .retry_after = {}, .cached = 0, .billed_as = work.offer};
  std::uint32_t best = pool.active.front();
  for (const std::uint32_t s : pool.active) {  // join the shortest queue, ties to the first
    const Server& a = servers_[s];
    const Server& b = servers_[best];
    if (a.backlog() != b.backlog() ? a.backlog() < b.backlog() : a.load() < b.load()) best = s;
  }
  const std::int32_t cached = cached_tokens(work, now);
  servers_[best].arrive(seconds(now), work.flight, work.prompt - cached, work.prompt, work.output);
  touch(best);
  return {.accepted = true, .why = {}, .retry_after = {}, .cached = cached, .billed_as = work.offer};
}

Plant::Answer Plant::offer_api(Instant now, const Work& work, DestinationId destination) {
  Api& api = apis_[destination.value];
  const Destination& d = fleet_->fleet().destinations[destination.value];
  const Serving& serving = *(*fleet_)[work.offer].serving;
  const std::int32_t cached = cached_tokens(work, now);
  const auto weighted = [&](std::int64_t output) {
    const Tokens uncached{work.prompt - cached};
    if (serving.ptu) return normalized_tokens(*serving.ptu, uncached, Tokens{cached}, Tokens{output});
    if (serving.gsu) return normalized_tokens(*serving.gsu, uncached, Tokens{cached}, Tokens{output});
    return static_cast<double>(work.prompt + output);
  };
  InFlight& flight = in_flight(work.flight);
  flight = {};
  flight.offer = work.offer;
  // The provider estimates from the prompt and max_tokens where it is stated, else from the output it will see.
  flight.estimate =
      weighted(work.max_output > 0 ? std::min(work.max_output, 4 * std::max(work.output, 256)) : work.output);
  flight.actual = weighted(work.output);
  Answer answer{
      .accepted = true, .why = Rejection::throttled, .retry_after = {}, .cached = cached, .billed_as = work.offer};
  if (api.requests && !api.requests->admit(now, 1.0)) {
    answer.accepted = false;
    answer.retry_after = api.requests->retry_after(now);
    return answer;
  }
  if (api.tokens && !api.tokens->admit(now, flight.estimate)) {
    answer.accepted = false;
    answer.retry_after = api.tokens->retry_after(now);
    if (d.native_spill) {
      for (const OfferId id : fleet_->candidates((*fleet_)[work.offer].model)) {
        const Offer& other = (*fleet_)[id];
        if (other.destination != *d.native_spill || other.model != (*fleet_)[work.offer].model) continue;
        Work spilled = work;
        spilled.offer = id;
        Answer native = offer_api(now, spilled, other.destination);
        native.billed_as = id;
        return native;
      }
    }
    return answer;
  }
  api.used += flight.actual;
  const std::uint64_t draw = rng_.next();
  const double ttft = api.ttft_s[draw & (kQuantiles - 1)];
  const double tpot = api.tpot_s[(draw >> 10) & (kQuantiles - 1)];
  const bool failed = api.error_rate > 0.0 && static_cast<double>(draw >> 20) * 0x1.0p-44 < api.error_rate;
  const double began = seconds(now);
  flight.first_token = began + ttft;
  api_events_.push(
      {failed ? began + ttft : began + ttft + tpot * static_cast<double>(work.output > 1 ? work.output - 1 : 0),
       work.flight, failed});
  return answer;
}

Instant Plant::next() const {
  double soonest = tree_.least();
  if (!api_events_.empty()) soonest = std::min(soonest, api_events_.top().at);
  return soonest == WinnerTree::kNever ? Instant::max() : at(soonest);
}

Plant::Event Plant::fire() {
  const bool api_first = !api_events_.empty() && api_events_.top().at < tree_.least();
  if (api_first) {
    const ApiEvent done = api_events_.top();
    api_events_.pop();
    InFlight& flight = in_flight_[done.flight];
    Api& api = apis_[(*fleet_)[flight.offer].destination.value];
    const Instant when = at(done.at);
    if (api.tokens) api.tokens->reconcile(when, flight.estimate, done.failed ? 0.0 : flight.actual);
    return {done.failed ? Event::Kind::failed : Event::Kind::finished, done.flight, when, at(flight.first_token), 0};
  }
  if (tree_.least() == WinnerTree::kNever) return {};
  const std::size_t server = tree_.position();
  const Server::Event event = servers_[server].fire();
  touch(server);
  if (event.kind == Server::Event::Kind::none) return {};
  const auto kind = event.kind == Server::Event::Kind::first_token ? Event::Kind::first_token : Event::Kind::finished;
  if (kind == Event::Kind::finished && drains_at_[server] != kNowhere && servers_[server].load() == 0) {
    const Pool& pool = pools_[drains_at_[server]];
    const auto place = std::find(pool.draining.begin(), pool.draining.end(), server) - pool.draining.begin();
    release_if_empty(at(event.at), drains_at_[server], static_cast<std::size_t>(place) / pool.replicas_per_unit);
  }
  return {kind, event.flight, at(event.at), {}, 0};
}

void Plant::account(Instant now, Pool& pool) {
  const double t = seconds(now);
  pool.capacity_seconds +=
      static_cast<double>(pool.active.size() + pool.draining.size() + pool.condemned.size()) * (t - pool.changed);
  pool.changed = t;
}

/// @param unit place among the units of the destination that drain
void Plant::release_if_empty(Instant now, std::uint32_t destination, std::size_t unit) {
  Pool& pool = pools_[destination];
  const auto first = pool.draining.begin() + static_cast<std::ptrdiff_t>(unit * pool.replicas_per_unit);
  const auto last = first + static_cast<std::ptrdiff_t>(pool.replicas_per_unit);
  if (std::any_of(first, last, [&](std::uint32_t s) { return servers_[s].load() > 0; })) return;
  account(now, pool);
  for (auto s = first; s != last; ++s) drains_at_[*s] = kNowhere;
  pool.idle.insert(pool.idle.end(), first, last);
  pool.draining.erase(first, last);
  drained_.push_back({DestinationId{destination}, unit});
}

std::uint32_t Plant::new_server(const ServerProfile& profile) {
  servers_.emplace_back(profile, options_.slowdown.of(profile));
  drains_at_.push_back(kNowhere);
  if (servers_.size() > tree_.size()) {
    tree_.resize(2 * servers_.size());
    for (std::size_t s = 0; s + 1 < servers_.size(); ++s) touch(s);
  }
  return static_cast<std::uint32_t>(servers_.size() - 1);
}

void Plant::set_units(Instant now, DestinationId destination, std::int64_t units) {
  Pool& pool = pools_[destination.value];
  if (!pool.profile) {
    for (std::int64_t u = pool.shells - units; u > 0; --u)
      drained_.push_back({destination, static_cast<std::size_t>(u - 1)});
    pool.shells = units;
    return;
  }
  account(now, pool);
  const std::size_t wanted = static_cast<std::size_t>(std::max<std::int64_t>(units, 0)) * pool.replicas_per_unit;
  const std::size_t drained_before = pool.draining.size() / pool.replicas_per_unit;
  while (pool.active.size() > wanted) {
    pool.draining.push_back(pool.active.back());
    drains_at_[pool.active.back()] = destination.value;
    pool.active.pop_back();
  }
  for (std::size_t u = pool.draining.size() / pool.replicas_per_unit; u > drained_before; --u)
    release_if_empty(now, destination.value, u - 1);
  while (pool.active.size() < wanted) {
    std::vector<std::uint32_t>& from = pool.draining.empty() ? pool.idle : pool.draining;
    if (from.empty()) {
      from.push_back(new_server(*pool.profile));
      pool.all.push_back(from.back());
    }
    drains_at_[from.back()] = kNowhere;
    pool.active.push_back(from.back());
    from.pop_back();
  }
}

void Plant::condemn(Instant now, DestinationId destination, std::int64_t units) {
  Pool& pool = pools_[destination.value];
  account(now, pool);
  pool.shells -= pool.profile ? 0 : units;
  for (std::size_t n = static_cast<std::size_t>(units) * pool.replicas_per_unit; n > 0 && !pool.active.empty(); --n) {
    pool.condemned.push_back(pool.active.back());
    pool.active.pop_back();
  }
}

std::vector<Plant::Event> Plant::take_away(Instant now, DestinationId destination, std::int64_t units) {
  Pool& pool = pools_[destination.value];
  const double t = seconds(now);
  std::vector<Event> lost;
  const std::size_t replicas =
      std::min(static_cast<std::size_t>(units) * pool.replicas_per_unit, pool.condemned.size());
  for (std::size_t i = 0; i < replicas; ++i) {
    const std::uint32_t s = pool.condemned[i];
    for (const std::uint32_t flight : servers_[s].flights())
      lost.push_back({Event::Kind::lost, flight, now, {}, servers_[s].remove(t, flight)});
    touch(s);
    pool.idle.push_back(s);
  }
  pool.condemned.erase(pool.condemned.begin(), pool.condemned.begin() + static_cast<std::ptrdiff_t>(replicas));
  return lost;
}

void Plant::hold(Instant now, DestinationId destination, OfferId guest) {
  Pool& pool = pools_[destination.value];
  pool.profile = guest.valid() ? &*(*fleet_)[guest].profile : pool.home;
  for (const std::uint32_t s : pool.all) {
    ACE_CHECK(servers_[s].load() == 0, "models are swapped on idle replicas");
    pool.used_before += servers_[s].used_seconds(seconds(now));
    servers_[s] = Server(*pool.profile, options_.slowdown.of(*pool.profile));
    touch(s);
  }
  caches_[destination.value].clear();
}

double Plant::used_share(Instant now, DestinationId destination) {
  const double t = seconds(now);
  const Api& api = apis_[destination.value];
  if (api.tokens && t > 0.0) return std::min(1.0, api.used / (api.tokens->rate() * t));
  Pool& pool = pools_[destination.value];
  account(now, pool);
  if (pool.capacity_seconds <= 0.0) return 0.0;
  double used = pool.used_before;
  for (const std::uint32_t s : pool.all) used += servers_[s].used_seconds(t);
  return std::min(1.0, used / pool.capacity_seconds);
}

}  // namespace ace
