/// The facts published with the real traces, re-derived by our readers and statistics.
#include <gtest/gtest.h>

#include "trace/trace.h"

namespace ace {
namespace {

Result<TraceStats> stats_of(const std::string& file) {
  auto source = open_trace(std::string(ACE_DATA) + "/" + file);
  if (!source) return std::move(source).error();
  return stats(**source);
}

void expect_sizes(const ExactCounts& sizes, double mean, std::vector<std::int64_t> p50_p90_p99_max, std::int64_t sum) {
  EXPECT_NEAR(sizes.mean(), mean, 0.0000051 * mean);  // published with six digits
  EXPECT_EQ(sizes.quantile(0.5), p50_p90_p99_max[0]);
  EXPECT_EQ(sizes.quantile(0.9), p50_p90_p99_max[1]);
  EXPECT_EQ(sizes.quantile(0.99), p50_p90_p99_max[2]);
  EXPECT_EQ(sizes.max(), p50_p90_p99_max[3]);
  EXPECT_EQ(static_cast<std::int64_t>(sizes.sum()), sum);
}

TEST(AzureFacts, are_what_our_statistics_say) {
  const auto s = stats_of("azure-llm/AzureLLMInferenceTrace_code.csv");
  ASSERT_TRUE(s) << s.error().what();
  EXPECT_EQ(s->format, "Azure LLM inference CSV");
  EXPECT_EQ(s->rows, 8819U);
  EXPECT_EQ(to_rfc3339(s->first), "2023-11-16T18:17:03.97996Z");
  EXPECT_EQ(to_rfc3339(s->last), "2023-11-16T19:14:19.928016Z");
  EXPECT_NEAR(s->span_s(), 3435.95, 0.005);
  EXPECT_NEAR(s->rate_per_s(), 2.56669, 0.000005);
  EXPECT_EQ(s->per_second.quantile(0.99), 28);
  EXPECT_EQ(s->per_second.max(), 67);
  EXPECT_NEAR(s->empty_seconds(), 0.7337, 0.00005);
  EXPECT_NEAR(s->gaps.cv(), 13.151, 0.0005);
  expect_sizes(s->prompt, 2047.85, {1469, 5194, 7436, 7437}, 18'059'974);
  expect_sizes(s->output, 27.8825, {13, 55, 252, 1899}, 245'896);
  EXPECT_EQ(s->prefix.references, 0U);
}

TEST(MooncakeFacts, are_what_our_statistics_say) {
  const auto s = stats_of("mooncake/conversation_trace.jsonl.gz");
  ASSERT_TRUE(s) << s.error().what();
  EXPECT_EQ(s->format, "Mooncake JSONL");
  EXPECT_EQ(s->rows, 12031U);
  EXPECT_NEAR(s->span_s(), 3537, 0.5);
  EXPECT_NEAR(s->rate_per_s(), 3.40147, 0.000005);
  EXPECT_EQ(s->per_second.quantile(0.99), 17);
  EXPECT_EQ(s->per_second.max(), 28);
  EXPECT_NEAR(s->empty_seconds(), 0.6664, 0.00005);
  EXPECT_NEAR(s->gaps.cv(), 3.034, 0.0005);
  expect_sizes(s->prompt, 12035.1, {6909, 27367, 85401, 126195}, 144'793'823);
  expect_sizes(s->output, 342.619, {350, 597, 1120, 2000}, 4'122'048);
  EXPECT_EQ(s->block_tokens.value, 512);
  EXPECT_EQ(s->prefix.references, 288'500U);
  EXPECT_EQ(s->prefix.distinct, 182'790U);
  EXPECT_EQ(s->prefix.hits, 105'710U);
  EXPECT_EQ(s->prefix.prefix_hits, 105'710U);
  EXPECT_EQ(s->prefix.fully_cached, 118U);
  EXPECT_EQ(s->prefix.most, 12'031U);
  EXPECT_NEAR(static_cast<double>(s->prefix.once) / static_cast<double>(s->prefix.distinct), 0.7585, 0.00005);
  // Block 0 opens every request; without it 93680 of 276469 references hit.
  EXPECT_EQ(s->prefix.references - s->rows, 276'469U);
  EXPECT_EQ(s->prefix.hits - (s->rows - 1), 93'680U);
}

TEST(LiteLlmSample, is_read_with_its_cost_and_times) {
  auto source = open_trace(std::string(ACE_DATA) + "/telemetry/litellm_spend_log.json");
  ASSERT_TRUE(source) << source.error().what();
  std::vector<Arrival> rows(2);
  ASSERT_EQ((*source)->next(rows).value_or(9), 1U);
  EXPECT_EQ(to_rfc3339(rows[0].at), "2025-01-24T09:20:46.847371Z");
  EXPECT_EQ(rows[0].prompt, 10);
  EXPECT_EQ(rows[0].output, 20);
  EXPECT_EQ(rows[0].cached, -1);  // its prompt_tokens_details is null
  EXPECT_EQ(rows[0].cost_nano, 225'000);
  EXPECT_EQ(rows[0].duration_us, 4'583);
  EXPECT_FALSE(rows[0].failed);
  EXPECT_TRUE((*source)->models()[rows[0].model].starts_with("t_"));  // undeclared: masked
}

TEST(ServeGenTables, are_known_for_what_they_are) {
  for (const char* file : {"deepseek-r1_rates.csv.gz", "m-large_token_stats.csv"}) {
    const auto source = open_trace(std::string(ACE_DATA) + "/servegen/" + file);
    ASSERT_FALSE(source);
    EXPECT_NE(source.error().what().find("trace generate --servegen"), std::string::npos) << source.error().what();
  }
}

}  // namespace
}  // namespace ace
