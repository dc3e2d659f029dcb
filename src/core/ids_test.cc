#include "core/ids.h"

#include <gtest/gtest.h>

#include "core/testing.h"

namespace ace {
namespace {

TEST(RequestId, survives_the_round_trip_through_text) {
  for_each_seed(1'000, [](Rng& rng) {
    const RequestId id{rng.next(), rng.next()};
    const std::string text = to_string(id);
    EXPECT_EQ(text.size(), 30U);
    const Result<RequestId> back = request_id_from(text);
    ASSERT_TRUE(back) << text;
    EXPECT_EQ(*back, id);
  });
  EXPECT_EQ(to_string(RequestId{~0ULL, ~0ULL}), "req_7zzzzzzzzzzzzzzzzzzzzzzzzz");
  EXPECT_EQ(to_string(RequestId{}), "req_00000000000000000000000000");
}

TEST(RequestId, sorts_by_time_as_a_value_and_as_text) {
  for_each_seed(500, [](Rng& rng) {
    const std::int64_t ms = rng.between(0, 4'000'000'000'000);
    const RequestId early = make_request_id(instant(ms * 1'000'000), rng);
    const RequestId late = make_request_id(instant((ms + 1) * 1'000'000), rng);
    EXPECT_LT(early, late);
    EXPECT_LT(to_string(early), to_string(late));
    EXPECT_EQ(early.high >> 16, static_cast<std::uint64_t>(ms));
  });
}

TEST(RequestId, refuses_what_it_would_not_write) {
  for (const char* text :
       {"", "req_", "7zzzzzzzzzzzzzzzzzzzzzzzzz", "att_00000000000000000000000000",
        "req_0000000000000000000000000",    // 25
        "req_000000000000000000000000000",  // 27
        "req_80000000000000000000000000",   // 2^128
        "req_0000000000000000000000000l", "req_0000000000000000000000000A", "req_0000000000000000000000000 "}) {
    const Result<RequestId> id = request_id_from(text);
    ASSERT_FALSE(id) << text;
    EXPECT_EQ(id.error().code(), Errc::bad_input);
  }
}

}  // namespace
}  // namespace ace
