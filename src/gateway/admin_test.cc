#include "gateway/admin.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "adapters/wall_clock.h"
#include "gateway/admin_route.h"
#include "net/http_testing.h"
#include "net/server_testing.h"

namespace ace::gateway {
namespace {

using Json = nlohmann::json;
using ::testing::HasSubstr;

/// A gateway that remembers what it was told.
struct Steered final : Steering {
  std::string mode_now = "observe", config_now = "version: 1\nfleet: a.yaml\n", before;
  bool drains = false;
  std::vector<DestinationView> destinations() override {
    DestinationView healthy{.name = "gpu", .tier = "owned", .provider = "own", .models = {"m"}, .callable = true};
    healthy.utilization = 0.4;
    healthy.knee = 0.9;
    DestinationView tripped{.name = "api", .tier = "payg", .provider = "together", .models = {"m"}};
    tripped.tripped_until = instant(1'800'000'000'000'000'000);
    return {healthy, tripped};
  }
  Result<CurveView> supply_curve(std::string_view model, double prompt, double output) override {
    if (model != "m x") return Error(Errc::not_found, "nobody serves it");
    return CurveView{std::string(model),  instant(0), prompt, output, {{.destination = "gpu", .usd_per_mtok = 0.1}},
                     {{"api", "tripped"}}};
  }
  std::vector<DecisionView> decisions(std::size_t most) override {
    return std::vector<DecisionView>(std::min<std::size_t>(most, 3),
                                     DecisionView{.request_id = "req_1", .cost = Usd{5}});
  }
  std::vector<BudgetView> budgets() override { return {{.name = "b", .window = "month", .limit = Usd{1'000'000'000}}}; }
  ModeView mode() override { return {.mode = mode_now, .draining = drains}; }
  TrialView trial(std::size_t most) override {
    TrialWindow clean, breached;
    clean.enough = breached.enough = true;
    breached.breach = "served 98.00% of its requests, the gate is 99.90%";
    clean.arms[1] = {.requests = 100, .served = 100, .cost = Usd{4'000'000'000}, .predicted = Usd{5'000'000'000}};
    TrialView view;
    view.clean = 1;
    view.windows = {clean, breached};
    view.windows.resize(std::min(most, view.windows.size()));
    return view;
  }
  Result<void> set_mode(std::string_view wanted, double, bool forced) override {
    if (wanted == "inline" && !forced) return Error(Errc::check_failed, "3 clean windows are missing");
    mode_now = wanted;
    return {};
  }
  void drain() override { drains = true; }
  std::string config() override { return config_now; }
  Result<void> validate(std::string_view config) override {
    if (config.starts_with("version: 1\n")) return {};
    return Error(Errc::bad_input, "ace.yaml:1:1: expected version: 1");
  }
  Result<std::vector<std::string>> apply(std::string_view config, bool acknowledged) override {
    if (const Result<void> good = validate(config); !good) return good.error();
    if (!acknowledged) return Error(Errc::conflict, "a price moves");
    before = std::exchange(config_now, std::string(config));
    return std::vector<std::string>{"listen changes with the next start"};
  }
  Result<std::vector<std::string>> rollback() override {
    if (before.empty()) return Error(Errc::not_found, "there is none before it");
    config_now = std::exchange(before, "");
    return std::vector<std::string>{};
  }
};

struct Answered {
  int status = 0;
  Json json;
  std::string text;
};

/// The API over a socket, with a file of keys that holds one admin's.
struct Served {
  explicit Served(bool open = true) {
    folder = testing::TempDir() + "ace-admin-XXXXXX";
    EXPECT_NE(::mkdtemp(folder.data()), nullptr);
    secret = new_key(Role::admin);
    Key key;
    key.id = "admin";
    key.role = Role::admin;
    key.secrets.push_back({digest_of(secret)});
    EXPECT_TRUE(change_keys(folder + "/keys.yaml", [&](KeyRing& ring) { return ring.add(key); }));
    key.id = "spare";
    key.secrets = {{digest_of(new_key(Role::admin))}};
    EXPECT_TRUE(change_keys(folder + "/keys.yaml", [&](KeyRing& ring) { return ring.add(key); }));
    keys = KeyBook::open(folder + "/keys.yaml").value();
    metrics.counter("ace_requests_total", "Requests.").add(7);
    admin = std::make_unique<Admin>(AdminOptions{open, "0.1.0"}, steering, keys.get(), limits, metrics);
    server = std::make_unique<net::TestServer>(*admin);
  }
  ~Served() {
    server.reset();
    std::filesystem::remove_all(folder);
  }
  Answered ask(std::string_view method, std::string_view target, std::string_view body = "",
               std::string_view fields = "", std::string_view host = "localhost") const {
    const net::Peer peer = net::Peer::connect(server->port);
    const bool has_body = method != "GET" && method != "DELETE";
    peer.send(fmt::format("{} {} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n{}{}\r\n{}", method, target, host, fields,
                          has_body ? fmt::format("Content-Length: {}\r\n", body.size()) : "", body));
    const std::string raw = peer.receive_all();
    const std::string_view pieces[] = {raw};
    const net::Transcript got = net::read_messages(net::Side::responses, pieces, net::kResponseLimits);
    if (got.messages.size() != 1) return {};
    const net::ReadMessage& message = got.messages[0];
    return {std::stoi(message.start), Json::parse(message.body, nullptr, false), message.body};
  }
  std::string folder, secret;
  Steered steering;
  std::unique_ptr<KeyBook> keys;
  Limits limits;
  MetricRegistry metrics;
  std::unique_ptr<Admin> admin;
  std::unique_ptr<net::TestServer> server;
};

/// Where a value differs from a schema, as far as the description uses schemas; "" if nowhere.
/// @param description that a schema refers to
std::string misfit(const Json& value, const Json& schema, const Json& description) {
  if (schema.contains("$ref"))
    return misfit(value, description.at(Json::json_pointer(schema["$ref"].get<std::string>().substr(1))), description);
  const std::string type = schema.value("type", "");
  if (type == "object" && !value.is_object()) return "no object: " + value.dump();
  if (type == "array" && !value.is_array()) return "no array: " + value.dump();
  if (type == "string" && !value.is_string()) return "no string: " + value.dump();
  for (const Json& name : schema.value("required", Json::array()))
    if (!value.contains(name.get<std::string>())) return "lacks " + name.get<std::string>();
  const Json properties = schema.value("properties", Json::object());
  for (const auto& [name, property] : properties.items())
    if (value.contains(name))
      if (const std::string inside = misfit(value[name], property, description); !inside.empty())
        return name + ": " + inside;
  if (value.is_array() && schema.contains("items"))
    for (const Json& item : value)
      if (const std::string inside = misfit(item, schema["items"], description); !inside.empty())
        return "item " + inside;
  return "";
}

TEST(Admin, serves_what_it_describes) {
  const Served served;
  const Json description = served.ask("GET", "/openapi.json").json;
  ASSERT_EQ(description["openapi"], "3.1.0");
  std::size_t operations = 0;
  for (const auto& [path, methods] : description["paths"].items())
    for (const auto& [method, operation] : methods.items()) {
      ++operations;
      std::string target = path, verb = method;
      for (char& c : verb) c = static_cast<char>(c & ~0x20);
      if (const std::size_t at = target.find("{id}"); at != std::string::npos)
        target.replace(at, 4, verb == "DELETE" ? "spare" : "admin");
      if (path == "/v1/supply-curve") target += "?model=m%20x&prompt_tokens=10";
      const std::string body = path == "/v1/keys"                ? R"({"tenant":"acme"})"
                               : path == "/v1/mode"              ? R"({"mode":"shadow"})"
                               : path == "/v1/config/apply"      ? R"({"config":"version: 1\n","acknowledged":true})"
                               : path.starts_with("/v1/config/") ? R"({"config":"version: 1\nfleet: b.yaml\n"})"
                                                                 : "";
      const Answered got = served.ask(verb, target, body);
      EXPECT_TRUE(got.status >= 200 && got.status < 300) << verb << " " << target << " " << got.status << got.text;
      const Json content = operation["responses"]["2XX"].value("content", Json());
      if (content.is_object()) {
        EXPECT_EQ(misfit(got.json, content["application/json"]["schema"], description), "")
            << verb << " " << target << got.text;
      }
      for (const char* other : {"GET", "POST", "PUT", "DELETE", "PATCH"}) {
        std::string small = other;
        for (char& c : small) c = static_cast<char>(c | 0x20);
        if (!methods.contains(small)) {
          EXPECT_EQ(served.ask(other, target).status, 405) << other << " " << target;
        }
      }
    }
  EXPECT_EQ(operations, Admin::routes().size());
  EXPECT_GT(operations, 15U);
}

TEST(Admin, asks_for_an_admin_key_everywhere_but_where_probes_and_scrapers_come) {
  const Served served(false);
  const std::string client = new_key(Role::client);
  ASSERT_TRUE(served.keys->change([&](KeyRing& ring) {
    Key key;
    key.id = "client";
    key.tenant = "acme";
    key.secrets.push_back({digest_of(client)});
    return ring.add(key);
  }));
  const Json description = served.ask("GET", "/openapi.json").json;
  for (const auto& [path, methods] : description["paths"].items())
    for (const auto& [method, operation] : methods.items()) {
      std::string target = path, verb = method;
      for (char& c : verb) c = static_cast<char>(c & ~0x20);
      if (const std::size_t at = target.find("{id}"); at != std::string::npos) target.replace(at, 4, "none");
      const bool for_all = operation["security"][0].empty();
      EXPECT_EQ(for_all,
                target == "/metrics" || target == "/healthz" || target == "/readyz" || target == "/openapi.json")
          << target;
      std::set<std::string> said;
      for (const std::string& credential :
           {std::string(), std::string("Authorization: Bearer x\r\n"), "Authorization: Bearer " + client + "\r\n",
            "x-api-key: " + served.secret + "\r\n", "Authorization: Bearer " + new_key(Role::admin) + "\r\n"}) {
        const Answered got = served.ask(verb, target, "", credential);
        EXPECT_EQ(got.status == 401, !for_all) << verb << target << credential;
        if (!for_all) said.insert(got.text);
      }
      EXPECT_LE(said.size(), 1U) << "why a key does not open is not for who presents it";
      for (const char* scheme : {"Bearer ", "bearer "})
        EXPECT_NE(served.ask(verb, target, "", "Authorization: " + (scheme + served.secret) + "\r\n").status, 401)
            << scheme << target;
    }
  EXPECT_EQ(served.ask("GET", "/v1/nothing").status, 401) << "what there is, is not told either";
}

TEST(Admin, does_nothing_for_web_pages) {
  Served served;
  EXPECT_EQ(served.ask("POST", "/v1/drain", "", "Origin: https://evil.example\r\n").status, 403);
  EXPECT_EQ(served.ask("POST", "/v1/drain", "", "", "evil.example:9090").status, 403)
      << "a name that was made to mean this machine";
  EXPECT_FALSE(served.steering.drains);
  EXPECT_EQ(served.ask("POST", "/v1/drain", "", "", "127.0.0.1:9090").status, 202);
  EXPECT_TRUE(served.steering.drains);
  EXPECT_EQ(served.ask("GET", "/readyz").status, 503);
}

TEST(Admin, makes_exchanges_and_ends_keys_that_are_in_force_at_once) {
  const Served served;
  const auto opens = [&](const std::string& secret) {
    return std::holds_alternative<const Key*>(served.keys->ring()->find(secret, Role::client, WallClock().now()));
  };
  const Answered made = served.ask(
      "POST", "/v1/keys",
      R"({"tenant":"acme","operations":["chat_completions"],"requests_per_minute":5,"expires_in_seconds":3600})");
  ASSERT_EQ(made.status, 201) << made.text;
  const std::string first = made.json["key"], id = made.json["id"];
  EXPECT_TRUE(opens(first));
  const Answered list = served.ask("GET", "/v1/keys");
  EXPECT_THAT(list.text, HasSubstr(id));
  EXPECT_EQ(list.text.find(first.substr(7, 10)), std::string::npos);
  const std::string second = served.ask("POST", "/v1/keys/" + id + "/rotate", R"({"overlap_seconds":60})").json["key"];
  EXPECT_TRUE(opens(first));
  EXPECT_TRUE(opens(second));
  EXPECT_EQ(served.ask("DELETE", "/v1/keys/" + id).status, 200);
  EXPECT_FALSE(opens(first));
  EXPECT_FALSE(opens(second));
  const struct {
    const char *method, *target, *body;
    int status;
    const char* message;
  } wrong[] = {
      {"POST", "/v1/keys", "{}", 400, "tenant: expected who is charged"},
      {"POST", "/v1/keys", R"({"tenant":"a b"})", 400, "tenant"},
      {"POST", "/v1/keys", R"({"tenant":"a","rpm":1})", 400, "rpm: no such member; there are role, tenant"},
      {"POST", "/v1/keys", R"({"tenant":"a","requests_per_minute":0})", 400,
       "requests_per_minute: expected a whole number"},
      {"POST", "/v1/keys", R"({"tenant":"a","operations":["chat"]})", 400, "operations"},
      {"POST", "/v1/keys", "[]", 400, "expected a JSON object"},
      {"POST", "/v1/keys", "{", 400, "expected a JSON object"},
      {"POST", "/v1/keys/none/rotate", "", 404, "there is no key none"},
      {"DELETE", "/v1/keys/none", "", 404, "there is no key none"},
      {"DELETE", "/v1/keys/a/b", "", 404, "nothing is served here"},
  };
  for (const auto& c : wrong) {
    const Answered got = served.ask(c.method, c.target, c.body);
    EXPECT_EQ(got.status, c.status) << c.target << c.body;
    EXPECT_THAT(got.text, HasSubstr(c.message));
  }
}

TEST(Admin, shows_what_each_window_of_the_trial_came_to) {
  Served served;
  const Json all = served.ask("GET", "/v1/trial").json;
  ASSERT_EQ(all["windows"].size(), 2U);
  const Json& clean = all["windows"][0];
  EXPECT_EQ(clean["verdict"], "clean");
  EXPECT_EQ(clean["breach"], nullptr);
  EXPECT_EQ(clean["ace"]["predicted_cost_usd"], "5.00");
  EXPECT_DOUBLE_EQ(clean["ace"]["cost_error"].get<double>(), 0.25) << "5 USD were predicted for what cost 4";
  EXPECT_EQ(clean["control"]["cost_error"], nullptr) << "nothing was served";
  EXPECT_EQ(all["windows"][1]["verdict"], "breached");
  EXPECT_THAT(all["windows"][1]["breach"].get<std::string>(), HasSubstr("98.00%"));
  EXPECT_EQ(all["gates"]["clean_windows"], 3);
  EXPECT_EQ(all["difference"], nullptr);
  EXPECT_EQ(served.ask("GET", "/v1/trial?limit=1").json["windows"].size(), 1U);
  EXPECT_EQ(served.ask("GET", "/v1/trial?limit=0").status, 400);
}

TEST(Admin, moves_mode_and_configuration_and_says_what_is_missing) {
  Served served;
  EXPECT_EQ(served.ask("PUT", "/v1/mode", R"({"mode":"shadow"})").json["mode"], "shadow");
  const Answered unearned = served.ask("PUT", "/v1/mode", R"({"mode":"inline"})");
  EXPECT_EQ(unearned.status, 409);
  EXPECT_EQ(unearned.json["error"]["code"], "not_earned");
  EXPECT_EQ(served.ask("PUT", "/v1/mode", R"({"mode":"inline","force":true})").json["mode"], "inline");
  EXPECT_EQ(served.ask("PUT", "/v1/mode", R"({"canary_share":2,"mode":"canary"})").status, 400);
  const struct {
    const char *method, *target, *body, *message;
  } wrong[] = {
      {"PUT", "/v1/mode", "{}", "mode: expected observe, shadow, canary or inline"},
      {"PUT", "/v1/mode", R"({"mode":1})", "mode: expected a text"},
      {"PUT", "/v1/mode", R"({"mode":"observe","forced":true})", "forced: no such member; there are mode"},
      {"PUT", "/v1/mode", R"({"mode":"observe","force":1})", "force: expected true or false"},
      {"PUT", "/v1/mode", R"({"mode":"canary","canary_share":"5%"})", "canary_share: expected a number from 0 to 1"},
      {"POST", "/v1/config/validate", "", "config: expected the text of an ace.yaml"},
      {"POST", "/v1/config/diff", R"({"text":"version: 1\n"})", "config: expected the text of an ace.yaml"},
      {"POST", "/v1/config/apply", R"({"config":"version: 1\n","acknowledge":true})", "acknowledge: no such member"},
  };
  for (const auto& c : wrong) {
    const Answered got = served.ask(c.method, c.target, c.body);
    EXPECT_EQ(got.status, 400) << c.target << c.body;
    EXPECT_THAT(got.text, HasSubstr(c.message));
  }
  EXPECT_EQ(served.steering.mode_now, "inline");
  const std::string next = R"({"config":"version: 1\nfleet: b.yaml\n","acknowledged":)";
  const Answered diff = served.ask("POST", "/v1/config/diff", R"({"config":"version: 1\nfleet: b.yaml\n"})");
  EXPECT_EQ(diff.json, Json::parse(R"({"line":2,"removed":["fleet: a.yaml"],"added":["fleet: b.yaml"]})"));
  EXPECT_EQ(served.ask("POST", "/v1/config/validate", R"({"config":"x"})").json["valid"], false);
  EXPECT_EQ(served.ask("POST", "/v1/config/apply", next + "false}").status, 409);
  EXPECT_EQ(served.ask("POST", "/v1/config/apply", next + "true}").json["notes"].size(), 1U);
  EXPECT_EQ(served.ask("GET", "/v1/config").json["config"], "version: 1\nfleet: b.yaml\n");
  EXPECT_EQ(served.ask("POST", "/v1/config/rollback").status, 200);
  EXPECT_EQ(served.ask("GET", "/v1/config").json["config"], "version: 1\nfleet: a.yaml\n");
  EXPECT_EQ(served.ask("POST", "/v1/config/rollback").status, 404);
}

TEST(Admin, shows_counts_health_and_the_curve) {
  const Served served;
  EXPECT_EQ(served.ask("GET", "/metrics").text,
            "# HELP ace_requests_total Requests.\n# TYPE ace_requests_total counter\nace_requests_total 7\n");
  const Json health = served.ask("GET", "/v1/health").json["destinations"];
  EXPECT_EQ(health[0]["state"], "healthy");
  EXPECT_EQ(health[1]["state"], "tripped");
  const Json curve = served.ask("GET", "/v1/supply-curve?model=m+x").json;
  EXPECT_EQ(curve["steps"][0]["destination"], "gpu");
  EXPECT_TRUE(curve["steps"][0]["tokens_per_s"].is_null()) << "without bound";
  EXPECT_EQ(served.ask("GET", "/v1/supply-curve").status, 400);
  EXPECT_EQ(served.ask("GET", "/v1/supply-curve?model=none").status, 404);
  EXPECT_EQ(served.ask("GET", "/v1/supply-curve?model=m%20x&prompt_tokens=-1").status, 400);
  EXPECT_EQ(served.ask("GET", "/v1/decisions?limit=2").json["decisions"].size(), 2U);
  EXPECT_EQ(served.ask("GET", "/v1/decisions?limit=0").status, 400);
  EXPECT_EQ(served.ask("GET", "/v1/decisions").json["decisions"][0]["cost_usd"], "0.000000005");
}

}  // namespace
}  // namespace ace::gateway
