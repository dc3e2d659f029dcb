/// What is booked of an attempt, however it ends, and what one client's request shows of another's: over whole
/// gateways.
#include "gateway/proxy.h"

#include <gtest/gtest.h>

#include "gateway/service_testing.h"

namespace ace::gateway {
namespace {

using simulated::Place;
using Kind = simulated::Fault::Kind;

constexpr const char* kStream = R"(,"stream":true)";

simulated::Fault at(Kind kind, Place place, std::int64_t event = 1) {
  simulated::Fault f = fault(kind);
  f.place = place;
  f.event = event;
  f.pause = kMinute;
  return f;
}

std::string messages(bool stream) {
  return std::string(R"({"model":"m","max_tokens":50,"messages":[{"role":"user","content":"hello there"}],"stream":)") +
         (stream ? "true}" : "false}");
}

/// Keys of two tenants, in a file of their own.
struct TwoTenants {
  explicit TwoTenants(std::int64_t tpm = 0)
      : path((std::filesystem::temp_directory_path() / ("ace_proxy_keys_" + std::to_string(::getpid()) + ".yaml"))
                 .string()) {
    std::filesystem::remove(path);
    const Result<void> made = change_keys(path, [&](KeyRing& ring) -> Result<void> {
      for (std::size_t i = 0; i < 2; ++i) {
        Key key;
        key.id = "k" + std::to_string(i);
        key.tenant = i == 0 ? "acme" : "other";
        key.tpm = tpm;
        key.secrets.push_back({.digest = digest_of(secrets[i])});
        if (Result<void> added = ring.add(key); !added) return added;
      }
      return {};
    });
    ACE_CHECK(made.has_value(), "the keys of a test can be written");
  }
  ~TwoTenants() { std::filesystem::remove(path); }
  [[nodiscard]] std::string config() const { return "keys: " + path + "\n"; }
  [[nodiscard]] std::string field(std::size_t i) const { return "Authorization: Bearer " + secrets[i] + "\r\n"; }
  std::array<std::string, 2> secrets{new_key(Role::client), new_key(Role::client)};
  std::string path;
};

TEST(Proxy, books_what_the_first_may_bill_beside_the_answer_of_the_second) {
  simulated::Fault throttled = fault(Kind::status);
  throttled.status = 429;
  const struct {
    const char* what;
    simulated::Fault fault;
    const char* more;
    bool billed;
  } cases[] = {
      {"closed before its head", at(Kind::close, Place::before_head), "", true},
      {"closed behind its head", at(Kind::close, Place::after_head), "", true},
      {"silent", at(Kind::stall, Place::before_head), kStream, true},
      {"silent behind its head", at(Kind::stall, Place::after_head), kStream, true},
      {"refused", throttled, "", false},
      {"no answer of this API", fault(Kind::html), "", false},
  };
  for (const auto& c : cases) {
    Site::Wanted wanted;
    wanted.cheap.faults = {c.fault};
    wanted.config = "timeouts: {first_token: 200ms, next_token: 200ms}\n";
    Site site(std::move(wanted));
    const Got got = site.chat(c.more);
    EXPECT_EQ(got.status, 200) << c.what;
    EXPECT_EQ(got.field("x-ace-destination"), "dear") << c.what;
    ASSERT_EQ(site.stop(), "");
    const auto attempts = all<event::Attempted>(site.records());
    ASSERT_EQ(attempts.size(), 2U) << c.what;
    EXPECT_EQ(attempts[0].rejection == Rejection::failed, std::string_view(c.what) != "refused") << c.what;
    EXPECT_EQ(attempts[0].billed.prompt() > Tokens{0}, c.billed) << c.what;
    EXPECT_EQ(attempts[0].billed.completion(), Tokens{0}) << c.what;
    EXPECT_EQ(verified(site.spine()), "") << c.what;
  }
}

TEST(Proxy, begins_no_second_attempt_when_its_time_is_over) {
  Site::Wanted wanted;
  wanted.cheap.faults = {at(Kind::stall, Place::before_head)};
  wanted.config = "timeouts: {total: 300ms}\n";
  Site site(std::move(wanted));
  EXPECT_EQ(site.chat().status, 504);
  EXPECT_EQ(site.dear->provider().count(), 0);
  ASSERT_EQ(site.stop(), "");
  EXPECT_EQ(all<event::Attempted>(site.records()).size(), 1U);
  EXPECT_EQ(verified(site.spine()), "");
}

TEST(Proxy, never_tries_another_once_the_client_has_a_byte_though_no_token_came) {
  Site::Wanted wanted;
  simulated::Fault comment = at(Kind::raw, Place::after_head);
  comment.text = "8\r\n: ping\n\n\r\n";
  wanted.cheap.faults = {comment};
  Site site(std::move(wanted));
  const Got got = site.chat(kStream);
  EXPECT_EQ(got.status, 200);
  EXPECT_NE(got.body.find(": ping"), std::string::npos) << got.body;
  EXPECT_NE(got.body.find("\"error\""), std::string::npos) << got.body;
  EXPECT_EQ(site.dear->provider().count(), 0);
  ASSERT_EQ(site.stop(), "");
  const auto attempts = all<event::Attempted>(site.records());
  ASSERT_EQ(attempts.size(), 1U);
  EXPECT_GT(attempts[0].billed.prompt(), Tokens{0});
  EXPECT_EQ(verified(site.spine()), "");
}

TEST(Proxy, books_what_had_come_of_a_stream_that_broke) {
  simulated::Fault garbage = at(Kind::raw, Place::after_event, 8);
  garbage.text = "zz\r\n";  // where the size of a chunk belongs
  const struct {
    const char* what;
    simulated::Fault fault;
  } cases[] = {
      {"closed", at(Kind::close, Place::after_event, 8)},
      {"silent", at(Kind::stall, Place::after_event, 8)},
      {"no HTTP any more", garbage},
      {"said so itself", at(Kind::error_event, Place::after_event, 8)},
  };
  for (const auto& c : cases)
    for (const std::string api : {"openai", "anthropic"}) {
      Site::Wanted wanted;
      wanted.cheap_api = api;
      wanted.cheap.faults = {c.fault};
      wanted.config = "timeouts: {next_token: 200ms, first_token: 200ms}\n";
      Site site(std::move(wanted));
      const Got got = api == "openai"
                          ? site.chat(kStream)
                          : site.send(post("/v1/messages", messages(true), "anthropic-version: 2023-06-01\r\n"));
      EXPECT_EQ(got.status, 200) << c.what;
      EXPECT_EQ(site.dear->provider().count(), 0) << c.what;
      ASSERT_EQ(site.stop(), "");
      const auto attempts = all<event::Attempted>(site.records());
      ASSERT_EQ(attempts.size(), 1U) << c.what;
      EXPECT_FALSE(attempts[0].answered);
      EXPECT_GT(attempts[0].billed.prompt(), Tokens{0}) << c.what << ", " << api;
      // Eight words of five or six bytes, at four bytes a token; a message that begins tells of one token alone.
      EXPECT_GE(attempts[0].billed.completion(), Tokens{8}) << c.what << ", " << api;
      EXPECT_LT(attempts[0].billed.completion(), Tokens{16}) << c.what << ", " << api;
      EXPECT_EQ(verified(site.spine()), "");
    }
}

TEST(Proxy, books_a_stream_that_fails_before_it_is_handed_on_though_another_answers) {
  Site::Wanted wanted;
  simulated::Fault both = at(Kind::raw, Place::before_head);
  const std::string content = R"(data: {"choices":[{"index":0,"delta":{"content":"twelve bytes"}}]})"
                              "\n\n";
  const std::string body = content + "data: {\n\n";
  both.text = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: " + std::to_string(body.size()) +
              "\r\n\r\n" + body;
  wanted.cheap.faults = {both};
  Site site(std::move(wanted));
  const Got got = site.chat(kStream);
  EXPECT_EQ(got.field("x-ace-destination"), "dear") << got.head << got.body;
  EXPECT_EQ(got.body.find("twelve"), std::string::npos);
  ASSERT_EQ(site.stop(), "");
  const auto attempts = all<event::Attempted>(site.records());
  ASSERT_EQ(attempts.size(), 2U);
  EXPECT_EQ(attempts[0].billed.completion(), Tokens{3});
  EXPECT_GT(attempts[0].billed.prompt(), Tokens{0});
  EXPECT_EQ(verified(site.spine()), "");
}

TEST(Proxy, books_an_answer_that_was_counted_though_it_could_not_be_handed_on) {
  Site::Wanted wanted;
  simulated::Fault odd = fault(Kind::event);
  odd.text = R"({"id":"c","model":"m","choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3}})";
  wanted.cheap.faults = {odd};
  Site site(std::move(wanted));
  const Got got = site.send(post("/v1/messages", messages(false), "anthropic-version: 2023-06-01\r\n"));
  EXPECT_EQ(got.status, 200) << got.body;
  EXPECT_EQ(got.field("x-ace-destination"), "dear");
  ASSERT_EQ(site.stop(), "");
  const auto attempts = all<event::Attempted>(site.records());
  ASSERT_EQ(attempts.size(), 2U);
  EXPECT_EQ(attempts[0].billed, Usage(Tokens{7}, Tokens{0}, Tokens{3}));
  EXPECT_EQ(verified(site.spine()), "");
}

TEST(Proxy, hands_on_no_compressed_answer) {
  Site::Wanted wanted;
  wanted.cheap.fields = "Content-Encoding: gzip\r\n";
  Site site(std::move(wanted));
  EXPECT_EQ(site.chat().field("x-ace-destination"), "dear");
}

TEST(Proxy, makes_no_answer_free_by_a_count_that_cannot_be) {
  for (const Kind kind : {Kind::no_usage, Kind::usage_negative, Kind::usage_absurd})
    for (const char* more : {"", kStream}) {
      Site::Wanted wanted;
      wanted.cheap.faults = {fault(kind)};
      Site site(std::move(wanted));
      EXPECT_EQ(site.chat(more).status, 200);
      ASSERT_EQ(site.stop(), "");
      const auto end = all<event::Completed>(site.records()).at(0);
      EXPECT_GT(end.usage.prompt(), Tokens{0}) << static_cast<int>(kind) << more;
      // 16 words of 81 bytes in all, at four bytes a token.
      EXPECT_EQ(end.usage.completion(), Tokens{21}) << static_cast<int>(kind) << more;
      EXPECT_EQ(verified(site.spine()), "");
    }
}

TEST(Proxy, books_the_prompt_of_a_client_that_left_before_its_answer_began) {
  Site::Wanted wanted;
  wanted.cheap.faults = {at(Kind::stall, Place::before_head)};
  Site site(std::move(wanted));
  {
    const net::Peer peer = net::Peer::connect(site.service->port());
    (void)peer.send(
        post("/v1/chat/completions", R"({"model":"m","stream":true,"messages":[{"role":"user","content":"hello"}]})"));
    ASSERT_TRUE(net::eventually([&] { return site.cheap->provider().count() == 1; }));
  }
  ASSERT_TRUE(net::eventually([&] { return site.service->desk().view().in_flight == 0; }));
  ASSERT_EQ(site.stop(), "");
  const auto end = all<event::Completed>(site.records()).at(0);
  EXPECT_EQ(end.outcome, event::Outcome::client_abort);
  EXPECT_GT(end.usage.prompt(), Tokens{0}) << "the provider had it, and may have read it";
  EXPECT_EQ(end.usage.completion(), Tokens{0});
  EXPECT_EQ(verified(site.spine()), "");
}

TEST(Proxy, charges_a_key_for_what_was_used_also_where_the_client_left) {
  for (const bool leaves : {false, true}) {
    const TwoTenants keys(1500);
    Site::Wanted wanted;
    wanted.config = keys.config();
    if (leaves) wanted.cheap.faults = {at(Kind::stall, Place::after_event, 4)};
    Site site(std::move(wanted));
    const std::string body = R"({"model":"m","stream":true,"max_tokens":20,"messages":[{"role":"user","content":")" +
                             std::string(4000, 'x') + "\"}]}";  // about 1,000 tokens
    const auto ask = [&] { return post("/v1/chat/completions", body, keys.field(0)); };
    if (leaves) {
      const net::Peer peer = net::Peer::connect(site.service->port());
      (void)peer.send(ask());
      (void)peer.receive_until("chat.completion.chunk");
    } else {
      EXPECT_EQ(site.send(ask()).status, 200);
    }
    ASSERT_TRUE(net::eventually([&] { return site.service->desk().view().in_flight == 0; }));
    const Got second = site.send(ask());
    EXPECT_EQ(second.status, 429) << "1,000 of its 1,500 a minute are used; " << second.body;
  }
}

TEST(Proxy, keeps_answers_for_one_tenant_one_rule_and_one_question) {
  const TwoTenants keys;
  Site::Wanted wanted;
  wanted.config = keys.config() + "cache: {}\n";
  wanted.tenants = "{acme: {}, other: {}}";
  Site site(std::move(wanted));
  const auto ask = [&](std::size_t tenant, const std::string& more = "", const std::string& fields = "") {
    const Got got = site.chat(R"(,"temperature":0)" + more, keys.field(tenant) + fields);
    EXPECT_EQ(got.status, 200) << got.body;
    return got.field("x-ace-cache") == "hit" ? "kept" : got.field("x-ace-destination");
  };
  EXPECT_EQ(ask(0), "cheap");
  EXPECT_EQ(ask(0), "cheap");
  EXPECT_EQ(ask(0), "kept");
  EXPECT_EQ(ask(0, R"(,"seed":7)"), "cheap") << "another question";
  EXPECT_EQ(ask(1), "cheap") << "another tenant";
  EXPECT_EQ(ask(0, "", "x-ace-compliance: eu-only\r\n"), "dear") << "the answer that is kept was made outside the EU";
  EXPECT_EQ(ask(0, "", "Cache-Control: no-store\r\n"), "cheap") << "the client wants its own";
  EXPECT_EQ(ask(0), "kept");
}

TEST(Proxy, in_observe_answers_nothing_from_its_cache) {
  Site::Wanted wanted;
  wanted.mode = "observe";
  wanted.config = "cache: {}\n";
  Site site(std::move(wanted));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(site.chat(R"(,"temperature":0)").field("x-ace-cache"), "");
  EXPECT_EQ(site.dear->provider().count(), 3);
}

TEST(Proxy, names_each_tenants_prompts_by_a_key_of_its_own) {
  const TwoTenants keys;
  Site::Wanted wanted;
  wanted.config = keys.config();
  wanted.tenants = "{acme: {}, other: {}}";
  wanted.cheap_api = "openai, cache: {key: prompt_cache_key}";
  Site site(std::move(wanted));
  for (const std::size_t tenant : {0U, 0U, 1U}) EXPECT_EQ(site.chat("", keys.field(tenant)).status, 200);
  std::vector<std::string> named;
  for (const simulated::Request& seen : site.cheap->provider().seen()) {
    const std::size_t at = seen.body.find("\"prompt_cache_key\":\"");
    ASSERT_NE(at, std::string::npos) << seen.body;
    named.push_back(seen.body.substr(at + 20, 32));
  }
  ASSERT_EQ(named.size(), 3U);
  EXPECT_EQ(named[0], named[1]);
  EXPECT_NE(named[0], named[2]);
}

TEST(Proxy, books_a_prompt_that_azure_filtered_and_never_shows_a_client_our_key) {
  ::setenv("ACE_TEST_AZURE_KEY", "an-azure-secret", 1);
  Site::Wanted wanted;
  wanted.cheap_api = "azure-openai, key: {env: ACE_TEST_AZURE_KEY}";
  simulated::Fault filtered = fault(Kind::status);
  filtered.status = 400;
  filtered.text = R"({"error":{"code":"content_filter","message":"filtered for the key an-azure-secret"}})";
  wanted.cheap.faults = {filtered};
  Site site(std::move(wanted));
  const Got got = site.chat();
  EXPECT_EQ(got.status, 400);
  EXPECT_NE(got.body.find("filtered for the key [key]"), std::string::npos) << got.body;
  ASSERT_EQ(site.stop(), "");
  const auto attempts = all<event::Attempted>(site.records());
  ASSERT_EQ(attempts.size(), 1U);
  EXPECT_EQ(attempts[0].rejection, Rejection::request);
  EXPECT_GT(attempts[0].billed.prompt(), Tokens{0});
  EXPECT_EQ(verified(site.spine()), "");
}

}  // namespace
}  // namespace ace::gateway
