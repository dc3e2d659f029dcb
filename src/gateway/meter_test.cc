#include "gateway/meter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ace::gateway {
namespace {

using ::testing::HasSubstr;

TEST(Meter, counts_a_request_once_under_how_it_ended_and_where) {
  MetricRegistry registry;
  Meter meter(registry);
  Ended served;
  served.took = kSecond;
  served.first_token = Duration{100'000'000};
  served.overhead = Duration{20'000};
  served.destination = "gpu";
  served.attempts = 3;
  served.input_tokens = 10;
  served.output_tokens = 5;
  served.cost = Usd{2};
  served.baseline = Usd{7};
  meter.ended(served);
  Ended refused;
  refused.outcome = Outcome::over_limit;
  meter.ended(refused);
  const std::string text = registry.expose();
  for (const char* line :
       {"ace_requests_total{operation=\"chat_completions\",outcome=\"served\"} 1\n",
        "ace_requests_total{operation=\"chat_completions\",outcome=\"over_limit\"} 1\n",
        "ace_requests_total{operation=\"messages\",outcome=\"served\"} 0\n", "ace_retries_total 2\n",
        "ace_destination_tokens_total{destination=\"gpu\",kind=\"output\"} 5\n",
        "ace_destination_cost_usd_total{destination=\"gpu\"} 0.000000002\n",
        "ace_destination_baseline_usd_total{destination=\"gpu\"} 0.000000007\n",
        "ace_request_seconds_count{operation=\"chat_completions\"} 1\n",
        "ace_overhead_seconds_bucket{le=\"0.000016\"} 0\n", "ace_overhead_seconds_bucket{le=\"0.000032\"} 1\n",
        "ace_overhead_seconds_count 1\n", "ace_first_token_seconds_count{destination=\"gpu\"} 1\n"})
    EXPECT_THAT(text, HasSubstr(line));
}

TEST(Meter, tells_the_faults_of_clients_limits_and_destinations_apart) {
  const struct {
    int status;
    const char* code;
    Outcome want;
  } cases[] = {
      {200, "", Outcome::served},
      {400, "invalid_json", Outcome::bad_request},
      {404, "model_not_found", Outcome::bad_request},
      {401, "invalid_api_key", Outcome::unauthorized},
      {403, "model_not_allowed", Outcome::unauthorized},
      {429, "rate_limited", Outcome::over_limit},
      {429, "budget_exceeded", Outcome::over_limit},
      {429, "throttled", Outcome::upstream},
      {503, "no_capacity", Outcome::no_capacity},
      {503, "overloaded", Outcome::no_capacity},
      {503, "spine_unavailable", Outcome::unrecordable},
      {502, "upstream_reset", Outcome::upstream},
  };
  for (const auto& c : cases) EXPECT_EQ(outcome_of(c.status, c.code), c.want) << c.status << c.code;
}

}  // namespace
}  // namespace ace::gateway
