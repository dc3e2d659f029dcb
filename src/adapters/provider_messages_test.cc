/// Anthropic, directly and behind AWS.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "adapters/provider_testing.h"
#include "core/testing.h"

namespace ace {
namespace {

using testing::HasSubstr;
using testing::Not;
using wire::Operation;

constexpr const char* kChat = R"({"model":"m","messages":[{"role":"user","content":"hi"}]})";
constexpr const char* kChatStream = R"({"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]})";
constexpr const char* kMessages =
    R"({"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}], "new_field" : [1,  2]})";
constexpr const char* kMessagesStream =
    R"({"stream":true,"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}]})";
const Instant kNow = instant_of({2026, 11, 30, 12, 0, 0, 0});

const std::vector<std::string>& events() {
  static const std::vector<std::string> all = {
      R"({"type":"message_start","message":{"id":"x","model":"claude-m-1","usage":{"input_tokens":4,"cache_read_input_tokens":2,"output_tokens":1}}})",
      R"({"type":"ping"})",
      R"({"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}})",
      "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"h\xc3\xa9\"}}",
      R"({"type":"content_block_stop","index":0})",
      R"({"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":3}})",
      R"({"type":"message_stop"})"};
  return all;
}

std::string as_events() {
  std::string out;
  for (const std::string& data : events())
    out += "event: " + data.substr(9, data.find('"', 9) - 9) + "\ndata: " + data + "\n\n";
  return out;
}

TEST(Anthropic, is_asked_in_its_own_words) {
  const auto at = upstream("anthropic");
  const ClientRequest client(Operation::messages, kMessages);
  const net::Field fields[] = {
      {"anthropic-beta", "one-2026-01-01, two"}, {"x-api-key", "theirs"}, {"anthropic-version", "1999-01-01"}};
  Ask ask = client.ask("claude-m");
  ask.fields = fields;
  const Prepared out = prepared(*at, ask);
  EXPECT_EQ(out.target, "/v1/messages");
  EXPECT_EQ(
      out.body,
      R"({"model":"claude-m","max_tokens":9,"messages":[{"role":"user","content":"hi"}], "new_field" : [1,  2]})");
  const std::string sent(out.fields.reveal());
  EXPECT_THAT(sent, HasSubstr("x-api-key: key-of-ANTHROPIC_KEY\r\n"));
  EXPECT_THAT(sent, HasSubstr("anthropic-version: 2023-06-01\r\n"));
  EXPECT_THAT(sent, HasSubstr("anthropic-beta: one-2026-01-01, two\r\n"));
  EXPECT_THAT(sent, Not(HasSubstr("theirs")));
  const ClientRequest count(Operation::count_tokens, R"({"model":"m","messages":[{"role":"user","content":"hi"}]})");
  EXPECT_EQ(prepared(*at, count.ask("m")).target, "/v1/messages/count_tokens");
  EXPECT_EQ(prepared(*at, count.ask("m")).body, "");
}

TEST(Anthropic, is_told_of_no_beta_that_is_not_a_name) {
  const ClientRequest client(Operation::messages, kMessages);
  const net::Field fields[] = {{"anthropic-beta", "a\"b"}};
  Ask ask = client.ask("m");
  ask.fields = fields;
  EXPECT_THAT(std::string(prepared(*upstream("anthropic"), ask).fields.reveal()), Not(HasSubstr("anthropic-beta")));
}

TEST(Anthropic, serves_clients_of_chat_completions) {
  const auto at = upstream("anthropic");
  EXPECT_TRUE(at->speaks(Operation::chat));
  EXPECT_FALSE(at->speaks(Operation::embeddings));
  const ClientRequest client(Operation::chat, kChat);
  Ask ask = client.ask("claude-m");
  EXPECT_THAT(prepared(*at, ask).body, HasSubstr(R"("max_tokens":4096)"));
  ask.output_max = 64000;
  EXPECT_THAT(prepared(*at, ask).body, HasSubstr(R"("max_tokens":64000)"));
  ask.max_tokens = 7;
  EXPECT_THAT(prepared(*at, ask).body, HasSubstr(R"("max_tokens":7)"));
  EXPECT_THAT(prepared(*at, ask).body, HasSubstr(R"("model":"claude-m")"));
  wire::Json json;
  const Answer::Whole got = prepared(*at, ask).answer->whole(
      R"({"id":"x","type":"message","role":"assistant","model":"claude-m-1","content":[{"type":"text","text":"hi"}],)"
      R"("stop_reason":"end_turn","usage":{"input_tokens":4,"output_tokens":3}})",
      json);
  EXPECT_FALSE(got.error);
  EXPECT_THAT(got.body, HasSubstr(R"("object":"chat.completion")"));
  EXPECT_EQ(got.facts.reported->usage[Unit::output], 3);
}

TEST(Anthropic, says_what_it_cannot_translate) {
  const ClientRequest client(Operation::chat, R"({"model":"m","n":2,"messages":[{"role":"user","content":"hi"}]})");
  wire::Json json;
  const auto out = upstream("anthropic")->prepare(client.ask("m"), json);
  ASSERT_TRUE(std::holds_alternative<wire::WireError>(out));
  EXPECT_EQ(std::get<wire::WireError>(out).code, "untranslatable");
  const ClientRequest other(Operation::embeddings, R"({"model":"m","input":"hi"})");
  const auto none = upstream("anthropic")->prepare(other.ask("m"), json);
  ASSERT_TRUE(std::holds_alternative<wire::WireError>(none));
  EXPECT_EQ(std::get<wire::WireError>(none).code, "unsupported_operation");
}

TEST(Anthropic, without_money_is_refused_not_the_request) {
  wire::Json json;
  const Refusal got =
      upstream("anthropic")
          ->refusal(
              400, {},
              R"({"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the API."}})",
              kNow, json);
  EXPECT_EQ(got.why, Rejection::refused);
  EXPECT_EQ(got.error.code, "provider_refused");
}

TEST(Bedrock, gets_the_envelope_of_its_own_and_a_signature) {
  const ClientRequest client(Operation::messages, kMessagesStream);
  const net::Field fields[] = {{"anthropic-beta", "one, two"}};
  Ask ask = client.ask("vendor.m-v1:0");
  ask.fields = fields;
  ask.now = kNow;
  const Prepared out = prepared(*upstream("aws"), ask);
  EXPECT_EQ(upstream("aws")->origin().host, "bedrock-runtime.us-east-1.amazonaws.com");
  EXPECT_EQ(out.target, "/model/vendor.m-v1%3A0/invoke-with-response-stream");
  EXPECT_EQ(out.body, R"({"anthropic_version":"bedrock-2023-05-31","anthropic_beta":["one","two"],"max_tokens":9,)"
                      R"("messages":[{"role":"user","content":"hi"}]})");
  const std::string sent(out.fields.reveal());
  EXPECT_THAT(sent, HasSubstr("x-amz-date: 20261130T120000Z\r\n"));
  EXPECT_THAT(sent, HasSubstr("authorization: AWS4-HMAC-SHA256 Credential=key-of-AWS_KEY_ID/20261130/us-east-1/bedrock/"
                              "aws4_request, SignedHeaders=content-type;host;x-amz-date, Signature="));
  EXPECT_THAT(sent, Not(HasSubstr("key-of-AWS_SECRET")));
  const ClientRequest chat(Operation::chat, kChat);
  EXPECT_EQ(prepared(*upstream("aws"), chat.ask("m")).target, "/model/m/invoke");
  EXPECT_THAT(std::string(prepared(*upstream("aws-bearer"), chat.ask("m")).fields.reveal()),
              HasSubstr("authorization: Bearer key-of-AWS_BEARER\r\n"));
}

TEST(Bedrock, signs_what_it_sends) {
  // Any change of body, target or time changes the signature.
  const ClientRequest one(Operation::chat, kChat);
  const ClientRequest other(Operation::chat, R"({"model":"m","messages":[{"role":"user","content":"ho"}]})");
  const auto sent = [](const ClientRequest& client, std::string_view model, Instant now) {
    Ask ask = client.ask(model);
    ask.now = now;
    const Prepared out = prepared(*upstream("aws"), ask);
    const std::string fields(out.fields.reveal());
    return fields.substr(fields.find("Signature="));
  };
  const std::string signature = sent(one, "m", kNow);
  EXPECT_EQ(signature, sent(one, "m", kNow));
  EXPECT_NE(signature, sent(other, "m", kNow));
  EXPECT_NE(signature, sent(one, "n", kNow));
  EXPECT_NE(signature, sent(one, "m", kNow + kSecond));
}

TEST(MessagesAnswers, come_out_of_every_envelope_the_same) {
  const ClientRequest client(Operation::messages, kMessagesStream);
  const Streamed direct = streamed(*prepared(*upstream("anthropic"), client.ask("m")).answer, as_events(), {});
  const Streamed framed_ = streamed(*prepared(*upstream("aws"), client.ask("m")).answer, framed(events()), {});
  EXPECT_EQ(direct.bytes, as_events());
  EXPECT_EQ(framed_.bytes, as_events());
  for (const Streamed& got : {direct, framed_}) {
    EXPECT_EQ(got.state, Answer::State::ended);
    EXPECT_EQ(got.facts.model, "claude-m-1");
    EXPECT_EQ(got.facts.reported->usage[Unit::input], 4);
    EXPECT_EQ(got.facts.reported->usage[Unit::cached_input], 2);
    EXPECT_EQ(got.facts.reported->usage[Unit::output], 3);
  }
}

TEST(MessagesAnswers, do_not_depend_on_how_their_stream_was_cut) {
  const std::string broken = framed(events()).substr(0, 700);
  std::string corrupt = framed(events());
  corrupt[corrupt.size() / 2] ^= 1;
  struct Case {
    const char* destination;
    ClientRequest client;
    std::string stream;
  };
  const Case cases[] = {
      {"anthropic", {Operation::messages, kMessagesStream}, as_events()},
      {"anthropic", {Operation::chat, kChatStream}, as_events()},
      {"anthropic", {Operation::chat, kChatStream}, as_events().substr(0, 500)},
      {"aws", {Operation::messages, kMessagesStream}, framed(events())},
      {"aws", {Operation::messages, kMessagesStream}, framed(events()) + "after the end"},
      {"aws", {Operation::messages, kMessagesStream}, broken},
      {"aws", {Operation::messages, kMessagesStream}, corrupt},
      {"aws", {Operation::chat, kChatStream}, framed(events())},
      {"aws", {Operation::chat, kChatStream}, corrupt},
      {"aws",
       {Operation::chat, kChatStream},
       framed({events()[0]}) + event_stream_message("{}", "exception", "throttlingException")},
  };
  for (const Case& c : cases) {
    const auto at = upstream(c.destination);
    const auto answer = [&] { return std::move(prepared(*at, c.client.ask("m")).answer); };
    const Streamed whole = streamed(*answer(), c.stream, {});
    for_each_seed(100, [&](Rng& rng) {
      const Streamed cut = streamed(*answer(), c.stream, random_cuts(rng, c.stream.size()));
      EXPECT_EQ(cut.bytes, whole.bytes);
      EXPECT_EQ(cut.state, whole.state);
      EXPECT_EQ(cut.content_events, whole.content_events);
      EXPECT_EQ(cut.facts.reported, whole.facts.reported);
    });
  }
}

TEST(MessagesAnswers, that_fail_in_their_frames_tell_the_client) {
  const ClientRequest messages(Operation::messages, kMessagesStream), chat(Operation::chat, kChatStream);
  const std::string start = framed({events()[0], events()[3]});
  const struct {
    const char* why;
    std::string stream;
    const char* code;
  } cases[] = {
      {"an exception",
       start + event_stream_message(R"({"message":"arn:aws:secret"})", "exception", "modelStreamErrorException"),
       "provider_failed"},
      {"a payload that is no JSON", start + event_stream_message("x"), "provider_invalid"},
      {"bytes that are no base64", start + event_stream_message(R"({"bytes":"%%%"})"), "provider_invalid"},
      {"data that are no JSON", start + framed({"x"}), "provider_invalid"},
      {"a type with a line end", start + framed({R"({"type":"a\nb"})"}), "provider_invalid"},
      {"garbage", start + std::string(64, 'x'), "provider_invalid"},
      {"cut", start + framed({events()[4]}).substr(0, 20), "provider_cut"},
  };
  for (const auto& c : cases) {
    for (const ClientRequest* client : {&messages, &chat}) {
      const Streamed got = streamed(*prepared(*upstream("aws"), client->ask("m")).answer, c.stream, {40});
      EXPECT_EQ(got.state, Answer::State::failed) << c.why;
      EXPECT_THAT(got.bytes, HasSubstr(c.code)) << c.why;
      EXPECT_THAT(got.bytes, Not(HasSubstr("arn:aws"))) << c.why;
      EXPECT_THAT(got.bytes, Not(HasSubstr("[DONE]"))) << c.why;
    }
  }
}

TEST(Bedrock, names_its_errors_in_a_field) {
  wire::Json json;
  const struct {
    int status;
    const char* type;
    Rejection want;
  } cases[] = {
      {429, "ThrottlingException", Rejection::throttled},
      {400, "ServiceQuotaExceededException:http://internal.amazon.com/x", Rejection::throttled},
      {429, "ModelNotReadyException", Rejection::overloaded},
      {404, "ResourceNotFoundException", Rejection::refused},
      {403, "AccessDeniedException", Rejection::refused},
      {400, "IncompleteSignature", Rejection::refused},
      {400, "ValidationException", Rejection::request},
      {408, "ModelTimeoutException", Rejection::failed},
      {424, "ModelErrorException", Rejection::failed},
      {503, "ServiceUnavailableException", Rejection::overloaded},
  };
  for (const auto& c : cases) {
    const net::Field fields[] = {{"x-amzn-ErrorType", c.type}};
    EXPECT_EQ(upstream("aws")->refusal(c.status, fields, R"({"message":"m"})", kNow, json).why, c.want) << c.type;
  }
}

}  // namespace
}  // namespace ace
