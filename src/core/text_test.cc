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

TEST(Text, groups_digits_by_three) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1'204'180), "1,204,180");
  EXPECT_EQ(grouped(-1'000), "-1,000");
  EXPECT_EQ(grouped(int128{1} << 127), "-170,141,183,460,469,231,731,687,303,715,884,105,728") << "the least of all";
}

TEST(Text, writes_json_strings_that_may_stand_in_a_page) {
  const struct {
    std::string_view raw;
    const char* want;
  } cases[] = {
      {"", R"("")"},
      {"plain \xc3\xa9", "\"plain \xc3\xa9\""},
      {R"(a"b\c)", R"("a\"b\\c")"},
      {"line\n\x01", R"("line\u000a\u0001")"},
      {"</script>", R"("\u003c/script>")"},
  };
  for (const auto& c : cases) EXPECT_EQ(json_text(c.raw), c.want);
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
