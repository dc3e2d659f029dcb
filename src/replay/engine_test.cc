#include "replay/engine.h"

#include <gtest/gtest.h>

#include "core/testing.h"
#include "dispatch/generate_testing.h"
#include "dispatch/learn_testing.h"

namespace ace {
namespace {

using learn::at;

/// A fleet, an engine on it and what it settled.
class World {
 public:
  std::unique_ptr<Fleet> fleet = learn::models(1);
  std::vector<Settled> settled;
  std::vector<event::UnitsChanged> changed;

  void begin(Dispatching dispatching = Dispatching::merit_order) {
    for (std::uint32_t i = 0; i < fleet->destinations.size(); ++i) fleet->destinations[i].declared = i;
    snapshot = std::make_unique<Snapshot>(*fleet);
    Engine::Options options;
    options.dispatching = dispatching;
    engine = std::make_unique<Engine>(*snapshot, options,
                                      Engine::Sink{[this](const Settled& s) { settled.push_back(s); },
                                                   [this](const event::UnitsChanged& c) { changed.push_back(c); },
                                                   {}});
    engine->begin(at(0));
  }
  void send(double t, std::int32_t prompt, std::int32_t output, std::int32_t max_output = 0, SloId slo = SloId{0}) {
    Demand d;
    d.arrival.at = at(t);
    d.arrival.row = ++rows_;
    d.arrival.prompt = prompt;
    d.arrival.output = output;
    d.arrival.max_output = max_output;
    d.model = ModelId{0};
    d.slo = slo;
    engine->arrive(d);
  }
  void finish() {
    engine->finish();
    std::sort(settled.begin(), settled.end(),
              [](const Settled& a, const Settled& b) { return a.admitted.row < b.admitted.row; });
  }
  /// Destinations that answered, by row: "api own -" where - is not served.
  [[nodiscard]] std::string answered_by() const {
    std::string names;
    for (const Settled& s : settled)
      names +=
          (names.empty() ? "" : " ") + (s.completed.outcome == event::Outcome::served
                                            ? fleet->destinations[(*snapshot)[s.completed.offer].destination.value].name
                                            : std::string("-"));
    return names;
  }

  std::unique_ptr<Snapshot> snapshot;
  std::unique_ptr<Engine> engine;

 private:
  std::int64_t rows_ = 0;
};

/// 10,000 prompt tokens/s, 10 ms a step, 8 at once.
ServerProfile replica() {
  ServerProfile p;
  p.prefill_tokens_per_s = 10'000.0;
  p.step_base_s = 0.010;
  p.batch_max = 8;
  p.kv_tokens_max = 1'000'000;
  p.watts_idle = 100.0;
  p.watts_busy = 100.0;
  p.measured = true;
  return p;
}

/// 50 units x 2,500 tokens a minute: 2,083 a second.
Destination& add_ptu(Fleet& fleet, const char* name, std::int64_t units = 1) {
  Destination& d = learn::add(fleet, name, Tier::reserved);
  learn::serve(d, 0).ptu = PtuTerms{.units = units, .tokens_per_minute_per_unit = 2500};
  return d;
}

TEST(Engine, spills_to_the_next_in_merit_order_in_the_same_instant_when_a_commitment_is_full) {
  World w;
  add_ptu(*w.fleet, "ptu");
  learn::add_api(*w.fleet, "api", 2'000'000'000);
  w.begin();
  // 2,500 tokens a minute: the bucket holds one minute's worth, and a call is let in while it is not full. Two calls of
  // 2,000 fill it; the brain's own meter turns the third away at once, or the destination's 429 does.
  for (int i = 0; i < 4; ++i) w.send(0.001 * i, 2000, 10);
  w.send(120.0, 2000, 10);  // drained by then
  w.finish();
  EXPECT_EQ(w.answered_by().substr(0, 4), "ptu ") << w.answered_by();
  EXPECT_EQ(w.answered_by().substr(w.answered_by().size() - 11), "api api ptu") << w.answered_by();
  for (const Settled& s : w.settled)
    EXPECT_LT(s.decided.at - s.admitted.at, kSecond) << "nobody waits for a commitment";
}

TEST(Engine, bills_native_spillover_as_the_deployment_named) {
  World w;
  Destination& ptu = add_ptu(*w.fleet, "ptu");
  ptu.native_spill = DestinationId{1};
  learn::add_api(*w.fleet, "api", 2'000'000'000);
  w.begin();
  for (int i = 0; i < 30; ++i) w.send(0.001 * i, 10, 10, 20'000);  // the provider reserves far more than we predict
  w.finish();
  const auto native =
      std::count_if(w.settled.begin(), w.settled.end(), [](const Settled& s) { return s.native_spill; });
  for (const Settled& s : w.settled) {
    const bool free = s.billed_as == learn::offer_of(*w.snapshot, "ptu");
    EXPECT_EQ(s.chain.c[4].nano, free ? 0 : 10 * 2'000) << "10 tokens at 2 USD per million";
    EXPECT_TRUE(!s.native_spill || s.billed_as == learn::offer_of(*w.snapshot, "api"));
  }
  EXPECT_GT(native, 0);
}

TEST(Engine, bills_the_parts_of_an_answer_that_fit_its_whole) {
  World w;
  w.fleet = learn::models(2);
  w.fleet->models[0].equivalents = {{ModelId{1}, 0.97, 500'000, "docs/q.md"}};
  Destination& api = learn::add_api(*w.fleet, "api", 2'000'000'000);
  api.serving.front().model = ModelId{1};
  for (Rates& rates : w.fleet->prices.rows.back().tiers.front().by_service)
    for (const Unit unit : {Unit::cached_input, Unit::cache_write, Unit::reasoning}) rates.set(unit, {2'000'000'000});
  w.begin();
  Demand d;
  d.arrival.at = at(0);
  d.arrival.row = 1;
  d.arrival.prompt = 1000;
  d.arrival.output = 100;
  d.arrival.reasoning = 80;
  d.arrival.cached = 600;
  d.arrival.cache_write = 600;  // as other logs count them: what was read is written again
  d.model = ModelId{0};
  d.slo = SloId{0};
  w.engine->arrive(d);
  w.finish();
  ASSERT_EQ(w.settled.size(), 1U);
  const Usage& usage = w.settled[0].completed.usage;
  EXPECT_EQ(usage[Unit::reasoning], 40) << "80 of 100 tokens, of which the equivalent needs half";
  EXPECT_EQ(usage[Unit::output], 10);
  EXPECT_EQ(usage.prompt(), Tokens{1000});
  EXPECT_EQ(usage[Unit::input], 0);
  EXPECT_EQ(w.settled[0].excluded, Reason::none);
  EXPECT_EQ(w.settled[0].chain.c[4].nano, (1000 + 50) * 2'000);
}

TEST(Engine, bills_audio_images_and_cache_writes_of_the_log_apart) {
  World w;
  learn::add_api(*w.fleet, "api", 2'000'000'000);
  for (Rates& rates : w.fleet->prices.rows.back().tiers.front().by_service) {
    rates.set(Unit::input, {1'000'000'000});
    rates.set(Unit::cached_input, {100'000'000});
    rates.set(Unit::cache_write, {1'250'000'000});
    rates.set(Unit::cache_write_1h, {2'000'000'000});
    rates.set(Unit::audio_input, {40'000'000'000});
    rates.set(Unit::audio_output, {80'000'000'000});
    rates.set(Unit::image_input, {5'000'000'000});
  }
  w.begin();
  Demand d;
  d.arrival.at = at(0);
  d.arrival.row = 1;
  d.arrival.prompt = 1000;
  d.arrival.cached = 100;
  d.arrival.cache_write = 300;
  d.arrival.cache_write_1h = 200;
  d.arrival.audio_prompt = 50;
  d.arrival.image_prompt = 20;
  d.arrival.output = 100;
  d.arrival.audio_output = 30;
  d.model = ModelId{0};
  d.slo = SloId{0};
  w.engine->arrive(d);
  w.finish();
  ASSERT_EQ(w.settled.size(), 1U);
  // USD per Mtok is 1000 nano-USD per token: 530 text x 1, 100 cached x 0.1, 100 written x 1.25, 200 for an hour x 2,
  // 50 audio x 40, 20 image x 5; 70 text x 2 and 30 audio x 80 of the answer.
  EXPECT_EQ(w.settled[0].chain.c[4].nano,
            530'000 + 10'000 + 125'000 + 400'000 + 2'000'000 + 100'000 + 140'000 + 2'400'000);
  EXPECT_EQ(w.settled[0].completed.usage.prompt(), Tokens{1000});
  EXPECT_EQ(w.settled[0].completed.usage.completion(), Tokens{100});
}

TEST(Engine, gives_the_answers_of_a_logged_response_cache_for_nothing_to_the_caching_lever) {
  for (const bool whole_requests : {false, true}) {
    World w;
    learn::add_api(*w.fleet, "api", 2'000'000'000);
    w.fleet->policies.response_cache = whole_requests;
    w.begin();
    Demand d;
    d.arrival.at = at(0);
    d.arrival.row = 1;
    d.arrival.prompt = 1000;
    d.arrival.output = 100;
    d.arrival.cache_hit = true;
    d.model = ModelId{0};
    d.slo = SloId{0};
    w.engine->arrive(d);
    w.send(1, 1000, 100);
    w.finish();
    ASSERT_EQ(w.settled.size(), 2U);
    const Settled& hit = w.settled[0];
    EXPECT_EQ(hit.completed.outcome, event::Outcome::cache_hit);
    EXPECT_EQ(w.answered_by(), "- api") << "no destination was asked for the first";
    EXPECT_EQ(hit.attempts, 0U);
    // 100 tokens at 2 USD per million: all of it was saved by the cache, and by nothing else.
    EXPECT_EQ(hit.chain.c[0].nano, 200'000);
    for (std::size_t i = 1; i < 5; ++i) EXPECT_EQ(hit.chain.c[i].nano, 0) << i;
    EXPECT_EQ(hit.chain.lever[static_cast<std::size_t>(Lever::caching)].nano, 200'000);
    EXPECT_TRUE(hit.completed.slo_met);
    EXPECT_EQ(hit.completed.exact_match, whole_requests) << "only the fleet file can say what the cache compares";
    EXPECT_NE(hit.admitted.id, w.settled[1].admitted.id);
    EXPECT_EQ(w.settled[1].chain.c[4].nano, 200'000);
  }
}

TEST(Engine, keeps_within_the_rate_limits_of_an_api) {
  World w;
  learn::add_api(*w.fleet, "cheap", 1'000'000'000).unlimited = false;
  w.fleet->destinations[0].rpm = 60;
  learn::add_api(*w.fleet, "dear", 5'000'000'000);
  w.begin();
  for (int i = 0; i < 1200; ++i) w.send(0.1 * i, 100, 10);  // ten times its limit, for two minutes
  w.finish();
  const auto cheap = std::count_if(w.settled.begin(), w.settled.end(), [&](const Settled& s) {
    return s.completed.offer == learn::offer_of(*w.snapshot, "cheap");
  });
  EXPECT_GE(cheap, 100) << "the limit is used";
  EXPECT_LE(cheap, 60 * 3 + 1) << "a bucket of a minute and two minutes of refill";
  for (const Settled& s : w.settled) EXPECT_EQ(s.completed.outcome, event::Outcome::served);
}

TEST(Engine, retries_a_failure_elsewhere_and_never_more_than_attempts_max) {
  World w;
  learn::add_api(*w.fleet, "flaky", 1'000'000'000).latency.error_rate = 0.3;
  learn::add_api(*w.fleet, "dear", 5'000'000'000).latency.error_rate = 0.3;
  w.begin();
  for (int i = 0; i < 2000; ++i) w.send(0.05 * i, 100, 10);
  w.finish();
  std::size_t retried = 0, lost = 0, spent = 0;
  for (const Settled& s : w.settled) {
    EXPECT_LE(s.attempts, 3U);
    retried += s.attempts > 1 && s.completed.outcome == event::Outcome::served ? 1 : 0;
    if (s.completed.outcome != event::Outcome::not_served) continue;
    ++lost;
    spent += s.completed.verdict == Verdict::retries_spent ? 1 : 0;
  }
  EXPECT_GT(retried, 20U);
  EXPECT_LT(lost, 1000U);
  EXPECT_GT(spent, 0U) << "there is room for all of them: it is the attempts that ran out";
  EXPECT_EQ(w.settled.size(), 2000U);
}

TEST(Engine, holds_back_what_can_wait_while_headroom_is_short_and_counts_it_once) {
  World w;
  learn::add_api(*w.fleet, "api", 1'000'000'000);  // alone: nobody could take its load
  w.fleet->policies.reserve_enforce = true;
  SloClass batch;
  batch.name = "batch";
  batch.deadline = kHour;
  w.fleet->slo_classes.push_back(batch);
  w.begin();
  const SloId patient{static_cast<std::uint32_t>(w.fleet->slo_classes.size() - 1)};
  for (int i = 0; i < 200; ++i) {
    w.send(0.5 * i, 100, 10);
    if (i == 150) w.send(75.1, 100, 10, 0, patient);
  }
  w.finish();
  ASSERT_EQ(w.settled.size(), 201U);
  EXPECT_EQ(w.answered_by().find('-'), std::string::npos);
  EXPECT_EQ(w.engine->held_back(), 1U);
  const Settled& held = w.settled[151];
  EXPECT_GT(held.completed.at, learn::at(100)) << "only when the others have gone";
  EXPECT_TRUE(w.settled[150].decided.decision.reserve_short);
  EXPECT_FALSE(held.decided.decision.reserve_short);
}

TEST(Engine, waits_for_capacity_within_the_slo_and_then_gives_up_to_the_nanosecond) {
  World w;
  w.fleet->slo_classes[0].ttft = from_seconds(1.234);
  ServerProfile p = replica();
  p.step_base_s = 0.1;
  learn::add_pool(*w.fleet, "own", p);
  w.begin();
  for (int i = 0; i < 20; ++i) w.send(0.001 * i, 10, 100);  // 10 s each, at most 8 at once
  w.send(9.9, 10, 1);                                       // waits a little for the first to end
  w.finish();
  ASSERT_EQ(w.settled.size(), 21U);
  std::size_t served = 0;
  for (const Settled& s : w.settled) {
    if (s.completed.outcome == event::Outcome::served) {
      ++served;
      continue;
    }
    EXPECT_EQ(s.completed.verdict, Verdict::no_capacity);
    EXPECT_EQ(s.completed.at, s.admitted.at + from_seconds(1.234));
  }
  EXPECT_GE(served, 2U);
  EXPECT_LE(served, 9U);
  EXPECT_EQ(w.settled.back().completed.outcome, event::Outcome::served);
  EXPECT_GT(w.settled.back().completed.at, at(10.0));
}

TEST(Engine, loses_what_ran_on_a_spot_unit_and_does_it_again) {
  World w;
  Destination& spot = learn::add_pool(*w.fleet, "spot", replica());
  spot.tier = Tier::spot;
  spot.rental.emplace().hourly = Usd{1'000'000'000};
  spot.rental->notice = 30 * kSecond;
  spot.rental->availability = {at(0), kMinute, {1.0, 0.0}};  // gone from the first minute on
  learn::add_api(*w.fleet, "api", 2'000'000'000);
  w.begin();
  const double minute = to_seconds(instant((floor_div(nanos(at(0)), nanos(kMinute)) + 1) * nanos(kMinute)) - at(0));
  w.send(0.0, 100, 20'000);        // 200 s: lost at the end of the notice
  w.send(minute - 1.0, 100, 500);  // 5 s: drains in time
  w.send(minute + 61.0, 100, 10);  // after the notice there is only the API
  w.finish();
  EXPECT_EQ(w.answered_by(), "api spot api");
  const Settled& lost = w.settled[0];
  EXPECT_EQ(lost.attempts, 2U);
  // The API's price of its 20,000 tokens; the lost ones are in the unit-hour.
  EXPECT_EQ(lost.chain.c[4].nano, 20'000 * 2'000);
  EXPECT_GT(lost.completed.at - lost.admitted.at, from_seconds(minute + 30.0)) << "the time lost is the client's";
  ASSERT_EQ(w.changed.size(), 2U);
  EXPECT_EQ(w.changed[1].cause, "eviction");
}

// A unit at 3.60 USD an hour is switched off with the minute; its last request came a second before and takes 5 s. It
// is paid for until then: 4 s more, 0.004 USD.
TEST(Engine, pays_for_a_unit_until_its_last_request_has_left) {
  World w;
  Destination& d = learn::add_pool(*w.fleet, "rented", replica(), {0}, 0);
  d.tier = Tier::on_demand;
  d.rental.emplace().hourly = Usd{3'600'000'000};
  d.rental->increment = kSecond;
  const std::int64_t minute = floor_div(nanos(at(0)), nanos(kMinute));
  const auto of_day = static_cast<std::int32_t>(minute % 1440);
  d.units.schedule = {{.days = 0x7f, .from_minute = of_day, .to_minute = of_day + 1, .units = 1}};
  w.begin();
  const Instant off = instant((minute + 1) * nanos(kMinute));
  w.send(to_seconds(off - at(0)) - 1.0, 100, 500);
  w.finish();
  ASSERT_EQ(w.answered_by(), "rented");
  ASSERT_EQ(w.changed.back().after, 0);
  std::int64_t rent = 0;
  for (const event::FixedCost& cost : w.engine->units().fixed_cost(at(0), off + kHour)) rent += cost.amount.nano;
  EXPECT_NEAR(static_cast<double>(rent), to_seconds(off - at(0)) * 1e6 + 4e6, 1e6) << "in whole seconds";
}

// A rented pool from zero: its units cost nothing per token, the API 2 USD per million output tokens. The first request
// asks for a unit and goes to the API; a minute later, the start-up time, the next one runs on it.
TEST(Engine, starts_a_pool_from_zero_for_demand_that_is_cheaper_there) {
  World w;
  Destination& d = learn::add_pool(*w.fleet, "rented", replica(), {0}, 0);
  d.tier = Tier::on_demand;
  d.rental.emplace().hourly = Usd{1'000'000'000};
  d.units.reactive = ReactivePolicy{.start_delay = kMinute, .units_min = 0, .units_max = 2};
  learn::add_api(*w.fleet, "api", 2'000'000'000);
  w.begin();
  w.send(10.0, 100, 10);
  w.send(69.0, 100, 10);
  w.send(71.0, 100, 10);
  w.finish();
  EXPECT_EQ(w.answered_by(), "api api rented");
  ASSERT_EQ(w.changed.size(), 2U);
  EXPECT_EQ(w.changed[1].at, at(70.0));
  EXPECT_EQ(w.changed[1].after, 1);
}

TEST(Engine, starts_a_pool_from_zero_for_demand_that_has_nowhere_else_to_go) {
  World w;
  learn::add_pool(*w.fleet, "own", replica(), {0}, 0).units.reactive =
      ReactivePolicy{.start_delay = kSecond, .units_min = 0, .units_max = 1};
  w.begin();
  w.send(10.0, 100, 10);
  w.finish();
  EXPECT_EQ(w.answered_by(), "own");
}

TEST(Engine, lets_a_pool_sleep_that_would_be_dearer) {
  World w;
  // 100 kW over 800 tokens/s are 125 J a token: at 1 USD/kWh 35 USD per million tokens.
  ServerProfile hungry = replica();
  hungry.watts_busy = 100'000.0;
  learn::add_pool(*w.fleet, "own", hungry, {0}, 0).units.reactive =
      ReactivePolicy{.start_delay = kSecond, .units_min = 0, .units_max = 1};
  w.fleet->electricity.flat = {1'000'000'000};
  learn::add_api(*w.fleet, "api", 2'000'000'000);
  w.begin();
  w.send(10.0, 100, 10);
  w.send(100.0, 100, 10);
  w.finish();
  EXPECT_EQ(w.answered_by(), "api api");
  EXPECT_EQ(w.changed.size(), 1U) << "nothing but the start of the run";
}

TEST(Engine, follows_the_declared_order_as_the_status_quo) {
  World w;
  learn::add_api(*w.fleet, "first", 5'000'000'000);
  learn::add_api(*w.fleet, "cheap", 1'000'000'000);
  w.fleet->models[0].baseline->destination = DestinationId{0};
  w.begin(Dispatching::status_quo);
  w.send(0.0, 100, 10);
  w.finish();
  EXPECT_EQ(w.answered_by(), "first");
  World ours;
  learn::add_api(*ours.fleet, "first", 5'000'000'000);
  learn::add_api(*ours.fleet, "cheap", 1'000'000'000);
  ours.begin();
  ours.send(0.0, 100, 10);
  ours.finish();
  EXPECT_EQ(ours.answered_by(), "cheap");
}

/// Random fleets with failures, evictions and schedules under load.
std::unique_ptr<Fleet> stormy(Rng& rng) {
  auto fleet = gen::fleet(rng, 8);
  for (Destination& d : fleet->destinations) {
    if (rng.chance(0.5)) d.latency.error_rate = 0.2 * rng.uniform();
    if (d.tier == Tier::reserved && rng.chance(0.3))
      for (std::uint32_t i = 0; i < fleet->destinations.size(); ++i)
        if (fleet->destinations[i].tier == Tier::payg) d.native_spill = DestinationId{i};
    if (d.rental && rng.chance(0.5)) {
      d.rental->hazard_per_hour = 20.0 * rng.uniform();
      d.rental->notice = kSecond * rng.between(0, 120);
    }
    if (d.rental && rng.chance(0.3)) d.rental->availability = {learn::at(0), kMinute, {2.0, 0.0, 1.0, 3.0, 0.0, 2.0}};
    if (d.rental && rng.chance(0.3))
      d.units.reactive = ReactivePolicy{.up_at = 0.5,
                                        .down_at = 0.2,
                                        .start_delay = kMinute,
                                        .min_up = kMinute,
                                        .min_down = kMinute,
                                        .units_min = 0,
                                        .units_max = 3};
  }
  return fleet;
}

TEST(Engine, settles_every_arrival_once_and_never_breaks_a_rule_or_loses_a_nano_dollar) {
  for_each_seed(60, [](Rng& rng) {
    const auto fleet = stormy(rng);
    const Snapshot snapshot(*fleet);
    std::vector<int> seen(400);
    Engine::Options options;
    options.seed = rng.next();
    options.patience = 5 * kSecond;
    std::vector<Demand> demands;
    Engine engine(snapshot, options,
                  {[&](const Settled& s) {
                     ++seen[static_cast<std::size_t>(s.admitted.row)];
                     Usd sum = s.chain.unattributed;
                     for (const Usd lever : s.chain.lever) sum += lever;
                     EXPECT_EQ(sum, s.chain.c[0] - s.chain.c[4]);
                     EXPECT_GE(s.completed.at, s.admitted.at);
                     if (s.completed.outcome != event::Outcome::served) return;
                     const Demand& d = demands[static_cast<std::size_t>(s.admitted.row)];
                     for (const OfferId offer : {s.completed.offer, s.billed_as}) {
                       EXPECT_EQ(snapshot.fixed_exclusions(d.compliance)[offer.value], 0) << "outside of its rule";
                       EXPECT_TRUE(snapshot.data_class_allowed(d.compliance, d.data_class));
                     }
                     EXPECT_GE(s.completed.ttft, Duration{0});
                     EXPECT_GE(s.completed.at, s.admitted.at + s.completed.ttft);
                   },
                   {},
                   {}});
    Instant t = learn::at(0);
    for (std::size_t i = 0; i < seen.size(); ++i) {
      const Request r = gen::request(rng, *fleet);
      Demand d;
      t += from_seconds(rng.exponential(rng.chance(0.02) ? 60.0 : 0.5));
      d.arrival.at = t;
      d.arrival.row = static_cast<std::int64_t>(i);
      d.arrival.prompt = static_cast<std::int32_t>(r.prompt.value);
      d.arrival.max_output = static_cast<std::int32_t>(r.max_output.value);
      d.arrival.output = static_cast<std::int32_t>(rng.between(1, 800));
      if (r.max_output.value > 0)
        d.arrival.output = static_cast<std::int32_t>(std::min<std::int64_t>(d.arrival.output, r.max_output.value));
      d.arrival.needs = r.needs & ~kText;
      d.model = r.model;
      d.slo = r.slo;
      d.compliance = r.compliance;
      d.data_class = r.data_class;
      demands.push_back(d);
      engine.arrive(d);
    }
    engine.finish();
    for (const int count : seen) EXPECT_EQ(count, 1);
    // GPU time: bookings of one device are disjoint.
    std::map<std::string, std::int64_t> end;
    for (const auto& [destination, booking] : engine.units().bookings(learn::at(0), engine.last_completion())) {
      EXPECT_LT(booking.start_ms, booking.end_ms);
      EXPECT_GE(booking.start_ms, end[booking.device]);
      end[booking.device] = booking.end_ms;
    }
  });
}

TEST(Engine, says_in_short_what_it_would_have_settled) {
  for_each_seed(40, [](Rng& rng) {
    const auto fleet = stormy(rng);
    const Snapshot snapshot(*fleet);
    Engine::Options options;
    options.seed = rng.next();
    options.patience = 5 * kSecond;
    using Short = std::tuple<std::int64_t, Usd, bool, bool, bool>;
    std::vector<Short> settled, spent;
    Engine whole(snapshot, options,
                 {[&](const Settled& s) {
                    settled.emplace_back(s.admitted.row, s.chain.c[4], s.answered(), s.completed.slo_met,
                                         s.completed.observed_cost_nano >= 0);
                  },
                  {},
                  {}});
    Engine brief(snapshot, options, {{}, {}, {}, {}, [&](const Engine::Spent& s) {
                                       spent.emplace_back(s.row, s.cost, s.answered, s.slo_met, s.observed);
                                     }});
    Instant t = learn::at(0);
    for (std::int64_t row = 1; row <= 300; ++row) {
      const Request r = gen::request(rng, *fleet);
      Demand d;
      t += from_seconds(rng.exponential(rng.chance(0.02) ? 60.0 : 0.2));
      d.arrival.at = t;
      d.arrival.row = row;
      d.arrival.prompt = static_cast<std::int32_t>(r.prompt.value);
      d.arrival.output = static_cast<std::int32_t>(rng.between(1, 800));
      d.arrival.cost_nano = rng.between(-1, 0);
      d.arrival.cache_hit = rng.chance(0.05);
      d.model = r.model;
      d.slo = r.slo;
      d.compliance = r.compliance;
      for (Engine* engine : {&whole, &brief}) engine->arrive(d);
    }
    whole.finish();
    brief.finish();
    EXPECT_EQ(settled, spent);
    EXPECT_EQ(settled.size(), 300U);
  });
}

TEST(Engine, gives_the_same_result_for_the_same_seed) {
  const auto once = [](std::uint64_t seed) {
    Rng rng(seed, "fleet");
    const auto fleet = stormy(rng);
    const Snapshot snapshot(*fleet);
    std::uint64_t hash = 14'695'981'039'346'656'037ULL;
    const auto mix = [&](std::int64_t v) { hash = (hash ^ static_cast<std::uint64_t>(v)) * 1'099'511'628'211ULL; };
    Engine::Options options;
    options.patience = 5 * kSecond;
    Engine engine(snapshot, options,
                  {[&](const Settled& s) {
                     mix(s.admitted.row);
                     mix(nanos(s.completed.at));
                     mix(s.completed.offer.valid() ? std::int64_t{s.completed.offer.value} : -1);
                     for (const Usd c : s.chain.c) mix(c.nano);
                   },
                   {},
                   {}});
    Instant t = learn::at(0);
    for (std::int64_t row = 1; row <= 3000; ++row) {
      const Request r = gen::request(rng, *fleet);
      Demand d;
      t += from_seconds(rng.exponential(0.1));
      d.arrival.at = t;
      d.arrival.row = row;
      d.arrival.prompt = static_cast<std::int32_t>(r.prompt.value);
      d.arrival.output = static_cast<std::int32_t>(rng.between(1, 800));
      d.model = r.model;
      d.slo = r.slo;
      engine.arrive(d);
    }
    engine.finish();
    return hash;
  };
  for (const std::uint64_t seed : {1ULL, 2ULL, 3ULL}) EXPECT_EQ(once(seed), once(seed));
  EXPECT_NE(once(1), once(2));
}

}  // namespace
}  // namespace ace
