#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spine/spine.h"
#include "trace/trace.h"
#include "trace/trace_testing.h"

namespace ace {
namespace {

constexpr Instant kStart = instant(1'800'000'000'000'000'000);

/// A log in memory, written event by event; what is copied from it shares nothing.
struct Written {
  spine::MemoryDisk disk;
  spine::Log log = [this] {
    spine::LogOptions options;
    options.id.fill(3);
    options.segment_bytes = 32U << 10;
    options.reserve_bytes = 16U << 10;
    spine::Recovery recovery;
    return *spine::Log::open(disk, options, kStart, recovery);
  }();

  void say(event::Event event, std::uint64_t snapshot = 1, std::uint64_t n = 0) {
    event::Record record;
    record.id = {nanos(kStart) / 1'000'000ULL << 16U, ++id + n};
    record.snapshot = snapshot;
    record.event = std::move(event);
    const Result<std::string> bytes = event::encode(record);
    ASSERT_TRUE(bytes) << bytes.error().what();
    ASSERT_TRUE(log.append(event::key_of(record), *bytes, kStart));
  }
  void fleet(std::uint64_t snapshot, std::vector<std::string> models) {
    event::FleetChanged fleet;
    fleet.at = kStart;
    fleet.models = std::move(models);
    say(fleet, snapshot);
  }
  void name(std::uint32_t symbol, const std::string& name) {
    say(event::Named{event::Named::Kind::tenant, kStart, symbol, event::label_of(name)});
  }
  void ask(std::uint64_t n, double at_s, std::uint32_t tenant, std::uint64_t snapshot = 1, std::uint32_t model = 0) {
    event::Admitted a;
    a.id = {nanos(kStart) / 1'000'000ULL << 16U, 1'000'000 + n};
    a.at = kStart + from_seconds(at_s);
    a.tenant = tenant;
    a.requested = ModelId{model};
    a.prompt = Tokens{100};
    a.max_output = Tokens{64};
    say(a, snapshot);
  }
  void end(std::uint64_t n, double at_s, event::Outcome outcome = event::Outcome::served, std::uint64_t snapshot = 1) {
    event::Completed c;
    c.id = {nanos(kStart) / 1'000'000ULL << 16U, 1'000'000 + n};
    c.at = kStart + from_seconds(at_s);
    c.outcome = outcome;
    if (outcome == event::Outcome::served) {
      c.usage = Usage(Tokens{70}, Tokens{30}, Tokens{20});
      c.output_requested = Tokens{20};
      c.ttft = from_seconds(0.5);
      c.observed_cost_nano = 77;
    }
    say(c, snapshot);
  }
  Read read(SpineTrace::Options options = {}) {
    EXPECT_TRUE(log.commit(kStart));
    Read read;
    auto source = sorted(std::make_unique<SpineTrace>(std::make_unique<spine::MemoryDisk>(disk), std::move(options)));
    std::vector<Arrival> batch(3);
    for (int pass = 0; pass < 2; ++pass) {  // the second reading is the same
      Read again;
      for (;;) {
        const Result<std::size_t> got = (*source)->next(batch);
        if (!got) {
          again.error = got.error().what();
          break;
        }
        if (*got == 0) break;
        for (std::size_t i = 0; i < *got; ++i) {
          again.rows.push_back((*source)->models()[batch[i].model] + "/" + (*source)->tenants()[batch[i].tenant]);
          again.arrivals.push_back(batch[i]);
        }
      }
      if (pass == 1) {
        EXPECT_EQ(again.rows, read.rows);
      }
      read = again;
      const Result<void> rewound = (*source)->rewind();
      EXPECT_EQ(rewound.has_value(), read.error.empty()) << "what was refused is refused again";
    }
    read.skipped = (*source)->skipped();
    read.notes = (*source)->notes();
    return read;
  }
  std::uint64_t id = 0;
};

TEST(SpineTrace, gives_back_what_was_admitted_and_what_came_of_it) {
  Written w;
  w.fleet(1, {"large", "small"});
  w.name(4, "Acme Corp");
  w.ask(1, 10.0, 4);
  w.ask(2, 11.0, 0, 1, 1);
  w.ask(3, 12.0, 4);
  w.end(2, 11.5, event::Outcome::cache_hit);
  w.end(1, 12.5);
  w.end(3, 13.0, event::Outcome::not_served);
  const Read read = w.read();
  ASSERT_EQ(read.error, "");
  EXPECT_EQ(read.rows, (std::vector<std::string>{"large/Acme Corp", "small/", "large/Acme Corp"}));
  const Arrival& served = read.arrivals[0];
  EXPECT_EQ(std::tuple(served.prompt, served.output, served.cached, served.max_output), std::tuple(100, 20, 30, 64));
  EXPECT_EQ(std::tuple(served.cost_nano, served.ttft_us, served.duration_us), std::tuple(77, 500'000, 2'500'000));
  EXPECT_TRUE(read.arrivals[1].cache_hit);
  EXPECT_TRUE(read.arrivals[2].failed);
}

TEST(SpineTrace, reads_many_segments_in_order_of_time) {
  Written w;
  w.fleet(1, {"m"});
  Rng rng(3, "order");
  for (std::uint64_t n = 0; n < 2'000; ++n) {
    w.ask(n, static_cast<double>(rng.below(10'000)), 0);
    w.end(n, 20'000.0);
  }
  const Read read = w.read();
  ASSERT_EQ(read.error, "");
  ASSERT_EQ(read.arrivals.size(), 2'000U);
  for (std::size_t i = 1; i < read.arrivals.size(); ++i) EXPECT_LE(read.arrivals[i - 1].at, read.arrivals[i].at);
}

TEST(SpineTrace, counts_requests_without_an_end_and_leaves_out_other_snapshots) {
  Written w;
  w.fleet(1, {"m"});
  w.ask(1, 1.0, 0);
  w.ask(2, 2.0, 0);
  w.end(2, 3.0);
  w.fleet(2, {"n"});
  w.ask(3, 4.0, 0, 2);
  w.end(3, 5.0, event::Outcome::served, 2);
  const Read all = w.read();
  EXPECT_EQ(all.rows, (std::vector<std::string>{"m/", "n/"}));
  ASSERT_EQ(all.skipped.size(), 1U);
  EXPECT_EQ(all.skipped[0].count, 1U);
  SpineTrace::Options second;
  second.snapshot = 2;
  EXPECT_EQ(w.read(std::move(second)).rows, (std::vector<std::string>{"n/"}));
}

TEST(SpineTrace, tells_every_record_once_in_the_order_of_the_log_and_stops_where_it_is_refused) {
  Written w;
  w.fleet(1, {"m"});
  for (std::uint64_t n = 0; n < 500; ++n) {
    w.ask(n, static_cast<double>(n), 0);
    w.end(n, static_cast<double>(n) + 1.0);
  }
  std::size_t told = 0;
  SpineTrace::Options options;
  options.each = [&](const event::Record&) -> Result<void> {
    ++told;
    return {};
  };
  EXPECT_EQ(w.read(std::move(options)).arrivals.size(), 500U);
  EXPECT_EQ(told, w.id);
  SpineTrace::Options refusing;
  refusing.each = [](const event::Record&) -> Result<void> { return Error(Errc::corrupt, "no such fleet"); };
  EXPECT_THAT(w.read(std::move(refusing)).error, testing::HasSubstr("no such fleet"));
}

TEST(SpineTrace, calls_what_lies_in_a_pruned_segment_by_its_number) {
  Written w;
  w.ask(1, 1.0, 9, 5, 2);
  w.end(1, 2.0, event::Outcome::served, 5);
  const Read read = w.read();
  EXPECT_EQ(read.rows, (std::vector<std::string>{"snapshot 5 model 2/symbol 9"}));
  EXPECT_THAT(testing::PrintToString(read.notes), testing::HasSubstr("pruned"));
}

}  // namespace
}  // namespace ace
