#include "core/csv.h"

#include <gtest/gtest.h>

#include "core/testing.h"

namespace ace {
namespace {

/// Rows as "line:field|field" joined by spaces, or the error.
std::string read(std::string_view text) {
  CsvReader reader(text);
  CsvRow row;
  std::string seen;
  for (;;) {
    const Result<bool> any = reader.next(row);
    if (!any) return any.error().what();
    if (!*any) return seen;
    seen += (seen.empty() ? "" : " ") + std::to_string(row.line) + ":";
    for (std::size_t i = 0; i < row.fields.size(); ++i) seen += (i == 0 ? "" : "|") + std::string(row.fields[i]);
  }
}

TEST(Csv, is_read_as_rfc_4180_says_with_physical_lines) {
  const struct {
    const char* why;
    std::string_view text;
    const char* want;
  } cases[] = {
      {"LF, no newline at the end", "a,b\n1,2", "1:a|b 2:1|2"},
      {"CRLF", "a,b\r\n1,2\r\n", "1:a|b 2:1|2"},
      {"byte order mark is no text",
       "\xef\xbb\xbf"
       "a\n",
       "1:a"},
      {"quoted delimiter, doubled quotes", "\"a,b\",\"c\"\"d\"\n", "1:a,b|c\"d"},
      {"two doubled fields do not move each other", "\"a\"\"\",\"\"\"b\",c\n", "1:a\"|\"b|c"},
      {"a quoted CRLF counts as a line", "\"a\r\nb\",c\nd,e\n", "1:a\r\nb|c 3:d|e"},
      {"blank lines are skipped", "a\n\n\r\nb\n", "1:a 4:b"},
      {"empty fields", ",\n\"\",x\n", "1:| 2:|x"},
      {"trailing comma is an empty field", "a,\n", "1:a|"},
      {"nothing", "", ""},
      {"lone CR", "a\rb\n", "line 1: a carriage return without a line feed"},
      {"CR at the end of the text", "a\nb\r", "line 2: a carriage return without a line feed"},
      {"unclosed quote names where it opened", "a\n\"b\nc\nd", "line 2: a quote opens here and is never closed"},
      {"quote in a bare field", "x\na\"b\n",
       "line 2: a quote inside a field that does not start with one; write \"a\"\"b\""},
      {"text after a quote", "\"a\"b\n",
       "line 1: text after a closing quote; expected a delimiter or the end of the line"},
  };
  for (const auto& c : cases) EXPECT_EQ(read(c.text), c.want) << c.why;
}

TEST(Csv, blank_lines_are_counted) {
  CsvReader reader("a\n\n\nb\n\n");
  CsvRow row;
  while (*reader.next(row)) {
  }
  EXPECT_EQ(reader.blank_lines(), 3U);
}

TEST(Csv, columns_are_found_by_name) {
  const Result<CsvTable> table = CsvTable::open(" Price ,spot,Spot,Zone\n");
  ASSERT_TRUE(table) << table.error().what();
  EXPECT_EQ(table->column("Price"), 0U);
  EXPECT_EQ(table->column("price"), 0U) << "case does not matter where only one column can be meant";
  EXPECT_EQ(table->column("spot"), 1U);
  EXPECT_EQ(table->column("SPOT"), std::nullopt) << "two columns could be meant";
  EXPECT_EQ(table->require("region").error().what(),
            "missing column \"region\"; the header has Price, spot, Spot, Zone");
}

TEST(Csv, headers_that_cannot_be_trusted_are_errors) {
  const struct {
    std::string_view text;
    const char* want;
  } cases[] = {
      {"", "the file is empty; expected a header line"},
      {"\n\n", "the file is empty; expected a header line"},
      {"a,b,a\n", "line 1: two columns are named \"a\""},
      {"a,,b\n", "line 1: column 2 has no name"},
  };
  for (const auto& c : cases) EXPECT_EQ(CsvTable::open(c.text).error().what(), c.want) << c.text;
  EXPECT_TRUE(CsvTable::open(",a\n")) << "an exported index has no name";
  EXPECT_NE(CsvTable::open("a;b\n")->require("a").error().what().find("delimiter"), std::string::npos);
}

TEST(Csv, short_and_long_rows_are_named) {
  for (const char* text : {"a,b\n1,2\n3\n", "a,b\n1,2\n3,4,5\n"}) {
    Result<CsvTable> table = CsvTable::open(text);
    CsvRow row;
    EXPECT_TRUE(*table->next(row));
    EXPECT_EQ(table->next(row).error().what().find("line 3: expected 2 fields as in the header, got"), 0U) << text;
  }
}

TEST(Csv, reads_back_whatever_was_written) {
  for_each_seed(200, [](Rng& rng) {
    std::vector<std::vector<std::string>> rows(1 + rng.below(4));
    std::string text;
    for (auto& row : rows) {
      for (std::uint64_t n = 2 + rng.below(3); n > 0; --n) {
        std::string field;
        for (std::uint64_t k = rng.below(6); k > 0; --k) field += "ab,\"\n\r"[rng.below(6)];
        if (!row.empty()) text += ',';
        text += '"';
        for (const char c : field) text += c == '"' ? std::string("\"\"") : std::string(1, c);
        text += '"';
        row.push_back(std::move(field));
      }
      text += rng.chance(0.5) ? "\r\n" : "\n";
    }
    CsvReader reader(text);
    CsvRow got;
    for (const auto& row : rows) {
      ASSERT_TRUE(*reader.next(got)) << text;
      EXPECT_EQ(std::vector<std::string>(got.fields.begin(), got.fields.end()), row) << text;
    }
    EXPECT_FALSE(*reader.next(got));
  });
}

TEST(Csv, names_that_a_spreadsheet_would_run_are_text) {
  const struct {
    const char* name;
    const char* want;
  } cases[] = {
      {"plain", "plain"}, {"", ""},           {"=1+1", "\"'=1+1\""}, {"=cmd|' /C calc'!A0", "\"'=cmd|' /C calc'!A0\""},
      {"+1", "\"'+1\""},  {"-x", "\"'-x\""},  {"@x", "\"'@x\""},     {"\t=1", "\"'\t=1\""},
      {"a=b", "a=b"},     {"a,b", "\"a,b\""}, {"a\"b", "\"a\"\"b\""}};
  for (const auto& c : cases) EXPECT_EQ(csv_text(c.name), c.want);
}

}  // namespace
}  // namespace ace
