#include "core/zeros.h"

#include <gtest/gtest.h>

#include <string>

namespace ace {
namespace {

TEST(Zeros, finds_the_first_byte_that_is_none_wherever_it_is) {
  EXPECT_EQ(first_not_zero(""), std::string_view::npos);
  for (const std::size_t size : {1U, 2U, 3U, 63U, 64U, 65U, 1000U}) {
    std::string bytes(size, '\0');
    EXPECT_EQ(first_not_zero(bytes), std::string_view::npos) << size;
    for (std::size_t at = 0; at < size; ++at) {
      bytes[at] = at % 2 == 0 ? '\x80' : '\x01';
      EXPECT_EQ(first_not_zero(bytes), at) << size;
      bytes[size - 1] = '\x01';  // and not the last one
      EXPECT_EQ(first_not_zero(bytes), at) << size;
      bytes[at] = bytes[size - 1] = '\0';
    }
    EXPECT_EQ(first_not_zero(std::string(size, '\xff')), 0U) << "a run of anything else is none of zeros";
  }
}

}  // namespace
}  // namespace ace
