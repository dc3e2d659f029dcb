#include <gtest/gtest.h>

#include "plan/absorbed.h"
#include "trace/trace.h"

namespace ace {
namespace {

TEST(AbsorbedLoad, of_azure_code_at_the_hourly_mean_is_a_quarter_of_it) {
  const std::string path = std::string(ACE_DATA) + "/azure-llm/AzureLLMInferenceTrace_code.csv";
  Result<std::unique_ptr<RequestSource>> source = open_trace(path);
  ASSERT_TRUE(source) << source.error().what();
  std::vector<Arrival> all, batch(1024);
  while (const std::size_t got = *(*source)->next(batch))
    all.insert(all.end(), batch.begin(), batch.begin() + static_cast<std::ptrdiff_t>(got));
  ASSERT_EQ(all.size(), 8819U);
  const auto work = [](const Arrival& a) { return static_cast<double>(a.prompt + a.output); };
  double tokens = 0.0;
  for (const Arrival& a : all) tokens += work(a);
  // One interval, from the first to the last arrival: 3,435.95 s.
  const Duration span = all.back().at - all.front().at + Duration{1};
  const Series demand{"code", all.front().at, span, {tokens / to_seconds(span)}};
  BurstReplay replay(demand);
  for (const Arrival& a : all) replay.add(a.at, work(a), 0.8);  // the TTFT of a chat
  const BurstProfile profile = replay.profile();
  EXPECT_NEAR(profile.share(1.0), 0.257, 0.002);
  // Which is why sizing on hourly means is no sizing: at the mean the even spread promises all of it.
  EXPECT_DOUBLE_EQ(BurstProfile().share(1.0), 1.0);
  EXPECT_NEAR(profile.share(4.0), 0.765, 0.005);  // and four times the mean leaves a quarter
}

}  // namespace
}  // namespace ace
