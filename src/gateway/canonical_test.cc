#include "gateway/canonical.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/testing.h"

namespace ace::gateway {
namespace {

std::string canonical(std::string_view text) {
  wire::Json json;
  EXPECT_TRUE(json.parse(text)) << text;
  return canonical_json(json.root());
}

/// One value, its members in two orders, its numbers and strings in two spellings.
std::pair<std::string, std::string> two_spellings(Rng& rng, int depth) {
  const std::pair<const char*, const char*> leaves[] = {{"1", "10e-1"},   {"-0.5", "-50E-2"},
                                                        {"0", "-0.00"},   {"\"a/\"", "\"\\u0061\\/\""},
                                                        {"true", "true"}, {"null", "null"}};
  const std::uint64_t kind = rng.below(depth < 4 ? 10 : 6);
  if (kind < 6) return {leaves[kind].first, leaves[kind].second};
  const bool object = kind < 8;
  std::vector<std::string> ones, others;
  for (std::uint64_t i = 0, n = rng.below(5); i < n; ++i) {
    const std::string name = object ? "\"k" + std::to_string(i) + "\":" : "";
    auto [one, other] = two_spellings(rng, depth + 1);
    ones.push_back(name + one);
    others.push_back(name + other);
  }
  if (object) rng.shuffle(std::span(others));
  const auto joined = [&](const std::vector<std::string>& parts, const char* blank) {
    std::string out(1, object ? '{' : '[');
    for (const std::string& part : parts) out += (out.size() > 1 ? "," : "") + std::string(blank) + part;
    return out + (object ? '}' : ']');
  };
  return {joined(ones, ""), joined(others, " \n")};
}

struct Read {
  explicit Read(std::string_view body, wire::Operation operation = wire::Operation::chat)
      : request(wire::read_request(operation, body, {}, json).request) {}
  [[nodiscard]] CacheKey key(std::string_view scope = "acme") const {
    return cache_key_of(scope, request, json.root());
  }
  [[nodiscard]] bool cacheable(bool sampled = false) const { return is_cacheable(request, json.root(), sampled); }
  wire::Json json;
  wire::Request request;
};

std::string chat(std::string_view more = "", std::string_view content = "hello") {
  return "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"" + std::string(content) + "\"}]" +
         std::string(more) + "}";
}

TEST(Canonical, spells_every_value_in_one_way) {
  const struct {
    const char *text, *want;
  } cases[] = {
      {R"({ "b" : 1 , "a" : [ true , null ] })", R"({"a":[true,null],"b":1e0})"},
      {R"("\u0041\/\n\u00e9")", "\"A/\\u000a\xc3\xa9\""},
      {R"({"\u0061":1,"B":2})", R"({"B":2e0,"a":1e0})"},
      {"1", "1e0"},
      {"1.0", "1e0"},
      {"10e-1", "1e0"},
      {"0.10E+1", "1e0"},
      {"100", "1e2"},
      {"-0.0", "0"},
      {"0e9", "0"},
      {"-12.50", "-125e-1"},
      {"1e0000000000000000005", "1e5"},
      {"1e99999999999999999", "1e99999999999999999"},
      {"[]", "[]"},
      {"{}", "{}"},
  };
  for (const auto& c : cases) EXPECT_EQ(canonical(c.text), c.want) << c.text;
}

TEST(CacheKey, is_the_same_for_what_means_the_same) {
  const CacheKey key = Read(chat()).key();
  for (const std::string& same : {
           std::string("{ \"messages\":[{\"content\":\"hello\",\"role\":\"user\"}],\n\"model\":\"m\"}"),
           std::string("{\"model\":\"\\u006d\",\"messages\":[{\"role\":\"user\",\"content\":\"hell\\u006f\"}]}"),
           chat(R"(,"user":"u1","metadata":{"trace":"7"},"prompt_cache_key":"k","safety_identifier":"s")"),
           chat(R"(,"temperature":null,"stop":null)"),
       })
    EXPECT_EQ(Read(same).key(), key) << same;
}

TEST(CacheKey, differs_for_what_means_something_else) {
  const CacheKey key = Read(chat()).key();
  for (const std::string& other : {
           chat("", "hello "),
           chat("", "Hello"),
           chat(R"(,"temperature":0)"),
           chat(R"(,"max_tokens":10)"),
           chat(R"(,"stream":true)"),
           chat(R"(,"unknown_field":1)"),
           chat(R"(,"stop":["a","b"])"),
           std::string(R"({"model":"n","messages":[{"role":"user","content":"hello"}]})"),
           std::string(R"({"model":"m","messages":[{"role":"user","content":"hello","name":null}]})"),
           std::string(R"({"model":"m","messages":[{"role":"system","content":"hello"}]})"),
       })
    EXPECT_NE(Read(other).key(), key) << other;
  EXPECT_NE(Read(chat(R"(,"stop":["a","b"])")).key(), Read(chat(R"(,"stop":["b","a"])")).key())
      << "lists have an order";
  EXPECT_NE(Read(chat()).key("other"), key) << "tenants share nothing";
  EXPECT_NE(Read(chat()).key("acmf"), key) << "nor do those whose names are as long";
  EXPECT_NE(Read(R"({"model":"m","input":"x"})", wire::Operation::responses).key(),
            Read(R"({"model":"m","input":"x"})", wire::Operation::embeddings).key());
}

TEST(CacheKey, no_scope_and_body_run_into_one_another) {
  EXPECT_NE(Read(chat()).key("a\nchat_completions"), Read(chat()).key("a"));
  EXPECT_NE(Read(chat()).key("1:a"), Read(chat()).key("a"));
}

TEST(CacheKey, does_not_depend_on_the_order_of_members_or_on_blanks) {
  for_each_seed(300, [](Rng& rng) {
    const auto [one, other] = two_spellings(rng, 0);
    const std::string once = canonical(one);
    ASSERT_EQ(once, canonical(other)) << one << "\n" << other;
    ASSERT_EQ(canonical(once), once) << "its own spelling is a fixed point";
  });
}

TEST(Cacheable, is_only_what_may_be_answered_alike) {
  EXPECT_TRUE(Read(chat(R"(,"temperature":0)")).cacheable());
  EXPECT_TRUE(Read(chat(R"(,"temperature":0.00)")).cacheable());
  EXPECT_TRUE(Read(R"({"model":"m","input":"x"})", wire::Operation::embeddings).cacheable());
  EXPECT_TRUE(Read(chat()).cacheable(true)) << "where the operator says that samples may be repeated";
  for (const char* more : {"", R"(,"temperature":0.1)", R"(,"temperature":"0")"})
    EXPECT_FALSE(Read(chat(more)).cacheable()) << more;
  for (const char* more : {R"(,"n":2)", R"(,"tools":[{"type":"function","function":{"name":"t"}}])"})
    EXPECT_FALSE(Read(chat(more)).cacheable(true)) << more;
  EXPECT_FALSE(Read(R"({"model":"m","input":"x","store":true})", wire::Operation::responses).cacheable(true));
  for (const char* part : {R"({"type":"file","file":{"file_id":"f"}})", R"({"type":"input_audio","input_audio":{}})",
                           R"({"type":"image_url","image_url":{"url":"https://a.example/i"}})"})
    EXPECT_FALSE(
        Read(R"({"model":"m","messages":[{"role":"user","content":[)" + std::string(part) + "]}]}").cacheable(true))
        << part;
}

}  // namespace
}  // namespace ace::gateway
