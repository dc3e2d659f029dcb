#include "dispatch/health.h"

#include <string>

#include <gtest/gtest.h>

#include "dispatch/learn_testing.h"

namespace ace {
namespace {

using learn::at;
constexpr Duration kNone{0};
constexpr Duration kMs{1'000'000};

/// `count` APIs a0, a1... for one model, each its own destination.
struct World {
  explicit World(std::size_t count, std::int64_t rpm = 0, std::int64_t tpm = 0) {
    for (std::size_t i = 0; i < count; ++i) {
      Destination& d = learn::add_api(*fleet, "a" + std::to_string(i), 1'000'000'000);
      d.unlimited = false;
      if (rpm > 0) d.rpm = rpm;
      if (tpm > 0) d.tpm = tpm;
    }
    snapshot.emplace(*fleet);
    belief.emplace(*snapshot);
    belief->live(at(0));
  }
  OfferId offer(std::size_t i) const { return learn::offer_of(*snapshot, "a" + std::to_string(i)); }
  Claim send(double t, std::size_t i = 0, OfferId failed_at = {}) {
    Request r = learn::request(100, 100);
    r.failed_at = failed_at;
    return learn::send(*belief, at(t), offer(i), r);
  }
  void fail(double t, std::size_t i = 0, Rejection why = Rejection::failed, OfferId failed_at = {}) {
    belief->rejected(at(t), send(t, i, failed_at), why, kNone);
  }
  void answer(double t, std::size_t i = 0, Duration tpot = 10 * kMs) {
    belief->completed(at(t), send(t, i), learn::answer(100, tpot), true);
  }
  bool open(double t, std::size_t i = 0) {
    const Live& live = belief->live(at(t));
    return live.tripped_until[offer(i).value] <= nanos(at(t));
  }
  const Live& live(double t) { return belief->live(at(t)); }

  std::unique_ptr<Fleet> fleet = learn::models(1);
  std::optional<Snapshot> snapshot;
  std::optional<Belief> belief;
};

TEST(Health, trips_by_the_rule) {
  const struct {
    const char* why;
    const char*
        outcomes;  // one attempt every 0.4 s: s success, f failure, t 429, o overloaded, q request-shaped, r refused
    bool trips;
  } cases[] = {
      {"five in a row", "fffff", true},
      {"four in a row, then one good", "ffffsffff", false},
      {"half of twenty", "sfsfsfsfsfsfsfsfsfsf", true},
      {"half of nineteen is too few", "sfsfsfsfsfsfsfsfsfs", false},
      {"nine of twenty", "ssfsfsfsfsfsfsfsfsfs", false},
      {"429s never count", "tttttttttttttttttttttttt", false},
      {"503 and 529 price it up, they do not trip", "oooooooooooooooooooooooo", false},
      {"request-shaped failures never count", "qqqqqqqqqqqqqqqqqqqqqqqq", false},
      {"a refused connection trips at once", "ssssr", true},
  };
  for (const auto& c : cases) {
    World w(3);  // one of three is not more than half: no panic
    double t = 0.0;
    for (const char* o = c.outcomes; *o != 0; ++o, t += 0.4) switch (*o) {
        case 's':
          w.answer(t);
          break;
        case 'f':
          w.fail(t);
          break;
        case 't':
          w.fail(t, 0, Rejection::throttled);
          break;
        case 'o':
          w.fail(t, 0, Rejection::overloaded);
          break;
        case 'q':
          w.fail(t, 0, Rejection::request);
          break;
        default:
          w.fail(t, 0, Rejection::refused);
      }
    EXPECT_EQ(!w.open(t), c.trips) << c.why;
  }
}

TEST(Health, twenty_attempts_must_fall_within_ten_seconds) {
  World w(3);
  for (int i = 0; i < 40; ++i) {
    if (i % 2 == 0)
      w.answer(i * 0.6);
    else
      w.fail(i * 0.6);
  }
  EXPECT_TRUE(w.open(24.0)) << "at most 17 attempts in any ten seconds";
}

TEST(Health, below_a_trip_failures_raise_the_risk_and_successes_lower_it) {
  World w(3);
  EXPECT_EQ(w.live(0).fail_probability[w.offer(0).value], 0.0);
  w.fail(1);
  w.fail(2);
  const double after_two = w.live(2).fail_probability[w.offer(0).value];
  EXPECT_NEAR(after_two, 1.0 - (63.0 / 64.0) * (63.0 / 64.0), 1e-12);
  for (int i = 0; i < 200; ++i) w.answer(3 + i * 0.1);
  EXPECT_LT(w.live(30).fail_probability[w.offer(0).value], 0.1 * after_two + 0.002);
}

TEST(Health, one_probe_per_back_off_period_which_doubles) {
  World w(3);
  for (int i = 0; i < 5; ++i) w.fail(0);
  EXPECT_FALSE(w.open(4.9));
  EXPECT_TRUE(w.open(5.0));
  const Claim probe = w.send(5.0);
  EXPECT_TRUE(probe.probe);
  EXPECT_FALSE(w.open(5.1)) << "the others wait for the probe";
  w.belief->rejected(at(6), probe, Rejection::failed, kNone);
  EXPECT_FALSE(w.open(15.9));
  EXPECT_TRUE(w.open(16.1)) << "the second period has ten seconds";
  const Claim second = w.send(16.1);
  EXPECT_TRUE(second.probe);
  w.belief->completed(at(17), second, learn::answer(10), true);
  EXPECT_TRUE(w.open(17.0));
  EXPECT_FALSE(w.send(17.0).probe);
  for (int i = 0; i < 5; ++i) w.fail(18);
  EXPECT_TRUE(w.open(23.0)) << "a success starts again at five seconds";
}

TEST(Health, an_answer_from_before_the_trip_closes_nothing) {
  World w(3);
  const Claim early = w.send(0);
  for (int i = 0; i < 5; ++i) w.fail(1);
  w.belief->completed(at(2), early, learn::answer(10), true);
  EXPECT_FALSE(w.open(2.0));
}

TEST(Health, the_same_request_failing_at_two_destinations_was_the_request) {
  World w(4);
  for (int i = 0; i < 12; ++i) {
    w.fail(i, 0);
    w.fail(i, 1, Rejection::failed, w.offer(0));
  }
  EXPECT_TRUE(w.open(12, 0));
  EXPECT_TRUE(w.open(12, 1));
  EXPECT_NEAR(w.live(12).fail_probability[w.offer(0).value], 0.0, 1e-9);
  EXPECT_EQ(w.live(12).fail_probability[w.offer(1).value], 0.0);
}

TEST(Health, more_than_half_tripped_is_our_own_fault) {
  World w(4);
  for (std::size_t i = 0; i < 2; ++i)
    for (int k = 0; k < 5; ++k) w.fail(static_cast<double>(i), i);
  EXPECT_FALSE(w.open(2, 0));
  EXPECT_FALSE(w.open(2, 1));
  w.fail(2, 2, Rejection::refused);
  // Three of four: one comes back. Refusing is worst; of the other two a0 and a1 fail alike, so the smaller id.
  EXPECT_TRUE(w.open(3, 0));
  EXPECT_FALSE(w.open(3, 1));
  EXPECT_FALSE(w.open(3, 2));
  EXPECT_GT(w.live(3).derate[w.offer(0).value], 1.0) << "priced up";
  EXPECT_EQ(w.live(3).derate[w.offer(3).value], 1.0);
}

TEST(Health, the_only_destination_of_a_model_stays_in) {
  World w(1);
  for (int k = 0; k < 9; ++k) w.fail(0);
  EXPECT_TRUE(w.open(0.1));
  EXPECT_GT(w.live(0.1).derate[w.offer(0).value], 1.0);
}

TEST(Health, a_throttle_ends_at_the_later_of_old_and_new) {
  World w(3);
  const auto until = [&](double t) { return w.live(t).throttled_until[w.offer(0).value]; };
  const Claim a = w.send(0), b = w.send(0), c = w.send(0);
  w.belief->rejected(at(0), a, Rejection::throttled, 20 * kSecond);
  EXPECT_EQ(until(0), nanos(at(20)));
  w.belief->rejected(at(1), b, Rejection::throttled, 5 * kSecond);
  EXPECT_EQ(until(1), nanos(at(20))) << "a shorter one does not shorten it";
  w.belief->rejected(at(2), c, Rejection::throttled, kHour);
  EXPECT_EQ(until(2), nanos(at(62))) << "clamped to 60 s";
}

TEST(Health, payg_429_teaches_the_cap_it_spoke_of) {
  World w(3, 1000, 1'000'000);
  const auto cap = [&](Resource r) { return 1.0 / w.live(1).per_unit[static_cast<std::size_t>(r)][w.offer(0).value]; };
  for (int i = 0; i < 100; ++i) w.answer(0.5);
  w.belief->rejected(at(1), w.send(1), Rejection::throttled, kNone, RateLimit::requests);
  EXPECT_NEAR(cap(Resource::requests), 800.0, 1e-6);
  EXPECT_NEAR(cap(Resource::tokens), 1'000'000.0, 1e-3) << "apart";
  w.belief->rejected(at(1), w.send(1), Rejection::throttled, kNone, RateLimit::requests);
  EXPECT_NEAR(cap(Resource::requests), 800.0, 1e-6) << "one burst cuts once";
  w.live(31);  // 2% of 1,000 each ten seconds
  EXPECT_NEAR(1.0 / w.live(31).per_unit[4][w.offer(0).value], 820.0, 40.1);
  for (int t = 40; t < 600; t += 10) w.live(t);
  EXPECT_NEAR(1.0 / w.live(600).per_unit[4][w.offer(0).value], 1000.0, 1e-6) << "never above what is declared";
}

TEST(Health, an_undeclared_quota_is_learnt_from_its_429s) {
  World w(3);
  EXPECT_EQ(w.live(0).per_unit[4][w.offer(0).value], 0.0) << "nothing known, nothing binds";
  for (int i = 0; i < 99; ++i) w.answer(0.5);
  w.belief->rejected(at(1), w.send(1), Rejection::throttled, kNone, RateLimit::input_tokens);
  // 100 prompts of 100 tokens in the minute: the cap of the input is taken as 0.8 x 10,000.
  const Live& live = w.live(1);
  EXPECT_NEAR(live.per_unit[3][w.offer(0).value], 1.0 / 8000.0, 1e-12);
  EXPECT_EQ(live.meter_output[w.offer(0).value], 0.0) << "output does not count against it";
  EXPECT_NEAR(live.use[3][w.offer(0).value], 9900.0 / 8000.0, 1e-9);
  EXPECT_EQ(live.per_unit[4][w.offer(0).value], 0.0);
}

TEST(Health, overload_and_slowness_price_up_gradually_and_fall_back) {
  World w(3);
  const auto derate = [&](double t) { return w.live(t).derate[w.offer(0).value]; };
  w.fail(0, 0, Rejection::overloaded);
  EXPECT_NEAR(derate(0), 1.25, 1e-12);
  for (int i = 0; i < 20; ++i) w.fail(0.1, 0, Rejection::overloaded);
  EXPECT_EQ(derate(0.1), Health::kDerateMost);
  for (int t = 10; t <= 300; t += 10) w.live(t);
  EXPECT_LT(derate(300), 1.02);

  for (int i = 0; i < 1000; ++i) w.answer(400 + i * 0.01, 1, 10 * kMs);
  EXPECT_EQ(w.live(420).derate[w.offer(1).value], 1.0);
  for (int i = 0; i < 100; ++i) w.answer(420 + i * 0.01, 1, 40 * kMs);
  EXPECT_GT(w.live(430).derate[w.offer(1).value], 2.0) << "four times slower than its own past";
  EXPECT_TRUE(w.open(430, 1));
}

TEST(Health, an_api_whose_first_token_takes_much_longer_than_it_did_is_priced_up) {
  World w(2);
  double now = 0.0;
  const auto answers = [&](int count, Duration ttft) {
    for (int i = 0; i < count; ++i, now += 0.01) {
      Observed seen = learn::answer(100);  // its pace stays what it was
      seen.ttft = ttft;
      w.belief->completed(at(now), w.send(now, 1), seen, true);
    }
  };
  const auto derate = [&](double t, std::size_t i) { return w.live(t).derate[w.offer(i).value]; };
  answers(300, 100 * kMs);
  answers(60, 200 * kMs);
  EXPECT_EQ(derate(now, 1), 1.0) << "prompts may have become longer";
  answers(60, 2000 * kMs);
  EXPECT_GT(derate(now, 1), 3.0) << "it answers, ten times slower than it did";
  EXPECT_EQ(derate(now, 0), 1.0);
  for (; now < 300.0; now += 10.0) w.live(now);
  EXPECT_EQ(derate(now, 1), 1.0) << "it is given another chance";
}

TEST(Health, a_lucky_first_answer_does_not_make_the_later_ones_slow) {
  World w(2);
  w.answer(1, 0, 2 * kMs);
  for (int i = 0; i < 200; ++i) w.answer(2 + 0.1 * i, 0, 12 * kMs);
  EXPECT_EQ(w.live(22).derate[w.offer(0).value], 1.0);
}

TEST(Health, a_slow_api_that_is_priced_out_is_forgiven) {
  World w(2);
  for (int i = 0; i < 2000; ++i) w.answer(0.01 * i, 0, 10 * kMs);
  for (int i = 0; i < 40; ++i) w.answer(21 + 0.01 * i, 0, 60 * kMs);
  EXPECT_GT(w.live(22).derate[w.offer(0).value], 1.5);
  for (int t = 30; t < 300; t += 10) w.live(t);
  EXPECT_EQ(w.live(300).derate[w.offer(0).value], 1.0) << "no answer came since, so nothing says that it is still slow";
}

TEST(Health, telemetry_trips_faulty_and_derates_suspect_gpus) {
  World w(3);
  w.belief->suspect(at(0), DestinationId{0}, 0.5);
  EXPECT_EQ(w.live(0).derate[w.offer(0).value], 2.0);
  w.belief->suspect(at(1), DestinationId{0}, 0.0);
  EXPECT_FALSE(w.open(100'000));
  w.belief->suspect(at(100'001), DestinationId{0}, 1.0);
  EXPECT_TRUE(w.open(100'001));
  EXPECT_EQ(w.live(100'001).derate[w.offer(0).value], 1.0);
}

/// A PTU block beside two APIs.
struct Block {
  Block() {
    Destination& d = learn::add(*fleet, "ptu", Tier::reserved);
    PtuTerms terms;
    terms.units = 100;
    terms.tokens_per_minute_per_unit = 2500;
    learn::serve(d, 0).ptu = terms;
    learn::add_api(*fleet, "x", 1'000'000'000);
    learn::add_api(*fleet, "y", 1'000'000'000);
    snapshot.emplace(*fleet);
    belief.emplace(*snapshot);
    offer = learn::offer_of(*snapshot, "ptu");
  }
  double per_token(double t) { return belief->live(at(t)).per_unit[3][offer.value]; }
  /// 60 attempts over a minute; every `each`-th is pushed back. @param prompt sets how full the meter runs
  void minute(double from, int each, std::int64_t prompt) {
    for (int i = 0; i < 60; ++i) {
      const Claim claim = learn::send(*belief, at(from + i), offer, learn::request(prompt, 1));
      if (i % each == each - 1)
        belief->rejected(at(from + i), claim, Rejection::throttled, kNone);
      else
        belief->completed(at(from + i), claim, learn::answer(1), true);
    }
  }
  std::unique_ptr<Fleet> fleet = learn::models(1);
  std::optional<Snapshot> snapshot;
  std::optional<Belief> belief;
  OfferId offer;
};

TEST(Health, a_commitments_429_moves_its_cap_only_against_its_own_meter) {
  const struct {
    const char* why;
    int each;
    std::int64_t prompt;
    double cap;
  } cases[] = {
      {"a tenth pushed back, meter low", 10, 10, 1.0},
      {"a fifth is not more than a fifth", 5, 10, 1.0},
      {"a quarter, meter low: the cap is not what it says", 4, 10, 0.9},
      {"half, but the meter is full (250,000 a minute): as it should be", 2, 12'000, 1.0},
  };
  for (const auto& c : cases) {
    Block block;
    const double before = block.per_token(0);
    if (c.prompt > 1000)  // fill the bucket first
      for (int i = 0; i < 60; ++i) learn::send(*block.belief, at(0), block.offer, learn::request(12'000, 1));
    block.minute(1, c.each, c.prompt);
    EXPECT_NEAR(before / block.per_token(61), c.cap, 1e-9) << c.why;
  }
}

TEST(Health, a_commitments_429_pauses_it_for_50_ms) {
  Block block;
  const Claim claim = learn::send(*block.belief, at(0), block.offer, learn::request(10, 1));
  block.belief->rejected(at(0), claim, Rejection::throttled, kNone);
  EXPECT_EQ(block.belief->live(at(0)).throttled_until[block.offer.value], nanos(at(0.05)));
  const Claim next = learn::send(*block.belief, at(1), block.offer, learn::request(10, 1));
  block.belief->rejected(at(1), next, Rejection::throttled, 700 * kMs);
  EXPECT_EQ(block.belief->live(at(1)).throttled_until[block.offer.value], nanos(at(1.7)));
}

}  // namespace
}  // namespace ace
