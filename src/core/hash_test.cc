#include "core/hash_long.h"

#include <gtest/gtest.h>

#include <bit>

#include "core/testing.h"

namespace ace {
namespace {

TEST(Hash, has_the_same_values_as_ever) {  // samples and digests on disk depend on them
  static_assert(hash_of("") == mix(0xcbf2'9ce4'8422'2325ULL, 0));
  EXPECT_EQ(mix(0, 0), 0xe220'a839'7b1d'cdafULL);  // splitmix64's first output from state 0 (Vigna's reference code)
  EXPECT_EQ(hash_of("ace"), 0xe034ee53eeba42a0ULL);
}

/// Of a hash, when one bit of a text of up to `most` bytes turns.
double bits_turned(std::uint64_t (*hash)(std::string_view), std::int64_t most) {
  double turned = 0.0;
  int trials = 0;
  for_each_seed(200, [&](Rng& rng) {
    std::string text(static_cast<std::size_t>(rng.between(1, most)), 'x');
    const std::uint64_t before = hash(text);
    auto& byte = text[rng.below(text.size())];
    byte = static_cast<char>(byte ^ (1 << rng.below(7)));
    turned += std::popcount(before ^ hash(text));
    ++trials;
  });
  return turned / trials;
}

TEST(Hash, turns_half_of_the_bits_when_one_bit_of_input_turns) {
  EXPECT_NEAR(bits_turned(hash_of, 40), 32.0, 1.2);  // standard error 4 / sqrt(200) = 0.28
  EXPECT_NEAR(bits_turned(hash_of_long, 40), 32.0, 1.2);
  EXPECT_NEAR(bits_turned(hash_of_long, 3000), 32.0, 1.2);
}

TEST(Hash, of_a_long_text_knows_its_length_and_its_order) {
  const std::string zeros(2048, '\0');
  EXPECT_NE(hash_of_long(zeros), hash_of_long(zeros + '\0'));
  std::string words = zeros;
  words.replace(0, 8, "firstone");
  std::string swapped = zeros;
  swapped.replace(32, 8, "firstone");  // the same lane, a step later
  EXPECT_NE(hash_of_long(words), hash_of_long(swapped));
  EXPECT_EQ(hash_of_long(words), hash_of_long(std::string(words))) << "wherever it lies";
}

}  // namespace
}  // namespace ace
