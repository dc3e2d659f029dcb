#include "wire/request.h"

#include <gtest/gtest.h>

#include "core/testing.h"
#include "wire/json_testing.h"
#include "wire/media.h"

namespace ace::wire {
namespace {

ReadRequest read(Operation operation, std::string_view body) {
  Json json;
  return read_request(operation, body, {}, json);
}
std::string code(Operation operation, std::string_view body) {
  const ReadRequest got = read(operation, body);
  return got.error ? got.error->code + (got.error->param.empty() ? "" : " " + got.error->param) : "";
}

#define MESSAGES "\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}]"

TEST(Request, that_is_wrong_names_the_field_and_says_what_was_expected) {
  const struct {
    const char* id;
    std::string body;
    const char* want;
  } cases[] = {
      {"J01", R"({"model":"cheap","model":"costly",)" MESSAGES "}", "duplicate_key"},
      {"J02", R"({"model":"m",)" MESSAGES R"(,"tools":)" + std::string(65, '[') + std::string(65, ']') + "}",
       "too_deep"},
      {"J03 1e400", R"({"model":"m","max_tokens":1e400,)" MESSAGES "}", "invalid_value max_tokens"},
      {"J03 large", R"({"model":"m","max_tokens":99999999999999999999,)" MESSAGES "}", "invalid_value max_tokens"},
      {"J03 -1", R"({"model":"m","max_tokens":-1,)" MESSAGES "}", "invalid_value max_tokens"},
      {"J03 0", R"({"model":"m","max_completion_tokens":0,)" MESSAGES "}", "invalid_value max_completion_tokens"},
      {"J03 1.5", R"({"model":"m","max_tokens":1.5,)" MESSAGES "}", "invalid_value max_tokens"},
      {"J03 text", R"({"model":"m","max_tokens":"5",)" MESSAGES "}", "invalid_value max_tokens"},
      {"J03 true", R"({"model":"m","max_tokens":true,)" MESSAGES "}", "invalid_value max_tokens"},
      {"J03 null is absent", R"({"model":"m","max_tokens":null,)" MESSAGES "}", ""},
      {"two bounds", R"({"model":"m","max_tokens":1,"max_completion_tokens":2,)" MESSAGES "}",
       "conflicting_values max_completion_tokens"},
      {"J05", R"({"model":"m","temperature":NaN,)" MESSAGES "}", "invalid_json"},
      {"J06", R"({"model":"m","x":"\ud800",)" MESSAGES "}", "invalid_unicode"},
      {"J08 long model", R"({"model":")" + std::string(10'240, 'm') + R"(",)" MESSAGES "}", "model_not_found model"},
      {"no model", "{" MESSAGES "}", "model_missing model"},
      {"model null", R"({"model":null,)" MESSAGES "}", "model_missing model"},
      {"model number", R"({"model":4,)" MESSAGES "}", "model_missing model"},
      {"J10 empty", "", "invalid_json"},
      {"J10 null", "null", "invalid_body"},
      {"J10 list", "[]", "invalid_body"},
      {"J10 text", "\"x\"", "invalid_body"},
      {"J11 api_base", R"({"model":"m","api_base":"http://evil",)" MESSAGES "}", "forbidden_parameter api_base"},
      {"J11 null too", R"({"model":"m","api_key":null,)" MESSAGES "}", "forbidden_parameter api_key"},
      {"J11 mock", R"({"model":"m","mock_response":"x",)" MESSAGES "}", "forbidden_parameter mock_response"},
      {"J12 text", R"({"model":"m","stream":"true",)" MESSAGES "}", "invalid_value stream"},
      {"J12 number", R"({"model":"m","stream":1,)" MESSAGES "}", "invalid_value stream"},
      {"J16", R"({"model":"m","seed":)" + std::string(1'000'000, '1') + "," MESSAGES "}", "number_too_long"},
      {"J17",
       R"({"model":"m","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"http://169.254.169.254/"}}]}]})",
       "forbidden_url url"},
      {"J17 within a tool result",
       R"({"model":"m","messages":[{"role":"user","content":[{"type":"x","content":[{"type":"image_url","image_url":{"url":"file:///etc/passwd"}}]}]}]})",
       "forbidden_url url"},
      {"J21", R"({"model":"m","chat_template":"{{x}}",)" MESSAGES "}", "forbidden_parameter chat_template"},
      {"n", R"({"model":"m","n":9,)" MESSAGES "}", "invalid_value n"},
      {"no messages", R"({"model":"m"})", "messages_missing messages"},
      {"empty messages", R"({"model":"m","messages":[]})", "messages_missing messages"},
      {"unknown fields are the provider's business", R"({"model":"m","future":{"x":[1]},)" MESSAGES "}", ""},
  };
  for (const auto& c : cases) EXPECT_EQ(code(Operation::chat, c.body), c.want) << c.id;
  EXPECT_EQ(code(Operation::messages, R"({"model":"m",)" MESSAGES "}"), "max_tokens_missing max_tokens");  // J23
  EXPECT_EQ(code(Operation::count_tokens, R"({"model":"m",)" MESSAGES "}"), "");
  EXPECT_EQ(code(Operation::responses, R"({"model":"m"})"), "input_missing input");
  EXPECT_EQ(code(Operation::embeddings, R"({"model":"m","input":5})"), "input_missing input");
}

TEST(Request, echoes_at_most_64_characters_of_what_it_was_given) {
  const auto got = read(Operation::chat, R"({"model":"m","stream":")" + std::string(1000, 'x') + R"(",)" MESSAGES "}");
  ASSERT_TRUE(got.error);
  EXPECT_LT(got.error->message.size(), 120U);
  EXPECT_EQ(echo("a\r\nb\"c\x7f"), "abc");
  EXPECT_EQ(echo(std::string(63, 'a') + "\xc3\xa9"), std::string(63, 'a')) << "no half character";
  EXPECT_EQ(echo("\xc3"), "");
}

TEST(Request, says_what_routing_needs) {
  const auto chat = read(Operation::chat, R"({
    "model": "gpt-\u0034o", "stream": true, "stream_options": {"include_usage": true}, "max_completion_tokens": 77, "n": 2,
    "user": "u1", "service_tier": "flex", "tools": [{"type": "function"}], "response_format": {"type": "json_schema"},
    "reasoning_effort": "low",
    "messages": [{"role": "user", "content": [
      {"type": "text", "text": "12345678"}, {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}},
      {"type": "input_audio", "input_audio": {"data": "AAAA"}}, {"type": "file", "file": {"file_id": "f"}}]}]})");
  ASSERT_FALSE(chat.error) << chat.error->message;
  const Request& r = chat.request;
  EXPECT_EQ(r.model, "gpt-4o");
  EXPECT_TRUE(r.stream && r.include_usage && r.tools && r.structured_output && r.reasoning && r.images && r.audio &&
              r.files);
  EXPECT_EQ(r.max_tokens, 77);
  EXPECT_EQ(r.choices, 2);
  EXPECT_EQ(r.user, "u1");
  EXPECT_EQ(r.service_tier, "flex");
  // Words: "user" 4, "text" 4, "12345678" 8, and 21 bytes of tools, 37 in all: 10 tokens; one image is 1000.
  EXPECT_EQ(r.prompt_tokens, 1010);

  const auto messages = read(Operation::messages, R"({"model":"c","max_tokens":5,"system":[{"type":"text","text":"s",
    "cache_control":{"type":"ephemeral"}}],"thinking":{"type":"enabled"},"metadata":{"user_id":"u2"},)" MESSAGES "}");
  EXPECT_TRUE(messages.request.cache_hints && messages.request.reasoning);
  EXPECT_EQ(messages.request.user, "u2");

  EXPECT_TRUE(read(Operation::responses, R"({"model":"m","input":"x"})").request.stores);
  EXPECT_FALSE(read(Operation::responses, R"({"model":"m","input":"x","store":false})").request.stores);
  EXPECT_TRUE(read(Operation::responses, R"({"model":"m","store":false,"previous_response_id":"r"})").request.stores);
  EXPECT_EQ(read(Operation::embeddings, R"({"model":"m","input":[1,2,3]})").request.prompt_tokens, 3);
}

TEST(Rewritten, changes_what_it_was_asked_to_and_nothing_else) {
  const struct {
    const char* why;
    Operation operation;
    const char *body, *want;
    Changes changes;
  } cases[] = {
      {"nothing",
       Operation::chat,
       R"( {"model" : "m",)" MESSAGES R"(, "x":1.50e1} )",
       R"( {"model" : "m",)" MESSAGES R"(, "x":1.50e1} )",
       {}},
      {"model",
       Operation::chat,
       R"({"x":"\u00e9", "model" :"m" ,)" MESSAGES "}",
       R"({"x":"\u00e9", "model" :"a\"b" ,)" MESSAGES "}",
       {.model = "a\"b"}},
      {"bound replaced",
       Operation::chat,
       R"({"model":"m","max_tokens": 900,)" MESSAGES "}",
       R"({"model":"m","max_tokens": 7,)" MESSAGES "}",
       {.max_tokens = 7}},
      {"bound added",
       Operation::responses,
       R"({ "model":"m","input":"x"})",
       R"({"max_output_tokens":7, "model":"m","input":"x"})",
       {.max_tokens = 7}},
      {"J13: usage forced",
       Operation::chat,
       R"({"model":"m","stream":true,"stream_options":{"include_usage":false},)" MESSAGES "}",
       R"({"model":"m","stream":true,"stream_options":{"include_usage":true},)" MESSAGES "}",
       {.force_usage = true}},
      {"usage beside another option",
       Operation::chat,
       R"({"model":"m","stream":true,"stream_options":{ "x":1},)" MESSAGES "}",
       R"({"model":"m","stream":true,"stream_options":{"include_usage":true, "x":1},)" MESSAGES "}",
       {.force_usage = true}},
      {"usage into an empty object",
       Operation::chat,
       R"({"model":"m","stream":true,"stream_options":{ },)" MESSAGES "}",
       R"({"model":"m","stream":true,"stream_options":{"include_usage":true },)" MESSAGES "}",
       {.force_usage = true}},
      {"usage for null",
       Operation::chat,
       R"({"model":"m","stream":true,"stream_options":null,)" MESSAGES "}",
       R"({"model":"m","stream":true,"stream_options":{"include_usage":true},)" MESSAGES "}",
       {.force_usage = true}},
      {"usage where nothing was said",
       Operation::chat,
       R"({"model":"m","stream":true,)" MESSAGES "}",
       R"({"stream_options":{"include_usage":true},"model":"m","stream":true,)" MESSAGES "}",
       {.force_usage = true}},
      {"no usage where nothing is streamed",
       Operation::chat,
       R"({"model":"m",)" MESSAGES "}",
       R"({"model":"m",)" MESSAGES "}",
       {.force_usage = true}},
      {"J20: the tenant's key takes the place of all others",
       Operation::chat,
       R"({"model":"m","cache_salt":"x","prompt_cache_key":null,)" MESSAGES "}",
       R"({"model":"m","cache_salt":"k","prompt_cache_key":"k",)" MESSAGES "}",
       {.cache_key = "k"}},
  };
  for (const auto& c : cases) {
    const ReadRequest got = read(c.operation, c.body);
    ASSERT_FALSE(got.error) << c.why << ": " << got.error->message;
    EXPECT_EQ(rewritten(c.body, got.request, c.changes), c.want) << c.why;
  }
}

TEST(Rewritten, keeps_fields_that_nobody_knows_byte_for_byte) {
  for_each_seed(500, [](Rng& rng) {
    std::string body = "{";
    std::vector<std::string> known = {R"("model": "m")", R"("stream":true)", MESSAGES};
    if (rng.chance(0.5)) known.push_back(R"("max_tokens":5)");
    if (rng.chance(0.5)) known.push_back(R"("stream_options":{"include_usage": false})");
    for (int i = 0; i < 4; ++i) known.push_back("\"unknown" + std::to_string(i) + "\" : " + random_json(rng));
    rng.shuffle(std::span(known));
    for (const std::string& member : known) body += (body.size() > 1 ? "," : "") + member;
    body += "}";
    const ReadRequest got = read(Operation::chat, body);
    ASSERT_FALSE(got.error) << body << got.error->message;
    const std::string out = rewritten(body, got.request, {.model = "other", .force_usage = true, .max_tokens = 9});
    const ReadRequest back = read(Operation::chat, out);
    ASSERT_FALSE(back.error) << out;
    EXPECT_EQ(back.request.model, "other");
    EXPECT_TRUE(back.request.include_usage);
    EXPECT_EQ(back.request.max_tokens, 9);
    for (const std::string& member : known) {
      if (member.starts_with("\"unknown")) {
        EXPECT_NE(out.find(member), std::string::npos) << out;
      }
    }
  });
}

TEST(Media, may_only_come_from_the_open_internet) {
  const struct {
    const char* url;
    bool want;
  } cases[] = {
      {"https://example.com/a.png?x=1", true},
      {"https://8.8.8.8/a", true},
      {"https://[2606:4700::1111]/a", true},
      {"data:image/png;base64,AAAA", true},
      {"http://example.com/", false},
      {"file:///etc/passwd", false},
      {"https://169.254.169.254/", false},
      {"https://127.0.0.1\\@ok.com/", false},
      {"https://0x7f000001/", false},
      {"https://2130706433/", false},
      {"https://017700000001/", false},
      {"https://127.1/", false},
      {"https://u@example.com/", false},
      {"https://localhost/", false},
      {"https://metadata.google.internal/", false},
      {"https://[::ffff:127.0.0.1]/", false},
      {"https://[::1]/", false},
      {"https://10.0.0.1/", false},
      {"https://example.com\r\n/", false},
      {"https:///", false},
      {"https://b\xc3\xbc"
       "cher.example/",
       false},
      {"//example.com/", false},
      {"https://printer.local/", false},
      {"https://example.com./", false},
  };
  for (const auto& c : cases) EXPECT_EQ(refused_media_url(c.url) == nullptr, c.want) << c.url;
  EXPECT_NE(refused_media_url("data:," + std::string(20 * 1024 * 1024, 'A')), nullptr);
}

}  // namespace
}  // namespace ace::wire
