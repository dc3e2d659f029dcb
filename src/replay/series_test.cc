#include "replay/series.h"

#include <gtest/gtest.h>

#include "core/testing.h"

namespace ace {
namespace {

std::int64_t total(const LoadSeries& series) {
  std::int64_t sum = 0;
  for (const SeriesBucket& b : series.buckets()) sum += b.arrived;
  return sum;
}

TEST(LoadSeries, doubles_its_buckets_and_loses_nothing) {
  LoadSeries series(2);
  for (int hour = 0; hour < 24 * 14; ++hour) series.at(instant(0) + hour * kHour).arrived += hour;
  EXPECT_LE(series.buckets().size(), LoadSeries::kBucketsMax);
  EXPECT_EQ(total(series), 24 * 14 * (24 * 14 - 1) / 2);
  EXPECT_EQ(nanos(series.width()) % nanos(10 * kSecond), 0);
}

TEST(LoadSeries, merges_to_the_same_sums_whatever_the_widths) {
  for_each_seed(50, [](Rng& rng) {
    LoadSeries a(1), b(1);
    std::int64_t wanted = 0;
    for (LoadSeries* s : {&a, &b}) {
      Instant t = instant(rng.between(0, 1'000'000) * nanos(kSecond));
      for (int i = 0; i < 50; ++i) {
        t += from_seconds(rng.exponential(s == &a ? 5.0 : 5000.0));
        s->at(t).arrived += 1;
        ++wanted;
      }
    }
    LoadSeries ab = a;
    ab.merge(b);
    LoadSeries ba = b;
    ba.merge(a);
    EXPECT_EQ(total(ab), wanted);
    EXPECT_EQ(ab.start(), ba.start());
    EXPECT_EQ(ab.width(), ba.width());
    ASSERT_EQ(ab.buckets().size(), ba.buckets().size());
    for (std::size_t i = 0; i < ab.buckets().size(); ++i) EXPECT_EQ(ab.buckets()[i].arrived, ba.buckets()[i].arrived);
  });
}

}  // namespace
}  // namespace ace
