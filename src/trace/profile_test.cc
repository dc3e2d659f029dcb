#include "trace/profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/testing.h"
#include "trace/generate_testing.h"

namespace ace {
namespace {

using ::testing::HasSubstr;

TEST(Profile, comes_back_equal_from_its_text) {
  for_each_seed(100, [](Rng& rng) {
    const Profile profile = fixture::random_profile(rng);
    const auto back = parse_profile(to_yaml(profile), "p.yaml");
    ASSERT_TRUE(back) << back.error().what() << to_yaml(profile);
    EXPECT_EQ(*back, profile) << to_yaml(profile);
  });
  const auto back = parse_profile(to_yaml(fixture::rich()), "p.yaml");
  ASSERT_TRUE(back) << back.error().what();
  EXPECT_EQ(*back, fixture::rich());
}

TEST(Profile, may_be_json) {
  const auto profile = parse_profile(
      R"({"profile": "p", "start": "2026-01-05", "length": "2d", "rate": 3.5, "defaults": {"model": "m",
          "prompt": {"mixture": [{"weight": 1, "median": 900, "sigma": 1.1}]}}, "tenants":
          [{"name": "a", "output": {"quantiles": {"0": 1, "0.5": 20, "1": 400}}}]})",
      "p.json");
  ASSERT_TRUE(profile) << profile.error().what();
  EXPECT_EQ(profile->start, fixture::kMonday);
  EXPECT_EQ(profile->length, 2 * kDay);
  EXPECT_EQ(profile->tenants[0].model, "m");
  EXPECT_EQ(profile->tenants[0].prompt.mixture[0].median, 900.0);
  EXPECT_EQ(profile->tenants[0].output.quantiles[1], (Knot{0.5, 20.0}));
}

TEST(Profile, says_where_it_is_wrong_and_what_would_be_right) {
  const std::string good =
      "rate: 1\nlength: 1h\ntenants:\n  - name: a\n    prompt: {mixture: [{median: 9}]}\n    output: {mixture: "
      "[{median: 9}]}\n";
  ASSERT_TRUE(parse_profile(good, "p"));
  const struct {
    const char* text;
    const char* want;
  } cases[] = {
      {"rat: 1\n", "p:1:1: unknown key \"rat\"; did you mean \"rate\"?"},
      {"rate: 1\nrate: 2\n", "p:2:1: \"rate\" appears twice"},
      {"rate: fast\n", "p:1:7: expected a number"},
      {"rate: nan\n", "p:1:7: expected a number"},
      {"length: 5\n", "p:1:9: expected a duration with its unit"},
      {"start: 2026-02-30\n", "p:1:8: expected a UTC time"},
      {"tenants: 5\n", "p:1:10: expected a list of tenants"},
      {"tenants: [{name: a, hours: [1, 2]}]\n", "expected 24 numbers"},
      {"tenants: [{name: a, arrivals: {family: normal}}]\n", "expected gamma or weibull"},
      {"rate: 1\n", "tenants: expected at least one"},
      {"rate: -1\n", "rate: expected a positive number"},
      {"rate: 1\n---\nrate: 2\n", "expected one YAML document"},
      {", a: b", "expected one YAML document"},
      {"rate: [1\n", "p:"},
      {"tenants: [{name: a}]\n", "prompt: expected either a log-normal mixture or quantiles"},
      {"tenants: [{name: a, prompt: {quantiles: {0: 5, 0.5: 2, 1: 9}}}]\n", "tokens that never fall"},
      {"defaults: {name: x}\n", "a name belongs to a tenant"},
      {"", "expected"},
  };
  for (const auto& c : cases) {
    const auto profile = parse_profile(c.text, "p");
    ASSERT_FALSE(profile) << c.text;
    EXPECT_THAT(profile.error().what(), HasSubstr(c.want)) << c.text;
  }
}

}  // namespace
}  // namespace ace
