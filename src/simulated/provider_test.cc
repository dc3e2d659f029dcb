#include "simulated/provider.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "net/http_testing.h"
#include "net/server_testing.h"
#include "net/sse.h"
#include "simulated/upstream.h"
#include "wire/usage.h"

namespace ace::simulated {
namespace {

using Json = nlohmann::json;
using net::Peer;
using net::ReadMessage;
using net::Transcript;
using Outcome = Request::Outcome;
using ::testing::HasSubstr;

Script script_of(std::string_view json) { return read_script(json, "script").value(); }

std::string request_of(std::string_view path, std::string_view body, std::string_view fields = "") {
  return fmt::format("POST {} HTTP/1.1\r\nHost: a\r\n{}Content-Length: {}\r\n\r\n{}", path, fields, body.size(), body);
}

const std::string kChat = R"({"model":"m","messages":[{"role":"user","content":"hello there"}]})";
const std::string kChatStream =
    R"({"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"hello there"}]})";
const std::string kMessage = R"({"model":"m","max_tokens":100,"messages":[{"role":"user","content":"hello there"}]})";
const std::string kMessageStream =
    R"({"model":"m","max_tokens":100,"stream":true,"messages":[{"role":"user","content":"hello there"}]})";

/// Every byte of the answer to one request on a connection of its own.
std::string raw_answer(std::uint16_t port, const std::string& request) {
  const Peer peer = Peer::connect(port);
  peer.send(request);
  return peer.receive([&](std::string_view got) {
    const std::string_view pieces[] = {got};
    const Transcript read = net::read_messages(net::Side::responses, pieces, net::kResponseLimits);
    return !read.messages.empty() || read.fault != net::Fault::none;
  });
}

Transcript answers(std::uint16_t port, const std::string& request) {
  const std::string raw = raw_answer(port, request);
  const std::string_view pieces[] = {raw};
  return net::read_messages(net::Side::responses, pieces, net::kResponseLimits);
}

ReadMessage answer(std::uint16_t port, const std::string& request) {
  const Transcript read = answers(port, request);
  EXPECT_EQ(read.messages.size(), 1U) << name_of(read.fault);
  return read.messages.empty() ? ReadMessage{} : read.messages.front();
}

std::string field_of(const ReadMessage& message, std::string_view name) {
  for (const auto& [key, value] : message.fields)
    if (net::equals_ignoring_case(key, name)) return value;
  return "";
}

/// What the reader of streams makes of a stream.
struct Followed {
  wire::ResponseFacts facts;
  std::vector<wire::StreamReader::Kind> kinds;
  bool ended = false;
  std::int64_t content = 0;
};
Followed follow(wire::Operation operation, std::string_view body) {
  wire::StreamReader reader(operation);
  wire::Json json;
  net::SseParser events;
  Followed out;
  events.feed(body, [&](const net::SseEvent& e) { out.kinds.push_back(reader.take(e.type, e.data, json)); });
  out.facts = reader.facts();
  out.ended = reader.ended();
  out.content = reader.content_events();
  return out;
}

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

struct Running {
  explicit Running(std::string_view script) : running(Upstream::start(script_of(script)).value()) {}
  std::uint16_t port() { return running->port(); }
  Request only() {
    EXPECT_TRUE(net::eventually([&] {
      const auto seen = running->provider().seen();
      return !seen.empty() && seen.back().outcome != Outcome::going;
    }));
    return running->provider().seen().back();
  }
  std::unique_ptr<Upstream> running;
};

TEST(Provider, answers_every_operation_in_words_that_our_reader_counts_alike) {
  Running upstream(R"({"tokens": 5, "cached": 0.5})");
  const struct {
    wire::Operation operation;
    const char* path;
    std::string body;
  } cases[] = {
      {wire::Operation::chat, "/v1/chat/completions", kChat},
      {wire::Operation::completions, "/v1/completions", R"({"model":"m","prompt":"hello there"})"},
      {wire::Operation::responses, "/v1/responses", R"({"model":"m","input":"hello there"})"},
      {wire::Operation::messages, "/v1/messages", kMessage},
  };
  for (const auto& c : cases) {
    wire::Json json;
    const ReadMessage whole = answer(upstream.port(), request_of(c.path, c.body));
    EXPECT_EQ(whole.start, "200") << whole.body;
    const auto facts = wire::read_response(c.operation, whole.body, json);
    ASSERT_TRUE(facts && facts->reported) << c.path << whole.body;
    EXPECT_EQ(facts->reported->usage[Unit::output], 5) << c.path;
    EXPECT_GT(facts->reported->usage[Unit::cached_input], 0) << c.path;
    EXPECT_EQ(facts->model, "m");
    std::string streamed = c.body;
    streamed.replace(0, 1, R"({"stream":true,)");
    if (c.operation == wire::Operation::chat || c.operation == wire::Operation::completions)
      streamed.replace(0, 1, R"({"stream_options":{"include_usage":true},)");
    const ReadMessage stream = answer(upstream.port(), request_of(c.path, streamed));
    const Followed followed = follow(c.operation, stream.body);
    EXPECT_TRUE(followed.ended) << stream.body;
    EXPECT_GE(followed.content, 5) << c.path;
    ASSERT_TRUE(followed.facts.reported) << c.path;
    EXPECT_EQ(followed.facts.reported->usage, facts->reported->usage) << c.path;
    EXPECT_EQ(followed.facts.finish, facts->finish) << c.path;
  }
}

TEST(Provider, embeds_counts_and_lists) {
  Running upstream(R"({"models": ["a", "b"]})");
  const Json list = Json::parse(answer(upstream.port(), "GET /v1/models HTTP/1.1\r\nHost: a\r\n\r\n").body);
  EXPECT_EQ(list["data"][1]["id"], "b");
  const Json theirs = Json::parse(
      answer(upstream.port(), "GET /v1/models HTTP/1.1\r\nHost: a\r\nanthropic-version: 2023-06-01\r\n\r\n").body);
  EXPECT_EQ(theirs["last_id"], "b");
  const auto embed = [&](const std::string& body) {
    return Json::parse(answer(upstream.port(), request_of("/v1/embeddings", body)).body);
  };
  const Json two = embed(R"({"model":"a","input":["x","y"],"dimensions":4})");
  ASSERT_EQ(two["data"].size(), 2U) << two;
  EXPECT_EQ(two["data"][0]["embedding"].size(), 4U);
  EXPECT_NE(two["data"][0]["embedding"], two["data"][1]["embedding"]);
  EXPECT_EQ(embed(R"({"model":"a","input":"x","dimensions":4})")["data"][0]["embedding"], two["data"][0]["embedding"]);
  const Json packed = embed(R"({"model":"a","input":"x","dimensions":3,"encoding_format":"base64"})");
  EXPECT_EQ(packed["data"][0]["embedding"].get<std::string>().size(), 16U) << "12 bytes in base64";
  const Json counted = Json::parse(
      answer(upstream.port(), request_of("/v1/messages/count_tokens",
                                         R"({"model":"a","messages":[{"role":"user","content":"12345678"}]})"))
          .body);
  EXPECT_GE(counted["input_tokens"], 2);
}

TEST(Provider, calls_the_tool_it_is_given_then_speaks_and_keeps_to_a_schema) {
  Running upstream("{}");
  const std::string tools =
      R"("tools":[{"type":"function","function":{"name":"weather","parameters":{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer","minimum":3}}}}}])";
  const std::string ask = R"({"model":"m","messages":[{"role":"user","content":"?"}],)" + tools + "}";
  const Json called = Json::parse(answer(upstream.port(), request_of("/v1/chat/completions", ask)).body);
  const Json call = called["choices"][0]["message"]["tool_calls"][0];
  EXPECT_EQ(call["function"]["name"], "weather");
  EXPECT_EQ(Json::parse(call["function"]["arguments"].get<std::string>()),
            Json::parse(R"({"city":"merit order","days":3})"));
  EXPECT_EQ(called["choices"][0]["finish_reason"], "tool_calls");
  const std::string answered =
      R"({"model":"m","messages":[{"role":"user","content":"?"},{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"weather","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":"rain"}],)" +
      tools + "}";
  const Json spoken = Json::parse(answer(upstream.port(), request_of("/v1/chat/completions", answered)).body);
  EXPECT_TRUE(spoken["choices"][0]["message"]["content"].is_string());
  const Json theirs = Json::parse(
      answer(
          upstream.port(),
          request_of(
              "/v1/messages",
              R"({"model":"m","max_tokens":9,"messages":[{"role":"user","content":"?"}],"tools":[{"name":"t","input_schema":{"type":"object"}}]})"))
          .body);
  EXPECT_EQ(theirs["content"][0]["type"], "tool_use");
  EXPECT_EQ(theirs["stop_reason"], "tool_use");
  const Json shaped = Json::parse(
      answer(
          upstream.port(),
          request_of(
              "/v1/chat/completions",
              R"({"model":"m","messages":[{"role":"user","content":"?"}],"response_format":{"type":"json_schema","json_schema":{"name":"s","schema":{"$defs":{"n":{"type":"boolean"}},"type":"object","properties":{"a":{"$ref":"#/$defs/n"},"b":{"enum":["x"]}}}}}})"))
          .body);
  EXPECT_EQ(Json::parse(shaped["choices"][0]["message"]["content"].get<std::string>()),
            Json::parse(R"({"a":true,"b":"x"})"));
}

TEST(Provider, stops_at_the_bound_and_checks_keys_and_models) {
  Running upstream(R"({"models": ["m"], "keys": ["sk-1"], "tokens": 50})");
  const std::string key = "Authorization: Bearer sk-1\r\n";
  const std::string bounded = R"({"model":"m","max_tokens":3,"messages":[{"role":"user","content":"x"}]})";
  const Json cut = Json::parse(answer(upstream.port(), request_of("/v1/chat/completions", bounded, key)).body);
  EXPECT_EQ(cut["usage"]["completion_tokens"], 3);
  EXPECT_EQ(cut["choices"][0]["finish_reason"], "length");
  EXPECT_EQ(answer(upstream.port(), request_of("/v1/chat/completions", kChat)).start, "401");
  EXPECT_EQ(answer(upstream.port(), request_of("/v1/messages", kMessage, "x-api-key: sk-1\r\n")).start, "200");
  EXPECT_EQ(answer(upstream.port(),
                   request_of("/openai/deployments/d/chat/completions?api-version=1", kChat, "api-key: sk-1\r\n"))
                .start,
            "200");
  EXPECT_EQ(answer(upstream.port(), request_of("/v1/chat/completions",
                                               R"({"model":"other","messages":[{"role":"user","content":"x"}]})", key))
                .start,
            "404");
  EXPECT_EQ(answer(upstream.port(), request_of("/v1/unknown", "{}", key)).start, "404");
  EXPECT_EQ(answer(upstream.port(), request_of("/v1/chat/completions", "{", key)).start, "400");
}

TEST(Provider, says_when_to_come_again_once_its_limits_are_reached) {
  Running upstream(R"({"rpm": 2, "tpm": 100000})");
  const ReadMessage first = answer(upstream.port(), request_of("/v1/chat/completions", kChat));
  EXPECT_EQ(field_of(first, "x-ratelimit-remaining-requests"), "1");
  EXPECT_EQ(
      field_of(answer(upstream.port(), request_of("/v1/messages", kMessage)), "anthropic-ratelimit-requests-remaining"),
      "0");
  const ReadMessage refused = answer(upstream.port(), request_of("/v1/chat/completions", kChat));
  EXPECT_EQ(refused.start, "429");
  const int wait = std::stoi(field_of(refused, "retry-after-ms"));
  EXPECT_GT(wait, 20'000) << "one of two per minute comes back after 30 s";
  EXPECT_LE(wait, 30'000);
  EXPECT_EQ(std::stoi(field_of(refused, "retry-after")), (wait + 999) / 1000);
}

TEST(Provider, breaks_where_its_script_says) {
  const std::string ok = "HTTP/1.1 200 OK\r\n";
  const struct {
    const char* why;
    std::string fault;
    bool stream;
    std::function<bool(const std::string&)> as_said;
  } cases[] = {
      {"nothing at all", R"("do":"close","place":"before_body")", false,
       [](const std::string& got) { return got.empty(); }},
      {"nothing after the body", R"("do":"close","place":"before_head")", true,
       [](const std::string& got) { return got.empty(); }},
      {"half a head", R"("do":"close","place":"inside_head")", false,
       [&](const std::string& got) { return got.starts_with(ok) && !has(got, "\r\n\r\n"); }},
      {"a head alone", R"("do":"close","place":"after_head")", true,
       [&](const std::string& got) { return got.starts_with(ok) && got.ends_with("\r\n\r\n"); }},
      {"a head alone, whole answer", R"("do":"close","place":"after_head")", false,
       [&](const std::string& got) { return got.starts_with(ok) && got.ends_with("\r\n\r\n"); }},
      {"half a body", R"("do":"close","place":"inside_event")", false,
       [&](const std::string& got) { return has(got, "chatcmpl") && !got.ends_with("}"); }},
      {"all but a byte", R"("do":"close","place":"before_end")", false,
       [&](const std::string& got) { return has(got, "usage") && !got.ends_with("}"); }},
      {"two tokens and a half", R"("do":"close","place":"inside_event","event":3)", true,
       [&](const std::string& got) {
         return has(got, " order") && !has(got, " cheapest") && !got.ends_with("\n\n\r\n");
       }},
      {"two tokens", R"("do":"close","place":"after_event","event":2)", true,
       [&](const std::string& got) { return has(got, " order") && !has(got, " fills") && got.ends_with("\n\n\r\n"); }},
      {"no [DONE], no end", R"("do":"close","place":"before_end")", true,
       [&](const std::string& got) {
         return has(got, "\"usage\":{") && !has(got, "[DONE]") && !got.ends_with("0\r\n\r\n");
       }},
      {"no [DONE], a proper end", R"("do":"no_terminator")", true,
       [&](const std::string& got) { return !has(got, "[DONE]") && got.ends_with("0\r\n\r\n"); }},
      {"an error event", R"("do":"error_event","event":2)", true,
       [&](const std::string& got) {
         return has(got, "gave up") && !has(got, " fills") && got.ends_with("0\r\n\r\n");
       }},
      {"what is no JSON", R"("do":"event","event":2,"text":"data: {oops\n\n")", true,
       [&](const std::string& got) { return has(got, "{oops") && got.find("{oops") < got.find(" order"); }},
      {"another body", R"("do":"event","text":"ab","count":3)", false,
       [&](const std::string& got) { return got.ends_with("\r\n\r\nababab"); }},
      {"no HTTP", R"("do":"raw","text":"SSH-2.0-x\r\n")", false,
       [&](const std::string& got) { return got == "SSH-2.0-x\r\n"; }},
      {"a chunk of no size", R"("do":"raw","place":"after_event","text":"zz\r\n")", true,
       [&](const std::string& got) { return got.ends_with("\n\n\r\nzz\r\n"); }},
      {"a page", R"("do":"html")", false, [&](const std::string& got) { return has(got, "text/html"); }},
      {"an empty body", R"("do":"empty")", false,
       [&](const std::string& got) { return has(got, "Content-Length: 0"); }},
      {"a redirect", R"("do":"redirect","text":"http://169.254.169.254/")", false,
       [&](const std::string& got) { return got.starts_with("HTTP/1.1 307") && has(got, "Location: http://169."); }},
      {"another model", R"("do":"model","text":"cheaper")", false,
       [&](const std::string& got) { return has(got, "\"cheaper\""); }},
      {"no usage", R"("do":"no_usage")", true, [&](const std::string& got) { return !has(got, "prompt_tokens"); }},
      {"a negative usage", R"("do":"usage_negative")", false,
       [&](const std::string& got) { return has(got, "\"prompt_tokens\":-5"); }},
      {"an absurd usage", R"("do":"usage_absurd")", false,
       [&](const std::string& got) { return has(got, "1000000000000"); }},
      {"many fields", R"("do":"fields","count":150,"text":"v")", false,
       [&](const std::string& got) { return has(got, "X-Simulated-149: v"); }},
      {"a status with a field that is none", R"("do":"status","status":529,"retry_after":"-1")", false,
       [&](const std::string& got) { return got.starts_with("HTTP/1.1 529") && has(got, "Retry-After: -1\r\n"); }},
  };
  for (const auto& c : cases) {
    Running upstream("{\"faults\":[{" + c.fault + ",\"at\":[1]}]}");
    const std::string request = request_of("/v1/chat/completions", c.stream ? kChatStream : kChat);
    std::string got = raw_answer(upstream.port(), request);
    if (got.ends_with("<reset>")) got.resize(got.size() - 7);
    EXPECT_TRUE(c.as_said(got)) << c.why << ":\n" << got;
    EXPECT_EQ(answer(upstream.port(), request).start, "200") << c.why << ": only the first request is met";
    EXPECT_EQ(upstream.running->provider().seen().front().faults.empty(), false) << c.why;
  }
}

TEST(Provider, usage_may_be_reported_twice_and_the_larger_stands) {
  for (const char* kind : {"usage_twice", "usage_decreasing"}) {
    Running upstream(fmt::format(R"({{"tokens":8,"faults":[{{"do":"{}"}}]}})", kind));
    for (const auto& [operation, path, body] :
         {std::tuple(wire::Operation::chat, "/v1/chat/completions", kChatStream),
          std::tuple(wire::Operation::messages, "/v1/messages", kMessageStream)}) {
      const Followed followed = follow(operation, answer(upstream.port(), request_of(path, body)).body);
      ASSERT_TRUE(followed.facts.reported) << kind << path;
      EXPECT_EQ(followed.facts.reported->usage[Unit::output], kind == std::string("usage_twice") ? 8 : 18)
          << kind << path;
    }
  }
}

TEST(Provider, notices_a_client_that_leaves_and_frees_its_slot) {
  Running upstream(R"({"slots": 1, "tokens": 100000, "tpot": 5ms})");
  {
    const Peer peer = Peer::connect(upstream.port());
    peer.send(request_of("/v1/chat/completions", kChatStream));
    (void)peer.receive_until(" order");
  }
  const Request seen = upstream.only();
  EXPECT_EQ(seen.outcome, Outcome::gone);
  EXPECT_GE(seen.tokens_sent, 2);
  EXPECT_LT(seen.tokens_sent, 1000);
  EXPECT_EQ(seen.body, kChatStream);
  const std::string few = R"({"model":"m","max_tokens":1,"messages":[{"role":"user","content":"x"}]})";
  EXPECT_EQ(answer(upstream.port(), request_of("/v1/chat/completions", few)).start, "200")
      << "behind 100,000 tokens it would not have come within 5 s";
}

TEST(Provider, stalls_and_goes_on) {
  Running upstream(R"({"tokens":4,"faults":[{"do":"stall","place":"after_event","event":2,"pause": 30ms}]})");
  const Followed followed =
      follow(wire::Operation::chat, answer(upstream.port(), request_of("/v1/chat/completions", kChatStream)).body);
  EXPECT_TRUE(followed.ended);
  EXPECT_EQ(followed.facts.reported->usage[Unit::output], 4);
}

TEST(Provider, refuses_connections_while_it_is_down_and_comes_back_on_its_port) {
  Running upstream("{}");
  const std::uint16_t port = upstream.port();
  upstream.running->set_listening(false);
  upstream.running->set_listening(false);
  EXPECT_FALSE(Peer::connect(port).good());
  upstream.running->set_listening(true);
  EXPECT_EQ(answer(port, request_of("/v1/chat/completions", kChat)).start, "200");
  Running scripted(R"({"faults":[{"do":"refuse","from": 0ms, "length": 50ms}]})");
  EXPECT_TRUE(net::eventually([&] { return !Peer::connect(scripted.port()).good(); }));
  EXPECT_TRUE(net::eventually([&] { return Peer::connect(scripted.port()).good(); }));
}

TEST(Provider, takes_another_script_and_shows_what_it_saw) {
  Running upstream("{}");
  const auto control = [&](const char* method, std::string_view path, std::string_view body) {
    return answer(upstream.port(),
                  fmt::format("{} {} HTTP/1.1\r\nHost: a\r\n{}\r\n{}", method, path,
                              body.empty() ? "" : fmt::format("Content-Length: {}\r\n", body.size()), body));
  };
  EXPECT_EQ(answer(upstream.port(), request_of("/v1/chat/completions", kChat, "X-Trace: 7\r\n")).start, "200");
  const Json seen = Json::parse(control("GET", "/simulated/requests", "").body);
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen[0]["body"], kChat);
  EXPECT_THAT(seen[0]["fields"].dump(), HasSubstr(R"(["X-Trace","7"])"));
  const ReadMessage refused = control("PUT", "/simulated/script", R"({"tttft": 5ms})");
  EXPECT_EQ(refused.start, "400");
  EXPECT_THAT(refused.body, HasSubstr("did you mean"));
  EXPECT_EQ(control("PUT", "/simulated/script", R"({"faults":[{"do":"status","status":503}]})").start, "200");
  EXPECT_EQ(answer(upstream.port(), request_of("/v1/chat/completions", kChat)).start, "503");
  EXPECT_EQ(upstream.running->provider().count(), 1) << "counted anew";
  EXPECT_THAT(control("GET", "/metrics", "").body, HasSubstr("vllm:num_requests_running{model_name=\"any\"} 0"));
}

TEST(Script, says_all_that_is_wrong_with_it_and_where) {
  const Result<Script> script = read_script(R"(tokens: 0
jitter: 2
tpot: 5
faults:
  - do: cut
  - at: [1]
  - {do: close, place: end}
  - {do: refuse, at: [1]}
)",
                                            "s.yaml");
  ASSERT_FALSE(script.has_value());
  EXPECT_EQ(script.error().code(), Errc::bad_input);
  for (const char* part :
       {"s.yaml:1:9: tokens: ", "s.yaml:2:9: jitter: ", "s.yaml:3:7: tpot: ", "s.yaml:5:9: faults[0].do: ", "faults[1]",
        "s.yaml:7:24: faults[2].place: ", "faults[3]: refuse is of a time"})
    EXPECT_THAT(script.error().what(), HasSubstr(part));
}

TEST(Script, may_be_json) {
  const Script script =
      script_of(R"({"seed": 3, "fields": {"x-a": "b c"}, "faults": [{"do": "raw", "text": "a\r\n"}]})");
  EXPECT_EQ(script.seed, 3U);
  EXPECT_EQ(script.fields, "x-a: b c\r\n");
  EXPECT_EQ(script.faults.at(0).text, "a\r\n");
}

}  // namespace
}  // namespace ace::simulated
