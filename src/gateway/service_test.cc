#include "gateway/service.h"

#include <gtest/gtest.h>

#include "adapters/ledger_view.h"
#include "gateway/service_testing.h"

namespace ace::gateway {
namespace {

using Kind = simulated::Fault::Kind;

TEST(Service, answers_from_the_cheapest_destination_and_says_what_it_cost) {
  Site site;
  const Got got = site.chat();
  EXPECT_EQ(got.status, 200) << got.head << got.body;
  EXPECT_EQ(got.field("x-ace-destination"), "cheap");
  EXPECT_EQ(got.field("x-ace-attempts"), "1");
  EXPECT_EQ(got.field("x-request-id").substr(0, 4), "req_");
  EXPECT_NE(got.field("x-ace-cost-usd"), "");
  EXPECT_NE(got.field("x-ace-baseline-usd"), "");
  EXPECT_NE(got.body.find("\"choices\""), std::string::npos);
  ASSERT_EQ(site.stop(), "");
  EXPECT_EQ(verified(site.spine()), "");
  const auto end = all<event::Completed>(site.records()).at(0);
  EXPECT_EQ(end.outcome, event::Outcome::served);
  EXPECT_EQ(end.usage.completion(), Tokens{16});
}

TEST(Service, serves_every_operation_whole_and_streamed) {
  Site::Wanted wanted;
  Site site(std::move(wanted));
  const struct {
    const char *path, *body, *in_answer;
  } cases[] = {
      {"/v1/chat/completions", R"({"model":"m","messages":[{"role":"user","content":"x"}]})", "\"choices\""},
      {"/v1/chat/completions", R"({"model":"m","stream":true,"messages":[{"role":"user","content":"x"}]})", "[DONE]"},
      {"/v1/completions", R"({"model":"m","prompt":"x"})", "\"choices\""},
      {"/v1/completions", R"({"model":"m","prompt":"x","stream":true})", "[DONE]"},
      {"/v1/responses", R"({"model":"m","input":"x"})", "\"output\""},
      {"/v1/responses", R"({"model":"m","input":"x","stream":true})", "response.completed"},
      {"/v1/embeddings", R"({"model":"m","input":"x"})", "\"embedding\""},
  };
  for (const auto& c : cases) {
    const Got got = site.send(post(c.path, c.body));
    EXPECT_EQ(got.status, 200) << c.path << got.head << got.body;
    EXPECT_NE(got.body.find(c.in_answer), std::string::npos) << c.path << "\n" << got.body;
  }
  const Got models = site.send("GET /v1/models HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(models.status, 200);
  EXPECT_NE(models.body.find("\"id\":\"m\""), std::string::npos);
  const auto model = [&](const std::string& name, const std::string& fields) {
    return site.send("GET /v1/models/" + name + " HTTP/1.1\r\nHost: x\r\n" + fields + "Connection: close\r\n\r\n");
  };
  EXPECT_EQ(model("m", "").body, R"({"id":"m","object":"model","created":0,"owned_by":"ace"})");
  EXPECT_NE(model("m", "anthropic-version: 2023-06-01\r\n").body.find("display_name"), std::string::npos);
  EXPECT_EQ(model("none", "").status, 404);
  ASSERT_EQ(site.stop(), "");
  EXPECT_EQ(verified(site.spine()), "");
  for (const auto& end : all<event::Completed>(site.records())) EXPECT_EQ(end.outcome, event::Outcome::served);
}

TEST(Service, hands_a_stream_on_and_books_its_first_token) {
  Site site;
  const Got got = site.chat(R"(,"stream":true)");
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(got.field("Content-Type"), "text/event-stream");
  EXPECT_NE(got.field("x-ace-predicted-cost-usd"), "");
  EXPECT_EQ(got.body.find("\"usage\":{"), std::string::npos) << "the client did not ask for it";
  ASSERT_EQ(site.stop(), "");
  const auto records = site.records();
  EXPECT_EQ(all<event::FirstToken>(records).size(), 1U);
  EXPECT_EQ(all<event::Completed>(records).at(0).usage.completion(), Tokens{16}) << "as the provider counted";
  EXPECT_EQ(verified(site.spine()), "");
}

TEST(Service, in_observe_forwards_as_the_static_route_says) {
  Site::Wanted wanted;
  wanted.mode = "observe";
  Site site(std::move(wanted));
  EXPECT_EQ(site.chat().field("x-ace-destination"), "dear");
  ASSERT_EQ(site.stop(), "");
  EXPECT_EQ(site.cheap->provider().count(), 0);
  EXPECT_EQ(verified(site.spine()), "");
}

TEST(Service, spills_to_the_next_in_merit_order) {
  for (const int status : {429, 503, 500}) {
    Site::Wanted wanted;
    wanted.cheap.faults = {fault(Kind::status)};
    wanted.cheap.faults[0].status = status;
    Site site(std::move(wanted));
    const Got got = site.chat();
    EXPECT_EQ(got.status, 200) << status;
    EXPECT_EQ(got.field("x-ace-destination"), "dear") << status;
    EXPECT_EQ(got.field("x-ace-attempts"), "2") << status;
    ASSERT_EQ(site.stop(), "");
    EXPECT_EQ(verified(site.spine()), "");
  }
}

TEST(Service, does_not_repeat_what_is_the_requests_own_fault) {
  Site::Wanted wanted;
  wanted.cheap.faults = {fault(Kind::status)};
  wanted.cheap.faults[0].status = 400;
  Site site(std::move(wanted));
  const Got got = site.chat();
  EXPECT_EQ(got.status, 400);
  EXPECT_EQ(got.field("x-should-retry"), "false");
  EXPECT_EQ(site.dear->provider().count(), 0);
}

TEST(Service, tries_another_while_the_client_has_seen_nothing_and_never_after) {
  for (const std::int64_t event : {0, 3}) {
    Site::Wanted wanted;
    simulated::Fault cut = fault(Kind::close);
    cut.place = event == 0 ? simulated::Place::after_head : simulated::Place::after_event;
    cut.event = event;
    wanted.cheap.faults = {cut};
    Site site(std::move(wanted));
    const Got got = site.chat(R"(,"stream":true)");
    EXPECT_EQ(got.status, 200);
    EXPECT_EQ(site.dear->provider().count(), event == 0 ? 1 : 0);
    EXPECT_EQ(got.body.find("[DONE]") == std::string::npos, event != 0) << got.body;
    if (event != 0) {
      EXPECT_NE(got.body.find("\"error\""), std::string::npos) << got.body;
    }
    ASSERT_EQ(site.stop(), "");
    EXPECT_EQ(verified(site.spine()), "");
  }
}

TEST(Service, cancels_upstream_when_the_client_leaves_and_books_what_was_used) {
  Site::Wanted wanted;
  wanted.cheap.tpot = std::chrono::milliseconds{20};
  wanted.cheap.tokens = 1000;
  Site site(std::move(wanted));
  {
    const net::Peer peer = net::Peer::connect(site.service->port());
    (void)peer.send(
        post("/v1/chat/completions", R"({"model":"m","stream":true,"messages":[{"role":"user","content":"x"}]})"));
    (void)peer.receive_until("chat.completion.chunk");
  }
  EXPECT_TRUE(net::eventually([&] {
    const auto seen = site.cheap->provider().seen();
    return !seen.empty() && seen[0].outcome == simulated::Request::Outcome::gone;
  }));
  EXPECT_TRUE(net::eventually([&] { return site.service->desk().view().in_flight == 0; }));
  ASSERT_EQ(site.stop(), "");
  const auto end = all<event::Completed>(site.records()).at(0);
  EXPECT_EQ(end.outcome, event::Outcome::client_abort);
  EXPECT_LT(end.usage.completion(), Tokens{1000});
  EXPECT_EQ(verified(site.spine()), "");
}

TEST(Service, refuses_what_no_destination_may_see) {
  Site::Wanted wanted;
  wanted.tenants = "{acme: {compliance: eu-only}}";
  Site site(std::move(wanted));
  EXPECT_EQ(site.chat().field("x-ace-destination"), "dear") << "cheap is not of the eu";
  site.dear->set_listening(false);
  const Got got = site.chat();
  EXPECT_GE(got.status, 500);
  EXPECT_EQ(site.cheap->provider().count(), 0) << "at no price, through no fallback";
  ASSERT_EQ(site.stop(), "");
  EXPECT_EQ(verified(site.spine()), "");
}

TEST(Service, takes_a_stricter_rule_from_the_request) {
  Site site;
  EXPECT_EQ(site.chat("", "x-ace-compliance: eu-only\r\n").field("x-ace-destination"), "dear");
  EXPECT_EQ(site.chat("", "x-ace-compliance: moon-only\r\n").status, 400);
}

TEST(Service, says_in_the_dialect_of_the_caller_what_it_does_not_serve) {
  Site site;
  const Got unknown =
      site.send(post("/v1/chat/completions", R"({"model":"no","messages":[{"role":"user","content":"x"}]})"));
  EXPECT_EQ(unknown.status, 404);
  EXPECT_NE(unknown.body.find("model_not_found"), std::string::npos) << unknown.body;
  EXPECT_EQ(site.send(post("/v2/chat", "{}")).status, 404);
  EXPECT_EQ(site.send(post("/v1/chat/completions", "{")).status, 400);
  const Got health = site.send("GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(health.status, 200);
}

TEST(Service, goes_on_with_the_same_spine_and_its_ledger_adds_up) {
  Site site;
  Usd told{};
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 3; ++i) {
      const Got got = site.chat();
      ASSERT_EQ(got.status, 200);
      told += Usd{parse_decimal(got.field("x-ace-cost-usd"), 9).value()};
    }
    ASSERT_EQ(site.stop(), "");
    if (round == 0) site.start();
  }
  EXPECT_EQ(verified(site.spine()), "");
  LedgerOptions read;
  read.save_view = false;
  const auto ledger = ledger_of(site.spine(), read).value();
  EXPECT_EQ(ledger.ledger.pending(), 0U);
  const auto books = ledger.ledger.close(Grade::measured, {}).value();
  EXPECT_EQ(books.statement.requests, 6U);
  EXPECT_EQ(books.statement.c4, told);
}

TEST(Service, asks_for_a_key_where_there_are_keys) {
  const std::string secret = new_key(Role::client);
  const std::string path =
      (std::filesystem::temp_directory_path() / ("ace_service_keys_" + std::to_string(::getpid()) + ".yaml")).string();
  std::filesystem::remove(path);
  ASSERT_TRUE(change_keys(path, [&](KeyRing& ring) {
    Key key;
    key.id = "k1";
    key.tenant = "acme";
    key.rpm = 2;
    key.secrets.push_back({.digest = digest_of(secret)});
    return ring.add(key);
  }));
  Site::Wanted wanted;
  wanted.config = "keys: " + path + "\n";
  {
    Site site(std::move(wanted));
    EXPECT_EQ(site.chat().status, 401);
    EXPECT_EQ(site.cheap->provider().count(), 0);
    const std::string field = "Authorization: Bearer " + secret + "\r\n";
    EXPECT_EQ(site.chat("", field).status, 200);
    EXPECT_EQ(site.chat("", field).status, 200);
    const Got over = site.chat("", field);
    EXPECT_EQ(over.status, 429);
    EXPECT_EQ(over.field("x-should-retry"), "true");
    EXPECT_NE(over.field("retry-after-ms"), "");
    ASSERT_EQ(site.stop(), "");
    EXPECT_EQ(verified(site.spine()), "");
    for (const simulated::Request& seen : site.cheap->provider().seen())
      for (const auto& [name, value] : seen.fields) EXPECT_EQ(value.find(secret), std::string::npos) << name;
  }
  std::filesystem::remove(path);
}

TEST(Service, gives_an_answer_again_once_its_question_comes_back) {
  Site::Wanted wanted;
  wanted.config = "cache: {}\n";
  Site site(std::move(wanted));
  const auto ask = [&] { return site.chat(R"(,"temperature":0)"); };
  EXPECT_EQ(ask().field("x-ace-cache"), "");
  const Got second = ask();
  EXPECT_EQ(second.field("x-ace-cache"), "") << "what was asked once is not kept";
  const Got third = ask();
  EXPECT_EQ(third.field("x-ace-cache"), "hit");
  EXPECT_EQ(third.field("x-ace-cost-usd"), "0.00");
  EXPECT_EQ(third.body, second.body);
  EXPECT_EQ(site.cheap->provider().count(), 2);
  ASSERT_EQ(site.stop(), "");
  EXPECT_EQ(verified(site.spine()), "");
  const auto records = site.records();
  EXPECT_EQ(all<event::CacheHit>(records).size(), 1U);
  EXPECT_EQ(all<event::Completed>(records).back().outcome, event::Outcome::cache_hit);
  LedgerOptions read;
  read.save_view = false;
  const auto ledger = ledger_of(site.spine(), read).value();
  EXPECT_EQ(ledger.ledger.close(Grade::measured, {}).value().statement.cache_hits, 1U);
}

TEST(Service, ends_an_answer_to_a_strict_tenant_once_its_end_is_durable) {
  Site::Wanted wanted;
  wanted.group_delay = std::chrono::milliseconds{150};  // what is not waited for is not in the log when the answer is
  wanted.strict = "acme";
  Site site(std::move(wanted));
  const auto recorded = [&](const std::string& id) {
    const std::vector<event::Record> records = site.records();
    return std::any_of(records.begin(), records.end(), [&](const event::Record& r) {
      const auto* end = std::get_if<event::Completed>(&r.event);
      return end != nullptr && to_string(end->id) == id;
    });
  };
  const Got whole = site.chat();
  EXPECT_EQ(whole.status, 200);
  EXPECT_TRUE(recorded(whole.field("x-request-id")));
  {
    const net::Peer peer = net::Peer::connect(site.service->port());
    (void)peer.send(
        post("/v1/chat/completions", R"({"model":"m","stream":true,"messages":[{"role":"user","content":"x"}]})"));
    const Got stream = parse_got(peer.receive_until("[DONE]"));
    EXPECT_EQ(stream.status, 200);
    EXPECT_TRUE(recorded(stream.field("x-request-id"))) << "before the event that a client takes for the end";
  }
  site.cheap->set_listening(false);
  site.dear->set_listening(false);
  const Got failed = site.chat();
  EXPECT_EQ(failed.status, 502);
  EXPECT_TRUE(recorded(failed.field("x-request-id"))) << "an id that anybody was given is on the disk";
  ASSERT_EQ(site.stop(), "");
  EXPECT_EQ(verified(site.spine()), "");
}

TEST(Service, leaves_a_destination_alone_that_answers_far_slower_than_it_did) {
  Site::Wanted wanted;
  wanted.cheap.tokens = 2;
  wanted.dear.tokens = 2;
  wanted.dear_price = R"(input: "1.50 USD/Mtok", output: "3 USD/Mtok")";  // little more than cheap asks
  Site site(std::move(wanted));
  const auto stream = [&] { return site.chat(R"(,"stream":true)").field("x-ace-destination"); };
  for (int i = 0; i < 260; ++i) ASSERT_EQ(stream(), "cheap");
  simulated::Script slow;
  slow.tokens = 2;
  slow.ttft = std::chrono::milliseconds{120};  // within the 2 s of its class: no promise is broken
  site.cheap->provider().set_script(slow);
  int asked = 0;
  while (asked < 60 && stream() == "cheap") ++asked;
  EXPECT_GT(asked, 5) << "a few slow answers say little";
  EXPECT_LT(asked, 60);
  ASSERT_EQ(site.stop(), "");
  EXPECT_EQ(verified(site.spine()), "");
}

TEST(Service, shows_its_operator_windows_with_what_was_predicted_and_what_came) {
  Site::Wanted wanted;
  wanted.config = "trial: {window: 1s, requests_min: 2}\n";
  Site site(std::move(wanted));
  ASSERT_TRUE(net::eventually([&] {
    EXPECT_EQ(site.chat().status, 200);
    return !site.service->trial(10).windows.empty();
  }));
  const TrialView trial = site.service->trial(10);
  EXPECT_EQ(trial.gates.requests_min, 2U);
  const TrialArm& ace = trial.windows.front().arms[1];
  EXPECT_GE(ace.served, 2U);
  EXPECT_GT(ace.cost, Usd{});
  EXPECT_GT(ace.predicted, Usd{});
  EXPECT_GT(ace.predicted_s, 0.0);
  EXPECT_TRUE(site.service->trial(0).windows.empty());
}

TEST(Service, leaves_a_destination_alone_before_its_429) {
  Site::Wanted wanted;
  wanted.cheap.fields =
      "x-ratelimit-limit-requests: 100\r\nx-ratelimit-remaining-requests: 1\r\nx-ratelimit-reset-requests: 59s\r\n"
      "x-ratelimit-limit-tokens: 1000\r\nx-ratelimit-remaining-tokens: 5\r\nx-ratelimit-reset-tokens: 1m0s\r\n";
  Site site(std::move(wanted));
  EXPECT_EQ(site.chat().field("x-ace-destination"), "cheap");
  for (int i = 0; i < 3; ++i) {
    const Got got = site.chat();
    EXPECT_EQ(got.field("x-ace-destination"), "dear") << "cheap has 5 tokens left, and it says so";
    EXPECT_EQ(got.field("x-ace-attempts"), "1");
  }
  EXPECT_EQ(site.cheap->provider().count(), 1);
  ASSERT_EQ(site.stop(), "");
  EXPECT_EQ(verified(site.spine()), "");
  const auto said = all<event::CapacityObserved>(site.records());
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said[0].source, event::CapacityObserved::Source::provider);
  EXPECT_EQ(said[0].tokens_remaining, 5);
  EXPECT_EQ(said[0].requests_remaining, 1);
}

TEST(Service, leaves_a_pool_alone_whose_engines_say_that_others_fill_it) {
  // A pool of our own at no price, which others use past ACE: its engines run on the provider "cheap".
  Site::Wanted wanted;
  wanted.cheap.tokens = 600;
  wanted.cheap.tpot = std::chrono::milliseconds{10};
  wanted.cheap.slots = 2;
  wanted.pool = true;
  Site site(std::move(wanted));
  EXPECT_EQ(site.chat().field("x-ace-destination"), "pool") << "nothing runs there yet";
  std::vector<net::Peer> others;
  for (int i = 0; i < 8; ++i) {
    others.push_back(net::Peer::connect(site.cheap->port()));
    (void)others.back().send(
        post("/v1/chat/completions", R"({"model":"m","stream":true,"messages":[{"role":"user","content":"x"}]})"));
  }
  EXPECT_TRUE(net::eventually([&] {
    for (const DestinationView& view : site.service->destinations())
      if (view.name == "pool") return view.utilization >= 1.0;
    return false;
  })) << "two run and six wait";
  EXPECT_EQ(site.chat().field("x-ace-destination"), "dear");
  others.clear();
  ASSERT_EQ(site.stop(), "");
  EXPECT_EQ(verified(site.spine()), "");
  EXPECT_FALSE(all<event::CapacityObserved>(site.records()).empty());
}

TEST(Service, changes_its_budgets_with_the_fleet_file) {
  Site::Wanted wanted;
  wanted.more = "budgets:\n  all: {window: total, limit: \"1 USD\"}\n";
  Site site(std::move(wanted));
  Usd told{};
  const auto ask = [&] {
    const Got got = site.chat();
    if (got.status == 200) told += Usd{parse_decimal(got.field("x-ace-cost-usd"), 9).value()};
    return got;
  };
  const auto spent = [&] { return site.service->budgets().at(0).spent; };
  ASSERT_EQ(ask().status, 200);
  EXPECT_GT(told, Usd{});
  EXPECT_EQ(spent(), told);

  ASSERT_TRUE(site.reload("1 USD\"}\n", "0.000001 USD\"}\n"));
  EXPECT_NE(ask().body.find("budget_exceeded"), std::string::npos);
  EXPECT_EQ(spent(), told) << "the same budget under another limit";

  ASSERT_TRUE(site.reload("all: {window: total, limit: \"0.000001 USD\"}", "every: {window: total, limit: \"1 USD\"}"));
  ASSERT_EQ(site.service->budgets().size(), 1U);
  EXPECT_EQ(site.service->budgets()[0].name, "every");
  EXPECT_EQ(spent(), told) << "what the spine tells of counts";
  EXPECT_EQ(ask().status, 200);
  EXPECT_EQ(spent(), told);

  ASSERT_TRUE(site.reload("budgets:\n  every: {window: total, limit: \"1 USD\"}\n", ""));
  EXPECT_TRUE(site.service->budgets().empty());
  EXPECT_EQ(ask().status, 200);

  ASSERT_TRUE(site.reload("destinations:", "budgets:\n  more: {window: total, limit: \"1 USD\"}\ndestinations:"));
  EXPECT_EQ(spent(), told) << "where there was none";
  ASSERT_EQ(site.stop(), "");
  EXPECT_EQ(verified(site.spine()), "");
}

/// A figure of the metrics; -1 if there is none such.
double metric(const Site& site, const std::string& name) {
  const net::Peer peer = net::Peer::connect(site.service->admin_port());
  (void)peer.send("GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n");
  const std::string text = peer.receive_all();
  const std::size_t at = text.find("\n" + name + " ");
  return at == std::string::npos ? -1.0 : std::strtod(text.c_str() + at + name.size() + 2, nullptr);
}

TEST(Service, measures_what_it_adds_to_a_request_without_what_others_take) {
  Site::Wanted wanted;
  wanted.cheap.ttft = std::chrono::milliseconds{400};
  wanted.cheap.tpot = std::chrono::milliseconds{10};
  wanted.config = "admin: {port: 0}\n";
  Site site(std::move(wanted));
  EXPECT_EQ(site.chat().status, 200);
  EXPECT_EQ(site.chat(R"(,"stream":true)").status, 200);
  EXPECT_EQ(site.send(post("/v1/chat/completions", "{")).status, 400) << "sent nowhere: it has no overhead";
  ASSERT_TRUE(net::eventually([&] { return metric(site, "ace_overhead_seconds_count") == 2.0; }));
  const double added = metric(site, "ace_overhead_seconds_sum");
  EXPECT_GT(added, 0.0);
  EXPECT_LT(added, 2 * 0.4) << "what the destination took is not ours";
  EXPECT_GE(metric(site, "ace_request_seconds_sum{operation=\"chat_completions\"}"), 2 * 0.4);
}

TEST(Service, ends_a_stream_that_broke_once_its_end_is_durable_for_a_strict_tenant) {
  for (const auto kind : {simulated::Fault::Kind::close, simulated::Fault::Kind::error_event}) {
    simulated::Fault broken = fault(kind);
    broken.place = simulated::Place::after_event;
    broken.event = 3;
    Site::Wanted wanted;
    wanted.group_delay = std::chrono::milliseconds{150};
    wanted.strict = "acme";
    wanted.config = "admin: {port: 0}\n";
    wanted.cheap.faults = {broken};
    Site site(std::move(wanted));
    const net::Peer peer = net::Peer::connect(site.service->port());
    (void)peer.send(
        post("/v1/chat/completions", R"({"model":"m","stream":true,"messages":[{"role":"user","content":"x"}]})"));
    EXPECT_EQ(parse_got(peer.receive_until("\"error\"")).status, 200);
    EXPECT_EQ(all<event::Completed>(site.records()).size(), 1U) << "before the event that says so";
    EXPECT_TRUE(net::eventually([&] {
      return metric(site, R"(ace_requests_total{operation="chat_completions",outcome="upstream"})") == 1.0;
    })) << "it is not counted as served";
    ASSERT_EQ(site.stop(), "");
    EXPECT_EQ(verified(site.spine()), "");
  }
}

TEST(Service, drains_streams_before_it_ends) {
  Site::Wanted wanted;
  wanted.cheap.tpot = std::chrono::milliseconds{10};
  wanted.cheap.tokens = 30;
  Site site(std::move(wanted));
  const net::Peer peer = net::Peer::connect(site.service->port());
  (void)peer.send(
      post("/v1/chat/completions", R"({"model":"m","stream":true,"messages":[{"role":"user","content":"x"}]})"));
  const std::string begun = peer.receive_until("chat.completion.chunk");
  ASSERT_EQ(site.stop(), "");
  EXPECT_NE((begun + peer.receive_all()).find("[DONE]"), std::string::npos);
  EXPECT_EQ(verified(site.spine()), "");
}

}  // namespace
}  // namespace ace::gateway
