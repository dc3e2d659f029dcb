#include "spine/evidence.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/testing.h"
#include "dispatch/generate_testing.h"

namespace ace::event {
namespace {

const Instant kNow = instant(1'800'000'000'000'000'000);

/// What a shell would write of one request and one decision on it, through the bytes and back.
struct Written {
  Admitted admitted;
  Record decided;
};
Written written(const Snapshot& snapshot, const Request& request, const Decision& decision, Instant now,
                const Evidence& evidence) {
  Written w;
  w.admitted.id = {1, 2};
  w.admitted.requested = request.model;
  w.admitted.declared_tenant = request.tenant;
  w.admitted.slo = request.slo;
  w.admitted.compliance = request.compliance;
  w.admitted.prompt = request.prompt;
  w.admitted.max_output = request.max_output;
  w.admitted.needs = request.needs;
  w.admitted.batch = request.batch;
  Decided decided;
  decided.id = w.admitted.id;
  decided.at = now;
  decided.snapshot = snapshot.fleet().number;
  decided.decision = decision;
  decided.predicted = request.predicted;
  w.decided.event = decided;
  w.decided.evidence = evidence;
  w.decided = *decode(*encode(w.decided));
  return w;
}

/// The data class is that of the tenant, as on every spine.
Request asked(Rng& rng, const Fleet& fleet) {
  Request request = gen::request(rng, fleet);
  request.data_class = request.tenant.valid() ? std::string_view(fleet.tenants[request.tenant.value].data_class) : "";
  return request;
}

TEST(Evidence, is_enough_to_decide_again_bit_for_bit) {
  for_each_seed(300, [](Rng& rng) {
    const auto fleet = gen::fleet(rng);
    const Snapshot snapshot(*fleet);
    Scratch scratch(snapshot);
    Witness witness(snapshot);
    Hindsight hindsight(snapshot);
    Instant now = kNow;
    for (int round = 0; round < 8; ++round) {
      now += Duration{static_cast<std::int64_t>(rng.below(4'000'000'000))};
      Live live = gen::live(rng, snapshot, now);
      std::fill(live.warmth.begin(), live.warmth.end(),
                0.0);  // nobody loads weights yet, so nothing says what it costs
      // Units move by events, which the shell says.
      for (std::uint32_t d = 0; d < fleet->destinations.size(); ++d) {
        const UnitsChanged units{now, DestinationId{d}, 0, static_cast<std::int64_t>(rng.below(4)), "schedule"};
        if (!runs_on_gpus(fleet->destinations[d].tier)) continue;
        live.size_to(snapshot, units.destination, units.after);
        witness.said(units);
        hindsight.hear(units);
      }
      const Request request = asked(rng, *fleet);
      witness.before(request, now, live, [&](Event event) {
        Record record;
        record.id = {9, 9};
        record.event = std::move(event);
        hindsight.hear(decode(*encode(record))->event);
      });
      const Decision decision = decide(snapshot, live, request, now, scratch);
      const Written w = written(snapshot, request, decision, now, witness.evidence(request, now, live, scratch));
      ASSERT_TRUE(belongs(snapshot, w.admitted, w.decided));
      const Decision again = hindsight.decide_again(w.admitted, w.decided);
      EXPECT_EQ(difference(w.decided, again), "");
      EXPECT_EQ(again.terms, decision.terms);
      EXPECT_EQ(again.reference_price, decision.reference_price);
    }
  });
}

TEST(Evidence, of_another_choice_or_of_changed_columns_is_a_difference) {
  Rng rng(3, "difference");
  int found = 0, tried = 0;
  for (int i = 0; i < 200; ++i) {
    const auto fleet = gen::fleet(rng);
    const Snapshot snapshot(*fleet);
    Scratch scratch(snapshot);
    Witness witness(snapshot);
    Hindsight hindsight(snapshot);
    Live live = gen::live(rng, snapshot, kNow);
    std::fill(live.warmth.begin(), live.warmth.end(), 0.0);
    const Request request = asked(rng, *fleet);
    witness.before(request, kNow, live, [&](const Event& event) { hindsight.hear(event); });
    const Decision decision = decide(snapshot, live, request, kNow, scratch);
    if (decision.feasible < 2) continue;
    ++tried;
    Evidence evidence = witness.evidence(request, kNow, live, scratch);
    Decision other = decision;
    other.chosen = OfferId{evidence.live.back().offer};
    const Written lie = written(snapshot, request, other, kNow, evidence);
    found += difference(lie.decided, hindsight.decide_again(lie.admitted, lie.decided)).empty() ? 0 : 1;
    evidence.live.erase(evidence.live.begin());  // the one that was chosen
    const Written cut = written(snapshot, request, decision, kNow, evidence);
    EXPECT_NE(difference(cut.decided, hindsight.decide_again(cut.admitted, cut.decided)), "");
  }
  ASSERT_GT(tried, 20);
  EXPECT_EQ(found, tried);
}

TEST(Evidence, of_more_candidates_than_are_kept_is_counted_and_digested) {
  Rng rng(5, "many");
  const auto fleet = gen::fleet(rng, 12);
  const Snapshot snapshot(*fleet);
  Scratch scratch(snapshot);
  const Witness witness(snapshot);
  const Live live(snapshot);
  for (int i = 0; i < 100; ++i) {
    const Request request = asked(rng, *fleet);
    const Evidence all = witness.evidence(request, kNow, live, scratch);
    if (all.live.size() < 3) continue;
    const Evidence two = witness.evidence(request, kNow, live, scratch, 2);
    EXPECT_EQ(two.live, std::vector(all.live.begin(), all.live.begin() + 2));
    EXPECT_EQ(two.others_digest, digest_of(std::span(all.live).subspan(2)));
    EXPECT_EQ(all.others_digest, 0U);
    return;
  }
  FAIL() << "no request with three candidates";
}

TEST(Evidence, with_an_index_outside_its_snapshot_is_refused_by_name) {
  Rng rng(7, "outside");
  const auto fleet = gen::fleet(rng);
  const Snapshot snapshot(*fleet);
  Scratch scratch(snapshot);
  const Request request = asked(rng, *fleet);
  Written w = written(snapshot, request, {}, kNow, {});
  ASSERT_TRUE(belongs(snapshot, w.admitted, w.decided));
  w.decided.evidence.live.push_back({.offer = 1'000});
  EXPECT_NE(belongs(snapshot, w.admitted, w.decided).error().what().find("offer 1000"), std::string::npos);
  w.decided.evidence.live.clear();
  w.admitted.requested = ModelId{77};
  EXPECT_NE(belongs(snapshot, w.admitted, w.decided).error().what().find("model 77"), std::string::npos);
}

}  // namespace
}  // namespace ace::event
