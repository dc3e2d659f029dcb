#include "wire/translate.h"

#include <gtest/gtest.h>

#include "net/sse.h"
#include "wire/request.h"

namespace ace::wire {
namespace {

/// A JSON text without blanks outside of strings, so that expectations may be laid out.
std::string packed(std::string_view text) {
  std::string out;
  bool inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (inside && text[i] == '\\')
      out += text[i++];
    else if (text[i] == '"')
      inside = !inside;
    else if (!inside && (text[i] == ' ' || text[i] == '\n'))
      continue;
    out += text[i];
  }
  return out;
}

std::string to_anthropic(std::string_view body) {
  Json json;
  EXPECT_TRUE(json.parse(body)) << body;
  const Translated got = request_to_anthropic(json.root(), "claude", 4096);
  return got.error ? got.error->code + " " + got.error->param : got.body;
}
std::string to_openai(std::string_view body) {
  Json json;
  EXPECT_TRUE(json.parse(body)) << body;
  const Translated got = request_to_openai(json.root(), "gpt");
  return got.error ? got.error->code + " " + got.error->param : got.body;
}

TEST(Translate, a_chat_with_tools_and_images_becomes_messages) {
  EXPECT_EQ(to_anthropic(R"({"model":"x","max_tokens":99,"stream":true,"stream_options":{"include_usage":true},
    "temperature":0.7,"top_p":0.9,"stop":"END","user":"u","parallel_tool_calls":false,"tool_choice":"required",
    "tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object"}}}],
    "messages":[{"role":"system","content":"be \u00e9"},{"role":"developer","content":[{"type":"text","text":"brief"}]},
      {"role":"user","content":[{"type":"text","text":"look"},
        {"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}},
        {"type":"image_url","image_url":{"url":"https://example.com/a.png"}}]},
      {"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}},
        {"id":"c2","type":"function","function":{"name":"g","arguments":""}}]},
      {"role":"tool","tool_call_id":"c1","content":"r1"},{"role":"tool","tool_call_id":"c2","content":""},
      {"role":"user","content":"go on"}]})"),
            packed(R"({"model":"claude","max_tokens":99,
    "system":[{"type":"text","text":"be \u00e9"},{"type":"text","text":"brief"}],
    "messages":[
      {"role":"user","content":[{"type":"text","text":"look"},
        {"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}},
        {"type":"image","source":{"type":"url","url":"https://example.com/a.png"}}]},
      {"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"f","input":{"a":1}},
        {"type":"tool_use","id":"c2","name":"g","input":{}}]},
      {"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"r1"}]},
        {"type":"tool_result","tool_use_id":"c2"},{"type":"text","text":"go on"}]}],
    "stream":true,"top_p":0.9,"temperature":0.7,"stop_sequences":["END"],
    "tools":[{"name":"f","description":"d","input_schema":{"type":"object"}}],
    "tool_choice":{"type":"any","disable_parallel_tool_use":true}})"));
  EXPECT_EQ(
      to_anthropic(R"({"model":"x","messages":[{"role":"user","content":"hi"}]})"),
      R"({"model":"claude","max_tokens":4096,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]})");
}

TEST(Translate, messages_become_a_chat) {
  EXPECT_EQ(to_openai(R"({"model":"x","max_tokens":99,"stream":true,"temperature":0.7,"stop_sequences":["END"],
    "system":[{"type":"text","text":"be brief","cache_control":{"type":"ephemeral"}}],"metadata":{"user_id":"u"},
    "tools":[{"name":"f","description":"d","input_schema":{"type":"object"}}],
    "tool_choice":{"type":"tool","name":"f","disable_parallel_tool_use":true},
    "messages":[{"role":"user","content":[{"type":"text","text":"look"},
        {"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]},
      {"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"so"},
        {"type":"tool_use","id":"c1","name":"f","input":{"a": "b"}}]},
      {"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"r"}]},
        {"type":"text","text":"go on"}]}]})"),
            packed(R"({"model":"gpt","max_completion_tokens":99,
    "messages":[{"role":"system","content":[{"type":"text","text":"be brief"}]},
      {"role":"user","content":[{"type":"text","text":"look"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]},
      {"role":"assistant","content":[{"type":"text","text":"so"}],
       "tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"a\": \"b\"}"}}]},
      {"role":"tool","tool_call_id":"c1","content":[{"type":"text","text":"r"}]},
      {"role":"user","content":[{"type":"text","text":"go on"}]}],
    "temperature":0.7,"stop":["END"],"stream":true,"stream_options":{"include_usage":true},
    "tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object"}}}],
    "tool_choice":{"type":"function","function":{"name":"f"}},"parallel_tool_calls":false})"));
}

TEST(Translate, what_has_no_counterpart_is_an_error_that_names_it) {
#define CHAT(more) R"({"model":"x","messages":[{"role":"user","content":"hi"}],)" more "}"
#define MESSAGE(block) R"({"model":"x","max_tokens":1,"messages":[{"role":"user","content":[)" block "]}]}"
  const struct {
    std::string got;
    const char* field;
  } cases[] = {
      {to_anthropic(CHAT(R"("n":2)")), "n"},
      {to_anthropic(CHAT(R"("temperature":1.5)")), "temperature"},
      {to_anthropic(CHAT(R"("logprobs":true)")), "logprobs"},
      {to_anthropic(CHAT(R"("presence_penalty":0.5)")), "presence_penalty"},
      {to_anthropic(CHAT(R"("response_format":{"type":"json_schema"})")), "response_format"},
      {to_anthropic(CHAT(R"("reasoning_effort":"high")")), "reasoning_effort"},
      {to_anthropic(CHAT(R"("future_field":{})")), "future_field"},
      {to_anthropic(CHAT(R"("tools":[{"type":"web_search"}])")), "tools"},
      {to_anthropic(CHAT(R"("tool_choice":{"type":"allowed_tools"})")), "tool_choice"},
      {to_anthropic(R"({"model":"x","messages":[{"role":"user","content":"a"},{"role":"system","content":"b"}]})"),
       "messages"},
      {to_anthropic(R"({"model":"x","messages":[{"role":"user","content":[{"type":"input_audio"}]}]})"),
       "messages.content"},
      {to_anthropic(R"({"model":"x","messages":[{"role":"function","content":"a"}]})"), "messages.role"},
      {to_anthropic(
           R"({"model":"x","messages":[{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":"no"}}]}]})"),
       "messages.tool_calls"},
      {to_openai(R"({"model":"x","max_tokens":1,"top_k":5,"messages":[]})"), "top_k"},
      {to_openai(R"({"model":"x","max_tokens":1,"thinking":{"type":"enabled","budget_tokens":9},"messages":[]})"),
       "thinking"},
      {to_openai(R"({"model":"x","max_tokens":1,"tools":[{"type":"web_search_20250305","name":"w"}],"messages":[]})"),
       "tools"},
      {to_openai(MESSAGE(R"({"type":"document"})")), "messages.content"},
      {to_openai(MESSAGE(R"({"type":"image","source":{"type":"file","file_id":"f"}})")), "messages.content.source"},
      {to_openai(MESSAGE(R"({"type":"tool_result","tool_use_id":"c","content":[{"type":"image"}]})")),
       "messages.content.tool_result"},
  };
  for (const auto& c : cases) EXPECT_EQ(c.got, std::string("untranslatable ") + c.field);
  EXPECT_EQ(
      to_anthropic(CHAT(R"("n":1,"presence_penalty":0,"logprobs":false,"response_format":{"type":"text"},"x":null)"))
          .front(),
      '{');
}

TEST(Translate, an_answer_keeps_its_text_its_calls_its_end_and_its_usage) {
  Json json;
  const std::string message = R"({"id":"m","type":"message","role":"assistant","model":"claude",
    "content":[{"type":"text","text":"a\nb"},{"type":"tool_use","id":"c1","name":"f","input":{"x":1}}],
    "stop_reason":"tool_use","usage":{"input_tokens":10,"cache_read_input_tokens":90,"output_tokens":7}})";
  const std::string chat = packed(R"({"id":"m","object":"chat.completion","created":1700000000,"model":"claude",
    "choices":[{"index":0,"message":{"role":"assistant","content":"a\u000ab",
      "tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"x\":1}"}}]},
      "logprobs":null,"finish_reason":"tool_calls"}],
    "usage":{"prompt_tokens":100,"completion_tokens":7,"total_tokens":107,"prompt_tokens_details":{"cached_tokens":90},
      "completion_tokens_details":{"reasoning_tokens":0}}})");
  EXPECT_EQ(response_to_openai(message, 1'700'000'000, json).body, chat);
  EXPECT_EQ(response_to_anthropic(chat, json).body,
            packed(R"({"id":"m","type":"message","role":"assistant","model":"claude",
    "content":[{"type":"text","text":"a\u000ab"},{"type":"tool_use","id":"c1","name":"f","input":{"x":1}}],
    "stop_reason":"tool_use","stop_sequence":null,
    "usage":{"input_tokens":10,"cache_creation_input_tokens":0,"cache_read_input_tokens":90,"output_tokens":7}})"));
  for (const char* bad : {"", "<html>", "[]", "{}", R"({"choices":[]})", R"({"choices":[{}]})"}) {
    EXPECT_EQ(response_to_openai(bad, 0, json).error->code, "upstream_protocol") << bad;
    EXPECT_EQ(response_to_anthropic(bad, json).error->code, "upstream_protocol") << bad;
  }
}

const std::vector<std::string> kMessageStream = {
    R"({"type":"message_start","message":{"id":"m","model":"claude","usage":{"input_tokens":10,"cache_read_input_tokens":5,"output_tokens":1}}})",
    R"({"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}})",
    R"({"type":"ping"})",
    R"({"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"he\"y"}})",
    R"({"type":"content_block_stop","index":0})",
    R"({"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"c1","name":"f","input":{}}})",
    R"({"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"a\":"}})",
    R"({"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"1}"}})",
    R"({"type":"content_block_stop","index":1})",
    R"({"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":20}})",
    R"({"type":"message_stop"})"};

TEST(Translate, a_stream_there_and_back_says_the_same) {
  Json json;
  StreamToOpenAi there(7, true);
  std::string chunks;
  for (const std::string& data : kMessageStream) EXPECT_TRUE(there.take(data, chunks, json)) << data;
  EXPECT_TRUE(there.ended());
  EXPECT_TRUE(chunks.starts_with(
      "data: "
      "{\"id\":\"m\",\"object\":\"chat.completion.chunk\",\"created\":7,\"model\":\"claude\",\"choices\":[{\"index\":0,"
      "\"delta\":{\"role\":\"assistant\",\"content\":\"\"},\"finish_reason\":null}]}\n\n"))
      << chunks;
  EXPECT_TRUE(chunks.ends_with("data: [DONE]\n\n"));

  StreamToAnthropic back;
  StreamReader reader(Operation::chat);
  std::string events;
  net::SseParser parser;
  parser.feed(chunks, [&](const net::SseEvent& e) {
    EXPECT_TRUE(back.take(e.data, events, json)) << e.data;
    EXPECT_NE(reader.take(e.type, e.data, json), StreamReader::Kind::broken);
  });
  EXPECT_TRUE(back.ended());
  EXPECT_EQ(reader.facts().reported->usage, Usage({10}, {5}, {20}));

  std::vector<std::string> got;
  net::SseParser again;
  again.feed(events, [&](const net::SseEvent& e) { got.emplace_back(e.data); });
  std::vector<std::string> want = kMessageStream;
  want.erase(want.begin() + 2);  // the ping
  want.front() =
      R"({"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"claude","content":[],)"
      R"("stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":0,"cache_creation_input_tokens":0,)"
      R"("cache_read_input_tokens":0,"output_tokens":0}}})";
  want[8] =
      R"({"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"input_tokens":10,)"
      R"("cache_creation_input_tokens":0,"cache_read_input_tokens":5,"output_tokens":20}})";
  EXPECT_EQ(got, want);
}

TEST(Translate, a_stream_that_is_none_is_refused) {
  Json json;
  std::string out;
  for (const char* bad : {"", "hello", "[]", R"({"type":"message_start"})", R"({"type":"content_block_start"})"}) {
    StreamToOpenAi stream(0, false);
    EXPECT_FALSE(stream.take(bad, out, json)) << bad;
  }
  for (const char* bad : {"", "[DONE]", "[]", R"({"choices":[{"index":1,"delta":{"content":"x"}}]})",
                          R"({"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"x"}}]}}]})"}) {
    StreamToAnthropic stream;
    EXPECT_FALSE(stream.take(bad, out, json)) << bad;
  }
}

}  // namespace
}  // namespace ace::wire
