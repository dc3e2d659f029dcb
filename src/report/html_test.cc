#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <string>

#include "report/report.h"

namespace ace {
namespace {

std::size_t occurrences(std::string_view text, std::string_view wanted) {
  std::size_t found = 0;
  for (std::size_t at = text.find(wanted); at != std::string_view::npos; at = text.find(wanted, at + 1)) ++found;
  return found;
}

/// What a browser takes for the content of the data block: everything up to the first thing that closes a script.
std::string data_block(const std::string& html) {
  const std::string open = R"(<script type="application/json" id="data">)";
  const std::size_t from = html.find(open);
  if (from == std::string::npos) return {};
  static const std::regex close("</script", std::regex::icase);
  std::smatch end;
  const std::string rest = html.substr(from + open.size());
  return std::regex_search(rest, end, close) ? end.prefix().str() : std::string{};
}

TEST(Html, carries_the_json_it_was_given_whatever_names_contain) {
  const struct {
    const char* why;
    const char* name;
  } cases[] = {
      {"plain", "search"},
      {"closes the script", "</script><script>alert(1)</script>"},
      {"closes it in capitals", "</SCRIPT >"},
      {"opens a comment, which would swallow the end tag", "<!--<script>"},
      {"markup", "<img src=x onerror=alert(1)>"},
      {"the slot itself", "\"__ACE_REPORT__\""},
      {"quotes and backslashes", R"(a "b" \ c \u003c)"},
      {"an ampersand is no entity in a script", "&lt;b&gt;"},
  };
  for (const auto& c : cases) {
    const nlohmann::json report = {{"schema", "ace.report/1"}, {"tenant", c.name}};
    const std::string block = data_block(to_html(report.dump(1)));
    EXPECT_EQ(nlohmann::json::parse(block, nullptr, false), report) << c.why;
    EXPECT_EQ(block.find('<'), std::string::npos) << c.why;
  }
}

TEST(Html, is_the_built_page_with_its_one_slot_filled) {
  const std::string empty = to_html("{}"), full = to_html(R"({"a": "<"})");
  EXPECT_EQ(occurrences(empty, "__ACE_REPORT__"), 0U);
  EXPECT_EQ(occurrences(full, R"({"a": "\u003c"})"), 1U);
  // {"a": "<"} has 10 characters, one of which becomes six; {} has 2: that is all the difference the data makes.
  EXPECT_EQ(full.size() - empty.size(), 10U - 2U + 5U);
}

TEST(Html, is_one_file_that_asks_the_network_for_nothing) {
  const std::string html = to_html("{}");
  static const std::regex fetches(R"re((src|href)\s*=\s*"(?!#|data:)|@import|url\(\s*["']?https?:)re",
                                  std::regex::icase);
  EXPECT_FALSE(std::regex_search(html, fetches));
  EXPECT_NE(html.find("default-src 'none'"), std::string::npos) << "and says so to the browser";
}

}  // namespace
}  // namespace ace
