#include "core/text.h"

#include <gtest/gtest.h>

namespace ace {
namespace {

TEST(Text, lists_items_and_counts_what_it_leaves_out) {
  const std::vector<std::string> words = {"a", "b", "c"};
  EXPECT_EQ(listed(words), "a, b, c");
  EXPECT_EQ(listed(words, 2), "a, b and 1 more");
  EXPECT_EQ(listed(std::vector<int>{}), "");
}

TEST(Text, measures_words_by_single_edits) {
  const struct {
    const char *a, *b;
    std::size_t want;
  } cases[] = {{"", "", 0},         {"rack", "racks", 1},     {"teir", "tier", 1},
               {"Tier", "tier", 0}, {"kitten", "sitting", 3}, {"", "abc", 3}};
  for (const auto& c : cases) {
    EXPECT_EQ(edit_distance(c.a, c.b), c.want) << c.a << " " << c.b;
    EXPECT_EQ(edit_distance(c.b, c.a), c.want) << c.a << " " << c.b;
  }
}

}  // namespace
}  // namespace ace
