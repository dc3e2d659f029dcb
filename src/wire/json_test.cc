#include "wire/json.h"

#include <gtest/gtest.h>

#include "core/testing.h"
#include "wire/json_testing.h"

namespace ace::wire {
namespace {

using std::string_literals::operator""s;

TEST(Json, bad_texts_are_told_apart) {
  std::string many = "{";  // the key too many stands behind 1 + 10 x 6 + 90 x 7 + 900 x 8 = 7,891 bytes
  for (int i = 0; i < 1001; ++i) many += "\"" + std::to_string(i) + "\":0,";
  many.back() = '}';
  const struct {
    std::string text;
    JsonFault want;
    std::size_t offset;
  } cases[] = {
      {"", JsonFault::invalid_json, 0},
      {"   ", JsonFault::invalid_json, 3},
      {"{", JsonFault::invalid_json, 1},
      {"{\"a\" 1}", JsonFault::invalid_json, 5},
      {"{\"a\":1,}", JsonFault::invalid_json, 7},
      {"[1,]", JsonFault::invalid_json, 3},
      {"[1 2]", JsonFault::invalid_json, 3},
      {"[1}", JsonFault::invalid_json, 2},
      {"{1:2}", JsonFault::invalid_json, 1},
      {"1 2", JsonFault::invalid_json, 2},
      {"{}x", JsonFault::invalid_json, 2},
      {"NaN", JsonFault::invalid_json, 0},
      {"[Infinity]", JsonFault::invalid_json, 1},
      {"[-Infinity]", JsonFault::invalid_json, 2},
      {"[0x10]", JsonFault::invalid_json, 2},
      {"[01]", JsonFault::invalid_json, 2},
      {"[+1]", JsonFault::invalid_json, 1},
      {"[.5]", JsonFault::invalid_json, 1},
      {"[1.]", JsonFault::invalid_json, 3},
      {"[1e]", JsonFault::invalid_json, 3},
      {"[tru]", JsonFault::invalid_json, 1},
      {"\"a", JsonFault::invalid_json, 2},
      {"\"a\nb\"", JsonFault::invalid_json, 2},
      {"\"\\x\"", JsonFault::invalid_json, 1},
      {"\"\\u12\"", JsonFault::invalid_json, 1},
      {"\"\0\""s, JsonFault::invalid_json, 1},
      {"\"\\ud800\"", JsonFault::invalid_unicode, 1},
      {"\"\\udc00\\ud800\"", JsonFault::invalid_unicode, 1},
      {"\"\\ud800\\u0041\"", JsonFault::invalid_unicode, 1},
      {"\"\xff\"", JsonFault::invalid_unicode, 1},
      {"\"\xc0\xaf\"", JsonFault::invalid_unicode, 1},
      {"\"\xed\xa0\x80\"", JsonFault::invalid_unicode, 1},
      {"\"\xf4\x90\x80\x80\"", JsonFault::invalid_unicode, 1},
      {"\"\xe2\x82\"", JsonFault::invalid_unicode, 1},
      {"\xef\xbb\xbf{}", JsonFault::invalid_json, 0},
      {"\xff\xfe{\0}\0"s, JsonFault::invalid_json, 0},
      {"{\"a\":1,\"a\":2}", JsonFault::duplicate_key, 13},
      {"{\"a\":1,\"\\u0061\":2}", JsonFault::duplicate_key, 18},
      {"[{\"x\":{\"a\":1,\"b\":2,\"a\":3}}]", JsonFault::duplicate_key, 25},
      {std::string(65, '['), JsonFault::too_deep, 64},
      {std::string(100'000, '['), JsonFault::too_deep, 64},
      {many, JsonFault::too_many_keys, 7891},
      {"[" + std::string(65, '1') + "]", JsonFault::number_too_long, 66},
      {"[" + std::string(1'000'000, '1') + "]", JsonFault::number_too_long, 1'000'001},
  };
  for (const auto& c : cases) {
    Json json;
    const Json::Parsed got = json.parse(c.text);
    EXPECT_EQ(name_of(got.fault), name_of(c.want)) << c.text.substr(0, 40);
    EXPECT_EQ(got.offset, c.offset) << c.text.substr(0, 40);
  }
}

TEST(Json, values_stand_where_they_stood) {
  Json json;
  const std::string text = R"( {"a": [1, -2.50e3, "x\"y"], "b\u0063": {"n": null}, "": true } )";
  ASSERT_TRUE(json.parse(text));
  const JsonValue root = json.root();
  EXPECT_EQ(root.size(), 3U);
  const JsonValue a = *root.find("a");
  EXPECT_EQ(a.raw(), R"([1, -2.50e3, "x\"y"])");
  EXPECT_EQ(text.substr(a.begin(), 3), "[1,");
  EXPECT_EQ((*a.begin_items()).value.integer(), 1);
  EXPECT_EQ(root.find("bc")->raw(), R"({"n": null})") << "a name is what it means, not how it is spelt";
  EXPECT_TRUE(root.find("bc")->find("n"));
  EXPECT_FALSE(root.find("bc")->get("n"));
  EXPECT_EQ(root.find("")->boolean(), true);
  EXPECT_FALSE(root.find("c"));
  EXPECT_FALSE(a.find("a"));
}

TEST(Json, text_is_what_the_escapes_mean) {
  Json json;
  const std::string text = R"("\"\\\/\b\f\n\r\té😀")";
  ASSERT_TRUE(json.parse(text));
  EXPECT_EQ(json.root().text(), "\"\\/\b\f\n\r\t\xc3\xa9\xf0\x9f\x98\x80");
}

TEST(Json, integers_are_never_rounded) {
  Json json;
  for (const char* text : {"1.0", "1e3", "9223372036854775808", "99999999999999999999", "true", "\"5\"", "null"}) {
    ASSERT_TRUE(json.parse(text)) << text;
    EXPECT_FALSE(json.root().integer()) << text;
  }
  ASSERT_TRUE(json.parse("-9223372036854775808"));
  EXPECT_EQ(json.root().integer(), INT64_MIN);
}

TEST(Json, another_parser_judges_the_same) {
  for_each_seed(3000, [](Rng& rng) {
    std::string text = random_json(rng);
    EXPECT_EQ(disagreement(text), "") << text;
    Json json;
    ASSERT_TRUE(json.parse(text)) << text;
    const std::string again = put_together(json.root());
    Json back;
    ASSERT_TRUE(back.parse(again)) << again;
    EXPECT_EQ(put_together(back.root()), again);
    const char damage[] = {'"', '\\', '{', '}', '[', ']', ',', ':', '\0', '\xff', '1', 'u', ' '};
    for (std::uint64_t i = 1 + rng.below(2); i > 0; --i)
      text[rng.below(text.size())] = damage[rng.below(sizeof damage)];
    EXPECT_EQ(disagreement(text), "") << testing::PrintToString(text);
  });
}

}  // namespace
}  // namespace ace::wire
