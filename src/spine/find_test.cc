#include "spine/find.h"

#include <gtest/gtest.h>

#include "core/testing.h"
#include "spine/memory_disk.h"
#include "spine/read.h"
#include "spine/record_testing.h"

namespace ace::spine {
namespace {

constexpr Instant kNow = instant(1'800'000'000'000'000'000);

LogOptions small() {
  static const Signer signer = *Signer::from_seed(std::string(32, 's'));
  LogOptions o;
  o.segment_bytes = 20U << 10;
  o.reserve_bytes = 16U << 10;
  o.id.fill(5);
  o.signer = &signer;
  return o;
}

struct Placed {
  event::Key key;
  std::uint64_t sequence = 0;
  std::string bytes;
};

/// A log of requests, each with its facts at places of their own, and of other events between.
struct Requests {
  MemoryDisk disk;
  std::unique_ptr<Log> log;
  std::vector<Placed> events;
  Rng rng;

  explicit Requests(Rng seeded) : rng(std::move(seeded)) {
    Recovery recovery;
    log = std::make_unique<Log>(*Log::open(disk, small(), kNow, recovery));
  }
  event::EventId begin() {
    return {static_cast<std::uint64_t>(nanos(kNow) / 1'000'000 + rng.between(0, 100)) << 16 | rng.below(1 << 16),
            rng.next()};
  }
  void append(event::EventId id, std::uint32_t tenant, event::Event event, std::uint32_t ordinal = 0) {
    event::Record r;
    r.id = id;
    r.tenant = tenant;
    r.ordinal = ordinal;
    r.snapshot = 1;
    std::visit(
        [&](auto& e) {
          if constexpr (requires { e.id = RequestId{}; }) e.id = RequestId{id.high, id.low};
        },
        event);
    if (auto* const admitted = std::get_if<event::Admitted>(&event)) admitted->tenant = tenant;
    r.event = std::move(event);
    const std::string bytes = *event::encode(r);
    const Result<Appended> done = log->append(event::key_of(r), bytes, kNow);
    ASSERT_TRUE(done) << done.error().what();
    if (done->outcome == Appended::Outcome::created) events.push_back({event::key_of(r), done->sequence, bytes});
    if (rng.chance(0.2)) ACE_CHECK(log->commit(kNow).has_value(), "a batch of a test is refused");
  }
  void others(int count) {
    for (int i = 0; i < count; ++i) append(begin(), 0, event::Gap{event::Gap::Cause::crash, kNow, kNow + kSecond, i});
  }
};

TEST(Finder, finds_every_event_by_its_key_and_no_other) {
  for_each_seed(5, [](Rng& rng) {
    Requests r(rng.split("log"));
    for (int i = 0; i < 60; ++i) {
      r.append(r.begin(), static_cast<std::uint32_t>(i % 5), event::Admitted{});
      r.others(static_cast<int>(rng.below(10)));
    }
    ASSERT_TRUE(r.log->commit(kNow));
    // Keys lie beside sealed segments; one that lost them, or has others, is read.
    if (rng.chance(0.5)) (void)r.disk.remove(Keys::name_of(1));
    if (rng.chance(0.5)) (void)write_whole(r.disk, Keys::name_of(2), "damaged");
    Finder finder(r.disk);
    for (const Placed& p : r.events) {
      const auto found = finder.find(p.key, r.log->next());
      ASSERT_TRUE(found) << found.error().what();
      ASSERT_TRUE(*found);
      EXPECT_EQ((*found)->sequence, p.sequence);
      EXPECT_EQ((*found)->payload, p.bytes);
      EXPECT_FALSE(*finder.find(p.key, p.sequence)) << "it was not there before itself";
      event::Key other = p.key;
      ++other.tenant;
      EXPECT_FALSE(*finder.find(other, r.log->next()));
    }
  });
}

TEST(Finder, puts_together_what_a_request_left_over_segments_in_the_order_of_the_log) {
  for_each_seed(5, [](Rng& rng) {
    Requests r(rng.split("log"));
    const event::EventId id = r.begin();
    const std::uint32_t tenant = 3;
    r.append(id, tenant, event::Admitted{});
    r.others(150);
    std::vector<std::uint64_t> want = {r.events.front().sequence};
    const auto add = [&](event::Event event, std::uint32_t ordinal) {
      r.append(id, tenant, std::move(event), ordinal);
      want.push_back(r.events.back().sequence);
      r.others(static_cast<int>(rng.below(60)));
    };
    const std::uint32_t first = rng.chance(0.5) ? 1 : 0;  // ordinals count from 0 or 1
    add(event::Attempted{}, first);
    add(event::Attempted{}, first + 1);
    add(event::Completed{}, 0);
    add(event::Completed{}, 1);
    r.append(id, tenant + 1, event::Attempted{}, 2);  // of another tenant's request
    ASSERT_TRUE(r.log->commit(kNow));
    Finder finder(r.disk);
    const auto found = finder.request(tenant, id, r.log->next());
    ASSERT_TRUE(found) << found.error().what();
    std::vector<std::uint64_t> got;
    for (const Finder::Found& f : *found) got.push_back(f.sequence);
    EXPECT_EQ(got, want);
    EXPECT_EQ(finder.request(tenant, id, want[2])->size(), 2U) << "before that record";
    EXPECT_TRUE(finder.request(tenant, r.begin(), r.log->next())->empty());
  });
}

TEST(Finder, sees_what_a_writer_adds_while_it_looks) {
  Requests r(Rng(4, "find_test"));
  r.others(20);
  ASSERT_TRUE(r.log->commit(kNow));
  Finder finder(r.disk);
  ASSERT_TRUE(*finder.find(r.events.front().key, r.log->next()));
  const event::EventId id = r.begin();
  r.append(id, 1, event::Admitted{});
  r.others(400);  // segments later
  ASSERT_TRUE(r.log->commit(kNow));
  EXPECT_EQ(finder.request(1, id, r.log->next())->size(), 1U);
}

TEST(Finder, takes_what_was_pruned_for_unknown_and_what_is_damaged_for_an_error) {
  Requests r(Rng(5, "find_test"));
  const event::EventId id = r.begin();
  r.append(id, 1, event::Admitted{});
  r.others(400);
  ASSERT_TRUE(r.log->commit(kNow));
  MemoryDisk pruned = r.disk;
  ASSERT_TRUE(prune(pruned, 1));
  Finder without(pruned);
  EXPECT_TRUE(without.request(1, id, r.log->next())->empty());
  Result<std::unique_ptr<File>> file = r.disk.open(segment_name(1), false);
  const std::string head = *(*file)->read(kSegmentHead, 60);
  ASSERT_TRUE((*file)->write(kSegmentHead, std::string(60, 'x')));
  Finder damaged(r.disk);
  const auto found = damaged.request(1, id, r.log->next());
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code(), Errc::corrupt);
  EXPECT_NE(found.error().what().find("segment 1"), std::string::npos) << found.error().what();
}

}  // namespace
}  // namespace ace::spine
