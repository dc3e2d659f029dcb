#include "replay/plant.h"

#include <gtest/gtest.h>

#include <set>

#include "core/testing.h"
#include "dispatch/learn_testing.h"

namespace ace {
namespace {

using learn::at;

struct World {
  std::unique_ptr<Fleet> fleet = learn::models(1);
  std::unique_ptr<Snapshot> snapshot;
  std::unique_ptr<Plant> plant;

  void start(double slowdown = 1.0) {
    snapshot = std::make_unique<Snapshot>(*fleet);
    plant = std::make_unique<Plant>(*snapshot, Plant::Options{.slowdown = slowdown}, Rng(1, "test"), at(0));
  }
  Plant::Answer offer(double t, const std::string& destination, std::uint32_t flight, std::int32_t prompt,
                      std::int32_t output, std::span<const std::uint32_t> blocks = {}, std::int32_t max_output = 0) {
    return plant->offer(at(t), {.offer = learn::offer_of(*snapshot, destination),
                                .flight = flight,
                                .prompt = prompt,
                                .output = output,
                                .max_output = max_output,
                                .blocks = blocks});
  }
  /// Ends of flights up to `until`.
  std::map<std::uint32_t, Plant::Event> drain(double until = 1e6) {
    std::map<std::uint32_t, Plant::Event> ends;
    while (plant->next() <= at(until)) {
      const Plant::Event e = plant->fire();
      if (e.kind != Plant::Event::Kind::none && e.kind != Plant::Event::Kind::first_token) ends[e.flight] = e;
    }
    return ends;
  }
};

ServerProfile replica() {
  ServerProfile p;
  p.prefill_tokens_per_s = 10'000.0;
  p.step_base_s = 0.010;
  p.batch_max = 8;
  p.kv_tokens_max = 1'000'000;
  p.measured = true;
  return p;
}

TEST(Plant, refuses_where_nothing_runs) {
  World w;
  learn::add_pool(*w.fleet, "own", replica());
  w.start();
  const Plant::Answer answer = w.offer(0, "own", 1, 10, 10);
  EXPECT_FALSE(answer.accepted);
  EXPECT_EQ(answer.why, Rejection::refused);
  w.plant->set_units(at(1), DestinationId{0}, 1);
  EXPECT_TRUE(w.offer(1, "own", 1, 10, 10).accepted);
}

TEST(Plant, joins_the_shortest_queue) {
  World w;
  ServerProfile p = replica();
  p.batch_max = 1;
  learn::add_pool(*w.fleet, "own", p, {0}, 3);
  w.start();
  w.plant->set_units(at(0), DestinationId{0}, 3);
  for (std::uint32_t i = 0; i < 3; ++i) w.offer(0, "own", i, 100, 101);
  const auto ends = w.drain();
  ASSERT_EQ(ends.size(), 3U);
  // One on each of three replicas: 10 ms for the prompt and 100 steps of 10 ms; in one queue the last would take 3 s.
  for (const auto& [flight, end] : ends) EXPECT_NEAR(to_seconds(end.at - at(0)), 1.01, 1e-6);
}

TEST(Plant, lets_a_unit_that_stops_finish_and_takes_it_back_warm) {
  World w;
  learn::add_pool(*w.fleet, "own", replica(), {0}, 2);
  w.start();
  w.plant->set_units(at(0), DestinationId{0}, 2);
  w.offer(0, "own", 1, 100, 1001);
  w.offer(0, "own", 2, 100, 1001);
  w.plant->set_units(at(1), DestinationId{0}, 0);
  EXPECT_FALSE(w.offer(1, "own", 3, 10, 10).accepted);
  w.plant->set_units(at(2), DestinationId{0}, 2);
  EXPECT_TRUE(w.offer(2, "own", 4, 10, 10).accepted);
  EXPECT_TRUE(w.plant->take_away(at(3), DestinationId{0}, 2).empty()) << "nobody was condemned";
  EXPECT_EQ(w.drain().size(), 3U);
}

TEST(Plant, says_when_a_unit_that_stops_is_empty) {
  World w;
  learn::add_pool(*w.fleet, "own", replica(), {0}, 3);
  w.start();
  const DestinationId own{0};
  w.plant->set_units(at(0), own, 3);
  w.offer(0, "own", 1, 100, 301);  // on the first, until 3.01 s
  w.offer(0, "own", 2, 100, 101);  // on the second, until 1.01 s; the third is idle
  EXPECT_FALSE(w.plant->any_drained());
  w.plant->set_units(at(1), own, 0);
  std::vector<Plant::Drained> drained = w.plant->take_drained();
  ASSERT_EQ(drained.size(), 1U) << "the third, switched off first";
  EXPECT_EQ(drained[0].unit, 0U);
  w.drain(2);
  drained = w.plant->take_drained();
  ASSERT_EQ(drained.size(), 1U) << "the second, now in front";
  EXPECT_EQ(drained[0].unit, 0U);
  w.plant->set_units(at(2), own, 1);  // the first comes back
  EXPECT_EQ(w.drain().size(), 1U);
  EXPECT_FALSE(w.plant->any_drained());
}

TEST(Plant, loses_what_a_condemned_unit_still_holds_even_if_others_start_meanwhile) {
  World w;
  learn::add_pool(*w.fleet, "spot", replica(), {0}, 1);
  w.start();
  const DestinationId spot{0};
  w.plant->set_units(at(0), spot, 1);
  w.offer(0, "spot", 1, 100, 1001);
  w.plant->condemn(at(1), spot, 1);
  w.plant->set_units(at(1), spot, 0);
  EXPECT_FALSE(w.offer(1, "spot", 2, 10, 10).accepted);
  w.plant->set_units(at(2), spot, 1);  // another machine
  EXPECT_TRUE(w.offer(2, "spot", 3, 100, 1001).accepted);
  w.drain(3);
  const auto lost = w.plant->take_away(at(3), spot, 1);
  ASSERT_EQ(lost.size(), 1U);
  EXPECT_EQ(lost[0].flight, 1U);
  // First token at 10 ms, then one each 10 ms: 300 by 3 s.
  EXPECT_NEAR(static_cast<double>(lost[0].produced), 300.0, 1.0);
  const auto ends = w.drain();
  EXPECT_EQ(ends.size(), 1U);
  EXPECT_TRUE(ends.contains(3));
}

TEST(Plant, admits_to_a_commitment_while_it_is_not_full_and_says_when_to_come_back) {
  World w;
  Destination& d = learn::add(*w.fleet, "ptu", Tier::reserved);
  learn::serve(d, 0).ptu = PtuTerms{.units = 1, .tokens_per_minute_per_unit = 60'000};
  w.start();
  const CommitmentMeter meter(*d.serving[0].ptu);
  std::uint32_t flight = 0;
  double taken = 0.0;
  Plant::Answer answer;
  while ((answer = w.offer(0, "ptu", flight++, 1000, 1)).accepted) taken += 1000.0;
  EXPECT_EQ(answer.why, Rejection::throttled);
  EXPECT_GT(answer.retry_after, Duration{0});
  EXPECT_GE(taken, meter.capacity() * 0.99);
  EXPECT_LE(taken, meter.capacity() + 2000.0) << "the last one may overshoot";
  const double back = to_seconds(answer.retry_after);
  EXPECT_FALSE(w.offer(back * 0.9, "ptu", flight, 1000, 1).accepted);
  EXPECT_TRUE(w.offer(back * 1.01, "ptu", flight, 1000, 1).accepted);
}

TEST(Plant, finds_prefixes_only_where_they_were_served) {
  World w;
  learn::add_pool(*w.fleet, "a", replica());
  learn::add_pool(*w.fleet, "b", replica());
  w.start();
  w.plant->set_units(at(0), DestinationId{0}, 1);
  w.plant->set_units(at(0), DestinationId{1}, 1);
  const std::vector<std::uint32_t> blocks = {7, 8, 9};
  EXPECT_EQ(w.offer(0, "a", 1, 1600, 1, blocks).cached, 0);
  EXPECT_EQ(w.offer(1, "a", 2, 1600, 1, blocks).cached, 1536) << "three blocks of 512";
  EXPECT_EQ(w.offer(2, "b", 3, 1600, 1, blocks).cached, 0);
}

TEST(Plant, takes_the_latency_of_an_api_from_its_declared_distribution) {
  World w;
  Destination& api = learn::add_api(*w.fleet, "api", 1'000'000'000);
  api.latency.ttft_p50 = from_seconds(0.3);
  api.latency.ttft_p95 = from_seconds(0.9);
  api.latency.error_rate = 0.05;
  w.start();
  std::vector<double> ttft;
  int failed = 0;
  for (std::uint32_t i = 0; i < 20'000; ++i) w.offer(0, "api", i, 10, 1);
  for (const auto& [flight, end] : w.drain()) {
    failed += end.kind == Plant::Event::Kind::failed ? 1 : 0;
    if (end.kind == Plant::Event::Kind::finished) ttft.push_back(to_seconds(end.first_token - at(0)));
  }
  std::sort(ttft.begin(), ttft.end());
  EXPECT_NEAR(ttft[ttft.size() / 2], 0.3, 0.01);
  EXPECT_NEAR(ttft[ttft.size() * 95 / 100], 0.9, 0.05);
  EXPECT_NEAR(failed / 20'000.0, 0.05, 0.01);
}

TEST(Plant, tells_what_share_of_its_capacity_was_used) {
  World w;
  ServerProfile p = replica();
  p.batch_max = 2;
  learn::add_pool(*w.fleet, "own", p, {0}, 1);
  w.start();
  w.plant->set_units(at(0), DestinationId{0}, 1);
  w.offer(0, "own", 1, 100,
          100);  // all of the engine for the 10 ms step with the prompt, then one of two slots for 0.99 s
  w.drain(2.0);
  EXPECT_NEAR(w.plant->used_share(at(2), DestinationId{0}), 0.2525, 1e-9);
  w.plant->set_units(at(2), DestinationId{0}, 0);
  EXPECT_NEAR(w.plant->used_share(at(10), DestinationId{0}), 0.2525, 1e-9) << "no capacity, no idle time";
}

TEST(Plant, ends_every_accepted_attempt_exactly_once) {
  for_each_seed(100, [](Rng& rng) {
    World w;
    ServerProfile p = replica();
    p.batch_max = rng.between(1, 8);
    p.kv_tokens_max = rng.between(1000, 20'000);
    learn::add_pool(*w.fleet, "pool", p, {0}, 3);
    learn::add_api(*w.fleet, "api", 1'000'000'000).latency.error_rate = 0.1;
    w.start();
    w.plant->set_units(at(0), DestinationId{0}, 2);
    std::map<std::uint32_t, int> open;
    double t = 0.0;
    std::int64_t units = 2, condemned = 0;
    const auto ended = [&](const Plant::Event& e) {
      if (e.kind == Plant::Event::Kind::none || e.kind == Plant::Event::Kind::first_token) return;
      EXPECT_EQ(open[e.flight], 1);
      --open[e.flight];
    };
    for (std::uint32_t i = 0; i < 200; ++i) {
      t += rng.exponential(0.3);
      while (w.plant->next() <= at(t)) ended(w.plant->fire());
      if (w.offer(t, rng.chance(0.7) ? "pool" : "api", i, static_cast<std::int32_t>(rng.between(1, 900)),
                  static_cast<std::int32_t>(rng.between(1, 300)))
              .accepted)
        ++open[i];
      if (rng.chance(0.1)) w.plant->set_units(at(t), DestinationId{0}, units = rng.between(0, 3));
      if (rng.chance(0.1) && units > 0) {
        w.plant->condemn(at(t), DestinationId{0}, 1);
        --units;
        ++condemned;
      }
      if (rng.chance(0.1) && condemned > 0) {
        --condemned;
        for (const Plant::Event& lost : w.plant->take_away(at(t), DestinationId{0}, 1)) ended(lost);
      }
    }
    while (w.plant->next() < Instant::max()) ended(w.plant->fire());
    for (const auto& [flight, count] : open) EXPECT_EQ(count, 0) << flight;
  });
}

TEST(Plant, does_to_the_nanosecond_what_it_always_did) {
  World w;
  ServerProfile p = replica();
  p.step_per_sequence_s = 1e-4;
  p.step_per_kv_token_s = 3e-8;
  p.kv_tokens_max = 8000;
  p.prefill_chunk = 512;
  learn::add_pool(*w.fleet, "pool", p, {0}, 3);
  Destination& api = learn::add_api(*w.fleet, "api", 1'000'000'000);
  api.latency.error_rate = 0.1;
  w.start(1.1);
  w.plant->set_units(at(0), DestinationId{0}, 3);
  std::uint64_t hash = 14'695'981'039'346'656'037ULL;
  const auto mix = [&](std::uint64_t v) { hash = (hash ^ v) * 1'099'511'628'211ULL; };
  const auto note = [&](const Plant::Event& e) {
    mix(static_cast<std::uint64_t>(e.kind));
    mix(e.flight);
    mix(static_cast<std::uint64_t>(nanos(e.at)));
  };
  Rng rng(3, "golden");
  double t = 0.0;
  for (std::uint32_t i = 0; i < 5000; ++i) {
    t += rng.exponential(0.15);
    while (w.plant->next() <= at(t)) note(w.plant->fire());
    w.offer(t, rng.chance(0.8) ? "pool" : "api", i, static_cast<std::int32_t>(rng.between(1, 3000)),
            static_cast<std::int32_t>(rng.between(1, 200)));
  }
  while (w.plant->next() < Instant::max()) note(w.plant->fire());
  EXPECT_EQ(hash, 15283315372696182867ULL)
      << "the world has changed: say why where you state the new number, and remake docs/PLANT.md";
}

}  // namespace
}  // namespace ace
