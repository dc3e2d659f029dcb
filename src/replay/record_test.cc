#include <gtest/gtest.h>

#include <map>

#include "core/testing.h"
#include "replay/recorded_testing.h"
#include "spine/spine.h"

namespace ace {
namespace {

using event::Kind;
using replay_testing::MemorySource;
using replay_testing::recorded;
using replay_testing::requests;
using replay_testing::world;

std::vector<std::string> bytes_of(const std::vector<event::Record>& records) {
  std::vector<std::string> bytes;
  for (const event::Record& record : records) bytes.push_back(*event::encode(record));
  return bytes;
}

TEST(Record, of_every_decision_is_enough_to_make_it_again) {
  for_each_seed(6, [](Rng& rng) {
    const auto fleet = world();
    const Snapshot snapshot(*fleet);
    MemorySource source = requests(3'000, rng.next());
    event::Hindsight hindsight(snapshot);
    std::map<RequestId, event::Admitted> admitted;
    std::size_t decisions = 0, spilled = 0;
    for (const event::Record& written : recorded(snapshot, source)) {
      const event::Record record = *event::decode(*event::encode(written));
      if (const auto* a = std::get_if<event::Admitted>(&record.event)) admitted[a->id] = *a;
      hindsight.hear(record.event);
      const auto* decided = std::get_if<event::Decided>(&record.event);
      if (decided == nullptr) continue;
      ++decisions;
      spilled += record.ordinal > 0 ? 1 : 0;
      const event::Admitted& request = admitted.at(decided->id);
      ASSERT_TRUE(event::belongs(snapshot, request, record));
      const Decision again = hindsight.decide_again(request, record);
      ASSERT_EQ(event::difference(record, again), "") << to_string(decided->id);
      ASSERT_EQ(again.terms, std::get<event::Decided>(written.event).decision.terms) << to_string(decided->id);
    }
    EXPECT_GE(decisions, 2'800U);
    EXPECT_GT(spilled, 50U);
  });
}

TEST(Record, holds_the_columns_of_as_many_candidates_as_it_is_told) {
  const auto fleet = world();
  const Snapshot snapshot(*fleet);
  std::vector<std::vector<OfferId>> chosen;
  std::size_t more_than_one = 0;
  for (const std::size_t columns : {std::size_t{1}, event::kColumnsMax, ~std::size_t{0}}) {
    MemorySource source = requests(400);
    RunOptions options;
    options.record_columns = columns;
    chosen.emplace_back();
    options.record = [&](event::Record record) -> Result<void> {
      const auto* decided = std::get_if<event::Decided>(&record.event);
      if (decided == nullptr) return {};
      const std::size_t feasible = decided->decision.feasible;
      more_than_one += feasible > 1 ? 1 : 0;
      EXPECT_EQ(record.evidence.live.size(), std::min(feasible, columns));
      EXPECT_EQ(record.evidence.others_digest != 0, feasible > columns);
      chosen.back().push_back(decided->decision.chosen);
      return {};
    };
    ASSERT_TRUE(run(snapshot, source, options));
  }
  EXPECT_GT(more_than_one, 100U) << "else nothing is left out";
  EXPECT_EQ(chosen[0], chosen[1]) << "what is written down decides nothing";
  EXPECT_EQ(chosen[1], chosen[2]);
}

TEST(Record, tells_of_each_request_from_its_admission_to_its_end) {
  const auto fleet = world();
  const Snapshot snapshot(*fleet);
  MemorySource source = requests(2'000);
  struct Told {
    std::vector<Kind> kinds;
    std::uint32_t decisions = 0, attempts = 0;
  };
  std::map<RequestId, Told> told;
  std::map<Kind, std::size_t> count;
  std::size_t served = 0, hits = 0;
  for (const event::Record& record : recorded(snapshot, source)) {
    ++count[event::kind_of(record.event)];
    const event::EventId own = event::own_id(record.event);
    if (own == event::EventId{}) continue;
    EXPECT_EQ(own, record.id);
    Told& of = told[{own.high, own.low}];
    const Kind kind = event::kind_of(record.event);
    if (kind == Kind::admitted) {
      EXPECT_TRUE(of.kinds.empty());
    } else {
      ASSERT_FALSE(of.kinds.empty());
      EXPECT_NE(of.kinds.back(), Kind::completed) << "something after the end";
    }
    if (kind == Kind::decided) {
      EXPECT_EQ(record.ordinal, of.decisions++);
    }
    if (kind == Kind::attempted) {
      EXPECT_EQ(record.ordinal, of.attempts++);
    }
    of.kinds.push_back(kind);
    if (const auto* end = std::get_if<event::Completed>(&record.event)) {
      served += end->outcome == event::Outcome::served ? 1 : 0;
      hits += end->outcome == event::Outcome::cache_hit ? 1 : 0;
    }
  }
  EXPECT_EQ(told.size(), 2'000U);
  for (const auto& [id, of] : told) EXPECT_EQ(of.kinds.back(), Kind::completed) << to_string(id);
  EXPECT_EQ(count[Kind::admitted], 2'000U);
  EXPECT_EQ(count[Kind::completed], 2'000U);
  EXPECT_EQ(count[Kind::cache_hit], hits);
  EXPECT_GT(hits, 20U);
  EXPECT_GE(count[Kind::first_token], served);
  EXPECT_GT(count[Kind::attempted], served) << "some failed";
  EXPECT_GT(count[Kind::changed], 0U);
  EXPECT_GT(count[Kind::health_changed], 0U);
  EXPECT_GT(count[Kind::units_changed], 2U);
  EXPECT_GT(count[Kind::price_changed], 0U);
  EXPECT_GT(count[Kind::fixed_cost], 0U);
}

TEST(Record, is_the_same_on_any_number_of_threads_and_another_under_another_seed) {
  const auto fleet = world();
  const Snapshot snapshot(*fleet);
  MemorySource one = requests(40'000), two = requests(40'000), other = requests(1'000);
  const std::vector<std::string> first = bytes_of(recorded(snapshot, one, 1));
  EXPECT_EQ(first, bytes_of(recorded(snapshot, two, 2)));
  MemorySource same = requests(1'000);
  EXPECT_NE(bytes_of(recorded(snapshot, other, 1, 1)), bytes_of(recorded(snapshot, same, 1, 2)));
}

TEST(Record, changes_nothing_of_what_it_records) {
  const auto fleet = world();
  const Snapshot snapshot(*fleet);
  MemorySource one = requests(20'000), two = requests(20'000);
  RunOptions watched, alone;
  watched.record = [](const event::Record&) -> Result<void> { return {}; };
  const Result<RunResult> recorded = run(snapshot, one, watched), unrecorded = run(snapshot, two, alone);
  ASSERT_TRUE(recorded && unrecorded);
  EXPECT_EQ(recorded->statement.c0, unrecorded->statement.c0);
  EXPECT_EQ(recorded->statement.c4, unrecorded->statement.c4);
  EXPECT_EQ(recorded->statement.slo_met, unrecorded->statement.slo_met);
  EXPECT_EQ(recorded->used_share, unrecorded->used_share);
  EXPECT_EQ(recorded->unit_changes, unrecorded->unit_changes);
}

TEST(Record, comes_in_order_of_time_over_all_islands) {
  const auto fleet = world();
  const Snapshot snapshot(*fleet);
  MemorySource source = requests(40'000);
  Instant before = Instant::min();
  for (const event::Record& record : recorded(snapshot, source)) {
    const auto* admitted = std::get_if<event::Admitted>(&record.event);
    if (admitted == nullptr) continue;
    EXPECT_GE(admitted->at, before);
    before = admitted->at;
  }
}

TEST(Record, under_another_snapshot_has_other_ids) {
  const auto fleet = world();
  const Snapshot snapshot(*fleet);
  MemorySource one = requests(200), two = requests(200);
  const std::vector<event::Record> first = recorded(snapshot, one);
  fleet->number = 2;
  const std::vector<event::Record> second = recorded(snapshot, two);
  std::map<event::Key, int> keys;
  for (const auto* records : {&first, &second})
    for (const event::Record& record : *records) EXPECT_EQ(keys[event::key_of(record)]++, 0);
}

TEST(Record, that_cannot_be_written_ends_the_run) {
  const auto fleet = world();
  const Snapshot snapshot(*fleet);
  MemorySource source = requests(200);
  RunOptions options;
  options.record = [](const event::Record&) -> Result<void> { return Error(Errc::unavailable, "no room"); };
  const Result<RunResult> made = run(snapshot, source, options);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code(), Errc::unavailable);
}

}  // namespace
}  // namespace ace
