#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace/trace.h"

namespace ace {
namespace {

Result<std::vector<Arrival>> all_rows(RequestSource& source) {
  std::vector<Arrival> rows, batch(7);  // an odd batch, so that its edges fall anywhere
  for (;;) {
    Result<std::size_t> got = source.next(batch);
    if (!got) return std::move(got).error();
    if (*got == 0) return rows;
    rows.insert(rows.end(), batch.begin(), batch.begin() + static_cast<std::ptrdiff_t>(*got));
  }
}

constexpr const char* kAzure =
    "TIMESTAMP,ContextTokens,GeneratedTokens\n"
    "2023-11-16 18:17:03.9799600,4808,10\n"
    "2023-11-16 18:17:04.0319600,3180,8\n"
    "2023-11-17 00:00:00.0000001,110,27";

TEST(AzureTrace, is_read_to_a_hundred_nanoseconds_and_can_be_read_again) {
  auto source = read_trace(bytes_of(kAzure), "a.csv");
  ASSERT_TRUE(source) << source.error().what();
  EXPECT_EQ((*source)->format(), "Azure LLM inference CSV");
  for (int round = 0; round < 2; ++round) {
    const auto rows = all_rows(**source);
    ASSERT_TRUE(rows) << rows.error().what();
    ASSERT_EQ(rows->size(), 3U);
    EXPECT_EQ(to_rfc3339((*rows)[0].at), "2023-11-16T18:17:03.97996Z");
    EXPECT_EQ((*rows)[0].prompt, 4808);
    EXPECT_EQ((*rows)[0].output, 10);
    EXPECT_EQ((*rows)[0].cached, -1);
    EXPECT_EQ(to_rfc3339((*rows)[2].at), "2023-11-17T00:00:00.0000001Z");
    EXPECT_EQ((*rows)[2].row, 3);
    EXPECT_EQ((*source)->models()[(*rows)[2].model], "");
    ASSERT_TRUE((*source)->rewind());
  }
}

}  // namespace
}  // namespace ace
