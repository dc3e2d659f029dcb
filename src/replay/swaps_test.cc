#include "replay/swaps.h"

#include <gtest/gtest.h>

#include "dispatch/learn_testing.h"
#include "replay/engine.h"

namespace ace {
namespace {

using learn::at;

/// One node of the pool that swaps. An API sells both models at $10 per million output tokens. Class chat has a TTFT of
/// 5 s.
std::unique_ptr<Fleet> fleet() {
  auto fleet = learn::models(2);
  fleet->slo_classes[0].ttft = 5 * kSecond;
  learn::add_api(*fleet, "api-0", 10'000'000'000, 0);
  learn::add_api(*fleet, "api-1", 10'000'000'000, 1);
  learn::add_swapping_pool(*fleet, 1);
  return fleet;
}

TEST(Swaps, let_a_guest_in_when_home_has_been_idle_for_the_way_there_and_back) {
  const auto f = fleet();
  const Snapshot snapshot(*f);
  const OfferId guest = learn::offer_of(snapshot, "pool", 1);
  const DestinationId pool = snapshot[guest].destination;
  Swaps swaps(snapshot);
  swaps.start(at(0));
  using Holding = Belief::Holding;
  const auto told = [&](std::vector<Holding> want) { EXPECT_EQ(swaps.take_moved(), want); };
  EXPECT_EQ(swaps.next(), at(50));  // 30 s + 20 s
  swaps.asked(at(10), ModelId{0});
  EXPECT_EQ(swaps.next(), at(60));
  swaps.tick(at(60));
  told({{pool, OfferId{}, true, true}});
  EXPECT_EQ(swaps.next(), Instant::max());
  EXPECT_EQ(swaps.fetch(at(100), guest), at(120));
  EXPECT_EQ(swaps.fetch(at(110), guest), at(120)) << "it is on its way";
  told({{pool, guest, false, true}});
  swaps.tick(at(120));
  told({{pool, guest, true, true}});
  swaps.began(at(121), pool);
  EXPECT_EQ(swaps.next(), Instant::max()) << "in use";
  swaps.ended(at(130), pool);
  EXPECT_EQ(swaps.next(), at(180)) << "it leaves when it was not used for as long as the way back and there takes";
  swaps.began(at(140), pool);
  swaps.asked(at(150), ModelId{1});
  told({});
  swaps.asked(at(151), ModelId{0});  // home is asked for: what runs ends first
  told({{pool, guest, true, false}});
  swaps.ended(at(160), pool);
  told({{pool, OfferId{}, false, false}});
  EXPECT_EQ(swaps.next(), at(190));
  swaps.tick(at(190));
  told({{pool, OfferId{}, true, false}});
  EXPECT_EQ(swaps.loads(pool).count, 2U);
  EXPECT_EQ(swaps.loads(pool).time, 50 * kSecond);
}

struct Replay {
  std::vector<Settled> settled;
  Swaps::Loads loads;
};
/// A request every two seconds for ten minutes for m1 as a batch job; chat for m0 at 5 s, and at 1,000 s.
Replay replay(const Snapshot& snapshot, Dispatching dispatching) {
  Replay out;
  Engine::Options options;
  options.dispatching = dispatching;
  Engine engine(snapshot, options, {[&](const Settled& s) { out.settled.push_back(s); }, {}, {}});
  const auto arrive = [&](double t, std::uint32_t model, std::uint32_t slo) {
    Demand demand;
    demand.model = ModelId{model};
    demand.slo = SloId{slo};
    demand.arrival.at = at(t);
    demand.arrival.row = static_cast<std::int64_t>(t);
    demand.arrival.prompt = 500;
    demand.arrival.output = 1'000;
    engine.arrive(demand);
  };
  arrive(5, 0, 0);
  for (int i = 0; i < 300; ++i) arrive(100 + 2 * i, 1, 1);
  arrive(701, 1, 0);    // chat for the guest, while it is there
  arrive(1'000, 0, 0);  // chat for a home model: from where?
  engine.finish();
  out.loads = engine.loads(snapshot[learn::offer_of(snapshot, "pool")].destination);
  return out;
}

TEST(Swaps, bring_a_guest_for_batch_work_when_that_is_cheaper_than_an_api) {
  const auto f = fleet();
  const Snapshot snapshot(*f);
  const OfferId home = learn::offer_of(snapshot, "pool", 0), guest = learn::offer_of(snapshot, "pool", 1);
  const Replay ours = replay(snapshot, Dispatching::merit_order);
  ASSERT_EQ(ours.settled.size(), 303U);
  std::uint64_t as_guest = 0, elsewhere = 0;
  std::int64_t first = 0;
  for (const Settled& s : ours.settled) {
    EXPECT_TRUE(s.completed.slo_met) << s.admitted.row;
    // What a load costs is in the rent of the unit: no request is ever booked the warmth it was ranked with.
    EXPECT_EQ(s.chain.c[4], *snapshot.price(s.completed.offer, s.completed.usage, s.decided.at));
    if (s.admitted.requested == ModelId{0}) continue;
    if (s.completed.offer == guest) {
      ++as_guest;
      if (first == 0 || s.admitted.row < first) first = s.admitted.row;
    } else {
      ++elsewhere;
    }
  }
  // $18/h x 50 s = $0.25 there and back. After k requests the ten-minute average is k / 600 s, and a stay is expected
  // to be an hour: 6 k requests. An API takes $0.0035 for the 350 tokens that are expected of a batch answer at first:
  // 0.25 / 6 k is less from k = 12 on. Loads are priced every 10 s: 10 were counted at 120 s, 15 at 130 s.
  EXPECT_EQ(first, 130);
  EXPECT_EQ(elsewhere, static_cast<std::uint64_t>(first - 100) / 2);
  EXPECT_EQ(as_guest + elsewhere, 301U);
  EXPECT_EQ(ours.loads.count, 2U) << "there, and back when it was idle";
  for (const Settled& s : ours.settled) {
    if (s.completed.offer != guest || s.admitted.row >= first + 20) continue;
    EXPECT_GE(s.completed.ttft, at(static_cast<double>(first) + 20.0) - s.admitted.at)
        << "nothing is served before it is loaded";
  }
  for (const Settled& s : ours.settled) {
    if (s.admitted.row == 5 || s.admitted.row == 1'000) {
      EXPECT_EQ(s.completed.offer, home);
    }
    if (s.admitted.row == 701) {
      EXPECT_EQ(s.completed.offer, guest) << "there, it serves anybody";
    }
  }
}

TEST(Swaps, are_no_part_of_the_status_quo) {
  const auto f = fleet();
  const Snapshot snapshot(*f);
  const Replay theirs = replay(snapshot, Dispatching::status_quo);
  EXPECT_EQ(theirs.loads.count, 0U);
  for (const Settled& s : theirs.settled) EXPECT_NE(s.completed.offer, learn::offer_of(snapshot, "pool", 1));
}

}  // namespace
}  // namespace ace
