#include "fleet/yaml_reader.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>

namespace ace {
namespace {

/// A document stays where it was read: its lines point into its text.
std::unique_ptr<yaml::Document> read(std::string_view text, std::size_t values) {
  yaml::Limits limits;
  limits.nodes = values;
  auto document = std::make_unique<yaml::Document>();
  yaml::read(text, limits, *document);
  return document;
}

TEST(YamlReader, refuses_a_file_of_too_many_values_before_it_builds_one) {
  const struct {
    const char* why;
    const char* line;  // ten of them
  } cases[] = {{"keys", "a: 1\n"},
               {"entries of a list", "- 1\n"},
               {"lists in brackets", "- [1, 2, 3, 4]\n"},
               {"maps in braces", "- {a: 1, b: 2}\n"},
               {"lists over several lines", "- [1,\n   2,\n   3]\n"}};
  for (const auto& c : cases) {
    std::string text;
    for (int i = 0; i < 10; ++i) text += c.line;
    const auto document = read(text, 9);
    ASSERT_EQ(document->faults.size(), 1U) << c.why;
    EXPECT_EQ(document->faults[0].what, "more than 9 values in one file") << c.why;
    EXPECT_TRUE(document->root.items.empty()) << c.why << ": nothing was built";
    EXPECT_TRUE(read("x: 1\n", 9)->faults.empty());
  }
}

TEST(YamlReader, counts_no_value_that_is_not_there) {
  const struct {
    const char* why;
    const char* text;
    std::size_t values;  // that the file really has: the root, keys, values, lists and maps
  } cases[] = {{"a plain map", "a: 1\nb: 2\n", 5},
               {"punctuation in quotes", "a: \"x: y, z # [\"\nb: 'p: q, [{'\n", 5},
               {"an escaped quote", "a: \"x\\\": y: z: \"\n", 3},
               {"punctuation in a comment", "a: 1  # b: c, d: [e: f, g]\n", 3},
               {"commas and colons in plain text", "a: one, two, three\nb: http://x:80/y\n", 5},
               {"a list in brackets", "a: [1, 2, 3]\n", 6},
               {"a map in braces", "a: {b: 1, c: 2}\n", 7},
               {"a list of maps", "- a: 1\n  b: 2\n- a: 3\n", 9},
               {"dashes that are no entries", "a: -1\nb: --x\n", 5}};
  for (const auto& c : cases) {
    const auto document = read(c.text, c.values);
    EXPECT_TRUE(document->faults.empty()) << c.why << ": " << document->faults[0].what;
  }
}

}  // namespace
}  // namespace ace
