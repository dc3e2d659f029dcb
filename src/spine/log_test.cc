#include "spine/log.h"

#include <gtest/gtest.h>

#include "core/testing.h"
#include "spine/crc32c.h"
#include "spine/log_files.h"
#include "spine/memory_disk.h"
#include "spine/read.h"
#include "spine/record_testing.h"
#include "spine/store.h"

namespace ace::spine {
namespace {

constexpr Instant kNow = instant(1'800'000'000'000'000'000);

LogOptions options(std::uint32_t segment_bytes = 64U << 10) {
  static const Signer signer = *Signer::from_seed(std::string(32, 's'));
  LogOptions o;
  o.segment_bytes = segment_bytes;
  o.reserve_bytes = 16U << 10;
  o.id.fill(5);
  o.signer = &signer;
  o.checkpoint_records = 100;
  return o;
}

/// A log of this many small events, a batch of ten at a time, in good order.
MemoryDisk filled(std::uint64_t events, std::uint32_t segment_bytes = 64U << 10) {
  MemoryDisk disk;
  Recovery recovery;
  Log log = *Log::open(disk, options(segment_bytes), kNow, recovery);
  Rng rng(9, "events");
  for (std::uint64_t i = 0; i < events; ++i) {
    event::Record record = event::gen::record_of(3, rng);
    record.tenant = static_cast<std::uint32_t>(i % 7);
    EXPECT_TRUE(log.append(event::key_of(record), *event::encode(record), kNow));
    if (i % 10 == 9) {
      EXPECT_TRUE(log.commit(kNow));
    }
  }
  EXPECT_TRUE(log.checkpoint(kNow));
  EXPECT_TRUE(log.commit(kNow));
  return disk;
}

Result<LogSummary> verified(MemoryDisk& disk) {
  ReadOptions o;
  o.follow_torn_tail = false;
  o.key = options().signer->public_key();
  return read_log(disk, o, [](const Frame&) { return Result<void>(); });
}

Result<Log> opened(MemoryDisk& disk, LogOptions o = options()) {
  Recovery recovery;
  return Log::open(disk, o, kNow, recovery);
}

TEST(Log, knows_the_same_event_again_and_keeps_another_one_apart) {
  MemoryDisk disk;
  {
    Log log = *opened(disk);
    event::Record record;
    record.id = {1ULL << 40, 7};
    record.event = event::Named{event::Named::Kind::tenant, kNow, 1, "acme"};
    const event::Key key = event::key_of(record);
    const std::string bytes = *event::encode(record);
    EXPECT_EQ(log.append(key, bytes, kNow)->outcome, Appended::Outcome::created);
    EXPECT_EQ(log.append(key, bytes, kNow)->outcome, Appended::Outcome::exists) << "in the same batch";
    ASSERT_TRUE(log.commit(kNow));
    EXPECT_EQ(log.append(key, bytes, kNow)->outcome, Appended::Outcome::exists) << "on the disk";
    record.event = event::Named{event::Named::Kind::tenant, kNow, 2, "acme"};
    const std::string other = *event::encode(record);
    EXPECT_EQ(log.append(key, other, kNow)->outcome, Appended::Outcome::conflict);
    EXPECT_EQ(log.append(key, other, kNow)->outcome, Appended::Outcome::conflict);
    EXPECT_EQ(log.conflicts(), 2U) << "counted each time";
    EXPECT_EQ(log.next(), 2U) << "but kept once";
    ASSERT_TRUE(log.commit(kNow));
  }
  const Result<LogSummary> s = verified(disk);
  ASSERT_TRUE(s) << s.error().what();
  EXPECT_EQ(s->events, 1U);
  EXPECT_EQ(s->conflicts, 1U);
}

TEST(Log, finds_an_event_again_in_a_sealed_segment_even_without_its_list_of_keys) {
  MemoryDisk disk = filled(600, 20U << 10);
  EXPECT_TRUE(disk.has("00000003.seg"));
  EXPECT_TRUE(disk.remove(Keys::name_of(1)));
  Log log = *opened(disk, options(20U << 10));
  Rng rng(9, "events");  // as filled() draws them
  for (std::uint64_t i = 0; i < 600; ++i) {
    event::Record record = event::gen::record_of(3, rng);
    record.tenant = static_cast<std::uint32_t>(i % 7);
    const Result<Appended> again = log.append(event::key_of(record), *event::encode(record), kNow);
    ASSERT_TRUE(again) << again.error().what();
    ASSERT_EQ(again->outcome, Appended::Outcome::exists) << i;
  }
}

TEST(Log, believes_no_list_of_keys_that_is_of_another_log) {
  MemoryDisk disk = filled(600, 20U << 10);
  MemoryDisk other;
  {
    LogOptions o = options(20U << 10);
    o.id.fill(6);
    Recovery recovery;
    Log log = *Log::open(other, o, kNow, recovery);
    Rng rng(10, "others");
    for (int i = 0; i < 600; ++i) {
      const event::Record record = event::gen::record_of(3, rng);
      ASSERT_TRUE(log.append(event::key_of(record), *event::encode(record), kNow));
    }
    ASSERT_TRUE(log.commit(kNow));
  }
  ASSERT_TRUE(other.has("00000002.seg"));
  disk.put(Keys::name_of(1), other.bytes(Keys::name_of(1)));
  Log log = *opened(disk, options(20U << 10));
  Rng rng(9, "events");  // as filled() draws them
  for (std::uint64_t i = 0; i < 600; ++i) {
    event::Record record = event::gen::record_of(3, rng);
    record.tenant = static_cast<std::uint32_t>(i % 7);
    ASSERT_EQ(log.append(event::key_of(record), *event::encode(record), kNow)->outcome, Appended::Outcome::exists) << i;
  }
}

TEST(Log, finds_each_of_many_keys_in_a_list_and_none_that_is_not_there) {
  for_each_seed(30, [](Rng& rng) {
    MemoryDisk disk;
    Keys keys(disk);
    std::vector<event::Key> there;
    const std::uint64_t count = rng.below(6000);
    const bool alike = rng.chance(0.3);  // all of one id: still told apart
    for (std::uint64_t i = 0; i < count; ++i) {
      event::Key key;
      key.id = {alike ? 7 : rng.next(), alike ? 7 : rng.next()};
      key.ordinal = static_cast<std::uint32_t>(i);
      there.push_back(key);
      keys.add(fingerprint_of(key), {3, static_cast<std::uint32_t>(512 + 8 * i)});
      if (rng.chance(0.01)) keys.add(fingerprint_of(key), {3, static_cast<std::uint32_t>(512 + 8 * i + 4)});
    }
    ASSERT_TRUE(keys.seal(3, {0, ~std::uint64_t{0}, Digest{}}));
    std::uint32_t missing = 0;
    for (std::uint64_t i = 0; i < count; i += 1 + rng.below(20)) {
      const auto places = keys.find(fingerprint_of(there[i]), 1, missing);
      ASSERT_TRUE(places && !places->empty()) << i << " of " << count;
      EXPECT_EQ(places->front(), (Address{3, static_cast<std::uint32_t>(512 + 8 * i)}));
    }
    for (std::uint32_t i = 0; i < 50; ++i) {
      const event::Key other{1, {rng.next(), rng.next()}, event::Kind::gap, i};
      EXPECT_TRUE(keys.find(fingerprint_of(other), 1, missing)->empty());
    }
  });
}

TEST(Log, is_never_taken_for_an_empty_one) {
  const struct {
    const char* why;
    void (*damage)(MemoryDisk&);
    const char* says;
  } cases[] = {
      {"its identity is gone", [](MemoryDisk& d) { (void)d.remove("log"); }, "the file \"log\" is missing"},
      {"every segment is gone",
       [](MemoryDisk& d) {
         for (int i = 1; i < 9; ++i) (void)d.remove(segment_name(static_cast<std::uint32_t>(i)));
       },
       "segment 1 is missing"},
      {"the first segment is gone", [](MemoryDisk& d) { (void)d.remove("00000001.seg"); }, "segment 1 is missing"},
      {"a segment in the middle is gone", [](MemoryDisk& d) { (void)d.remove("00000002.seg"); },
       "segment 2 is missing"},
      {"a segment is empty", [](MemoryDisk& d) { d.bytes("00000002.seg").clear(); },
       "segment 2, offset 0: the file ends within its head"},
      {"a segment lost its end", [](MemoryDisk& d) { d.bytes("00000002.seg").resize(4096); }, "segment 2 has no seal"},
      {"two segments are swapped", [](MemoryDisk& d) { std::swap(d.bytes("00000001.seg"), d.bytes("00000002.seg")); },
       "it is segment 2 under another name"},
      {"the last segment is from an older copy",
       [](MemoryDisk& d) { d.bytes(segment_name(3)) = std::string(24U << 10, '\0'); },
       "expected the head of a segment"},
      {"the identity is damaged", [](MemoryDisk& d) { d.bytes("log")[20] ^= 1; },
       "\"log\", which says which log this is, is damaged"},
      {"an acknowledged record of the last batch is damaged",
       [](MemoryDisk& d) {
         std::string& s = d.bytes(segment_name(3));
         s[s.find_last_not_of('\0')] ^= 1;
       },
       "what was acknowledged is damaged"},
      {"a record before the last batch is damaged, and nobody knows any more how much was acknowledged",
       [](MemoryDisk& d) {
         d.bytes("acked").assign(kAckedBytes, '\0');
         std::string& s = d.bytes(segment_name(3));
         s[kSegmentHead + 60] ^= 1;
       },
       "what was acknowledged is damaged"},
      {"the last segment is one of another log",
       [](MemoryDisk& d) {
         std::string& s = d.bytes(segment_name(3));
         s[17] ^= 1;
         const std::uint32_t crc = crc32c(std::string_view(s).substr(16, 496));
         std::memcpy(s.data() + 12, &crc, 4);
       },
       "this segment is of another log"},
      {"a newer version wrote it", [](MemoryDisk& d) { d.bytes(segment_name(3))[8] = 2; }, "newer than this program"},
  };
  for (const auto& c : cases) {
    MemoryDisk disk = filled(480, 20U << 10);
    ASSERT_TRUE(disk.has(segment_name(3)) && !disk.has(segment_name(4))) << "three segments, the last one open";
    c.damage(disk);
    const auto before = disk.list();
    const Result<Log> log = opened(disk, options(20U << 10));
    ASSERT_FALSE(log) << c.why;
    EXPECT_NE(log.error().what().find(c.says), std::string::npos) << c.why << ": " << log.error().what();
    EXPECT_EQ(*disk.list(), *before) << c.why << ": nothing is changed";
  }
}

TEST(Log, cuts_a_torn_end_that_nobody_was_told_of) {
  const struct {
    const char* why;
    std::string end;
  } cases[] = {
      {"a length of 0xFFFFFFFF", "ACE1" + std::string("abcd\xff\xff\xff\xff", 8) + std::string(60, 'x')},
      {"half a head", "ACE1ab"},
      {"a later sector of it alone", std::string(512, '\0') + std::string(100, 'y')},
  };
  for (const auto& c : cases) {
    MemoryDisk disk = filled(50);
    std::string& segment = disk.bytes(segment_name(1));
    const std::size_t used = (segment.find_last_not_of('\0') + 8) / 8 * 8;
    std::copy(c.end.begin(), c.end.end(), segment.begin() + static_cast<std::ptrdiff_t>(used));
    Recovery recovery;
    {
      const Result<Log> log = Log::open(disk, options(), kNow, recovery);
      ASSERT_TRUE(log) << c.why << ": " << log.error().what();
      EXPECT_EQ(log->next(), 51U) << c.why;
    }
    EXPECT_EQ(recovery.bytes_cut, c.end.find_last_not_of('\0') + 1) << c.why;
    const Result<LogSummary> s = verified(disk);
    ASSERT_TRUE(s) << c.why << ": " << s.error().what();
  }
}

TEST(Log, refuses_a_copy_that_is_older_than_a_checkpoint_held_outside) {
  MemoryDisk disk = filled(50);
  LogOptions o = options();
  o.least = 51;
  EXPECT_TRUE(opened(disk, o));
  o.least = 52;
  const Result<Log> log = opened(disk, o);
  ASSERT_FALSE(log);
  EXPECT_EQ(log.error().code(), Errc::check_failed);
  EXPECT_NE(log.error().what().find("rollback_detected"), std::string::npos);
}

TEST(Log, goes_on_and_verifies_after_its_oldest_segments_are_pruned) {
  MemoryDisk disk = filled(600, 20U << 10);
  const Digest root = verified(disk)->root;
  const Result<Pruned> pruned = prune(disk, 2);
  ASSERT_TRUE(pruned) << pruned.error().what();
  EXPECT_FALSE(disk.has("00000002.seg"));
  const Result<LogSummary> s = verified(disk);
  ASSERT_TRUE(s) << s.error().what();
  EXPECT_EQ(s->root, root) << "later checkpoints verify as before";
  EXPECT_EQ(s->first, pruned->rest.end);
  Log log = *opened(disk, options(20U << 10));
  event::Record old;
  old.id = {1ULL << 30, 7};
  old.event = event::Named{event::Named::Kind::tenant, kNow, 1, "acme"};
  EXPECT_EQ(log.append(event::key_of(old), *event::encode(old), kNow)->outcome, Appended::Outcome::too_old);
  EXPECT_FALSE(prune(disk, 99)) << "the last segment stays";
}

TEST(Log, removes_its_oldest_segments_when_asked_to_and_goes_on) {
  MemoryDisk disk = filled(600, 20U << 10);
  const Digest root = verified(disk)->root;
  StoreOptions store_options;
  store_options.log = options(20U << 10);
  Instant now = kNow;
  const std::unique_ptr<Store> store = *Store::open(disk, store_options, now);
  const auto stepped = [&] { return static_cast<bool>(store->step(now += kSecond)); };
  ASSERT_TRUE(stepped());
  EXPECT_TRUE(disk.has("00000001.seg")) << "nobody asked";
  ASSERT_TRUE(ask_to_prune(disk, 2));
  ASSERT_TRUE(stepped());
  EXPECT_FALSE(disk.has("00000002.seg"));
  EXPECT_FALSE(disk.has("00000002.keys"));
  EXPECT_TRUE(disk.has("00000003.seg"));
  EXPECT_FALSE(disk.has(kPruneAsked)) << "it is done";
  event::Record record;
  record.id = {1ULL << 30, 7};
  record.event = event::Named{event::Named::Kind::tenant, kNow, 1, "acme"};
  EXPECT_EQ(store->log().append(event::key_of(record), *event::encode(record), now)->outcome,
            Appended::Outcome::too_old);
  record.id = {static_cast<std::uint64_t>(nanos(kNow) / 1'000'000 + 400'000'000'000) << 16, 7};
  EXPECT_EQ(store->log().append(event::key_of(record), *event::encode(record), now)->outcome,
            Appended::Outcome::created);
  // What cannot go, and what is no request, is dropped, and the log goes on.
  for (const bool nonsense : {false, true}) {
    ASSERT_TRUE(nonsense ? write_whole(disk, kPruneAsked, "no request") : ask_to_prune(disk, 99));
    ASSERT_TRUE(stepped());
    EXPECT_FALSE(disk.has(kPruneAsked));
    EXPECT_TRUE(disk.has("00000003.seg"));
  }
  ASSERT_TRUE(store->close(now));
  const Result<LogSummary> s = verified(disk);
  ASSERT_TRUE(s) << s.error().what();
  EXPECT_EQ(s->pruned_segments, 2U);
  EXPECT_NE(s->root, root) << "it went on";
}

/// One id may be of any time, and a clock may be ahead for a while: neither may close the log for ever.
TEST(Log, takes_events_after_one_of_the_far_future_was_pruned) {
  const Instant future = instant(4'294'967'296'000'000'000);
  const auto named = [](std::uint64_t ms, std::uint64_t low) {
    event::Record record;
    record.id = {ms << 16, low};
    record.event = event::Named{event::Named::Kind::tenant, kNow, 1, "acme"};
    return record;
  };
  for (const bool clock_was_ahead : {false, true}) {
    MemoryDisk disk;
    Instant now = clock_was_ahead ? future : kNow;
    {
      Recovery recovery;
      Log log = *Log::open(disk, options(20U << 10), now, recovery);
      const event::Record odd = named(4'294'967'296'000, 1);
      ASSERT_TRUE(log.append(event::key_of(odd), *event::encode(odd), now));
      for (std::uint64_t i = 0; i < 600; ++i) {
        const event::Record record = named(static_cast<std::uint64_t>(nanos(kNow) / 1'000'000), i + 2);
        ASSERT_TRUE(log.append(event::key_of(record), *event::encode(record), now));
      }
      ASSERT_TRUE(log.commit(now));
    }
    ASSERT_TRUE(prune(disk, 1));
    Recovery recovery;
    Log log = *Log::open(disk, options(20U << 10), kNow, recovery);
    const auto outcome = [&](const event::Record& record) {
      return log.append(event::key_of(record), *event::encode(record), kNow)->outcome;
    };
    EXPECT_EQ(outcome(named(static_cast<std::uint64_t>(nanos(kNow) / 1'000'000) + 1, 1)), Appended::Outcome::created);
    EXPECT_EQ(outcome(named(static_cast<std::uint64_t>(nanos(kNow) / 1'000'000) - 1, 1)), Appended::Outcome::too_old);
    const std::uint64_t next = log.next();
    ASSERT_TRUE(log.append_own(event::Lifecycle{event::Lifecycle::What::stopped, instant(0), 0}, instant(0)));
    EXPECT_EQ(log.next(), next + 1) << "what the log says of itself is never too old";
  }
}

/// A log of 10,000 records in one segment: what a reader is shown, and where each record lies.
struct Whole {
  MemoryDisk disk = filled(9'900, 2U << 20);
  std::string bytes = disk.bytes(segment_name(1));
  std::vector<Frame> frames;
  std::size_t used = 0;
  Whole() {
    Sha256 sha;
    const SegmentHead head = *head_from(bytes, 1);
    const auto end = walk(sha, bytes, head, [&](const Frame& frame, const Digest&) -> Result<void> {
      frames.push_back(frame);
      return {};
    });
    used = end->offset;
  }
  Result<LogSummary> with(const std::string& changed) {
    disk.bytes(segment_name(1)) = changed;
    Result<LogSummary> s = verified(disk);
    disk.bytes(segment_name(1)) = bytes;
    return s;
  }
};

TEST(Tampering, with_any_bit_of_10000_records_is_seen_in_its_record) {
  Whole whole;
  ASSERT_GE(whole.frames.size(), 9'999U);
  std::uint64_t flips = 0;
  for (const Frame& frame : whole.frames) {
    const std::size_t size = frame_size(frame.payload.size());
    std::string record(whole.bytes.substr(frame.address.offset, size));
    for (std::size_t bit = 0; bit < size * 8; ++bit) {
      record[bit / 8] = static_cast<char>(record[bit / 8] ^ (1 << (bit % 8)));
      if (frame_from(record, frame.address)) FAIL() << to_text(frame.address) << ", bit " << bit;
      record[bit / 8] = static_cast<char>(record[bit / 8] ^ (1 << (bit % 8)));
      ++flips;
    }
  }
  EXPECT_GE(flips, 8 * (whole.used - kSegmentHead));
}

TEST(Tampering, with_a_bit_anywhere_is_seen_by_who_reads_the_whole_log) {
  Whole whole;
  Rng rng(4, "flips");
  for (int i = 0; i < 1'000; ++i) {
    std::string changed = whole.bytes;
    const std::size_t at = i < 512 ? static_cast<std::size_t>(i) : rng.below(i % 10 == 0 ? changed.size() : whole.used);
    changed[at] = static_cast<char>(changed[at] ^ (1 << rng.below(8)));
    const Result<LogSummary> s = whole.with(changed);
    ASSERT_FALSE(s) << "byte " << at;
    EXPECT_NE(s.error().what().find("segment 1"), std::string::npos) << s.error().what();
  }
}

TEST(Tampering, by_swap_drop_insertion_or_cut_is_seen) {
  Whole whole;
  ASSERT_TRUE(whole.with(whole.bytes));
  Rng rng(5, "edits");
  const auto record = [&](std::size_t i) {
    return whole.bytes.substr(whole.frames[i].address.offset, frame_size(whole.frames[i].payload.size()));
  };
  /// As an attacker without the signing key would: places, numbers and checksums made right again.
  const auto mended = [](std::string bytes, std::size_t at, std::uint64_t sequence) {
    const auto offset = static_cast<std::uint32_t>(at);
    std::memcpy(bytes.data() + 16, &sequence, 8);
    std::memcpy(bytes.data() + 28, &offset, 4);
    std::uint32_t length = 0;
    std::memcpy(&length, bytes.data() + 8, 4);
    const std::uint32_t crc = crc32c(std::string_view(bytes).substr(8, kFrameHeader - 8 + length));
    std::memcpy(bytes.data() + 4, &crc, 4);
    return bytes;
  };
  for (int i = 0; i < 100; ++i) {
    const std::size_t n = rng.below(whole.frames.size() - 1), at = whole.frames[n].address.offset;
    const std::string one = record(n), two = record(n + 1), head = whole.bytes.substr(0, at);
    const std::string rest = whole.bytes.substr(at + one.size() + two.size());
    EXPECT_FALSE(whole.with(head + two + one + rest)) << "swap at record " << n;
    EXPECT_FALSE(whole.with(head + mended(two, at, n) + mended(one, at + two.size(), n + 1) + rest))
        << "mended swap, " << n;
    EXPECT_FALSE(whole.with(head + two + rest)) << "drop of record " << n;
    EXPECT_FALSE(whole.with(head + mended(two, at, n) + rest)) << "mended drop of record " << n;
    EXPECT_FALSE(whole.with(head + one + one + two + rest)) << "insertion after record " << n;
    std::string cut = whole.bytes.substr(0, at + 1 + rng.below(one.size() - 1));
    EXPECT_FALSE(whole.with(cut)) << "cut within record " << n;
    // A cut between records is a shorter log: only what was acknowledged, or a checkpoint outside, knows better.
    whole.disk.bytes(segment_name(1)) = head + std::string(whole.bytes.size() - at, '\0');
    EXPECT_FALSE(opened(whole.disk, options(2U << 20))) << "cut before record " << n;
    whole.disk.bytes(segment_name(1)) = whole.bytes;
  }
}

TEST(Spool, gives_back_after_a_kill_what_it_took_and_nothing_else) {
  for_each_seed(50, [](Rng& rng) {
    MemoryDisk disk;
    std::vector<std::string> taken;
    event::Key key;
    std::string bytes;
    {
      const auto spool = *Spool::open(disk, "spool-000", 1024);
      std::uint64_t at = 0;
      for (int i = 0; i < 200; ++i) {
        key.ordinal = static_cast<std::uint32_t>(i);
        const std::string event(rng.below(200), static_cast<char>('a' + i % 26));
        if (spool->offer(key, event) != 0) taken.push_back(event);
        if (rng.chance(0.4))
          if (const std::uint64_t next = spool->peek(at, key, bytes)) {
            EXPECT_EQ(bytes, taken.front());
            taken.erase(taken.begin());
            spool->drained(at = next);
          }
      }
    }
    disk.restart(MemoryDisk::Loss::none, rng);
    const auto again = *Spool::open(disk, "spool-000", rng.chance(0.5) ? 1024 : 4096);  // made with, or asked for today
    std::uint64_t at = again->tail();
    for (const std::string& event : taken) {
      at = again->peek(at, key, bytes);
      ASSERT_NE(at, 0U);
      EXPECT_EQ(bytes, event);
    }
    EXPECT_EQ(again->peek(at, key, bytes), 0U);
  });
}

TEST(Store, says_how_much_a_loss_of_power_could_take) {
  MemoryDisk disk;
  StoreOptions o;
  o.log = options();
  o.log.durability = Durability::relaxed;
  const auto store = *Store::open(disk, o, kNow);
  EXPECT_EQ(store->health().loss_window, kSecond);
  event::Record record;
  record.id = {1ULL << 40, 7};
  record.event = event::Named{event::Named::Kind::tenant, kNow, 1, "acme"};
  bool told = false;
  store->acked = [&](std::uint32_t, std::uint64_t, const Appended&) { told = true; };
  ASSERT_NE(store->spool(0).offer(event::key_of(record), *event::encode(record)), 0U);
  ASSERT_TRUE(store->step(kNow));
  EXPECT_TRUE(told);
  EXPECT_LT(store->health().durable, store->health().next) << "told before it was on the disk";
  ASSERT_TRUE(store->step(kNow + kSecond));
  EXPECT_EQ(store->health().durable, store->health().next);
  EXPECT_EQ(verified(disk)->relaxed, 2U) << "and the records say so: what started, and the event";
}

}  // namespace
}  // namespace ace::spine
