#include "trace/servegen.h"

#include <algorithm>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace/generate_testing.h"

namespace ace {
namespace {

using ::testing::HasSubstr;

constexpr const char* kRatesHead = "client,t_s,rate_per_s,cv,pattern,arg1,arg2\n";
constexpr const char* kTokensHead =
    "client,window_start_s,in_mean,in_p50,in_p90,in_p99,out_mean,out_p50,out_p90,out_p99\n";

/// Two days: client 0 changes its lengths on day 2, client 1 has none of its own and is idle but for three windows.
std::shared_ptr<const Servegen> two_clients() {
  std::string rates = kRatesHead;
  for (int t = 0; t < 2 * 86400; t += 600) rates += "0," + std::to_string(t) + ",0.5,1.4,Gamma,0.5,9\n";
  rates += "1,600,2,1,Weibull,1,1\n1,6000,2,1,Weibull,0.7,1\n1,90000,2,1,Gamma,3,1\n";
  const std::string tokens =
      std::string(kTokensHead) + "0,0,110,100,200,300,11,10,20,30\n0,86400,1100,1000,2000,3000,11,10,20,30\n";
  auto tables = parse_servegen(rates, tokens);
  EXPECT_TRUE(tables) << tables.error().what();
  return std::make_shared<const Servegen>(std::move(*tables));
}

std::vector<fixture::Kept> made(const std::shared_ptr<const Servegen>& tables, std::int32_t first, std::int32_t last) {
  ServegenOptions options;
  options.generate.first_day = first;
  options.generate.last_day = last;
  auto source = generate(tables, options);
  EXPECT_TRUE(source);
  return fixture::all_of(**source);
}

TEST(Servegen, makes_days_alone_as_in_the_whole_run) {
  const auto whole = made(two_clients(), 1, 14);
  const auto second = made(two_clients(), 2, 2);
  ASSERT_FALSE(second.empty());
  ASSERT_LT(second.size(), whole.size());
  const std::size_t skipped = whole.size() - second.size();
  for (std::size_t i = 0; i < second.size(); ++i) {
    EXPECT_EQ(second[i].a.at, whole[skipped + i].a.at);
    EXPECT_EQ(second[i].a.prompt, whole[skipped + i].a.prompt);
    EXPECT_EQ(second[i].a.tenant, whole[skipped + i].a.tenant);
  }
}

TEST(Servegen, is_silent_in_absent_windows_and_takes_the_latest_lengths) {
  std::map<std::int64_t, int> windows;
  std::vector<std::int32_t> first_day, second_day, pooled;
  for (const auto& row : made(two_clients(), 1, 14)) {
    const std::int64_t second = (nanos(row.a.at) - nanos(fixture::kMonday)) / nanos(kSecond);
    if (row.a.tenant == 1) {
      ++windows[second / 600];
      pooled.push_back(row.a.prompt);
    } else {
      (second < 86400 ? first_day : second_day).push_back(row.a.prompt);
    }
  }
  ASSERT_EQ(windows.size(), 3U);
  for (const std::int64_t window : {1, 10, 150}) EXPECT_NEAR(windows[window], 1200, 4 * 1.5 * 35) << window;
  const auto median = [](std::vector<std::int32_t> x) { return std::sort(x.begin(), x.end()), x[x.size() / 2]; };
  EXPECT_NEAR(median(first_day), 100, 5);
  EXPECT_NEAR(median(second_day), 1000, 50);
  // Pooled half and half: mean (110 + 1100) / 2.
  double sum = 0.0;
  for (const std::int32_t prompt : pooled) sum += prompt;
  EXPECT_NEAR(sum / static_cast<double>(pooled.size()), 605.0, 30.0);
  EXPECT_EQ(pooled_of(*two_clients()).clients, 1U);
}

TEST(Servegen, refuses_tables_that_do_not_say_what_they_should) {
  const std::string tokens = std::string(kTokensHead) + "0,0,110,100,200,300,11,10,20,30\n";
  const struct {
    std::string rates, tokens;
    const char* want;
  } cases[] = {
      {"", tokens, "line 1: expected the header"},
      {std::string(kRatesHead) + "0,0,1,1,Gamma,1\n", tokens, "line 2: expected 7 fields"},
      {std::string(kRatesHead) + "0,0,-1,1,Gamma,1,1\n", tokens, "line 2: expected a number that is not negative"},
      {std::string(kRatesHead) + "0,0,nan,1,Gamma,1,1\n", tokens, "line 2: expected a number that is not negative"},
      {std::string(kRatesHead) + "0,30,1,1,Gamma,1,1\n", tokens, "multiple of 600"},
      {std::string(kRatesHead) + "0,0,1,1,Normal,1,1\n", tokens, "Gamma or Weibull"},
      {std::string(kRatesHead) + "0,0,1,1,Gamma,0,1\n", tokens, "shape"},
      {std::string(kRatesHead) + "0,0,1,1,Gamma,1,1\n0,0,1,1,Gamma,1,1\n", tokens, "line 3: expected the windows"},
      {std::string(kRatesHead) + "7,0,1,1,Gamma,1,1\n", tokens, "at least one client that has rates"},
      {std::string(kRatesHead) + "0,0,1,1,Gamma,1,1\n", std::string(kTokensHead) + "0,0,9,9,8,7,1,1,1,1\n",
       "percentiles"},
  };
  for (const auto& c : cases) {
    const auto tables = parse_servegen(c.rates, c.tokens);
    ASSERT_FALSE(tables) << c.want;
    EXPECT_THAT(tables.error().what(), HasSubstr(c.want));
  }
}

}  // namespace
}  // namespace ace
