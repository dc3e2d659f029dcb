#include "spine/archive.h"

#include <gtest/gtest.h>

#include "core/testing.h"
#include "spine/memory_disk.h"
#include "spine/proof.h"
#include "spine/record_testing.h"

namespace ace::spine {
namespace {

constexpr Instant kNow = instant(1'800'000'000'000'000'000);

/// Appends events to the log of `disk`, which begins where there is none. @return its root
Digest grown(MemoryDisk& disk, Rng& rng, int events) {
  LogOptions options;
  options.segment_bytes = 4 * kSealMax;
  options.reserve_bytes = 2 * kSealMax;
  for (std::uint8_t& byte : options.id) byte = static_cast<std::uint8_t>(rng.below(256));
  Recovery recovery;
  Log log = *Log::open(disk, options, kNow, recovery);
  for (int i = 0; i < events; ++i) {  // none older than one before: it would be refused once that was pruned
    event::Record record = event::gen::record_of(3, rng);
    const RequestId id = make_request_id(kNow + static_cast<std::int64_t>(log.next()) * kSecond, rng);
    record.id = {id.high, id.low};
    std::get<event::FirstToken>(record.event).id = id;
    ACE_CHECK(log.append(event::key_of(record), *event::encode(record), kNow).has_value(), "an event was refused");
    if (i % 3 == 0) ACE_CHECK(log.commit(kNow).has_value(), "a batch was refused");
  }
  ACE_CHECK(log.commit(kNow).has_value(), "the last batch was refused");
  return log.root();
}

Result<LogSummary> read(Disk& disk) {
  return read_log(disk, {}, [](const Frame&) { return Result<void>(); });
}

TEST(Archive, with_the_rest_of_the_log_is_the_log_that_was_before_anything_was_removed) {
  Rng rng(1, "archive");
  MemoryDisk log, kept;
  Digest root = grown(log, rng, 1200);
  const Archived first = *archive(log, kept);
  EXPECT_GE(first.last, 3U);
  EXPECT_EQ(first.added, first.last);
  EXPECT_LT(first.bytes_packed, first.bytes);
  EXPECT_EQ(archive(log, kept)->added, 0U) << "nothing twice";
  ASSERT_TRUE(archive_holds(log, kept, 1, first.last));
  ASSERT_TRUE(prune(log, first.last - 1));
  root = grown(log, rng, 800);  // it goes on, and is archived again
  const Archived second = *archive(log, kept);
  EXPECT_GT(second.last, first.last);
  EXPECT_EQ(second.first, 1U);

  ArchivedDisk together(log, kept), alone(kept, kept);
  const Result<LogSummary> all = read(together), old = read(alone);
  ASSERT_TRUE(all && old) << (all ? old.error().what() : all.error().what());
  EXPECT_EQ(all->root, root);
  EXPECT_EQ(all->first, 0U) << "what was pruned is read again";
  EXPECT_EQ(old->segments, second.last) << "and by itself it is a log";
  LogTree tree = *LogTree::read(together, [](const Frame&) { return Result<void>(); });
  EXPECT_TRUE(inclusion_proof(tree, 0, all->next)) << "also what was pruned can be proven";
}

TEST(Archive, of_a_pruned_log_begins_behind_what_is_gone) {
  Rng rng(2, "late");
  MemoryDisk log, kept;
  const Digest root = grown(log, rng, 1200);
  ASSERT_TRUE(prune(log, 1));
  EXPECT_EQ(archive(log, kept)->first, 2U);
  ASSERT_TRUE(prune(log, 2));
  ArchivedDisk together(log, kept);
  EXPECT_EQ(read(together)->root, root);
  EXPECT_EQ(read(together)->pruned_segments, 1U);
}

TEST(Archive, refuses_what_would_not_be_the_log_and_changes_nothing) {
  Rng rng(3, "refused");
  MemoryDisk log, other, kept;
  grown(log, rng, 1200);
  grown(other, rng, 1200);
  const std::uint32_t last = archive(log, kept)->last;
  EXPECT_EQ(archive(other, kept).error().code(), Errc::conflict);

  const std::string name = segment_name(2) + ".zst", good = kept.bytes(name);
  EXPECT_FALSE(archive_holds(log, kept, 1, last + 1)) << "the one that grows is in no archive";
  for (std::size_t at = 0; at < good.size(); at += 7) {
    kept.bytes(name)[at] = static_cast<char>(kept.bytes(name)[at] ^ 4);
    EXPECT_EQ(archive_holds(log, kept, 1, last).error().code(), Errc::check_failed) << "byte " << at;
    kept.bytes(name) = good;
  }
  ASSERT_TRUE(kept.remove(segment_name(1) + ".zst"));
  EXPECT_FALSE(archive_holds(log, kept, 1, last));

  MemoryDisk late;
  log.bytes(segment_name(2))[kSegmentHead + 50] ^= 1;
  const Result<Archived> damaged = archive(log, late);
  ASSERT_FALSE(damaged);
  EXPECT_NE(damaged.error().what().find("segment 2, offset 512"), std::string::npos) << damaged.error().what();
  EXPECT_FALSE(late.has(name)) << "what is damaged is not kept as if it were not";

  MemoryDisk gap;
  ASSERT_TRUE(prune(other, 1));
  ASSERT_TRUE(archive(other, gap));
  for (std::uint32_t number = 3; number <= last; ++number) (void)gap.remove(segment_name(number) + ".zst");
  ASSERT_TRUE(prune(other, 3));
  EXPECT_EQ(archive(other, gap).error().code(), Errc::conflict) << "segment 3 is nowhere";
}

TEST(Archive, that_was_cut_short_anywhere_is_finished_the_next_time) {
  Rng rng(4, "cut");
  MemoryDisk log, whole;
  grown(log, rng, 480);
  const std::uint32_t last = archive(log, whole)->last;
  ASSERT_GE(last, 1U);
  for (std::size_t loss = 0; loss < MemoryDisk::kLosses; ++loss) {
    std::uint64_t at = 0;
    for (bool cut = true; cut; ++at) {
      MemoryDisk kept;
      kept.cut_power_at(at);
      cut = false;
      try {
        ASSERT_TRUE(archive(log, kept));
      } catch (const PowerCut&) {
        cut = true;
      }
      kept.restart(static_cast<MemoryDisk::Loss>(loss), rng);
      const Result<Archived> again = archive(log, kept);
      ASSERT_TRUE(again) << "operation " << at << ": " << again.error().what();
      EXPECT_EQ(again->last, last);
      EXPECT_TRUE(archive_holds(log, kept, 1, last));
    }
    EXPECT_GT(at, 10U);
  }
}

}  // namespace
}  // namespace ace::spine
