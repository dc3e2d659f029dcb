#include <algorithm>

#include <gtest/gtest.h>

#include "core/testing.h"
#include "trace/trace.h"

namespace ace {
namespace {

/// A row with its blocks as values, so that rows can be kept and compared.
struct Kept {
  Arrival row;
  std::vector<std::uint32_t> blocks;
};

auto columns(const Arrival& a) {
  return std::tuple(a.at, a.row, a.model, a.tenant, a.team, a.prompt, a.output, a.reasoning, a.cached, a.cache_write,
                    a.max_output, a.needs, a.batch, a.failed, a.cost_nano, a.ttft_us, a.duration_us, a.cache_write_1h,
                    a.audio_prompt, a.image_prompt, a.audio_output, a.image_output, a.cache_hit);
}
bool same(const Kept& a, const Kept& b) { return columns(a.row) == columns(b.row) && a.blocks == b.blocks; }

/// Rows from memory, once: like a pipe.
class Once : public RequestSource {
 public:
  explicit Once(std::vector<Kept> rows) : rows_(std::move(rows)) {}
  Result<std::size_t> next(std::span<Arrival> batch) override {
    std::size_t n = 0;
    for (; n < batch.size() && done_ < rows_.size(); ++n, ++done_) {
      batch[n] = rows_[done_].row;
      batch[n].blocks = rows_[done_].blocks;
    }
    return n;
  }
  Result<void> rewind() override { return Error(Errc::unavailable, "only once"); }
  [[nodiscard]] const Interner& models() const override { return names_; }
  [[nodiscard]] const Interner& tenants() const override { return names_; }
  [[nodiscard]] const Interner& teams() const override { return names_; }
  [[nodiscard]] std::string format() const override { return "memory"; }

 private:
  std::vector<Kept> rows_;
  std::size_t done_ = 0;
  Interner names_;
};

std::vector<Kept> read_all(RequestSource& source, std::size_t batch_size) {
  std::vector<Kept> rows;
  std::vector<Arrival> batch(batch_size);
  for (;;) {
    const Result<std::size_t> got = source.next(batch);
    EXPECT_TRUE(got);
    if (!got || *got == 0) return rows;
    for (const Arrival& row : std::span(batch).first(*got)) {
      rows.push_back({row, {row.blocks.begin(), row.blocks.end()}});
    }
  }
}

std::vector<Kept> random_rows(Rng& rng, std::size_t n) {
  std::vector<Kept> rows(n);
  const bool rich = rng.chance(0.5);  // else a plain trace, whose other columns never vary
  std::int64_t number = 0;
  for (Kept& kept : rows) {
    Arrival& a = kept.row;
    a.at = instant(rng.between(0, 50) * nanos(kSecond));
    a.row = number += rng.chance(0.99) ? 1 : 2;
    a.prompt = static_cast<std::int32_t>(rng.below(100'000));
    a.output = static_cast<std::int32_t>(rng.below(1'000));
    if (!rich) continue;
    a.model = static_cast<std::uint32_t>(rng.below(3));
    a.tenant = static_cast<std::uint32_t>(rng.below(100));
    a.project = static_cast<std::uint32_t>(rng.below(4));
    a.key = static_cast<std::uint32_t>(rng.below(50));
    a.cached = static_cast<std::int32_t>(rng.between(-1, 5));
    a.failed = rng.chance(0.1);
    a.cache_hit = rng.chance(0.1);
    for (std::int32_t* part : {&a.cache_write_1h, &a.audio_prompt, &a.image_prompt, &a.audio_output, &a.image_output})
      *part = static_cast<std::int32_t>(rng.below(3));
    a.batch = rng.chance(0.1);
    a.cost_nano = rng.between(-1, 1'000'000'000'000);
    kept.blocks.resize(rng.below(4));
    for (std::uint32_t& block : kept.blocks) block = static_cast<std::uint32_t>(rng.next());
  }
  return rows;
}

TEST(Spool, gives_back_every_column_on_every_pass) {
  for_each_seed(20, [](Rng& rng) {
    const std::vector<Kept> want = random_rows(rng, rng.below(20'000));
    auto source = spooled(std::make_unique<Once>(want));
    ASSERT_TRUE(source) << source.error().what();
    if (rng.chance(0.5)) read_all(**source, 1 + rng.below(2000));  // else rewind() has to read to the end itself
    for (int pass = 0; pass < 2; ++pass) {
      ASSERT_TRUE((*source)->rewind());
      const std::vector<Kept> got = read_all(**source, 1 + rng.below(2000));
      ASSERT_EQ(got.size(), want.size());
      EXPECT_TRUE(std::equal(got.begin(), got.end(), want.begin(), same));
    }
  });
}

TEST(Sorted, is_a_stable_sort_by_time_over_runs_and_blocks) {
  for_each_seed(10, [](Rng& rng) {
    // Sometimes more than one run of 2^18 rows, so that runs are merged.
    std::vector<Kept> want = random_rows(rng, rng.chance(0.2) ? 300'000 : rng.below(20'000));
    auto source = sorted(std::make_unique<Once>(want));
    ASSERT_TRUE(source) << source.error().what();
    std::stable_sort(want.begin(), want.end(), [](const Kept& a, const Kept& b) { return a.row.at < b.row.at; });
    for (int pass = 0; pass < 2; ++pass) {
      const std::vector<Kept> got = read_all(**source, 1 + rng.below(2000));
      ASSERT_EQ(got.size(), want.size());
      EXPECT_TRUE(std::equal(got.begin(), got.end(), want.begin(), same));
      ASSERT_TRUE((*source)->rewind());
    }
  });
}

TEST(Spool, takes_16_bytes_a_row_for_a_plain_trace_and_4_more_for_each_prefix_block) {
  auto spool = Spool::create();
  ASSERT_TRUE(spool);
  constexpr std::size_t kRows = 10 * Spool::kBlockRows;
  const std::vector<std::uint32_t> blocks = {1, 2, 3};
  std::vector<Arrival> rows(kRows);
  for (std::size_t i = 0; i < kRows; ++i) {
    rows[i].at = instant(static_cast<std::int64_t>(i) * 1'000);
    rows[i].row = static_cast<std::int64_t>(i) + 1;
    rows[i].prompt = static_cast<std::int32_t>(i % 1000);
    rows[i].output = static_cast<std::int32_t>(i % 77);
  }
  ASSERT_TRUE((*spool)->append(rows));
  EXPECT_LT((*spool)->bytes(), 16 * kRows + 200 * 10);
  const std::uint64_t before = (*spool)->bytes();
  for (std::size_t i = 0; i < kRows; ++i) {
    rows[i].model = static_cast<std::uint32_t>(i % 2);
    rows[i].tenant = static_cast<std::uint32_t>(i % 3);
    rows[i].blocks = blocks;
  }
  ASSERT_TRUE((*spool)->append(rows));
  EXPECT_LT((*spool)->bytes() - before, (24 + 3 * 4) * kRows + 200 * 10);
}

TEST(Spool, says_where_to_find_room_when_it_cannot_open) {
  const auto spool = Spool::create("/nowhere/at/all");
  ASSERT_FALSE(spool);
  EXPECT_EQ(spool.error().code(), Errc::unavailable);
  EXPECT_NE(spool.error().what().find("TMPDIR"), std::string::npos);
}

}  // namespace
}  // namespace ace
