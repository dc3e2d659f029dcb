#include "ledger/ledger.h"

#include <gtest/gtest.h>

#include "core/testing.h"
#include "ledger/ledger_testing.h"

namespace ace {
namespace {

using namespace ledger_testing;

TEST(Ledger, does_not_depend_on_how_the_stream_was_divided) {
  const World w;
  for_each_seed(60, [&](Rng& rng) {
    Ledger::Options options;
    options.gates.cell_requests_min = 5;
    const std::size_t parts = 1 + rng.below(5);
    Ledger whole(w.snapshot, options);
    std::vector<Ledger> divided;
    for (std::size_t i = 0; i < parts; ++i) divided.emplace_back(w.snapshot, options);
    const auto part = [&]() -> Ledger& { return divided[rng.below(parts)]; };
    for (int i = 0; i < 150; ++i) {
      const Settled request = any_request(w, rng);
      if (rng.chance(0.5)) {
        const Usd other{rng.between(0, 20'000'000)};
        whole.add(request, other);
        part().add(request, other);
      } else {
        whole.add(request);
        part().add(request);
      }
    }
    for (std::uint32_t d = 0; d < 5; ++d) {
      const event::FixedCost cost{event::FixedCost::Kind::rental, {d}, {}, {}, 1, {rng.between(0, 999'999)},
                                  rng.between(-1, 1'000'000)};
      const event::GpuBooking booking{event::GpuBooking::Use::served, "gpu" + std::to_string(d), 0, 10};
      whole.add(cost);
      part().add(cost);
      ASSERT_TRUE(whole.add(booking));
      ASSERT_TRUE(part().add(booking));
    }
    Ledger merged(w.snapshot, options);
    rng.shuffle(std::span(divided));
    for (const Ledger& ledger : divided) merged.merge(ledger);
    expect_equal(merged.close(names()), whole.close(names()));
  });
}

TEST(Ledger, sums_levers_fixed_cost_and_the_unattributed_to_baseline_minus_actual) {
  const World w;
  for_each_seed(60, [&](Rng& rng) {
    Ledger ledger(w.snapshot, {});
    std::array<Usd, 5> sums{};
    for (int i = 0; i < 200; ++i) {
      const Settled request = any_request(w, rng);
      for (std::size_t c = 0; c < sums.size(); ++c)
        if (!(c >= 2 && request.unattributed)) sums[c] += request.chain.c[c];
      for (std::size_t c = 2; request.unattributed && c < sums.size(); ++c) sums[c] += request.chain.c[c];
      ledger.add(request);
    }
    ledger.add(event::FixedCost{event::FixedCost::Kind::amortization, kGpu, {}, {}, 1, {rng.between(0, 1 << 30)}});
    const Statement s = ledger.close(names());
    EXPECT_EQ(s.c0, sums[0]);
    EXPECT_EQ(s.c1, sums[1]);
    EXPECT_EQ(s.c2, sums[2]);
    EXPECT_EQ(s.c3, sums[3]);
    EXPECT_EQ(s.c4, sums[4]);
    EXPECT_EQ(s.claimed_saving(), s.c0 - s.c4 - s.fixed);
    Levers cells;
    for (const Cell& cell : s.cells) {
      EXPECT_EQ(cell.claimed.sum(), cell.baseline - cell.actual);
      cells += cell.claimed;
    }
    EXPECT_EQ(cells, s.claimed);
    const std::vector<Bar> bars = waterfall(s);
    EXPECT_EQ(bars.size(), s.claimed.unattributed == Usd{} ? 7U : 8U);
    Usd sum{};
    for (std::size_t i = 0; i + 1 < bars.size(); ++i) sum += bars[i].amount;
    EXPECT_EQ(sum, bars.back().amount);
    EXPECT_EQ(bars.back().amount, s.c4 + s.fixed);
    Usd shapley{};
    for (const Usd value : s.shapley) shapley += value;
    EXPECT_EQ(shapley + s.claimed.unattributed, s.claimed.sum());
  });
}

TEST(Ledger, takes_back_what_a_later_fact_corrects) {
  const World w;
  const Settled booked = Events(w, kGpu).settled();
  const Settled right = Events(w, kGpu).failed(kApi, kLarge, text(1000, 0, 0)).settled();
  const Settled other = Events(w, kAlt).at(3).settled();
  Ledger corrected(w.snapshot, {}), known(w.snapshot, {});
  corrected.add(booked);
  corrected.add(other);
  corrected.compensate(booked, right);
  known.add(right);
  known.add(other);
  expect_equal(corrected.close(names()), known.close(names()));
}

TEST(Ledger, compares_with_another_baseline_by_one_signed_amount) {
  const World w;
  Ledger::Options options;
  options.baseline = BaselineKind::status_quo;
  Ledger ledger(w.snapshot, options);
  for (int i = 0; i < 1000; ++i) ledger.add(Events(w, kGpu).settled(), micro(1'200));  // saves 1,000
  ledger.add(Events(w, kApi).settled(), micro(200));                                   // loses 13,800
  ledger.add(Events(w, kGpu).with([](Events& e) { e.completed.slo_met = false; }).settled(), micro(1'200));
  ledger.add(Events(w, kApi).refused().settled(), micro(9'999));  // worth nothing unserved
  ledger.add(event::FixedCost{event::FixedCost::Kind::amortization, kGpu, {}, {}, 1, micro(7)});
  const Statement s = ledger.close(names());
  EXPECT_EQ(s.other.requests, 1003U);
  EXPECT_EQ(s.other.claimed, micro(1'001 * 1'000 - 13'800));
  EXPECT_EQ(s.other.disallowed, micro(1'000));
  EXPECT_EQ(s.counted_saving(), micro(1'000'000 - 13'800));  // the same fixed cost on both sides
}

TEST(Ledger, compares_a_request_later_as_it_would_have_at_once) {
  const World w;
  for_each_seed(60, [&](Rng& rng) {
    Ledger at_once(w.snapshot, {}), later(w.snapshot, {});
    std::vector<std::pair<Ledger::Receipt, Usd>> open;
    for (int i = 0; i < 150; ++i) {
      const Settled request = any_request(w, rng);
      const Usd other{rng.between(0, 20'000'000)};
      at_once.add(request, other);
      open.emplace_back(later.add(request), other);
    }
    rng.shuffle(std::span(open));
    for (const auto& [receipt, other] : open) later.compare(receipt, other);
    expect_equal(at_once.close(names()), later.close(names()));
  });
}

TEST(Ledger, decomposes_the_uncached_baseline_too) {
  const World w;
  Ledger::Options options;
  options.baseline = BaselineKind::all_payg_uncached;
  const std::vector<Settled> requests = {
      Events(w, kApi, kLarge, text(1000, 400, 100)).with([](Events& e) { e.admitted.h0 = Tokens{400}; }).settled()};
  EXPECT_EQ(closed(w, requests).claimed.lever[0], Usd{});
  const Statement s = closed(w, requests, options);
  EXPECT_EQ(s.claimed.lever[0], micro(3'600));  // 400 x (10 - 1)
  EXPECT_EQ(s.c0, micro(14'000));
}

TEST(Ledger, says_what_its_figures_cover) {
  const World w;
  std::vector<Settled> requests = {
      Events(w, kApi).settled(),                                                                  // 14,000
      Events(w, kApi).hit(micro(5)).settled(),                                                    // 14,000
      Events(w, kGpu).with([](Events& e) { e.admitted.compliance = kNobody; }).settled(),         // no baseline, 200
      Events(w, kApi).at(0, 61).failed(kApi, kLarge, text(1000, 0, 0)).refused().settled(),       // cost 10,000
      Events(w, kApi).at(0, 62).with([](Events& e) { e.completed.slo_met = false; }).settled()};  // 14,000
  const Statement s = closed(w, requests);
  EXPECT_EQ(s.requests, 5U);
  EXPECT_EQ(s.served, 4U);
  EXPECT_EQ(s.priced_requests, 3U);
  EXPECT_EQ(s.denominator, micro(42'000));
  EXPECT_EQ(s.excluded_c0[static_cast<std::size_t>(Reason::no_baseline)], micro(200));
  EXPECT_EQ(s.not_served_by_verdict[static_cast<std::size_t>(Verdict::no_capacity)], 1U);
  EXPECT_EQ(s.goodput, 200);                  // the first and the third: cached answers and late ones apart
  EXPECT_EQ(s.peak_tpm_all_payg, 3 * 1'100);  // all-PAYG has no cache; the refused one is not in its bill
  EXPECT_EQ(s.from, instant(0));
  EXPECT_EQ(s.to, instant(nanos(63 * kSecond)));
}

TEST(Ledger, leaves_what_has_no_baseline_out_of_every_denominator) {
  const World w;
  Ledger::Options options;
  options.baseline = BaselineKind::status_quo;
  Ledger ledger(w.snapshot, options);
  ledger.add(Events(w, kGpu).settled(), micro(1'200));
  ledger.add(Events(w, kGpu).with([](Events& e) { e.admitted.compliance = kNobody; }).settled(), micro(900));
  const Statement s = ledger.close(names());
  EXPECT_EQ(s.other.baseline, micro(1'200));
  EXPECT_EQ(s.other.claimed, micro(1'000));
  EXPECT_EQ(s.cheapest.baseline, micro(11'200));  // 1,000 x 8 + 100 x 32
  EXPECT_EQ(s.all_payg.baseline, micro(14'000));
  EXPECT_EQ(s.all_payg_uncached.baseline, micro(14'000));
}

TEST(Ledger, gives_no_ratio_on_a_denominator_that_is_not_positive) {
  const World w;
  Ledger ledger(w.snapshot, {});
  ledger.add(Events(w, kPtu).settled());  // free at the margin
  Statement s = ledger.close(names());
  EXPECT_FALSE(goodput_per_avoidable_dollar(s));
  EXPECT_FALSE(goodput_per_loaded_dollar(s));
  ledger.add(event::FixedCost{event::FixedCost::Kind::commitment, kPtu, {}, {}, 1, micro(2'000'000)});
  s = ledger.close(names());
  EXPECT_FALSE(goodput_per_avoidable_dollar(s));   // the fee is not avoidable
  EXPECT_EQ(*goodput_per_loaded_dollar(s), 50.0);  // 100 tokens for 2 dollars
  ledger.add(event::FixedCost{event::FixedCost::Kind::rental, kRent, {}, {}, 1, micro(2'000'000)});
  s = ledger.close(names());
  EXPECT_EQ(*goodput_per_avoidable_dollar(s), 50.0);  // a rented hour is
}

TEST(Ledger, labels_savings_against_prices_nobody_contracted) {
  Fleet fleet = small_fleet();
  fleet.models[2].baseline->contracted = false;
  const World w(std::move(fleet));
  const Statement s = closed(w, std::vector{Events(w, kGpu).settled(), Events(w, kGpu, kSmall).settled()});
  EXPECT_EQ(s.grade, Grade::assumed);
  EXPECT_EQ(s.assumed_baseline, micro(1'200));  // 1,400 - 200
  EXPECT_EQ(s.counted.sum(), micro(15'000));
}

TEST(Ledger, sorts_cells_by_hour_then_tenant_name) {
  const World w;
  std::vector<Settled> requests;
  for (const std::uint32_t tenant : {0U, 1U, 2U})
    for (const std::int64_t hour : {1, 0})
      requests.push_back(Events(w, kApi).at(hour).with([&](Events& e) { e.admitted.tenant = tenant; }).settled());
  std::string order;
  for (const Cell& cell : closed(w, requests).cells) order += std::to_string(cell.hour) + names()[cell.tenant] + " ";
  EXPECT_EQ(order, "0acme 0beta 0corp 1acme 1beta 1corp ");
}

// Two requests to a PTU; the provider sends the second on to its API. The PTU asks nothing for the first, the API 10
// and 40 USD per million tokens for the second: 1,000 prompt and 100 output tokens are 0.014 USD.
TEST(Ledger, books_native_spillover_where_it_was_billed) {
  const World w;
  const Settled within = Events(w, kPtu, kLarge, text(1000, 0, 100)).settled();
  const Settled spilled = Events(w, kPtu, kLarge, text(1000, 0, 100))
                              .with([&](Events& e) { e.attempts.back().billed_as = w.offer(kApi, kLarge); })
                              .settled();
  const Statement s = closed(w, std::vector<Settled>{within, spilled});
  std::map<DestinationId, std::pair<std::uint64_t, Usd>> by_destination;
  for (const UsageLine& line : s.usage) {
    by_destination[line.destination].first += line.requests;
    by_destination[line.destination].second += line.marginal;
  }
  EXPECT_EQ(by_destination[kPtu], std::pair(std::uint64_t{1}, within.chain.c[4]));
  EXPECT_EQ(by_destination[kApi], std::pair(std::uint64_t{1}, micro(14'000)));
}

}  // namespace
}  // namespace ace
