#pragma once
/// A world in which everything happens that a recording must be able to say, for the tests of this and other rooms.
#include <memory>
#include <vector>

#include "replay/replay_testing.h"

namespace ace::replay_testing {

/// Two models that share nothing, two islands; APIs that fail and throttle, a pool, spot that is taken away.
inline std::unique_ptr<Fleet> world() {
  auto fleet = api_fleet();
  Fleet& f = *fleet;
  f.models.push_back(f.models[0]);
  f.models[1].name = "n";
  f.slo_classes[0].epsilon = 0.01;
  f.destinations[0].unlimited = false;
  f.destinations[0].tpm = 60'000;
  f.destinations[0].rpm = 40;
  ServerProfile profile = simple_profile();
  profile.watts_busy = 300.0;
  f.destinations.push_back(owned_pool(profile));
  f.destinations[1].name = "own-m";
  f.destinations[1].amortization_hourly = Usd{1'700'000'000};
  f.policies.gateway_hosts_hourly = Usd{50'000'000};
  f.electricity.hourly = {{120'000'000}, {140'000'000}};  // from 1970 on
  Destination api = f.destinations[0];
  api.name = "papi";
  api.latency.error_rate = 0.55;
  api.serving[0].model = ModelId{1};
  f.destinations.push_back(api);
  f.models[1].baseline->destination = DestinationId{2};
  Destination spot = owned_pool(simple_profile(), 2);
  spot.name = "spot-n";
  spot.tier = Tier::spot;
  spot.serving[0].model = ModelId{1};
  spot.rental.emplace().hourly = Usd{500'000'000};
  spot.rental->hazard_per_hour = 20.0;
  f.destinations.push_back(spot);
  return fleet;
}

inline MemorySource requests(std::size_t count, std::uint64_t seed = 11) {
  Rng rng(seed, "requests");
  double at = 3'500.0;  // an hour ends on the way
  std::vector<Made> all;
  for (std::size_t i = 0; i < count; ++i) {
    at += rng.exponential(0.08);
    Made m =
        made(at, static_cast<std::int32_t>(rng.between(100, 9000)), static_cast<std::int32_t>(rng.between(1, 300)));
    m.arrival.model = static_cast<std::uint32_t>(rng.below(2));
    m.arrival.tenant = static_cast<std::uint32_t>(rng.below(3));
    m.arrival.cache_hit = rng.below(40) == 0;
    for (std::int32_t k = 0; k * 512 < m.arrival.prompt; ++k)
      m.blocks.push_back(static_cast<std::uint32_t>(k * 4) + static_cast<std::uint32_t>(rng.below(4)));
    all.push_back(m);
  }
  return MemorySource(std::move(all), {"m", "n"}, {"a", "b", "c"});
}

/// What a run of it says.
inline std::vector<event::Record> recorded(const Snapshot& snapshot, RequestSource& source, unsigned threads = 1,
                                           std::uint64_t seed = 1) {
  RunOptions options;
  options.threads = threads;
  options.seed = seed;
  std::vector<event::Record> records;
  options.record = [&](event::Record record) -> Result<void> {
    records.push_back(std::move(record));
    return {};
  };
  ACE_CHECK(run(snapshot, source, options).has_value(), "the run of a test failed");
  return records;
}

}  // namespace ace::replay_testing
