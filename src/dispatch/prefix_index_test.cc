#include "dispatch/prefix_index.h"

#include <list>
#include <vector>

#include <gtest/gtest.h>

#include "core/testing.h"

namespace ace {
namespace {

using Blocks = std::vector<std::uint32_t>;
constexpr Tokens kLong{1'000'000};

Instant at(int seconds) { return instant(0) + seconds * kSecond; }

TEST(PrefixIndex, counts_only_the_unbroken_prefix) {
  PrefixIndex index(PrefixIndex::Rules{});
  index.insert(Blocks{1, 2, 3}, at(0));
  const struct {
    const char* why;
    Blocks blocks;
    std::int64_t prompt, want;
  } cases[] = {
      {"nothing in common", {9, 8}, 1024, 0},
      {"all of it", {1, 2, 3}, 1536, 1536},
      {"a longer prompt", {1, 2, 3, 4}, 2048, 1536},
      {"2 is cached, but behind a break", {1, 7, 2}, 1536, 512},
      {"the last block is not full", {1, 2, 3}, 1400, 1400},
      {"no blocks", {}, 700, 0},
  };
  for (const auto& c : cases) EXPECT_EQ(index.matched(c.blocks, Tokens{c.prompt}, at(1)).value, c.want) << c.why;
}

TEST(PrefixIndex, keeps_to_the_providers_rules) {
  // Blocks of 512 in the stream; the provider caches from 1,024 tokens on, in steps of 128, for five minutes.
  PrefixIndex index(PrefixIndex::Rules{Tokens{512}, Tokens{1024}, Tokens{128}, 5 * kMinute, 100});
  index.insert(Blocks{1, 2, 3}, at(0));
  EXPECT_EQ(index.matched(Blocks{1, 9}, kLong, at(1)).value, 0) << "512 tokens are under the minimum";
  EXPECT_EQ(index.matched(Blocks{1, 2, 9}, kLong, at(1)).value, 1024);
  EXPECT_EQ(index.matched(Blocks{1, 2, 3}, Tokens{1300}, at(1)).value, 1280) << "1300 = 10 x 128 + 20";
  EXPECT_EQ(index.matched(Blocks{1, 2, 3}, kLong, at(300)).value, 1536) << "used 300 s ago";
  EXPECT_EQ(index.matched(Blocks{1, 2, 3}, kLong, at(301)).value, 0) << "used 301 s ago";
  index.insert(Blocks{1, 2}, at(200));
  EXPECT_EQ(index.matched(Blocks{1, 2, 3}, kLong, at(301)).value, 1024) << "use renews, block by block";
}

TEST(PrefixIndex, makes_room_from_the_tail_of_the_least_recent_prompt) {
  PrefixIndex index(PrefixIndex::Rules{Tokens{1}, Tokens{0}, Tokens{1}, Duration{0}, 4});
  index.insert(Blocks{1, 2, 3}, at(0));
  index.insert(Blocks{7, 8}, at(1));  // five blocks, room for four: block 3 leaves
  EXPECT_EQ(index.matched(Blocks{1, 2, 3}, kLong, at(2)).value, 2);
  EXPECT_EQ(index.matched(Blocks{7, 8}, kLong, at(2)).value, 2);
  index.insert(Blocks{1, 2}, at(3));
  index.insert(Blocks{5}, at(4));  // 8 is now the least recent
  EXPECT_EQ(index.matched(Blocks{7, 8}, kLong, at(5)).value, 1);
  EXPECT_EQ(index.matched(Blocks{1, 2}, kLong, at(5)).value, 2);
  index.insert(Blocks{20, 21, 22, 23, 24, 25}, at(6));
  EXPECT_EQ(index.matched(Blocks{20, 21, 22, 23, 24, 25}, kLong, at(7)).value, 4) << "the head of a too long prompt";
  EXPECT_EQ(index.size(), 4u);
}

TEST(PrefixIndex, holds_what_is_alive_however_long_the_stream) {
  PrefixIndex index(PrefixIndex::Rules{Tokens{512}, Tokens{0}, Tokens{1}, 5 * kMinute, 1 << 18});
  for (int second = 0; second < 20'000; ++second) {
    const auto block = static_cast<std::uint32_t>(2 * second);
    index.insert(Blocks{block, block + 1}, at(second));
  }
  EXPECT_LE(index.size(), 2u * 302) << "two blocks a second, gone after 300 s";
  EXPECT_EQ(index.matched(Blocks{39'400, 39'401}, kLong, at(20'000)).value, 1024) << "300 s old, kept";
}

TEST(PrefixIndex, tenants_share_nothing) {
  PrefixIndex index(PrefixIndex::Rules{});
  index.insert(Blocks{1, 2}, at(0), 1);
  EXPECT_EQ(index.matched(Blocks{1, 2}, kLong, at(1), 2).value, 0);
  EXPECT_EQ(index.matched(Blocks{1, 2}, kLong, at(1), 1).value, 1024);
  index.clear();
  EXPECT_EQ(index.matched(Blocks{1, 2}, kLong, at(1), 1).value, 0);
}

/// The same cache as a list in order of use, searched from the front.
struct Plain {
  std::size_t most;
  std::list<std::uint32_t> used;  // most recent first
  void insert(const Blocks& blocks) {
    for (std::size_t i = std::min(blocks.size(), most); i > 0; --i) {
      used.remove(blocks[i - 1]);
      used.push_front(blocks[i - 1]);
      if (used.size() > most) used.pop_back();
    }
  }
  std::int64_t matched(const Blocks& blocks) const {
    std::int64_t n = 0;
    for (const std::uint32_t b : blocks) {
      if (std::find(used.begin(), used.end(), b) == used.end()) break;
      ++n;
    }
    return n;
  }
};

TEST(PrefixIndex, agrees_with_a_plain_list_in_order_of_use) {
  for_each_seed(100, [](Rng& rng) {
    const std::size_t most = 1 + rng.below(150);
    PrefixIndex index(PrefixIndex::Rules{Tokens{1}, Tokens{0}, Tokens{1}, Duration{0}, most});
    Plain plain{most, {}};
    for (int i = 0; i < 300; ++i) {
      Blocks blocks;
      for (std::uint64_t n = rng.below(12), start = rng.below(200); n > 0; --n)
        blocks.push_back(static_cast<std::uint32_t>(start + n * (1 + rng.below(2))));
      ASSERT_EQ(index.matched(blocks, kLong, at(i)).value, plain.matched(blocks));
      index.insert(blocks, at(i));
      plain.insert(blocks);
      ASSERT_LE(index.size(), most);
    }
  });
}

}  // namespace
}  // namespace ace
