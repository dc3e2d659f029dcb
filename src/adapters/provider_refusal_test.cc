/// What providers say when they do not answer, and how it is taken.
#include "adapters/provider_refusal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "adapters/provider_testing.h"

namespace ace {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr Duration kMs{1'000'000};
const Instant kNow = instant_of({2026, 11, 30, 12, 0, 0, 0});

using Fields = std::vector<net::Field>;

TEST(RetryAfter, is_read_in_every_spelling) {
  const struct {
    Fields fields;
    std::optional<Duration> want;
  } cases[] = {
      {{{"retry-after-ms", "43"}}, 43 * kMs},
      {{{"Retry-After-Ms", "43.5"}, {"Retry-After", "1"}}, Duration{43'500'000}},
      {{{"retry-after", "7"}}, 7 * kSecond},
      {{{"retry-after", "0.25"}}, 250 * kMs},
      {{{"retry-after", "0"}}, Duration{0}},
      {{{"retry-after", "Mon, 30 Nov 2026 12:00:05 GMT"}}, 5 * kSecond},
      {{{"retry-after", "Mon, 30 Nov 2026 11:00:00 GMT"}}, Duration{0}},
      {{{"retry-after-ms", "soon"}, {"retry-after", "2"}}, 2 * kSecond},
      {{{"retry-after", "999999999999999999"}}, std::nullopt},
      {{{"retry-after", "999999999"}}, Duration(kDay)},
      {{{"retry-after", "10000000000"}}, Duration(kDay)},  // more nanoseconds than an integer holds
      {{{"retry-after", "-1"}}, std::nullopt},
      {{{"retry-after", "1e3"}}, std::nullopt},
      {{{"retry-after", "Mon, 31 Nov 2026 12:00:05 GMT"}}, std::nullopt},
      {{}, std::nullopt},
  };
  for (const auto& c : cases)
    EXPECT_EQ(read_retry_after(c.fields, kNow), c.want) << (c.fields.empty() ? "" : c.fields[0].value);
}

TEST(GoDuration, is_read_as_go_writes_it) {
  EXPECT_EQ(read_go_duration("6ms"), 6 * kMs);
  EXPECT_EQ(read_go_duration("1s"), kSecond);
  EXPECT_EQ(read_go_duration("6m0s"), 6 * kMinute);
  EXPECT_EQ(read_go_duration("1h2m3.5s"), kHour + 2 * kMinute + 3500 * kMs);
  for (const char* bad : {"", "s", "5", "5 s", "-5s", "5x", "1.2.3s"}) EXPECT_FALSE(read_go_duration(bad)) << bad;
}

TEST(Windows, are_read_from_both_families_of_fields) {
  const Windows openai = read_windows(Fields{{"x-ratelimit-limit-requests", "500"},
                                             {"x-ratelimit-remaining-requests", "499"},
                                             {"x-ratelimit-reset-requests", "120ms"},
                                             {"x-ratelimit-remaining-tokens", "0"},
                                             {"x-ratelimit-reset-tokens", "6m0s"}},
                                      kNow);
  EXPECT_EQ(openai[static_cast<std::size_t>(RateLimit::requests)], (Window{500, 499, 120 * kMs}));
  EXPECT_EQ(openai[static_cast<std::size_t>(RateLimit::tokens)], (Window{-1, 0, 6 * kMinute}));
  const Windows anthropic = read_windows(Fields{{"anthropic-ratelimit-input-tokens-limit", "40000"},
                                                {"anthropic-ratelimit-input-tokens-remaining", "10"},
                                                {"anthropic-ratelimit-input-tokens-reset", "2026-11-30T12:00:30Z"}},
                                         kNow);
  EXPECT_EQ(anthropic[static_cast<std::size_t>(RateLimit::input_tokens)], (Window{40000, 10, 30 * kSecond}));
  EXPECT_EQ(anthropic[static_cast<std::size_t>(RateLimit::requests)], Window{});
}

struct Said {
  const char* why;
  int status;
  Fields fields;
  const char* body;
  Rejection taken;
  int to_client;
  const char* code;
};

TEST(Refusals, are_taken_for_what_they_are) {
  const Said cases[] = {
      {"OpenAI, tokens",
       429,
       {{"retry-after-ms", "43"}},
       R"({"error":{"message":"Rate limit reached","type":"tokens","param":null,"code":"rate_limit_exceeded"}})",
       Rejection::throttled,
       429,
       "provider_rate_limited"},
      {"OpenAI, no credit: waiting does not help",
       429,
       {},
       R"({"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}})",
       Rejection::refused,
       502,
       "provider_refused"},
      {"OpenAI, wrong key",
       401,
       {},
       R"({"error":{"message":"Incorrect API key provided: sk-secret"}})",
       Rejection::refused,
       502,
       "provider_refused"},
      {"OpenAI, no such model",
       404,
       {},
       R"({"error":{"message":"no","code":"model_not_found"}})",
       Rejection::refused,
       502,
       "provider_refused"},
      {"OpenAI, no such response",
       404,
       {},
       R"({"error":{"message":"Response with id 'r' not found.","type":"invalid_request_error","code":null}})",
       Rejection::request,
       404,
       "rejected_by_provider"},
      {"vLLM, no such model",
       404,
       {},
       R"({"object":"error","message":"The model `x` does not exist.","type":"NotFoundError","code":404})",
       Rejection::refused,
       502,
       "provider_refused"},
      {"no API there", 404, {}, "<html>404</html>", Rejection::refused, 502, "provider_refused"},
      {"FastAPI without such a path",
       404,
       {},
       R"({"detail":"Not Found"})",
       Rejection::refused,
       502,
       "provider_refused"},
      {"too long",
       400,
       {},
       R"({"error":{"message":"too long","code":"context_length_exceeded","param":"messages"}})",
       Rejection::request,
       400,
       "context_length_exceeded"},
      {"too large", 413, {}, "", Rejection::request, 413, "rejected_by_provider"},
      {"Anthropic, overloaded",
       529,
       {},
       R"({"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}})",
       Rejection::overloaded,
       503,
       "provider_overloaded"},
      {"overloaded", 503, {{"retry-after", "5"}}, "", Rejection::overloaded, 503, "provider_overloaded"},
      {"failed", 500, {}, "", Rejection::failed, 502, "provider_failed"},
      {"timed out", 408, {}, "", Rejection::failed, 502, "provider_failed"},
      {"Bedrock, model error", 424, {}, R"({"message":"The model failed"})", Rejection::failed, 502, "provider_failed"},
      {"never followed", 302, {{"location", "https://evil.example"}}, "", Rejection::refused, 502, "provider_refused"},
      {"no money", 402, {}, "", Rejection::refused, 502, "provider_refused"},
  };
  wire::Json json;
  for (const Said& c : cases) {
    const Refusal got = read_refusal(c.status, c.fields, c.body, kNow, json);
    EXPECT_EQ(got.why, c.taken) << c.why;
    EXPECT_EQ(got.error.status, c.to_client) << c.why;
    EXPECT_EQ(got.error.code, c.code) << c.why;
    EXPECT_THAT(got.error.message, Not(HasSubstr("sk-secret"))) << c.why;
    EXPECT_FALSE(got.billed) << c.why;
  }
}

TEST(Refusals, say_how_long_to_wait_and_for_which_limit) {
  const struct {
    const char* why;
    Fields fields;
    const char* body;
    Duration wait;
    RateLimit limit;
  } cases[] = {
      {"milliseconds", {{"retry-after-ms", "43"}, {"retry-after", "1"}}, "", 43 * kMs, RateLimit::unknown},
      {"the window that is used up",
       {{"x-ratelimit-remaining-requests", "3"},
        {"x-ratelimit-remaining-tokens", "0"},
        {"x-ratelimit-reset-tokens", "2s"}},
       "",
       2 * kSecond,
       RateLimit::tokens},
      {"a wait of its own before the window's",
       {{"retry-after", "9"}, {"x-ratelimit-remaining-tokens", "0"}, {"x-ratelimit-reset-tokens", "2s"}},
       "",
       9 * kSecond,
       RateLimit::tokens},
      {"a type", {}, R"({"error":{"type":"requests","message":""}})", Duration{0}, RateLimit::requests},
      {"Anthropic's words",
       {{"retry-after", "9"}},
       R"({"type":"error","error":{"type":"rate_limit_error","message":"exceeds the rate limit of 8,000 output tokens per minute"}})",
       9 * kSecond,
       RateLimit::output_tokens},
      {"Google's details",
       {},
       R"([{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"m","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"30.5s"}]}}])",
       30'500 * kMs,
       RateLimit::unknown},
  };
  wire::Json json;
  for (const auto& c : cases) {
    const Refusal got = read_refusal(429, c.fields, c.body, kNow, json);
    EXPECT_EQ(got.why, Rejection::throttled) << c.why;
    EXPECT_EQ(got.retry_after, c.wait) << c.why;
    EXPECT_EQ(got.limit, c.limit) << c.why;
  }
}

TEST(Refusals, pass_on_what_helps_the_client_and_no_more_than_a_line) {
  const std::string body =
      R"({"error":{"message":")" + std::string(511, 'a') + "\xc3\xa9" + std::string(600, 'b') + R"(\n"}})";
  wire::Json json;
  const Refusal got = read_refusal(400, {}, body, kNow, json);
  EXPECT_EQ(got.error.message, std::string(511, 'a')) << "whole characters only";
  EXPECT_EQ(read_refusal(400, {}, R"({"error":{"message":"a\u0000\nb"}})", kNow, json).error.message, "ab");
}

TEST(AzureOpenAi, charges_for_a_prompt_it_filtered) {
  wire::Json json;
  const char* const body = R"({"error":{"message":"filtered","code":"content_filter","status":400}})";
  EXPECT_TRUE(upstream("azure")->refusal(400, {}, body, kNow, json).billed);
  EXPECT_FALSE(upstream("open")->refusal(400, {}, body, kNow, json).billed);
  EXPECT_FALSE(upstream("azure")->refusal(429, {}, "", kNow, json).billed);
  EXPECT_FALSE(upstream("azure")->refusal(422, {}, body, kNow, json).billed) << "only what is documented is charged";
}

TEST(AzureOpenAi, says_which_deployment_answered_when_it_spilled_by_itself) {
  const auto azure = upstream("azure");
  EXPECT_EQ(azure->told(Fields{{"x-ms-deployment-name", "my-deployment"}}, kNow).served_by, "");
  EXPECT_EQ(azure
                ->told(Fields{{"x-ms-spillover-from-deployment", "my-deployment"},
                              {"x-ms-deployment-name", "paygo"},
                              {"apim-request-id", "a-1"}},
                       kNow)
                .served_by,
            "paygo");
  EXPECT_EQ(azure->told(Fields{{"apim-request-id", "a-1"}}, kNow).request_id, "a-1");
}

}  // namespace
}  // namespace ace
