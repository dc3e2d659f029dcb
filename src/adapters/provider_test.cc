/// How each provider is asked, and what becomes of its answers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "adapters/provider_testing.h"
#include "core/testing.h"

namespace ace {
namespace {

using testing::HasSubstr;
using testing::Not;
using wire::Operation;

constexpr const char* kChat = R"({"model":"m","messages":[{"role":"user","content":"hi"}],"new_field": [1,  2]})";
constexpr const char* kChatStream = R"({"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]})";
constexpr const char* kMessages = R"({"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}]})";
constexpr const char* kMessagesStream =
    R"({"model":"m","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"hi"}]})";

// As OpenAI writes it: a comment, LF and CRLF, usage in a chunk of its own.
constexpr std::string_view kChunks =
    ": keep-alive\n\n"
    "data: "
    "{\"id\":\"c1\",\"model\":\"m-2\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}"
    "\n\n"
    "data: "
    "{\"id\":\"c1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"h\xc3\xa9\"},\"finish_reason\":null}]}\r\n\r\n"
    "data: {\"id\":\"c1\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\r\r";
constexpr std::string_view kUsageChunk =
    "data: {\"id\":\"c1\",\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":3}}\r\n\r\n";
constexpr std::string_view kDone = "data: [DONE]\n\n";

std::string chat_stream() { return std::string(kChunks) + std::string(kUsageChunk) + std::string(kDone); }

TEST(Providers, are_asked_where_and_as_the_fleet_file_says) {
  const struct {
    const char* destination;
    Operation operation;
    const char *body, *target, *field;
  } cases[] = {
      {"open", Operation::chat, kChat, "/v1/chat/completions", "authorization: Bearer key-of-OPEN_KEY\r\n"},
      {"groq", Operation::chat, kChat, "/openai/v1/chat/completions",
       "openai-organization: o\r\nopenai-project: p\r\n"},
      {"groq", Operation::messages, kMessages, "/openai/v1/messages", "authorization: Bearer key-of-OPEN_KEY\r\n"},
      {"open", Operation::messages, kMessages, "/v1/chat/completions", "authorization: Bearer key-of-OPEN_KEY\r\n"},
      {"azure", Operation::chat, kChat, "/openai/deployments/my-deployment/chat/completions?api-version=2024-10-21",
       "api-key: key-of-AZURE_KEY\r\n"},
      {"azure", Operation::responses, R"({"model":"m","input":"hi"})", "/openai/responses?api-version=2024-10-21",
       "api-key: key-of-AZURE_KEY\r\n"},
      {"azure-v1", Operation::chat, kChat, "/openai/v1/chat/completions", "api-key: key-of-AZURE_KEY\r\n"},
      {"vertex", Operation::chat, R"({"model":"g","messages":[{"role":"user","content":"hi"}]})",
       "/v1/projects/my-project/locations/europe-west4/endpoints/openapi/chat/completions",
       "authorization: Bearer key-of-vertex.token\r\nx-vertex-ai-llm-request-type: shared\r\n"},
      {"gsu", Operation::chat, R"({"model":"g","messages":[{"role":"user","content":"hi"}]})",
       "/v1/projects/my-project/locations/europe-west4/endpoints/openapi/chat/completions",
       "x-vertex-ai-llm-request-type: dedicated\r\n"},
  };
  for (const auto& c : cases) {
    const ClientRequest client(c.operation, c.body);
    const auto at = upstream(c.destination);
    EXPECT_TRUE(at->speaks(c.operation)) << c.destination;
    const Fleet& fleet = providers_fleet();
    Ask ask = client.ask(model_name_at(fleet, *fleet.destination(c.destination), *fleet.model(client.request.model)));
    ask.request_id = "r-1";
    const Prepared out = prepared(*at, ask);
    EXPECT_EQ(out.target, c.target) << c.destination;
    EXPECT_THAT(std::string(out.fields.reveal()), HasSubstr(c.field)) << c.destination;
    EXPECT_THAT(std::string(out.fields.reveal()), HasSubstr("content-type: application/json\r\n")) << c.destination;
    EXPECT_THAT(std::string(out.fields.reveal()), HasSubstr("x-request-id: r-1\r\n")) << c.destination;
  }
}

TEST(Providers, are_reached_at_one_origin_from_the_configuration) {
  EXPECT_EQ(upstream("open")->origin(), (net::Origin{"api.example.com", 443, true, false}));
  EXPECT_EQ(upstream("own")->origin(), (net::Origin{"10.0.0.7", 8000, false, true})) << "the destination's own URL";
  EXPECT_EQ(upstream("vertex")->origin(), (net::Origin{"europe-west4-aiplatform.googleapis.com", 443, true, false}));
}

TEST(Providers, take_from_the_client_nothing_that_is_not_theirs_to_choose) {
  const ClientRequest client(Operation::chat, kChat);
  const net::Field fields[] = {{"authorization", "Bearer client"},
                               {"x-ms-spillover-deployment", "theirs"},
                               {"x-vertex-ai-llm-request-type", "shared"},
                               {"cookie", "c"},
                               {"host", "h"}};
  for (const char* destination : {"open", "azure", "gsu"}) {
    Ask ask = client.ask("m");
    ask.fields = fields;
    const std::string sent(prepared(*upstream(destination), ask).fields.reveal());
    for (const char* word : {"client", "theirs", "shared", "cookie", "host"})
      EXPECT_THAT(sent, Not(HasSubstr(word))) << destination;
  }
}

TEST(Providers, get_paths_unread_that_the_fleet_file_declares) {
  const auto open = upstream("open");
  for (const char* path : {"/v1/images", "/v1/images/generations", "/v1/files/file-1/content"})
    EXPECT_TRUE(open->passes(path)) << path;
  for (const char* path : {"/v1/imagesx", "/v1/audio", "/v1/files/../admin", "/v1/files/%2e%2e/admin", "/v1/files//x",
                           "/v1/files/./x", "/v1/files/..", "/v1/files/x\\y", "/v1", "", "/v1/chat/completions"})
    EXPECT_FALSE(open->passes(path)) << path;
  EXPECT_TRUE(open->speaks(Operation::chat)) << "paths add to what the API has";
  const net::Field fields[] = {
      {"Content-Type", "multipart/form-data; boundary=x"}, {"authorization", "theirs"}, {"x-other", "theirs"}};
  const Prepared out = open->pass({.target = "/v1/images/edits?a=b", .fields = fields, .request_id = "r-1"});
  EXPECT_EQ(out.target, "/v1/images/edits?a=b");
  const std::string sent(out.fields.reveal());
  EXPECT_THAT(sent, HasSubstr("content-type: multipart/form-data; boundary=x\r\n"));
  EXPECT_THAT(sent, HasSubstr("authorization: Bearer key-of-OPEN_KEY\r\n"));
  EXPECT_THAT(sent, HasSubstr("x-request-id: r-1\r\n"));
  EXPECT_THAT(sent, Not(HasSubstr("theirs")));
  EXPECT_EQ(upstream("azure-v1")->pass({.target = "/v1/audio/speech"}).target, "/openai/v1/audio/speech");
  EXPECT_FALSE(upstream("azure")->passes("/v1/audio/speech")) << "a dated version has no such place";
  EXPECT_FALSE(upstream("groq")->passes("/v1/images"));
}

TEST(OpenAi, gets_a_body_that_differs_only_where_it_must) {
  const ClientRequest plain(Operation::chat, kChat);
  EXPECT_EQ(prepared(*upstream("open"), plain.ask("m")).body, "") << "nothing to change: the client's bytes go on";
  EXPECT_EQ(prepared(*upstream("groq"), plain.ask("llama-m")).body,
            R"({"model":"llama-m","messages":[{"role":"user","content":"hi"}],"new_field": [1,  2]})");
  const ClientRequest stream(Operation::chat, kChatStream);
  EXPECT_EQ(prepared(*upstream("open"), stream.ask("m")).body,
            R"({"stream_options":{"include_usage":true},"model":"m","stream":true,)"
            R"("messages":[{"role":"user","content":"hi"}]})");
  Ask bounded = plain.ask("m");
  bounded.max_tokens = 5;
  EXPECT_THAT(prepared(*upstream("open"), bounded).body, HasSubstr(R"({"max_completion_tokens":5,"model":"m")"));
}

TEST(OpenAi, gets_a_tenants_cache_key_where_it_knows_one) {
  const ClientRequest plain(Operation::chat, kChat);
  const ClientRequest keyed(Operation::chat, R"({"model":"m","prompt_cache_key":"mine","messages":[{"role":"user"}]})");
  const auto body = [](const char* destination, const ClientRequest& client) {
    Ask ask = client.ask("m");
    ask.cache_key = "salted";
    return prepared(*upstream(destination), ask).body;
  };
  EXPECT_THAT(body("own", plain), HasSubstr(R"("cache_salt":"salted")")) << "our own GPUs";
  EXPECT_THAT(body("azure-v1", plain), HasSubstr(R"("prompt_cache_key":"salted")")) << "as the fleet file says";
  EXPECT_EQ(body("open", plain), "") << "it may not know the field";
  EXPECT_THAT(body("open", keyed), HasSubstr(R"("prompt_cache_key":"salted")")) << "a client's key is never passed";
}

TEST(NativeAnswers, pass_byte_for_byte_without_the_usage_that_was_not_asked_for) {
  const ClientRequest client(Operation::chat, kChatStream);
  const Prepared out = prepared(*upstream("open"), client.ask("m"));
  const Streamed got = streamed(*out.answer, chat_stream(), {});
  EXPECT_EQ(got.bytes, std::string(kChunks) + std::string(kDone));
  EXPECT_EQ(got.state, Answer::State::ended);
  ASSERT_TRUE(got.facts.reported);
  EXPECT_EQ(got.facts.reported->usage[Unit::input], 7);
  EXPECT_EQ(got.facts.reported->usage[Unit::output], 3);
  EXPECT_EQ(got.facts.model, "m-2");
  EXPECT_EQ(got.content_events, 3);
}

TEST(NativeAnswers, keep_the_usage_that_was_asked_for) {
  const ClientRequest client(
      Operation::chat,
      R"({"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"hi"}]})");
  const Prepared out = prepared(*upstream("open"), client.ask("m"));
  EXPECT_EQ(out.body, "");
  EXPECT_EQ(streamed(*out.answer, chat_stream(), {}).bytes, chat_stream());
}

TEST(NativeAnswers, that_need_no_change_are_views_of_what_came) {
  const ClientRequest client(Operation::chat, kChatStream);
  const Prepared out = prepared(*upstream("open"), client.ask("m"));
  wire::Json json;
  const Answer::Step step = out.answer->feed(kChunks, json);
  EXPECT_EQ(step.pass.data(), kChunks.data());
  EXPECT_EQ(step.pass.size(), kChunks.size());
}

TEST(Answers, do_not_depend_on_how_their_stream_was_cut) {
  const std::string messages =
      "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"x\",\"model\":\"c\",\"usage\":"
      "{\"input_tokens\":4,\"output_tokens\":1}}}\n\n"
      "event: ping\ndata: {\"type\":\"ping\"}\n\n"
      "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":"
      "{\"type\":\"text\",\"text\":\"\"}}\r\n\r\n"
      "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":"
      "{\"type\":\"text_delta\",\"text\":\"h\xc3\xa9\"}}\n\n"
      "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":"
      "{\"output_tokens\":2}}\n\n"
      "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";
  const std::string failed =
      "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\n"
      "data: {\"error\":{\"message\":\"m\"}}\n\ndata: more\n\n";
  struct Case {
    const char* destination;
    ClientRequest client;
    std::string stream;
    bool clean;
  };
  const Case cases[] = {
      {"open", {Operation::chat, kChatStream}, chat_stream(), true},
      {"open", {Operation::chat, kChatStream}, chat_stream() + "data: after the end\n\n", true},
      {"open", {Operation::chat, kChatStream}, std::string(kChunks), true},
      {"open", {Operation::chat, kChatStream}, std::string(kChunks), false},
      {"open", {Operation::chat, kChatStream}, failed, true},
      {"open", {Operation::chat, kChatStream}, "data: no json\r\rdata: [DONE]\r\r", true},
      {"open", {Operation::chat, kChatStream}, "\xef\xbb\xbf" + chat_stream(), true},
      {"open", {Operation::messages, kMessagesStream}, chat_stream(), true},
      {"open", {Operation::messages, kMessagesStream}, std::string(kChunks), true},
      {"open", {Operation::messages, kMessagesStream}, failed, true},
      {"groq", {Operation::messages, kMessagesStream}, messages, true},
      {"groq", {Operation::messages, kMessagesStream}, messages.substr(0, messages.size() / 2), true},
  };
  for (const Case& c : cases) {
    const auto at = upstream(c.destination);
    const auto answer = [&] { return std::move(prepared(*at, c.client.ask("m")).answer); };
    const Streamed whole = streamed(*answer(), c.stream, {}, c.clean);
    for_each_seed(100, [&](Rng& rng) {
      const Streamed cut = streamed(*answer(), c.stream, random_cuts(rng, c.stream.size()), c.clean);
      EXPECT_EQ(cut.bytes, whole.bytes);
      EXPECT_EQ(cut.state, whole.state);
      EXPECT_EQ(cut.content_events, whole.content_events);
      EXPECT_EQ(cut.facts.reported, whole.facts.reported);
      EXPECT_EQ(cut.facts.text_bytes, whole.facts.text_bytes);
      EXPECT_EQ(cut.facts.finish, whole.facts.finish);
    });
  }
}

TEST(Answers, that_fail_end_with_an_error_in_the_clients_dialect) {
  const ClientRequest chat(Operation::chat, kChatStream), messages(Operation::messages, kMessagesStream);
  const std::string start = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\n";
  const struct {
    const char* why;
    const ClientRequest& client;
    std::string stream;
    bool clean;
    const char* end;
  } cases[] = {
      {"the provider says so", chat, start + "data: {\"error\":{\"message\":\"key sk-123 of acme\"}}\n\n", true,
       "data: {\"error\":{\"message\":\"the provider failed in the middle of the answer\""},
      {"cut in the middle of an event", chat, start + "data: {\"choi", false, "\"code\":\"provider_cut\""},
      {"cut between events", chat, start, true, "\"code\":\"provider_cut\""},
      {"no stream at all", chat, "<html>\n\n</html>", true, "\"code\":\"provider_cut\""},
      {"no JSON", chat, start + "data: <html>\n\n", true, "\"code\":\"provider_invalid\""},
      {"an event that never ends", chat, start + "data: " + std::string((1 << 20) + 1, 'x'), true,
       "\"code\":\"provider_invalid\""},
      {"translated, cut", messages, start, true, "event: error\ndata: {\"type\":\"error\""},
      {"translated, an error", messages, start + "data: {\"error\":{\"message\":\"sk-123\"}}\n\n", true,
       "event: error\ndata: {\"type\":\"error\""},
  };
  for (const auto& c : cases) {
    const Prepared out = prepared(*upstream("open"), c.client.ask("m"));
    const Streamed got = streamed(*out.answer, c.stream, {start.size() / 2, start.size()}, c.clean);
    EXPECT_EQ(got.state, Answer::State::failed) << c.why;
    EXPECT_THAT(got.bytes, HasSubstr(c.end)) << c.why;
    EXPECT_THAT(got.bytes, Not(HasSubstr("sk-123"))) << c.why << ": what a provider says of itself stays with us";
    EXPECT_THAT(got.bytes, Not(HasSubstr("[DONE]"))) << c.why;
  }
}

TEST(Answers, are_ended_for_servers_that_forget_to) {
  const ClientRequest client(Operation::chat, kChatStream);
  const Streamed got = streamed(*prepared(*upstream("open"), client.ask("m")).answer, kChunks, {});
  EXPECT_EQ(got.state, Answer::State::ended);
  EXPECT_EQ(got.bytes, std::string(kChunks) + "data: [DONE]\n\n");
  EXPECT_FALSE(got.facts.reported) << "the books must estimate";
  const auto ends = [](const ClientRequest& asked, bool clean) {
    return streamed(*prepared(*upstream("open"), asked.ask("m")).answer, kChunks, {}, clean).state;
  };
  EXPECT_EQ(ends(client, false), Answer::State::failed) << "its connection broke";
  const ClientRequest two(Operation::chat,
                          R"({"model":"m","stream":true,"n":2,"messages":[{"role":"user","content":"hi"}]})");
  EXPECT_EQ(ends(two, true), Answer::State::failed) << "the other choice may not have ended";
}

TEST(Answers, that_are_whole_pass_as_they_are_or_translated) {
  const std::string body =
      R"({"id":"c","object":"chat.completion","model":"m-2","choices":[{"index":0,"message":{"role":"assistant",)"
      R"("content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":3}})";
  wire::Json json;
  const ClientRequest chat(Operation::chat, kChat), messages(Operation::messages, kMessages);
  const Answer::Whole same = prepared(*upstream("open"), chat.ask("m")).answer->whole(body, json);
  EXPECT_FALSE(same.error);
  EXPECT_EQ(same.body, body);
  EXPECT_EQ(same.facts.reported->usage[Unit::output], 3);
  const Answer::Whole other = prepared(*upstream("open"), messages.ask("m")).answer->whole(body, json);
  EXPECT_FALSE(other.error);
  EXPECT_THAT(other.body, HasSubstr(R"("type":"message")"));
  EXPECT_EQ(other.facts.reported->usage[Unit::output], 3);
  for (const char* bad : {"<html>", "[]", R"({"error":{"message":"sk-123"}})", ""}) {
    for (const ClientRequest* client : {&chat, &messages}) {
      const Answer::Whole wrong = prepared(*upstream("open"), client->ask("m")).answer->whole(bad, json);
      ASSERT_TRUE(wrong.error) << bad;
      EXPECT_EQ(wrong.error->status, 502);
      EXPECT_EQ(wrong.body, "");
      EXPECT_THAT(wrong.error->message, Not(HasSubstr("sk-123")));
    }
  }
}

TEST(Upstreams, that_cannot_be_called_say_why) {
  const std::string head = "version: 1\nmodels: {m: {context: 1000}}\nproviders: {p: {jurisdictions: [eu]";
  const std::string tail =
      "}}\ndestinations: [{id: d, tier: payg, provider: p, models: [m], price: \"1 USD/Mtok\", unlimited: true}]\n";
  const struct {
    const char *provider, *want;
  } cases[] = {
      {"", "it has no api; write e.g. api: openai"},
      {", api: openai", "it has no url"},
      {", api: openai, url: \"https://x.example\", key: {env: UNSET}", "the environment variable UNSET is not set"},
      {", api: openai, url: \"https://x.example\", key: {env: BROKEN}", "the key in BROKEN is empty"},
  };
  const ReadSecret read = [](const SecretName& name) -> Result<Secret> {
    if (name.env == "UNSET") return Error(Errc::not_found, "the environment variable UNSET is not set");
    return Secret("a\r\nhost: evil");
  };
  for (const auto& c : cases) {
    const FleetReading reading = parse_fleet(head + c.provider + tail, "fleet.yaml", {}, {}, {});
    ASSERT_TRUE(reading.mistakes.empty()) << describe(reading.mistakes);
    const auto made = make_upstream(reading.fleet, DestinationId{0}, read);
    ASSERT_FALSE(made) << c.provider;
    EXPECT_THAT(made.error().what(), HasSubstr("destination \"d\" of provider \"p\" cannot be called: "));
    EXPECT_THAT(made.error().what(), HasSubstr(c.want));
    EXPECT_THAT(made.error().what(), Not(HasSubstr("evil")));
  }
}

}  // namespace
}  // namespace ace
