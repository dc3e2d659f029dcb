#include "gateway/config.h"

#include <gtest/gtest.h>

#include "gateway/desk_testing.h"

namespace ace::gateway {
namespace {

constexpr const char* kLeast = "version: 1\nfleet: fleet.yaml\nspine: {dir: spine}\n";

std::string mistakes(const std::string& yaml) { return describe(parse_config(yaml, "ace.yaml").mistakes); }

TEST(Config, needs_only_a_fleet_and_a_spine_and_then_acts_on_nothing) {
  const ConfigReading reading = parse_config(kLeast, "ace.yaml");
  EXPECT_TRUE(reading.mistakes.empty()) << describe(reading.mistakes);
  Config want;
  want.fleet = "fleet.yaml";
  want.spine_dir = "spine";
  EXPECT_EQ(reading.config, want);
  EXPECT_EQ(want.mode, Mode::observe);
  EXPECT_EQ(want.listen.address, "127.0.0.1");
}

TEST(Config, lets_tenants_ask_for_durable_answers_where_anything_is_durable) {
  const ConfigReading reading =
      parse_config("version: 1\nfleet: f.yaml\nspine: {dir: s, strict: [acme, labs]}\n", "ace.yaml");
  ASSERT_TRUE(reading.mistakes.empty()) << describe(reading.mistakes);
  EXPECT_EQ(reading.config.strict, (std::set<std::string, std::less<>>{"acme", "labs"}));
  EXPECT_NE(mistakes("version: 1\nfleet: f.yaml\nspine: {dir: s, durability: relaxed, strict: [acme]}\n")
                .find("makes nothing durable"),
            std::string::npos);
}

TEST(Config, reads_every_key) {
  const ConfigReading reading = parse_config(R"(version: 1
listen: {address: 127.0.0.2, port: 443, tls: {certificate: chain.pem, key: key.pem}}
admin: {port: 9091}
threads: 4
fleet: f.yaml
prices: p.json
spine: {dir: /var/lib/ace, durability: relaxed, on_failure: serve_unledgered}
keys: keys.yaml
cache: {bytes: 8MiB, answer_bytes: 64KiB, ttl: 10m, sampled: true}
tenant: acme
mode: canary
canary: 5%
alike: true
trial: {window: 1h, requests_min: 500, served_min: 99%, cost_error_max: 5%, clean_windows: 24}
routes: {m: api}
queue: {length: 10, patience: 2s}
timeouts: {connect: 2s, first_token: 20s, next_token: 5s, total: 60s}
drain: 5s
body_bytes: 1048576
)",
                                             "ace.yaml");
  ASSERT_TRUE(reading.mistakes.empty()) << describe(reading.mistakes);
  EXPECT_TRUE(reading.warnings.empty());
  const Config& c = reading.config;
  EXPECT_EQ(c.listen, (Config::Listen{"127.0.0.2", 443, "chain.pem", "key.pem"}));
  EXPECT_EQ(c.admin, (Config::Listen{"127.0.0.1", 9091, "", ""}));
  EXPECT_EQ(c.keys, "keys.yaml");
  EXPECT_EQ(c.cache, (Config::Cache{8U << 20, 64U << 10, 10 * kMinute, true}));
  EXPECT_EQ(c.threads, 4U);
  EXPECT_EQ(c.durability, spine::Durability::relaxed);
  EXPECT_TRUE(c.serve_unledgered);
  EXPECT_EQ(c.mode, Mode::canary);
  EXPECT_EQ(c.canary_ppm, 50'000);
  EXPECT_TRUE(c.alike);
  TrialGates gates;
  gates.window = kHour;
  gates.requests_min = 500;
  gates.served_min = 0.99;
  gates.cost_error_max = 0.05;
  gates.clean_windows = 24;
  EXPECT_EQ(c.trial, gates);
  EXPECT_EQ(c.routes.at("m"), "api");
  EXPECT_EQ(c.queue_length, 10U);
  EXPECT_EQ(c.patience, 2 * kSecond);
  EXPECT_EQ(c.timeouts, (Config::Timeouts{2 * kSecond, 20 * kSecond, 5 * kSecond, 60 * kSecond}));
  EXPECT_EQ(c.drain, 5 * kSecond);
  EXPECT_EQ(c.body_bytes, 1U << 20);
}

TEST(Config, a_mode_that_cannot_be_read_is_the_one_that_acts_on_nothing) {
  for (const char* line : {"mode: Inline\n", "mode: on\n", "mode: [inline]\n", "mode: canary\n",
                           "mode: canary\ncanary: 0.5\n", "mode: inline\ncanary: 200%\n"}) {
    const ConfigReading reading = parse_config(std::string(kLeast) + line, "ace.yaml");
    EXPECT_TRUE(reading.mistakes.empty()) << line << describe(reading.mistakes);
    EXPECT_EQ(reading.config.mode, Mode::observe) << line;
    EXPECT_EQ(reading.warnings.size(), 1U) << line;
  }
}

TEST(Config, says_all_that_is_wrong_at_once_and_where) {
  const std::string text = mistakes("version: 2\nlisten: {port: 99999}\nspine: {durability: none}\nqueu: {}\n");
  for (const char* what : {"ace.yaml:1:10", "ace.yaml:2:16", "fleet", "dir", "durability", "queue"})
    EXPECT_NE(text.find(what), std::string::npos) << what << "\n" << text;
}

TEST(Config, does_not_listen_to_the_world_without_keys) {
  EXPECT_NE(mistakes(std::string(kLeast) + "listen: {address: 0.0.0.0}\n").find("nobody is asked for a key"),
            std::string::npos);
  EXPECT_EQ(mistakes(std::string(kLeast) + "listen: {address: 0.0.0.0}\nkeys: keys.yaml\n"), "");
}

TEST(StaticRoutes, lead_to_the_baseline_then_to_an_api_then_to_the_first_declared) {
  DeskWorld w;
  const Snapshot& snapshot = w.world->snapshot;
  std::vector<bool> callable(5, true);
  const auto names = [&] {
    std::string out;
    const std::vector<OfferId> routes = static_routes(snapshot, {}, callable).value();
    for (const OfferId offer : routes) out += (offer.valid() ? w.destination(offer) : "none") + " ";
    return out;
  };
  EXPECT_EQ(names(), "gpu api api ");  // bare, large, small
  callable[ledger_testing::kApi.value] = false;
  EXPECT_EQ(names(), "gpu alt gpu ");
  callable = std::vector<bool>(5, false);
  EXPECT_EQ(names(), "none none none ");
}

TEST(StaticRoutes, are_refused_where_they_lead_nowhere) {
  DeskWorld w;
  const auto why = [&](const std::map<std::string, std::string>& routes, bool callable = true) {
    const auto made = static_routes(w.world->snapshot, routes, std::vector<bool>(5, callable));
    return made ? w.destination((*made)[ledger_testing::kLarge.value]) : made.error().what();
  };
  EXPECT_EQ(why({{"large", "alt"}}), "alt");
  EXPECT_EQ(why({{"huge", "alt"}}), "routes: the fleet has no model huge");
  EXPECT_EQ(why({{"large", "moon"}}), "routes.large: the fleet has no destination moon");
  EXPECT_EQ(why({{"bare", "api"}}), "routes.bare: api does not serve that model");
  EXPECT_EQ(why({{"large", "alt"}}, false),
            "routes.large: the fleet file does not say how alt is called (api and url)");
}

TEST(Config, names_a_collector_by_its_url) {
  const std::string before = "version: 1\nfleet: f.yaml\nspine: {dir: s}\ntenant: acme\n";
  const ConfigReading reading = parse_config(before + "telemetry: {endpoint: \"http://127.0.0.1:4318\"}\n", "ace.yaml");
  ASSERT_TRUE(reading.mistakes.empty()) << describe(reading.mistakes);
  ASSERT_TRUE(reading.config.telemetry);
  EXPECT_EQ(reading.config.telemetry->host, "127.0.0.1");
  EXPECT_EQ(reading.config.telemetry->port, 4318);
  EXPECT_FALSE(reading.config.telemetry->tls);
  EXPECT_EQ(parse_config(before + "telemetry: {endpoint: \"http://collector.example\"}\n", "ace.yaml").mistakes.size(),
            1U)
      << "in plain text to this machine alone";
}

}  // namespace
}  // namespace ace::gateway
