#include "dispatch/curve.h"

#include <cmath>

#include "core/testing.h"
#include "dispatch/fill.h"
#include "dispatch/generate_testing.h"

namespace ace {
namespace {

const Instant kNow = instant(1'780'000'000'000'000'000);

TEST(SupplyCurve, rises_step_by_step_and_its_widths_add_up) {
  for_each_seed(1000, [](Rng& rng) {
    const auto fleet = gen::fleet(rng);
    const Snapshot snapshot(*fleet);
    Request request = gen::request(rng, *fleet);
    const SupplyCurve curve = supply_curve(snapshot, gen::live(rng, snapshot, kNow), request, kNow);
    double right = 0.0, cost = -1e300;
    for (const SupplyStep& s : curve.steps) {
      EXPECT_GE(s.usd_per_mtok, cost);
      EXPECT_GE(s.tokens_per_s, 0.0);
      EXPECT_LE(s.knee_tokens_per_s, s.cap_tokens_per_s);
      right += s.tokens_per_s;
      EXPECT_EQ(s.cumulative_tokens_per_s, right);
      cost = s.usd_per_mtok;
    }
  });
}

TEST(SupplyCurve, has_the_price_that_filling_it_finds) {
  for_each_seed(1000, [](Rng& rng) {
    const auto fleet = gen::fleet(rng);
    const Snapshot snapshot(*fleet);
    const SupplyCurve curve = supply_curve(snapshot, Live(snapshot), gen::request(rng, *fleet), kNow);
    std::vector<Step> steps;
    double total = 0.0;
    for (const SupplyStep& s : curve.steps) {
      const double width = std::isfinite(s.tokens_per_s) ? s.tokens_per_s : 1e9;
      steps.push_back({s.offer.value, s.usd_per_mtok, width});
      total += width;
      if (width != s.tokens_per_s) break;  // without a quota: nothing dearer is ever reached
    }
    const double load = std::floor(rng.uniform() * total);
    const SupplyStep* marginal = marginal_step(curve, load);
    if (!(load > 0.0)) return;
    ASSERT_NE(marginal, nullptr);
    EXPECT_EQ(fill(steps, load)->price, marginal->usd_per_mtok);
  });
}

TEST(SupplyCurve, knows_what_a_replica_can_serve) {
  // prefill 1000/s, step 0.1 s, batch 100: 100 requests of 50 + 20 tokens take 20 x 0.1 + 100 x 50 / 1000 = 7 s, so the
  // cap is 100/7 requests/s; at the knee of 0.5, 50 requests take 2 + 2.5 = 4.5 s: 11.1, but prefill alone stops at
  // 0.5 x 1000 / 50 = 10
  Fleet fleet;
  fleet.models.emplace_back().context_max = Tokens{8192};
  fleet.providers.emplace_back();
  Destination& d = fleet.destinations.emplace_back();
  d.tier = Tier::spot;
  d.provider = ProviderId{0};
  d.gpus_per_unit = 8;
  d.tp = 4;
  Serving& s = d.serving.emplace_back();
  s.model = ModelId{0};
  ServerProfile p;
  p.prefill_tokens_per_s = 1000.0;
  p.step_base_s = 0.1;
  p.batch_max = 100;
  p.kv_tokens_max = 1'000'000;
  s.measured = p;
  const Snapshot snapshot(fleet);
  const Throughput t = throughput(snapshot, OfferId{0}, 3, 0.5, 50.0, 20.0);  // 3 units of 2 replicas
  EXPECT_DOUBLE_EQ(t.cap, 6.0 * 100.0 / 7.0);
  EXPECT_DOUBLE_EQ(t.knee, 6.0 * 10.0);
}

}  // namespace
}  // namespace ace
