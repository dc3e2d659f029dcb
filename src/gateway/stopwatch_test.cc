#include "gateway/stopwatch.h"

#include <gtest/gtest.h>

namespace ace::gateway {
namespace {

TEST(Stopwatch, counts_what_passes_while_it_runs) {
  const auto at = [](int ns) { return net::Steady{Duration{ns}}; };
  Stopwatch watch(at(100));
  EXPECT_EQ(watch.total(), Duration{0});
  watch.stop(at(130));
  EXPECT_EQ(watch.total(), Duration{30});
  watch.stop(at(500));
  EXPECT_EQ(watch.total(), Duration{30}) << "it stood";
  watch.start(at(1000));
  watch.start(at(1001));
  EXPECT_EQ(watch.total(), Duration{30}) << "up to the last stop";
  watch.stop(at(1005));
  EXPECT_EQ(watch.total(), Duration{35});
}

}  // namespace
}  // namespace ace::gateway
