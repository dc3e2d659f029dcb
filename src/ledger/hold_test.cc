#include "ledger/hold.h"

#include <gtest/gtest.h>

#include "core/testing.h"
#include "ledger/ledger_testing.h"

namespace ace {
namespace {

using namespace ledger_testing;

/// No single attempt at any offer that the request may be sent to costs more than what was held for it.
TEST(Holds, are_at_least_what_any_answer_within_the_request_can_cost) {
  const World w;
  const Holds holds(w.snapshot);
  for_each_seed(300, [&](Rng& rng) {
    event::Admitted request;
    request.requested = ModelId{static_cast<std::uint32_t>(rng.below(3))};
    request.prompt = Tokens{rng.between(0, 5000)};
    request.max_output = Tokens{rng.chance(0.3) ? 0 : rng.between(1, 2000)};
    if (rng.chance(0.3)) request.compliance = rng.chance(0.5) ? kAltOnly : kNobody;
    const Hold hold = holds.worst_case(request);
    for (const OfferId id : w.snapshot.candidates(request.requested)) {
      if (w.snapshot.compliance(request.compliance, "", w.snapshot[id].destination) != Exclusion::none) continue;
      const std::int64_t room = w.snapshot[id].context_max.value - request.prompt.value;
      const std::int64_t most = request.max_output.value > 0 ? std::min(request.max_output.value, room) : room;
      Usage usage;
      const std::int64_t written = rng.between(0, request.prompt.value), hidden = rng.between(0, most);
      usage.set(Unit::cache_write, written);
      usage.set(Unit::input, request.prompt.value - written);
      usage.set(Unit::reasoning, hidden);
      usage.set(Unit::output, rng.between(0, most - hidden));
      const Result<Usd> price = w.snapshot.price(id, usage, instant(0));
      EXPECT_TRUE(!price || *price <= hold.amount);
    }
  });
}

// At api (dearest of all for `large`): 2,000 prompt tokens at 10 written to a cache at 12.5, or as an image at 20;
// above 4,000 tokens every price is twice that. 100 output tokens at 40.
TEST(Holds, are_those_of_the_dearest_way_in_and_of_the_context_tier) {
  Fleet fleet = small_fleet();
  PriceRow& api = fleet.prices.rows[1];
  api.tiers.push_back(api.tiers.front());
  api.tiers[1].above = Tokens{4'000};
  constexpr std::int64_t usd = 1'000'000'000;
  for (std::size_t t = 0; t < 2; ++t)
    for (Rates& rates : api.tiers[t].by_service) {
      const std::int64_t times = t == 0 ? 1 : 2;
      rates.set(Unit::cache_write, {times * usd * 125 / 10});
      rates.set(Unit::output, {times * usd * 40});
      rates.set(Unit::reasoning, {times * usd * 40});
      rates.set(Unit::image_input, {times * usd * 20});
    }
  const World w(fleet);
  const Holds holds(w.snapshot);
  event::Admitted request;
  request.requested = kLarge;
  request.max_output = Tokens{100};
  request.prompt = Tokens{2'000};
  EXPECT_EQ(holds.worst_case(request).amount, micro(2'000 * 125 / 10 + 100 * 40));
  request.needs |= kImage;
  EXPECT_EQ(holds.worst_case(request).amount, micro(2'000 * 20 + 100 * 40));
  request.prompt = Tokens{4'001};
  EXPECT_EQ(holds.worst_case(request).amount, micro(2 * (4'001 * 20 + 100 * 40)));
  request.prompt = Tokens{4'000};
  EXPECT_EQ(holds.worst_case(request).amount, micro(4'000 * 20 + 100 * 40)) << "above, not at";
}

// At api, 2,000 prompt tokens written to a cache at 12.5, and output at 40.
TEST(Holds, hold_no_longer_an_answer_than_can_be_written) {
  Fleet fleet = small_fleet();
  Model& large = fleet.models[kLarge.value];
  large.context_max = Tokens{2'500};
  large.equivalents.clear();
  const auto held = [&] {
    const World w(fleet);
    event::Admitted request;
    request.requested = kLarge;
    request.prompt = Tokens{2'000};
    return Holds(w.snapshot).worst_case(request).amount;
  };
  EXPECT_EQ(held(), micro(25'000 + 500 * 40)) << "what the prompt leaves of the context";
  large.output_max = Tokens{300};
  EXPECT_EQ(held(), micro(25'000 + 300 * 40));
  fleet.destinations[kApi.value].uplift_ppm = 1'100'000;
  EXPECT_EQ(held(), micro(27'500 + 300 * 44)) << "with its surcharge of a tenth";
}

TEST(Holds, hold_nothing_where_nobody_may_serve) {
  Fleet fleet = small_fleet();
  fleet.compliance[1].providers = {"nobody at all"};
  const World w(fleet);
  event::Admitted request;
  request.requested = kLarge;
  request.compliance = kNobody;
  request.prompt = Tokens{1000};
  EXPECT_EQ(Holds(w.snapshot).worst_case(request).amount, Usd{});
  EXPECT_FALSE(Holds(w.snapshot).worst_case(request).dearest.valid());
}

}  // namespace
}  // namespace ace
