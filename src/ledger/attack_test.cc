/// Ways to inflate the saving without saving. Each test is an attack, and each fails to inflate.
#include <gtest/gtest.h>

#include "ledger/ledger_testing.h"

namespace ace {
namespace {

using namespace ledger_testing;

class Attack : public ::testing::Test {
 protected:
  /// An honest cell: 1,000 requests on owned GPUs, 13,800 millionths each.
  [[nodiscard]] std::vector<Settled> honest(std::size_t count = 1000) const {
    return std::vector(count, Events(world_, kGpu).settled());
  }
  [[nodiscard]] Usd counted(const std::vector<Settled>& requests) const {
    return closed(world_, requests).counted_saving();
  }
  World world_;
};

TEST_F(Attack, refuse_what_would_cost_more_than_its_baseline) {
  // Eleven requests would each lose 10,000 through a failed attempt. Refusing them spares the losses, but 1.1% of the
  // cell is then not served, and all its gains go.
  std::vector<Settled> served = honest(989), dropped = honest(989);
  for (int i = 0; i < 11; ++i) {
    served.push_back(Events(world_, kApi).failed(kApi, kLarge, text(1000, 0, 0)).settled());
    dropped.push_back(Events(world_, kApi).refused().settled());
  }
  EXPECT_GT(counted(served), Usd{});
  EXPECT_LE(counted(dropped), counted(served));
  EXPECT_EQ(counted(dropped), Usd{});
}

TEST_F(Attack, overload_the_owned_gpus_and_serve_late) {
  std::vector<Settled> honest_ones = honest(), late = honest();
  for (int i = 0; i < 5; ++i) {  // half a percent: the cell passes, these do not count
    honest_ones.push_back(Events(world_, kApi).settled());
    late.push_back(Events(world_, kGpu).with([](Events& e) { e.completed.slo_met = false; }).settled());
  }
  EXPECT_GT(closed(world_, late).claimed_saving(), closed(world_, honest_ones).claimed_saving());
  EXPECT_EQ(counted(late), counted(honest_ones));
}

TEST_F(Attack, refuse_the_slow_ones_so_that_attainment_looks_better) {
  // 989 in time and 11 late: 98.9%, fails. One late one refused instead: 989 of 999 served ones would be 99.0%, but a
  // refusal is a miss too.
  const Settled late = Events(world_, kGpu).with([](Events& e) { e.completed.slo_met = false; }).settled();
  std::vector<Settled> requests = honest(989);
  for (int i = 0; i < 10; ++i) requests.push_back(late);
  requests.push_back(Events(world_, kApi).refused().settled());
  EXPECT_EQ(counted(requests), Usd{});
}

TEST_F(Attack, hide_a_missed_class_behind_an_easy_one) {
  // 600 chat requests at 90% among 9,400 batch requests at 100%: together 99.4%, yet chat was promised 99%.
  std::vector<Settled> requests;
  for (int i = 0; i < 600; ++i)
    requests.push_back(Events(world_, kGpu).with([&](Events& e) { e.completed.slo_met = i >= 60; }).settled());
  for (int i = 0; i < 9400; ++i)
    requests.push_back(Events(world_, kGpu).with([](Events& e) { e.admitted.slo = kBatch; }).settled());
  EXPECT_EQ(closed(world_, requests).cells.front().failed, Reason::cell_slo);
  EXPECT_EQ(counted(requests), Usd{});
}

TEST_F(Attack, park_the_losses_in_a_cell_that_fails_anyway) {
  std::vector<Settled> requests = honest();
  for (int i = 0; i < 1000; ++i)
    requests.push_back(Events(world_, kGpu).at(1).with([&](Events& e) { e.completed.slo_met = i >= 500; }).settled());
  const auto with_losses = [&](std::int64_t hour) {
    std::vector<Settled> all = requests;
    for (int i = 0; i < 5; ++i)
      all.push_back(Events(world_, kApi).failed(kApi, kLarge, text(1000, 0, 0)).at(hour).settled());
    return counted(all);
  };
  EXPECT_EQ(with_losses(0), micro(13'800'000 - 50'000));
  EXPECT_LE(with_losses(1), with_losses(0));
}

TEST_F(Attack, split_the_bad_hour_into_cells_too_small_to_judge) {
  // 600 requests at 90% fail as one cell; strewn over 24 hours, 25 each, the day still fails them all.
  const auto strewn = [&](std::int64_t hours) {
    std::vector<Settled> requests;
    for (int i = 0; i < 600; ++i)
      requests.push_back(
          Events(world_, kGpu).at(i % hours).with([&](Events& e) { e.completed.slo_met = i % 10 != 0; }).settled());
    return counted(requests);
  };
  EXPECT_EQ(strewn(1), Usd{});
  EXPECT_EQ(strewn(24), Usd{});
}

TEST_F(Attack, leave_the_failed_attempts_off_the_bill) {
  const Settled clean = Events(world_, kGpu).settled();
  const Settled redone = Events(world_, kGpu).failed(kApi, kLarge, text(1000, 0, 100)).settled();
  EXPECT_EQ(redone.chain.saving(), clean.chain.saving() - micro(14'000));
  // Nor does the answer cost nothing where its attempt was left out of the record, or the record names nobody.
  const Settled bare = Events(world_, kGpu).with([](Events& e) { e.attempts.clear(); }).settled();
  EXPECT_EQ(bare.chain, clean.chain);
  const Settled nobody = Events(world_, kGpu)
                             .with([](Events& e) {
                               e.attempts.clear();
                               e.completed.offer = {};
                             })
                             .settled();
  EXPECT_EQ(nobody.chain.saving(), Usd{});
  EXPECT_EQ(nobody.excluded, Reason::unpriced);
}

TEST_F(Attack, claim_that_the_requested_model_would_have_talked_more) {
  const auto saving = [&](std::int64_t stated, ModelId used) {
    return Events(world_, kGpu, kLarge, used, text(1000, 0, 125))
        .with([&](Events& e) { e.completed.output_requested = Tokens{stated}; })
        .settled()
        .chain.saving();
  };
  EXPECT_EQ(saving(100'000, kSmall), saving(100, kSmall));  // the fleet file says 1.25
  EXPECT_EQ(saving(100'000, kLarge), saving(125, kLarge));  // the same model says the same
}

TEST_F(Attack, route_to_a_smaller_model_without_showing_that_it_is_as_good) {
  Fleet fleet = small_fleet();
  fleet.models[1].equivalents[1].evidence.clear();
  const World careless(std::move(fleet));
  const auto routed = [](const World& w) {
    return Events(w, kApi, kLarge, kSmall, text(1000, 0, 125))
        .with([](Events& e) { e.completed.output_requested = Tokens{100}; })
        .settled();
  };
  // 14,000 - 1,500 with evidence; without it the same amount stands beside the headline.
  EXPECT_EQ(closed(world_, std::vector{routed(world_)}).counted_saving(), micro(12'500));
  const Statement s = closed(careless, std::vector{routed(careless)});
  EXPECT_EQ(s.counted_saving(), Usd{});
  EXPECT_EQ(s.assumed_routing, micro(12'500));
}

TEST_F(Attack, answer_from_a_cache_that_guesses) {
  const auto hits = [&](bool exact) { return std::vector(600, Events(world_, kApi).hit(micro(5), exact).settled()); };
  EXPECT_EQ(counted(hits(true)), micro(600 * 13'995));
  EXPECT_EQ(counted(hits(false)), Usd{});
  Ledger::Options audited;
  audited.gates.audits[0] = {381, 0};
  EXPECT_EQ(closed(world_, hits(false), audited).counted_saving(), micro(600 * 13'995));
}

TEST_F(Attack, decide_while_nobody_records) {
  std::vector<Settled> requests = honest();
  requests.push_back(Events(world_, kGpu).with([](Events& e) { e.completed.in_gap = true; }).settled());
  EXPECT_EQ(counted(requests), counted(honest()));
  // A loss in the gap stands.
  requests.push_back(Events(world_, kApi)
                         .failed(kApi, kLarge, text(1000, 0, 0))
                         .with([](Events& e) { e.completed.in_gap = true; })
                         .settled());
  EXPECT_EQ(counted(requests), counted(honest()) - micro(10'000));
}

TEST_F(Attack, compare_with_a_price_nobody_could_have_paid) {
  // The default is not allowed to serve this tenant: 11,200 is the baseline, not 14,000.
  const auto under = [&](ComplianceId rule) {
    return Events(world_, kGpu).with([&](Events& e) { e.admitted.compliance = rule; }).settled().chain.saving();
  };
  EXPECT_EQ(under(kAltOnly), micro(11'000));
  EXPECT_EQ(under(kNobody), Usd{});
}

TEST_F(Attack, compare_with_a_default_that_could_not_have_held_the_request) {
  // The default takes 1,000 tokens and 1,100 are asked for: 11,200 at the other API is the baseline, not 14,000.
  Fleet fleet = small_fleet();
  fleet.destinations[kApi.value].serving[0].context_max = Tokens{1'000};
  const World narrow(fleet);
  const Settled s = Events(narrow, kGpu).settled();
  EXPECT_EQ(s.chain.c[0], micro(11'200));
  EXPECT_TRUE(s.baseline_assumed);
  fleet.destinations[kAlt.value].serving[0].context_max = Tokens{1'000};
  EXPECT_EQ(Events(World(fleet), kGpu).settled().excluded, Reason::no_baseline);
}

TEST_F(Attack, ask_for_hardware_that_no_api_names_and_compare_with_an_api) {
  Fleet fleet = small_fleet();
  fleet.slo_classes[kChat.value].hardware.accelerator_family = "hopper";
  const Settled s = Events(World(fleet), kGpu).settled();
  EXPECT_EQ(s.excluded, Reason::no_baseline);
  EXPECT_EQ(s.chain.saving(), Usd{});
}

TEST_F(Attack, let_clients_give_up_and_claim_the_whole_answer) {
  // Aborted after 1 of 100 tokens, too late: priced on 1 token on both sides, and not counted.
  const Settled aborted = Events(world_, kGpu, kLarge, text(1000, 0, 1))
                              .with([](Events& e) {
                                e.completed.outcome = event::Outcome::client_abort;
                                e.completed.slo_met = false;
                              })
                              .settled();
  EXPECT_EQ(aborted.chain.c[0], micro(10'040));
  std::vector<Settled> requests = honest();
  for (int i = 0; i < 10; ++i) requests.push_back(aborted);
  EXPECT_EQ(counted(requests), counted(honest()));
}

TEST_F(Attack, sell_one_gpu_millisecond_twice) {
  Ledger ledger(world_.snapshot, {});
  EXPECT_TRUE(ledger.add(event::GpuBooking{event::GpuBooking::Use::served, "GPU-1", 0, 1000}));
  const Result<void> twice = ledger.add(event::GpuBooking{event::GpuBooking::Use::valley, "GPU-1", 999, 2000});
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().code(), Errc::conflict);
  EXPECT_EQ(ledger.close(names()).gpu_time[0], GpuMillis{1000});
  EXPECT_EQ(ledger.close(names()).gpu_time[1], GpuMillis{0});
}

TEST_F(Attack, buy_capacity_and_forget_its_fee) {
  Ledger ledger(world_.snapshot, {});
  for (const Settled& request : honest()) ledger.add(request);
  ledger.add(
      event::FixedCost{event::FixedCost::Kind::amortization, kGpu, instant(0), instant(1), 1, micro(20'000'000)});
  // 13.80 USD of marginal saving does not pay for 20 USD of GPUs.
  EXPECT_EQ(ledger.close(names()).counted_saving(), micro(13'800'000 - 20'000'000));
}

// The log paid an API 14,000 millionths of a dollar for each request; GPUs for 20 USD serve them for 200 each.
TEST_F(Attack, put_capacity_that_the_log_never_had_on_its_side) {
  const auto close = [&](bool held, BaselineKind baseline) {
    Ledger::Options options;
    options.baseline = baseline;
    options.held.resize(kGpu.value + 1);
    options.held[kGpu.value] = held;
    Ledger ledger(world_.snapshot, options);
    const Settled request =
        Events(world_, kGpu).with([](Events& e) { e.completed.observed_cost_nano = 14'000'000; }).settled();
    for (int i = 0; i < 1000; ++i) ledger.add(request, micro(14'000));
    using Kind = event::FixedCost::Kind;
    ledger.add(event::FixedCost{Kind::amortization, kGpu, instant(0), instant(1), 1, micro(20'000'000)});
    ledger.add(event::FixedCost{Kind::hosts, {}, instant(0), instant(1), 1, micro(1'000'000)});
    return ledger.close(names());
  };
  const Statement bought = close(false, BaselineKind::status_quo);
  EXPECT_EQ(bought.baseline_cost(), micro(14'000'000));
  EXPECT_EQ(bought.counted_saving(), micro(14'000'000 - 200'000 - 20'000'000 - 1'000'000));
  // Held before: it was paid for either way. ACE's own hosts never were.
  const Statement held = close(true, BaselineKind::status_quo);
  EXPECT_EQ(held.baseline_cost(), micro(14'000'000 + 20'000'000));
  EXPECT_EQ(held.counted_saving(), micro(14'000'000 - 200'000 - 1'000'000));
  // Another way of dispatching on this very fleet pays for it too, whatever the log says.
  EXPECT_EQ(close(false, BaselineKind::round_robin).baseline_cost(), micro(14'000'000 + 20'000'000));
}

}  // namespace
}  // namespace ace
