#include "gateway/key_callers.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <functional>

#include "gateway/desk_testing.h"

namespace ace::gateway {
namespace {

constexpr Instant kNow = instant(1'800'000'000'000'000'000);

struct Held {
  explicit Held(const std::function<void(Key&)>& change = {})
      : folder(std::filesystem::temp_directory_path() / ("ace_key_callers_" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    secret = new_key(Role::client);
    const Result<void> made = change_keys((folder / "keys.yaml").string(), [&](KeyRing& ring) {
      Key key;
      key.id = "k1";
      key.tenant = "acme";
      key.team = "search";
      key.models = {"large"};
      key.operations = {wire::Operation::chat};
      key.compliance = "alt-only";
      key.slo = "batch";
      key.rpm = 2;
      if (change) change(key);
      key.secrets.push_back({.digest = digest_of(secret)});
      return ring.add(key);
    });
    ACE_CHECK(made.has_value(), made ? "" : made.error().what().c_str());
    book = KeyBook::open((folder / "keys.yaml").string()).value();
    callers = std::make_unique<KeyCallers>(*book, limits, metrics);
    request.model = "large";
    request.prompt_tokens = 10;
  }
  ~Held() { std::filesystem::remove_all(folder); }
  /// The code of the refusal, or "".
  std::string refusal(const std::vector<net::Field>& fields) {
    last = callers->admit(fields, fleet, &request, kNow);
    const auto* refused = std::get_if<Callers::Refused>(&last);
    return refused == nullptr ? "" : refused->error.code;
  }
  std::filesystem::path folder;
  std::string secret;
  std::unique_ptr<KeyBook> book;
  Limits limits;
  MetricRegistry metrics;
  std::unique_ptr<KeyCallers> callers;
  Fleet fleet = ledger_testing::small_fleet();
  wire::Request request;
  std::variant<Callers::Admitted, Callers::Refused> last;
};

TEST(KeyCallers, know_who_asks_by_either_field) {
  Held held;
  const std::string bearer = "Bearer " + held.secret;
  for (const net::Field& field : {net::Field{"Authorization", bearer}, net::Field{"x-api-key", held.secret}}) {
    ASSERT_EQ(held.refusal({field}), "");
    const Caller& caller = std::get<Callers::Admitted>(held.last).caller;
    EXPECT_EQ(caller.tenant, "acme");
    EXPECT_EQ(caller.team, "search");
    EXPECT_EQ(caller.key, "k1");
    EXPECT_EQ(caller.slo, ledger_testing::kBatch);
    EXPECT_EQ(caller.compliance, ledger_testing::kAltOnly);
  }
}

TEST(KeyCallers, tell_nothing_to_who_has_no_key) {
  Held held;
  const std::string other = new_key(Role::client), admin = new_key(Role::admin);
  EXPECT_EQ(held.refusal({}), "invalid_key");
  EXPECT_EQ(held.refusal({{"x-api-key", other}}), "invalid_key");
  EXPECT_EQ(held.refusal({{"x-api-key", admin}}), "invalid_key");
  const std::string bearer = "Bearer " + held.secret;
  EXPECT_EQ(held.refusal({{"Authorization", bearer}, {"x-api-key", other}}), "invalid_key") << "two that differ";
  const std::string stranger = "Bearer " + other;
  EXPECT_EQ(held.refusal({{"Authorization", stranger}, {"x-api-key", held.secret}}), "invalid_key") << "either way";
  EXPECT_NE(held.metrics.expose().find("ace_key_refusals_total{"), std::string::npos) << held.metrics.expose();
}

TEST(KeyCallers, hold_a_key_to_its_scopes_and_limits) {
  Held held;
  const std::vector<net::Field> key = {{"x-api-key", held.secret}};
  held.request.model = "small";
  EXPECT_EQ(held.refusal(key), "model_not_allowed");
  held.request.model = "large";
  held.request.operation = wire::Operation::embeddings;
  EXPECT_EQ(held.refusal(key), "operation_not_allowed");
  held.request.operation = wire::Operation::chat;
  EXPECT_EQ(held.refusal(key), "");
  EXPECT_EQ(held.refusal(key), "");
  EXPECT_EQ(held.refusal(key), "rate_limited") << "two a minute";
  EXPECT_GT(std::get<Callers::Refused>(held.last).retry_after, Duration{0});
}

TEST(KeyCallers, hand_on_unread_only_for_keys_that_may_ask_everything) {
  Held held;
  const std::vector<net::Field> key = {{"x-api-key", held.secret}};
  const auto code = [&](const std::vector<net::Field>& fields) {
    held.last = held.callers->admit_unread(fields, held.fleet, kNow);
    const auto* refused = std::get_if<Callers::Refused>(&held.last);
    return refused == nullptr ? "" : refused->error.code;
  };
  EXPECT_EQ(code({}), "invalid_key");
  EXPECT_EQ(code(key), "operation_not_allowed") << "its models and operations cannot be told in what nobody reads";
  const auto change = [&](auto&& how) {
    ASSERT_TRUE(change_keys((held.folder / "keys.yaml").string(), [&](KeyRing& ring) {
      Key k = *ring.at("k1");
      how(k);
      KeyRing other;
      Result<void> added = other.add(std::move(k));
      ring = std::move(other);
      return added;
    }));
    ASSERT_TRUE(held.book->refresh());
  };
  change([](Key& k) { k.models.clear(); });
  EXPECT_EQ(code(key), "operation_not_allowed");
  change([](Key& k) { k.operations.clear(); });
  ASSERT_EQ(code(key), "");
  EXPECT_EQ(std::get<Callers::Admitted>(held.last).caller.compliance, ledger_testing::kAltOnly);
  held.request.model = "large";
  EXPECT_EQ(held.refusal(key), "");
  EXPECT_EQ(code(key), "rate_limited") << "two a minute, whatever they are";
}

TEST(KeyCallers, charge_a_key_what_was_used_and_nothing_for_what_never_ran) {
  Held held([](Key& key) { key.tpm = 1000; });
  const std::vector<net::Field> field = {{"x-api-key", held.secret}};
  held.request.prompt_tokens = 300;
  held.request.max_tokens = 400;
  const auto tokens_left = [&] { return held.limits.left(*held.book->ring()->at("k1"), kNow).tokens; };
  ASSERT_EQ(held.refusal(field), "");
  EXPECT_EQ(tokens_left(), 300) << "its prompt, and the most that its answer may have";
  std::get<Callers::Admitted>(held.last).pass->used(350, kNow);
  held.last = Callers::Refused{};
  EXPECT_EQ(tokens_left(), 650);
  held.request.max_tokens = 100;
  ASSERT_EQ(held.refusal(field), "");
  EXPECT_EQ(tokens_left(), 250);
  held.last = Callers::Refused{};  // it was refused further on
  EXPECT_EQ(tokens_left(), 650);
  EXPECT_EQ(held.limits.left(*held.book->ring()->at("k1"), kNow).running, 0);
}

TEST(KeyCallers, send_nobody_back_at_once) {
  Held held([](Key& key) {
    key.rpm = 0;
    key.tpm = 60'000'000'000;  // a token in a nanosecond
  });
  const std::vector<net::Field> field = {{"x-api-key", held.secret}};
  held.request.prompt_tokens = 60'000'000'000;
  ASSERT_EQ(held.refusal(field), "");
  const auto first = std::move(held.last);
  held.request.prompt_tokens = 1;
  ASSERT_EQ(held.refusal(field), "rate_limited");
  EXPECT_EQ(std::get<Callers::Refused>(held.last).retry_after, Duration{1'000'000}) << "the least that can be told";
}

}  // namespace
}  // namespace ace::gateway
