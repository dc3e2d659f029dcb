#include "core/hash.h"

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

TEST(Hash, turns_half_of_the_bits_when_one_bit_of_input_turns) {
  double turned = 0.0;
  int trials = 0;
  for_each_seed(200, [&](Rng& rng) {
    std::string text(static_cast<std::size_t>(rng.between(1, 40)), 'x');
    const std::uint64_t before = hash_of(text);
    auto& byte = text[rng.below(text.size())];
    byte = static_cast<char>(byte ^ (1 << rng.below(7)));
    turned += std::popcount(before ^ hash_of(text));
    ++trials;
  });
  EXPECT_NEAR(turned / trials, 32.0, 1.2);  // standard error 4 / sqrt(200) = 0.28
}

}  // namespace
}  // namespace ace
