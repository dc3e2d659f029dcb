#include "replay/log_events.h"

#include <gtest/gtest.h>

#include <set>

#include "replay/replay_testing.h"

namespace ace {
namespace {

using event::Kind;

/// A source that says who served.
class Origins : public replay_testing::MemorySource {
 public:
  explicit Origins(std::vector<std::string> providers) : MemorySource({}, {"m"}, {"a", "b"}) {
    for (const std::string& name : providers) providers_(name);
  }
  [[nodiscard]] const Interner& providers() const override { return providers_; }

 private:
  Interner providers_;
};

Demand row(double at_s, std::uint64_t id = 0) {
  Demand demand;
  demand.arrival = replay_testing::made(at_s, 100, 20).arrival;
  demand.arrival.id = id;
  demand.arrival.cost_nano = 5'000;
  demand.arrival.ttft_us = 300'000;
  demand.arrival.duration_us = 2'200'000;
  demand.model = ModelId{0};
  demand.slo = SloId{0};
  return demand;
}

std::vector<Kind> kinds(const std::vector<event::Record>& records) {
  std::vector<Kind> all;
  for (const event::Record& record : records) all.push_back(event::kind_of(record.event));
  return all;
}

TEST(LogEvents, is_a_request_an_attempt_and_an_end_without_a_decision) {
  const auto fleet = replay_testing::api_fleet();
  const Snapshot snapshot(*fleet);
  const Origins source({"", "api"});
  LogEvents events(snapshot, source);
  Demand demand = row(10.0);
  demand.arrival.provider = 1;
  demand.arrival.cached = 40;
  const std::vector<event::Record> records = events(demand);
  ASSERT_EQ(kinds(records), (std::vector{Kind::admitted, Kind::first_token, Kind::attempted, Kind::completed}));
  EXPECT_EQ(events.origin(), Origin::known);
  const auto& attempted = std::get<event::Attempted>(records[2].event);
  EXPECT_EQ(attempted.offer, OfferId{0});
  EXPECT_EQ(attempted.billed, Usage(Tokens{60}, Tokens{40}, Tokens{20}));
  EXPECT_EQ(attempted.to - attempted.from, from_seconds(2.2));
  const auto& completed = std::get<event::Completed>(records[3].event);
  EXPECT_EQ(completed.observed_cost_nano, 5'000);
  EXPECT_EQ(completed.ttft, from_seconds(0.3));
  EXPECT_EQ(completed.tpot, from_seconds(0.1));  // 1.9 s over 19 tokens after the first
  EXPECT_TRUE(completed.slo_met);                // 2 s to the first token
  for (const event::Record& record : records) {
    EXPECT_EQ(record.id, records[0].id);
    EXPECT_TRUE(event::encode(record));
  }
}

TEST(LogEvents, that_failed_or_came_from_a_cache_says_so) {
  const auto fleet = replay_testing::api_fleet();
  const Snapshot snapshot(*fleet);
  const Origins source({""});
  LogEvents events(snapshot, source);
  Demand failed = row(1.0);
  failed.arrival.failed = true;
  const auto lost = events(failed);
  ASSERT_EQ(kinds(lost), (std::vector{Kind::admitted, Kind::attempted, Kind::completed}));
  EXPECT_FALSE(std::get<event::Attempted>(lost[1].event).answered);
  EXPECT_EQ(std::get<event::Completed>(lost[2].event).outcome, event::Outcome::not_served);
  EXPECT_EQ(std::get<event::Completed>(lost[2].event).usage, Usage{});
  Demand hit = row(2.0);
  hit.arrival.cache_hit = true;
  const auto cached = events(hit);
  ASSERT_EQ(kinds(cached), (std::vector{Kind::admitted, Kind::cache_hit, Kind::completed}));
  EXPECT_EQ(std::get<event::Completed>(cached[2].event).outcome, event::Outcome::cache_hit);
}

TEST(LogEvents, has_an_id_that_follows_from_the_rows_own_or_from_what_it_says) {
  const auto fleet = replay_testing::api_fleet();
  const Snapshot snapshot(*fleet);
  const Origins source({""});
  const auto id = [](const std::vector<event::Record>& records) { return records[0].id; };
  LogEvents first(snapshot, source), second(snapshot, source);
  std::vector<event::EventId> ids, again;
  for (LogEvents* observed : {&first, &second}) {
    std::vector<event::EventId>& into = observed == &first ? ids : again;
    into.push_back(id((*observed)(row(1.0))));
    into.push_back(id((*observed)(row(1.0))));  // an equal row is another request
    into.push_back(id((*observed)(row(1.0, 77))));
    Demand dearer = row(1.0, 77);
    dearer.arrival.cost_nano = 6'000;
    into.push_back(id((*observed)(dearer)));  // the same row, changed
    dearer.arrival.id = 0;
    into.push_back(id((*observed)(dearer)));
    into.push_back(id((*observed)(row(2.0))));
  }
  EXPECT_EQ(ids, again);
  EXPECT_EQ(ids[2], ids[3]);
  EXPECT_EQ(std::set<event::EventId>(ids.begin(), ids.end()).size(), 5U);
}

TEST(LogEvents, was_served_where_the_fleet_has_that_name_once) {
  auto fleet = replay_testing::api_fleet();
  fleet->prices.rows[0].provider = "listed";
  fleet->providers[0].api = Api::openai;
  Destination other = fleet->destinations[0];
  other.name = "other";
  fleet->providers.push_back(fleet->providers[0]);
  fleet->providers[1].name = "q";
  other.provider = ProviderId{1};
  fleet->destinations.push_back(other);
  const Snapshot snapshot(*fleet);
  const Origins source({"", "api", "other", "p", "q", "listed", "openai", "nobody"});
  const struct {
    std::uint32_t provider;
    Origin origin;
    OfferId offer;
  } cases[] = {
      {0, Origin::unnamed, OfferId{}},   {1, Origin::known, OfferId{0}},  {2, Origin::known, OfferId{1}},
      {3, Origin::known, OfferId{0}},    {4, Origin::known, OfferId{1}},  {5, Origin::ambiguous, OfferId{}},
      {6, Origin::ambiguous, OfferId{}}, {7, Origin::unknown, OfferId{}},
  };
  LogEvents events(snapshot, source);
  for (const auto& c : cases) {
    Demand demand = row(1.0);
    demand.arrival.provider = c.provider;
    const auto records = events(demand);
    EXPECT_EQ(events.origin(), c.origin) << source.providers()[c.provider];
    EXPECT_EQ(std::get<event::Completed>(records.back().event).offer, c.offer) << source.providers()[c.provider];
  }
}

}  // namespace
}  // namespace ace
