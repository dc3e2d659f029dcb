#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace/trace_testing.h"

namespace ace {
namespace {

constexpr const char* kSpend =
    R"({"request_id":"chatcmpl-1","startTime":"2026-01-05T00:00:00Z","model":"gpt-4o","custom_llm_provider":"openai","prompt_tokens":5,"completion_tokens":1,"spend":0.1}
{"request_id":"chatcmpl-2","startTime":"2026-01-05T00:00:01Z","model":"gpt-4o","custom_llm_provider":"azure","prompt_tokens":5,"completion_tokens":1,"spend":0.1}
{"request_id":"","startTime":"2026-01-05T00:00:02Z","model":"gpt-4o","prompt_tokens":5,"completion_tokens":1,"spend":0.1}
)";

ReadOptions options(bool origins, std::uint8_t key = 7) {
  ReadOptions o;
  o.masks = masks_with(MaskKey{key}, {"gpt-4o"}, {}, {}, {"openai"});
  o.origins = origins;
  return o;
}

TEST(Origins, are_the_rows_own_id_under_the_key_and_who_served) {
  const Read read = read_text(kSpend, options(true)), same = read_text(kSpend, options(true));
  ASSERT_EQ(read.arrivals.size(), 3U) << read.error;
  EXPECT_NE(read.arrivals[0].id, 0U);
  EXPECT_NE(read.arrivals[0].id, read.arrivals[1].id);
  EXPECT_EQ(read.arrivals[2].id, 0U);
  EXPECT_EQ(read.arrivals[0].id, same.arrivals[0].id);
  EXPECT_NE(read.arrivals[0].id, read_text(kSpend, options(true, 8)).arrivals[0].id);
  EXPECT_EQ(read.arrivals[2].provider, 0U);
  EXPECT_NE(read.arrivals[0].provider, read.arrivals[1].provider);
  auto source = read_trace(bytes_of(kSpend), "t", options(true));
  std::vector<Arrival> batch(5);
  ASSERT_EQ(*(*source)->next(batch), 3U);
  EXPECT_EQ((*source)->providers()[batch[0].provider], "openai");
  EXPECT_THAT((*source)->providers()[batch[1].provider], testing::StartsWith("t_"));  // not declared
}

TEST(Origins, are_left_alone_unless_they_are_asked_for) {
  for (const Arrival& row : read_text(kSpend, options(false)).arrivals) {
    EXPECT_EQ(row.id, 0U);
    EXPECT_EQ(row.provider, 0U);
  }
}

TEST(Origins, outlive_the_sorting_of_a_log) {
  ReadOptions o = options(true);
  o.sort = true;
  const Read read = read_text(kSpend, o), plain = read_text(kSpend, options(true));
  ASSERT_EQ(read.arrivals.size(), 3U) << read.error;
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(read.arrivals[i].id, plain.arrivals[i].id);
    EXPECT_EQ(read.arrivals[i].provider, plain.arrivals[i].provider);
  }
}

}  // namespace
}  // namespace ace
