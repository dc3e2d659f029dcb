#include "adapters/spine_writer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <set>
#include <thread>

#include "adapters/wall_clock.h"
#include "spine/record_testing.h"

namespace {

/// What the kernel says to the calls of this test, which come by here instead of libc. A sync is only counted: no power
/// is lost here.
struct Kernel {
  std::atomic<std::int64_t> until_write{-1}, until_allocate{-1},
      until_sync{-1};               ///< calls that still succeed; below 0 = all do
  std::atomic<int> error{0};        ///< errno of those that do not
  std::atomic<bool> lasting{true};  ///< all later ones fail too, else that one alone
  std::atomic<std::int64_t> writes{0}, syncs{0}, failed_syncs{0}, syncs_after{0};

  bool fails(std::atomic<std::int64_t>& until) {
    if (until < 0) return false;
    if (until > 0) {
      --until;
      return false;
    }
    if (!lasting) until = -1;
    errno = error;
    return true;
  }
  void heal() { until_write = until_allocate = until_sync = -1; }
} kernel;

}  // namespace

extern "C" ssize_t pwrite(int fd, const void* bytes, size_t count, off_t at) {
  ++kernel.writes;
  if (kernel.fails(kernel.until_write)) return -1;
  return ::syscall(SYS_pwrite64, fd, bytes, count, at);
}
extern "C" int fallocate(int fd, int mode, off_t at, off_t count) {
  ++kernel.writes;
  if (kernel.fails(kernel.until_write) || kernel.fails(kernel.until_allocate)) return -1;
  return static_cast<int>(::syscall(SYS_fallocate, fd, mode, at, count));
}
extern "C" int fdatasync(int) {
  ++kernel.syncs;
  if (kernel.failed_syncs > 0) ++kernel.syncs_after;
  if (kernel.fails(kernel.until_sync)) {
    ++kernel.failed_syncs;
    return -1;
  }
  return 0;
}

extern "C" int fsync(int) { return 0; }

namespace ace {
namespace {

constexpr std::uint64_t kEvents = 200;

class SpineWriterTest : public ::testing::Test {
 protected:
  SpineWriterTest() {
    std::filesystem::remove_all(path_);
    options_.log.signer = &signer_;
    options_.log.segment_bytes = 4 * spine::kSealMax;
    options_.log.reserve_bytes = 2 * spine::kSealMax;
    options_.spool_bytes = 64U << 10;
    options_.group_delay = Duration{0};
    Rng rng(7, "writer");
    while (events_.size() < kEvents) {
      const event::Record record = event::gen::record_of(events_.size() % 5, rng);
      events_.emplace_back(event::key_of(record), *event::encode(record));
    }
  }
  ~SpineWriterTest() override {
    kernel.heal();
    std::filesystem::remove_all(path_);
  }

  struct Life {
    bool opened = false, failed = false, full = false;
    std::string error;
  };
  /// Opens the log and offers every event, each until it is settled or refused.
  Life live(Clock& clock) {
    Life life;
    const auto writer = SpineWriter::open(path_, options_, clock);
    if (!writer) {
      life.error = writer.error().what();
      return life;
    }
    life.opened = true;
    for (const auto& [key, bytes] : events_) {
      const Result<std::uint64_t> position = (*writer)->append(0, key, bytes);
      if (!position) {  // a spool that is full or a log that has failed
        life.error = position.error().what();
        break;
      }
      waiting_.push_back(*position);
      if (waiting_.size() % 10 != 0) continue;
      if ((*writer)->health().full) break;
      const Result<spine::Appended> settled = (*writer)->wait(0, *position);
      if (!settled) {
        life.error = settled.error().what();
        break;
      }
      acknowledged_.insert(settled->sequence);
    }
    life.full = (*writer)->health().full;
    const Result<void> closed = (*writer)->close();
    life.failed = !closed;
    if (!closed && life.error.empty()) life.error = closed.error().what();
    return life;
  }

  /// What is on the disk: sound, each event once, everything that was acknowledged.
  void expect_sound(const std::string& why) {
    const auto disk = *PosixDisk::open(path_, PosixDisk::Access::read);
    std::set<std::uint64_t> sequences;
    std::set<event::Key> keys;
    spine::ReadOptions read;
    read.key = signer_.public_key();
    const auto summary = spine::read_log(*disk, read, [&](const spine::Frame& frame) -> Result<void> {
      if (frame.type != spine::RecordType::event) return {};
      sequences.insert(frame.sequence);
      EXPECT_TRUE(keys.insert(*event::key_from(frame.payload)).second) << why << ": twice, " << frame.sequence;
      return {};
    });
    ASSERT_TRUE(summary) << why << ": " << summary.error().what();
    for (const std::uint64_t sequence : acknowledged_)
      EXPECT_TRUE(sequences.contains(sequence)) << why << ": acknowledged record " << sequence << " is lost";
    acknowledged_.clear();
    waiting_.clear();
  }
  std::uint64_t events_there() {
    const auto disk = *PosixDisk::open(path_, PosixDisk::Access::read);
    std::uint64_t there = 0;
    std::set<event::Key> ours;
    for (const auto& [key, bytes] : events_) ours.insert(key);
    const auto read = spine::read_log(*disk, {}, [&](const spine::Frame& frame) -> Result<void> {
      if (frame.type == spine::RecordType::event && ours.contains(*event::key_from(frame.payload))) ++there;
      return {};
    });
    return read ? there : 0;
  }

  std::string path_ = ::testing::TempDir() + "ace_spine_writer_" + std::to_string(::getpid());
  spine::Signer signer_ = *spine::Signer::from_seed(std::string(32, 'w'));
  spine::StoreOptions options_;
  std::vector<std::pair<event::Key, std::string>> events_;
  std::vector<std::uint64_t> waiting_;
  std::set<std::uint64_t> acknowledged_;
};

TEST_F(SpineWriterTest, keeps_everything_and_opens_again_after_an_error_at_every_write) {
  WallClock clock;
  kernel.writes = 0;
  ASSERT_FALSE(live(clock).failed);
  expect_sound("without a fault");
  const std::int64_t writes = kernel.writes;
  ASSERT_GT(writes, 30);
  for (const int error : {ENOSPC, EDQUOT, EFBIG, EROFS, EIO})
    for (std::int64_t at = 0; at < writes && !HasFailure(); ++at) {
      const std::string why = std::string(strerrorname_np(error)) + " at write " + std::to_string(at);
      std::filesystem::remove_all(path_);
      kernel.error = error;
      kernel.until_write = at;
      const Life life = live(clock);
      EXPECT_EQ(life.error.empty(), life.opened && !life.failed) << why << ": " << life.error;
      kernel.heal();
      const Life again = live(clock);
      ASSERT_TRUE(again.opened && !again.failed) << why << ": " << again.error;
      EXPECT_EQ(events_there(), kEvents) << why;
      expect_sound(why);
    }
}

TEST_F(SpineWriterTest, never_tries_a_failed_sync_again) {
  WallClock clock;
  kernel.syncs = 0;
  ASSERT_FALSE(live(clock).failed);
  const std::int64_t syncs = kernel.syncs;
  ASSERT_GT(syncs, 10);
  int injected = 0;
  for (std::int64_t at = 0; at < syncs && !HasFailure(); ++at) {
    const std::string why = "EIO at sync " + std::to_string(at);
    std::filesystem::remove_all(path_);
    kernel.error = EIO;
    kernel.lasting = false;  // the next one would succeed, and mean nothing
    kernel.until_sync = at;
    kernel.failed_syncs = kernel.syncs_after = 0;
    const Life life = live(clock);
    kernel.heal();
    if (kernel.failed_syncs == 0) continue;  // groups fell together otherwise: this life had fewer syncs
    ++injected;
    EXPECT_EQ(kernel.failed_syncs, 1) << why;
    if (life.opened) {
      EXPECT_TRUE(life.failed) << why;
      EXPECT_EQ(kernel.syncs_after, 0) << why << ": what a sync says after one that failed is believed";
    }
    kernel.failed_syncs = 0;
    ASSERT_TRUE(live(clock).opened) << why;
    EXPECT_EQ(events_there(), kEvents) << why;
    expect_sound(why);
  }
  EXPECT_GT(injected, 10);
  kernel.lasting = true;
}

TEST_F(SpineWriterTest, says_that_the_disk_is_full_and_goes_on_by_itself_when_there_is_room) {
  WallClock clock;
  const auto writer = *SpineWriter::open(path_, options_, clock);
  kernel.error = ENOSPC;
  kernel.until_allocate = 0;  // what was allocated can still be written
  for (const auto& [key, bytes] : events_) ASSERT_TRUE(writer->append(0, key, bytes));
  while (!writer->health().full) std::this_thread::yield();
  EXPECT_EQ(writer->health().failure, "") << "nothing is broken";
  const std::uint64_t durable = writer->health().durable;
  kernel.heal();
  while (writer->health().full) std::this_thread::yield();  // it looks again every second
  ASSERT_TRUE(writer->flush());
  EXPECT_GT(writer->health().durable, durable);
  ASSERT_TRUE(writer->close());
  EXPECT_EQ(events_there(), kEvents) << "those from before it was full, and those from after";
  std::vector<std::string> said;
  const auto disk = *PosixDisk::open(path_, PosixDisk::Access::read);
  const auto read = spine::read_log(*disk, {}, [&](const spine::Frame& frame) -> Result<void> {
    if (frame.type != spine::RecordType::event) return {};
    const auto record = event::decode(frame.payload);
    if (const auto* gap = std::get_if<event::Gap>(&record->event)) said.emplace_back(event::name_of(gap->cause));
    if (const auto* own = std::get_if<event::Lifecycle>(&record->event)) said.emplace_back(event::name_of(own->what));
    return {};
  });
  ASSERT_TRUE(read) << read.error().what();
  const std::vector<std::string> own = {said.front(), said.back()};
  EXPECT_EQ(own, (std::vector<std::string>{"started", "stopped"}));
  EXPECT_EQ(std::count(said.begin(), said.end(), "disk_full"), 2) << "that it was, and the gap";
}

TEST_F(SpineWriterTest, is_one_to_a_directory) {
  WallClock clock;
  const auto writer = *SpineWriter::open(path_, options_, clock);
  const auto second = SpineWriter::open(path_, options_, clock);
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().what().find("locked by process " + std::to_string(::getpid())), std::string::npos)
      << second.error().what();
}

TEST_F(SpineWriterTest, settles_the_events_of_many_workers_each_once) {
  WallClock clock;
  options_.workers = 3;
  {
    const auto writer = *SpineWriter::open(path_, options_, clock);
    std::vector<std::thread> workers;
    for (std::uint32_t w = 0; w < options_.workers; ++w)
      workers.emplace_back([&, w] {
        for (std::size_t i = w; i < kEvents; i += options_.workers) {
          Result<std::uint64_t> position = writer->append(w, events_[i].first, events_[i].second);
          while (!position) position = writer->append(w, events_[i].first, events_[i].second);
          if (i % 5 != w) continue;
          const Result<spine::Appended> settled = writer->wait(w, *position);
          EXPECT_TRUE(settled && settled->outcome == spine::Appended::Outcome::created);
        }
      });
    for (std::thread& worker : workers) worker.join();
    ASSERT_TRUE(writer->close());
    EXPECT_FALSE(writer->wait(0, ~std::uint64_t{0})) << "what never came is not waited for";
  }
  EXPECT_EQ(events_there(), kEvents);
  expect_sound("three workers");
}

TEST_F(SpineWriterTest, acknowledges_and_counts_up_whatever_the_clock_does) {
  const Duration wall = 1'800'000'000 * kSecond;
  std::atomic<std::int64_t> jump{0};
  WallClock clock(
      [&] { return wall + Duration{jump.load()}; },
      [] { return std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch()); });
  const auto writer = *SpineWriter::open(path_, options_, clock);
  const std::int64_t second = kSecond.count();
  const std::int64_t jumps[] = {0,
                                second,
                                -second,
                                61 * second,
                                -61 * second,
                                3600 * second,
                                -3600 * second,
                                86'400 * second,
                                -86'400 * second,
                                -1'800'000'000 * second,
                                347'483'648 * second,
                                2'494'967'296 * second,
                                0};
  std::uint64_t last = 0;
  std::size_t i = 0;
  for (const std::int64_t by : jumps) {
    jump = by;
    for (int n = 0; n < 5; ++n, ++i) {
      const auto position = writer->append(0, events_[i].first, events_[i].second);
      ASSERT_TRUE(position);
      const auto settled = writer->wait(0, *position);
      ASSERT_TRUE(settled) << "after a jump by " << by / second << " s: " << settled.error().what();
      EXPECT_GT(settled->sequence, last);
      last = settled->sequence;
    }
  }
  ASSERT_TRUE(writer->close());
  expect_sound("a clock that jumps");
}

}  // namespace
}  // namespace ace
