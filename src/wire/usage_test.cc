#include "wire/usage.h"

#include <gtest/gtest.h>

#include "core/testing.h"

namespace ace::wire {
namespace {

Usage counts(std::initializer_list<std::pair<Unit, std::int64_t>> list) {
  Usage u;
  for (const auto& [unit, count] : list) u.set(unit, count);
  return u;
}

Reported read(Dialect dialect, std::string_view text) {
  Json json;
  EXPECT_TRUE(json.parse(text)) << text;
  return read_usage(dialect, json.root());
}

TEST(Usage, of_each_provider_becomes_disjoint) {
  const struct {
    const char* why;
    Dialect dialect;
    const char* text;
    Usage want;
    int flags;
  } cases[] = {
      {"chat", Dialect::openai, R"({"prompt_tokens":10,"completion_tokens":5,"total_tokens":15})",
       counts({{Unit::input, 10}, {Unit::output, 5}}), 0},
      {"chat: cached and reasoning are inside", Dialect::openai,
       R"({"prompt_tokens":100,"completion_tokens":50,"prompt_tokens_details":{"cached_tokens":64,"audio_tokens":0},
           "completion_tokens_details":{"reasoning_tokens":40}})",
       counts({{Unit::input, 36}, {Unit::cached_input, 64}, {Unit::output, 10}, {Unit::reasoning, 40}}), 0},
      {"responses", Dialect::openai,
       R"({"input_tokens":100,"input_tokens_details":{"cached_tokens":60},"output_tokens":9,
           "output_tokens_details":{"reasoning_tokens":4}})",
       counts({{Unit::input, 40}, {Unit::cached_input, 60}, {Unit::output, 5}, {Unit::reasoning, 4}}), 0},
      {"audio: the cached part is cached alone", Dialect::openai,
       R"({"prompt_tokens":100,"completion_tokens":50,"prompt_tokens_details":{"cached_tokens":30,"audio_tokens":40,
           "cached_tokens_details":{"audio_tokens":10}},"completion_tokens_details":{"audio_tokens":45}})",
       counts({{Unit::input, 40},
               {Unit::cached_input, 30},
               {Unit::audio_input, 30},
               {Unit::output, 5},
               {Unit::audio_output, 45}}),
       0},
      {"cache writes inside", Dialect::openai,
       R"({"prompt_tokens":100,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":10,"cache_write_tokens":20}})",
       counts({{Unit::input, 70}, {Unit::cached_input, 10}, {Unit::cache_write, 20}, {Unit::output, 1}}), 0},
      {"DeepSeek", Dialect::openai, R"({"prompt_tokens":10,"completion_tokens":1,"prompt_cache_hit_tokens":4})",
       counts({{Unit::input, 6}, {Unit::cached_input, 4}, {Unit::output, 1}}), 0},
      {"embeddings", Dialect::openai, R"({"prompt_tokens":8,"total_tokens":8})", counts({{Unit::input, 8}}), 0},
      {"Anthropic: beside each other", Dialect::anthropic,
       R"({"input_tokens":10,"cache_read_input_tokens":1000,"cache_creation_input_tokens":200,"output_tokens":7})",
       counts({{Unit::input, 10}, {Unit::cached_input, 1000}, {Unit::cache_write, 200}, {Unit::output, 7}}), 0},
      {"Anthropic: one hour", Dialect::anthropic,
       R"({"input_tokens":1,"cache_creation_input_tokens":300,"cache_creation":{"ephemeral_5m_input_tokens":100,
           "ephemeral_1h_input_tokens":200},"output_tokens":7})",
       counts({{Unit::input, 1}, {Unit::cache_write, 100}, {Unit::cache_write_1h, 200}, {Unit::output, 7}}), 0},
      {"Anthropic: its kinds alone", Dialect::anthropic,
       R"({"input_tokens":1,"cache_creation":{"ephemeral_5m_input_tokens":100,"ephemeral_1h_input_tokens":200}})",
       counts({{Unit::input, 1}, {Unit::cache_write, 100}, {Unit::cache_write_1h, 200}}), 0},
      {"S10 negative", Dialect::openai, R"({"prompt_tokens":-5,"completion_tokens":1})", counts({{Unit::output, 1}}),
       kUsageNegative},
      {"S10 2^63", Dialect::openai, R"({"prompt_tokens":9223372036854775808,"completion_tokens":1})",
       counts({{Unit::output, 1}}), kUsageAbsurd},
      {"S10 text", Dialect::openai, R"({"prompt_tokens":"5","completion_tokens":1})", counts({{Unit::output, 1}}),
       kUsageAbsurd},
      {"S10 fraction", Dialect::openai, R"({"prompt_tokens":5.5,"completion_tokens":1})", counts({{Unit::output, 1}}),
       kUsageAbsurd},
      {"a part larger than its whole", Dialect::openai,
       R"({"prompt_tokens":5,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":9}})",
       counts({{Unit::cached_input, 5}, {Unit::output, 1}}), kUsageConflict},
      {"null details", Dialect::openai, R"({"prompt_tokens":5,"completion_tokens":1,"prompt_tokens_details":null})",
       counts({{Unit::input, 5}, {Unit::output, 1}}), 0},
  };
  for (const auto& c : cases) {
    const Reported got = read(c.dialect, c.text);
    EXPECT_EQ(got.usage, c.want) << c.why;
    EXPECT_EQ(got.flags, c.flags) << c.why;
  }
}

TEST(Usage, classes_add_up_to_the_providers_totals) {
  for_each_seed(500, [](Rng& rng) {
    const auto prompt = static_cast<std::int64_t>(rng.below(10'000)),
               answer = static_cast<std::int64_t>(rng.below(10'000));
    const auto some = [&](std::int64_t most) {
      return std::to_string(rng.below(static_cast<std::uint64_t>(most) + 1));
    };
    const std::string text = R"({"prompt_tokens":)" + std::to_string(prompt) + R"(,"completion_tokens":)" +
                             std::to_string(answer) + R"(,"prompt_tokens_details":{"cached_tokens":)" + some(prompt) +
                             R"(,"audio_tokens":)" + some(prompt) + R"(,"image_tokens":)" + some(prompt) +
                             R"(},"completion_tokens_details":{"reasoning_tokens":)" + some(answer) +
                             R"(,"audio_tokens":)" + some(answer) + "}}";
    const Usage got = read(Dialect::openai, text).usage;
    EXPECT_EQ(got.prompt().value, prompt) << text;
    EXPECT_EQ(got.completion().value, answer) << text;
  });
}

TEST(Response, tells_what_the_books_need) {
  Json json;
  const auto chat = read_response(Operation::chat, R"({"id":"c1","model":"gpt-x","service_tier":"flex","choices":[
    {"finish_reason":"tool_calls","message":{"content":"abc","tool_calls":[{"function":{"name":"f","arguments":"{}"}}]}}],
    "usage":{"prompt_tokens":1,"completion_tokens":2}})",
                                  json);
  ASSERT_TRUE(chat && chat->reported);
  EXPECT_EQ(chat->id, "c1");
  EXPECT_EQ(chat->model, "gpt-x");
  EXPECT_EQ(chat->finish, "tool_calls");
  EXPECT_EQ(chat->service, ServiceTier::flex);
  EXPECT_EQ(chat->text_bytes, 6);
  EXPECT_FALSE(chat->error);

  const auto messages =
      read_response(Operation::messages, R"({"type":"message","id":"m1","model":"claude","stop_reason":"end_turn",
    "content":[{"type":"text","text":"hello"}],"usage":{"input_tokens":3,"output_tokens":4,"service_tier":"priority"}})",
                    json);
  EXPECT_EQ(messages->finish, "end_turn");
  EXPECT_EQ(messages->text_bytes, 5);
  EXPECT_EQ(messages->service, ServiceTier::priority);
  EXPECT_EQ(messages->reported->usage, Usage({3}, {0}, {4}));

  const auto responses = read_response(Operation::responses, R"({"id":"r","status":"completed","error":null,"output":[
    {"type":"message","content":[{"type":"output_text","text":"hi"}]}],"usage":{"input_tokens":3,"output_tokens":4}})",
                                       json);
  EXPECT_FALSE(responses->error);
  EXPECT_EQ(responses->finish, "completed");
  EXPECT_EQ(responses->text_bytes, 2);

  EXPECT_TRUE(read_response(Operation::chat, R"({"error":{"message":"no"}})", json)->error) << "S12: an error with 200";
  EXPECT_TRUE(
      read_response(Operation::messages, R"({"type":"error","error":{"type":"overloaded_error"}})", json)->error);
  EXPECT_FALSE(read_response(Operation::chat, "<html>", json));
  EXPECT_FALSE(read_response(Operation::chat, "", json));
  EXPECT_FALSE(read_response(Operation::chat, R"({"choices":[]})", json)->reported);
}

using Kind = StreamReader::Kind;

TEST(Stream, of_chat_chunks_is_followed_to_its_end) {
  Json json;
  StreamReader reader(Operation::chat);
  EXPECT_EQ(
      reader.take("", R"({"id":"c","model":"gpt-x","choices":[{"delta":{"role":"assistant","content":""}}]})", json),
      Kind::content);
  EXPECT_EQ(reader.take("", R"({"choices":[{"delta":{"content":"abcd"}}],"usage":null})", json), Kind::content);
  EXPECT_EQ(reader.take("", R"({"choices":[{"delta":{},"finish_reason":"stop"}]})", json), Kind::content);
  EXPECT_FALSE(reader.ended());
  EXPECT_EQ(reader.take("", R"({"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":1}})", json),
            Kind::usage_only);
  EXPECT_EQ(reader.take("", "[DONE]", json), Kind::end);
  EXPECT_TRUE(reader.ended());
  EXPECT_EQ(reader.facts().finish, "stop");
  EXPECT_EQ(reader.facts().text_bytes, 4);
  EXPECT_EQ(reader.facts().reported->usage, Usage({5}, {0}, {1}));
  EXPECT_EQ(reader.content_events(), 3);
}

TEST(Stream, of_messages_counts_input_at_its_start_and_output_at_its_end) {
  Json json;
  StreamReader reader(Operation::messages);
  reader.take("message_start",
              R"({"type":"message_start","message":{"id":"m","model":"claude","usage":{"input_tokens":10,
    "cache_read_input_tokens":90,"output_tokens":1}}})",
              json);
  EXPECT_EQ(reader.take("ping", R"({"type":"ping"})", json), Kind::content);
  reader.take("content_block_delta", R"({"type":"content_block_delta","delta":{"type":"text_delta","text":"hey"}})",
              json);
  reader.take("message_delta",
              R"({"type":"message_delta","delta":{"stop_reason":"max_tokens"},"usage":{"output_tokens":42}})", json);
  EXPECT_EQ(reader.take("message_stop", R"({"type":"message_stop"})", json), Kind::end);
  EXPECT_EQ(reader.facts().reported->usage, Usage({10}, {90}, {42}));
  EXPECT_EQ(reader.facts().reported->flags, 0);
  EXPECT_EQ(reader.facts().finish, "max_tokens");
  EXPECT_EQ(reader.facts().text_bytes, 3);
}

TEST(Stream, of_responses_ends_with_its_last_event) {
  Json json;
  StreamReader reader(Operation::responses);
  reader.take("response.created",
              R"({"type":"response.created","response":{"id":"r","model":"gpt-x","status":"in_progress"}})", json);
  reader.take("response.output_text.delta", R"({"type":"response.output_text.delta","delta":"hello"})", json);
  EXPECT_EQ(
      reader.take("response.completed", R"({"type":"response.completed","response":{"status":"completed","error":null,
    "usage":{"input_tokens":3,"output_tokens":4}}})",
                  json),
      Kind::end);
  EXPECT_EQ(reader.facts().reported->usage, Usage({3}, {0}, {4}));
  EXPECT_EQ(reader.facts().text_bytes, 5);
  StreamReader failing(Operation::responses);
  EXPECT_EQ(failing.take("response.failed", R"({"type":"response.failed","response":{"error":{"code":"x"}}})", json),
            Kind::error);
}

TEST(Stream, that_is_broken_or_fails_says_so) {
  Json json;
  StreamReader chat(Operation::chat);
  EXPECT_EQ(chat.take("", R"({"choices":[{"del)", json), Kind::broken);
  EXPECT_EQ(chat.take("", "hello", json), Kind::broken);
  EXPECT_EQ(chat.take("", R"({"error":{"message":"boom"}})", json), Kind::error);
  EXPECT_TRUE(chat.facts().error);
  EXPECT_FALSE(chat.ended());
  StreamReader messages(Operation::messages);
  EXPECT_EQ(messages.take("error", R"({"type":"error","error":{"type":"overloaded_error"}})", json), Kind::error);
  EXPECT_EQ(messages.take("", "[DONE]", json), Kind::broken) << "the other dialect's end";
}

TEST(Stream, keeps_the_largest_of_several_reports) {  // S10
  Json json;
  StreamReader reader(Operation::chat);
  const auto chunk = [&](int prompt, int answer) {
    reader.take("",
                R"({"choices":[],"usage":{"prompt_tokens":)" + std::to_string(prompt) + R"(,"completion_tokens":)" +
                    std::to_string(answer) + "}}",
                json);
  };
  chunk(5, 1);
  chunk(5, 9);
  EXPECT_EQ(reader.facts().reported->flags, 0);
  chunk(5, 3);
  EXPECT_EQ(reader.facts().reported->usage, Usage({5}, {0}, {9}));
  EXPECT_EQ(reader.facts().reported->flags, kUsageDecreased);
}

}  // namespace
}  // namespace ace::wire
