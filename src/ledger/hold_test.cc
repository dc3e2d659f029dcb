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
