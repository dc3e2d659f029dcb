#include <gtest/gtest.h>

#include "fleet/example_testing.h"

namespace ace {
namespace {

TEST(ParseFleet, reads_the_reference_file) {
  const FleetReading reading = parsed(kExampleFleet);
  ASSERT_TRUE(reading.mistakes.empty()) << describe(reading.mistakes);
  EXPECT_TRUE(reading.warnings.empty()) << reading.warnings.front();
  const Fleet& fleet = reading.fleet;
  ASSERT_EQ(fleet.destinations.size(), 3U);
  const Destination& owned = fleet.destinations[fleet.destination("h100-a")->value];
  EXPECT_EQ(owned.tier, Tier::owned);
  EXPECT_EQ(owned.declared, 0U);
  EXPECT_EQ(owned.replicas_per_unit(), 2);
  EXPECT_EQ(owned.amortization_hourly, Usd{15'200'000'000});  // 1.90 USD x 8 GPUs
  EXPECT_EQ(owned.vram_bytes, 80.0 * 1073741824.0);
  const Destination& ptu = fleet.destinations[fleet.destination("ptu-eu")->value];
  EXPECT_EQ(ptu.commitment_hourly, Usd{35'616'438'356});  // 260 x 100 / 730 = 35.616438356...
  ASSERT_TRUE(ptu.serving[0].ptu);
  EXPECT_EQ(ptu.serving[0].ptu->units, 100);
  EXPECT_EQ(ptu.serving[0].ptu->tokens_per_minute_per_unit, 3000);
  EXPECT_FALSE(ptu.native_spill);
  const Destination& api = fleet.destinations[fleet.destination("together")->value];
  EXPECT_EQ(api.declared, 2U) << "its place in the file, not in the alphabet";
  EXPECT_EQ(api.tpm, 2'000'000);
  EXPECT_EQ(api.latency.ttft_p95, 900 * kSecond / 1000);
  EXPECT_EQ(api.latency.tpot_p95, 25 * kSecond / 1000);  // not declared: 25/12 of the p50
  ASSERT_TRUE(api.serving[0].price);
  EXPECT_EQ(fleet.prices.rows[api.serving[0].price->value].key, "together_ai/llama-3.3-70b");
  const Model& llama = fleet.models[fleet.model("llama-70b")->value];
  EXPECT_EQ(llama.name, "llama-3.3-70b");
  ASSERT_TRUE(llama.baseline);
  EXPECT_EQ(llama.baseline->destination, *fleet.destination("together"));
  EXPECT_EQ(llama.baseline->as_of, "2026-11-01");
  ASSERT_EQ(llama.equivalents.size(), 1U);
  EXPECT_EQ(llama.equivalents[0].verbosity_ppm, 1'050'000);
  EXPECT_TRUE(llama.architecture);
  const Tenant& acme = fleet.tenants[fleet.tenant("acme")->value];
  EXPECT_EQ(fleet.slo_classes[acme.slo.value].name, "chat");
  EXPECT_EQ(fleet.slo_classes[acme.slo.value].ttft, 800 * kSecond / 1000);
  EXPECT_EQ(fleet.compliance[acme.compliance.value].retention_max, 30 * kDay);
  EXPECT_EQ(fleet.electricity.flat, UsdPerKwh{120'000'000});
  EXPECT_EQ(fleet.policies.bias.at(fleet.provider("azure")->value), UsdPerMtok{-50'000'000});
  EXPECT_EQ(fleet.policies.retry_budget_ppm, 100'000);
  EXPECT_EQ(fleet.policies.retries_min, 5);
  EXPECT_EQ(fleet.clusters.at(0).racks.at(0).nodes, (std::vector<std::string>{"n1", "n2", "n3", "n4"}));
}

TEST(ParseFleet, reads_what_tenants_reserve) {
  std::string text(kExampleFleet);
  const std::size_t at = text.find("teams: [search]");
  ASSERT_NE(at, std::string::npos);
  text.insert(at, "reserved: {ptu-eu: 12.5%, h100-a: 30%}, ");
  const FleetReading reading = parsed(text);
  ASSERT_TRUE(reading.mistakes.empty()) << describe(reading.mistakes);
  const Fleet& fleet = reading.fleet;
  EXPECT_EQ(
      fleet.tenants[fleet.tenant("acme")->value].reserved,
      (std::vector<ReservedShare>{{*fleet.destination("h100-a"), 300'000}, {*fleet.destination("ptu-eu"), 125'000}}));
}

std::string edited(std::string_view from, std::string_view to) {
  std::string text(kExampleFleet);
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(ParseFleet, is_the_same_behind_a_byte_order_mark_and_windows_line_ends) {
  // Y15.
  std::string windows = "\xEF\xBB\xBF";
  for (const char c : kExampleFleet) windows += c == '\n' ? std::string("\r\n") : std::string(1, c);
  const Fleet plain = parsed(kExampleFleet).fleet, marked = parsed(windows).fleet;
  EXPECT_EQ(plain, marked);
  EXPECT_EQ(plain.digest, marked.digest);
  EXPECT_NE(plain.digest, 0U);
  EXPECT_NE(parsed(edited("pue: 1.3", "pue: 1.2")).fleet.digest, plain.digest);
}

TEST(ParseFleet, depends_on_the_order_of_declaration_only_where_the_status_quo_does) {
  const std::string_view together = "  - {id: together";
  std::string moved(kExampleFleet);
  const std::size_t from = moved.find(together), to = moved.find("  - {id: h100-a");
  const std::string line = moved.substr(from, moved.find('\n', from) + 1 - from);
  moved.erase(from, line.size()).insert(to, line);
  Fleet before = parsed(kExampleFleet).fleet, after = parsed(moved).fleet;
  after.digest = before.digest;
  EXPECT_NE(before, after);
  for (Fleet* fleet : {&before, &after})
    for (Destination& destination : fleet->destinations) destination.declared = 0;
  EXPECT_EQ(before, after);
}

TEST(ParseFleet, a_destination_without_a_price_is_unpriced_and_never_free) {
  const struct {
    const char* why;
    const char* from;
    const char* to;
    const char* want;
  } cases[] = {
      {"no key at all", "price_key: \"together_ai/llama-3.3-70b\", tpm", "tpm",
       "\"llama-3.3-70b\" is unpriced here and gets no requests: no price_key"},
      {"a key that no map has", "price_key: \"together_ai/llama-3.3-70b\", tpm",
       "price_key: \"together_ai/lama-3.3-70b\", tpm", "(did you mean \"together_ai/llama-3.3-70b\"?)"},
      {"a baseline that no map has", "price_key: \"together_ai/llama-3.3-70b\", as_of", "price_key: \"x/y\", as_of",
       "the baseline of \"llama-3.3-70b\" is unpriced (no row \"x/y\" in the price maps)"},
  };
  for (const auto& c : cases) {
    const FleetReading reading = parsed(edited(c.from, c.to));
    ASSERT_TRUE(reading.mistakes.empty()) << describe(reading.mistakes);
    std::string all;
    for (const std::string& warning : reading.warnings) all += warning + "\n";
    EXPECT_NE(all.find(c.want), std::string::npos) << c.why << "\n" << all;
    const Destination& api = reading.fleet.destinations[reading.fleet.destination("together")->value];
    const bool priced = api.serving[0].price.has_value();
    EXPECT_EQ(priced, std::string_view(c.why).find("baseline") != std::string_view::npos) << c.why;
  }
}

TEST(ParseFleet, epsilon_is_half_of_what_the_target_leaves_unless_stated) {
  const auto epsilon_of = [](const std::string& yaml, std::string_view name) {
    const FleetReading reading = parsed(yaml);
    EXPECT_TRUE(reading.mistakes.empty()) << describe(reading.mistakes);
    for (const SloClass& slo : reading.fleet.slo_classes)
      if (slo.name == name) return slo.epsilon;
    return -1.0;
  };
  const std::string without = edited("epsilon: 0.005, ", "");
  EXPECT_NEAR(epsilon_of(without, "chat"), 0.005, 1e-12);  // (1 - 0.99) / 2
  std::string other = without;
  other.replace(other.find("target: 0.99"), 12, "target: 0.9 ");
  EXPECT_NEAR(epsilon_of(other, "chat"), 0.05, 1e-12);  // (1 - 0.9) / 2
  EXPECT_NEAR(epsilon_of(edited("epsilon: 0.005", "epsilon: 0.002"), "chat"), 0.002, 1e-12);
  EXPECT_NEAR(epsilon_of(edited("target: 0.99", "target: 0.99, epsilon: 0.001"), "chat"), 0.001, 1e-12);
  const std::string said = describe(parsed(edited("target: 0.99", "target: 0.99, epsilon: 0.02")).mistakes);
  EXPECT_NE(said.find("a miss rate of 0.02 at the knee breaks the target 0.99"), std::string::npos) << said;
}

TEST(ParseFleet, without_slo_classes_there_is_one_without_limits) {
  const std::string yaml = R"(version: 1
providers: {api: {jurisdictions: [us]}}
models: {m: {context: 1000}}
destinations: [{id: a, tier: payg, provider: api, models: [m], price: "1 USD/Mtok", unlimited: true}]
)";
  const FleetReading reading = parsed(yaml);
  ASSERT_TRUE(reading.mistakes.empty()) << describe(reading.mistakes);
  EXPECT_EQ(reading.fleet.slo_classes.at(reading.fleet.default_slo.value).name, "default");
  const Serving& serving = reading.fleet.destinations[0].serving[0];
  ASSERT_TRUE(serving.price);
  EXPECT_EQ(reading.fleet.prices.rows[serving.price->value].key, "destination:a");
  // 1,000 + 500 tokens at 1 USD a million: 0.0015 USD.
  EXPECT_EQ(*price_of(Usage{Tokens{1000}, Tokens{0}, Tokens{500}}, reading.fleet.prices.rows[serving.price->value]),
            Usd{1'500'000});
}

TEST(PriceMaps, are_taken_as_of_a_day_and_as_they_were_known_on_another) {
  World world;
  world.files["ours.json"] = R"({"acme/big": [{"valid_from": "2026-01-01", "input_cost_per_token": 2e-6},
    {"valid_from": "2026-01-11", "valid_to": "2026-01-21", "input_cost_per_token": 2.5e-6, "recorded": "2026-03-05",
     "reason": "invoice 17"}, {"valid_from": "2026-04-01", "recorded": "2026-04-02", "reason": "late", "input_cost_per_token": 3e-6}]})";
  const struct {
    const char* more;
    const char* want;
  } cases[] = {{"", "3.00"},
               {", on: 2026-01-15", "2.50"},
               {", on: 2026-01-15, known_on: 2026-01-15", "2.00"},
               {", on: 2026-04-11, known_on: 2026-04-01", "2.00"}};
  for (const auto& c : cases) {
    const FleetReading reading =
        parsed(std::string(kExampleFleet) + "prices: [{path: ours.json" + c.more + "}]\n", world);
    EXPECT_EQ(describe(reading.mistakes), "") << c.more;
    const auto id = reading.fleet.prices.find("acme/big");
    ASSERT_TRUE(id) << c.more;
    const PriceRow& row = reading.fleet.prices.rows[id->value];
    EXPECT_EQ(to_decimal(*rates_for(row, Tokens{0}, ServiceTier::standard)[Unit::input]), c.want) << c.more;
  }
  EXPECT_NE(describe(parsed(std::string(kExampleFleet) + "prices: [{path: ours.json, on: soon}]\n", world).mistakes)
                .find("prices[0].on"),
            std::string::npos);
}

TEST(ParseFleet, reads_how_a_destination_is_called) {
  const std::string yaml = R"(version: 1
providers:
  own: {jurisdictions: [eu], api: openai, url: "http://vllm:8000", allow_private: true, cache: {key: cache_salt}}
  aws: {jurisdictions: [us], api: bedrock, region: us-east-1, key: {file: aws.key}, key_id: {env: AWS_ACCESS_KEY_ID}}
  azure:
    {jurisdictions: [eu], api: azure-openai, url: "https://x.openai.azure.com", api_version: 2024-12-01-preview,
     key: {env: AZURE_KEY}, surfaces: [chat, /v1/images]}
models:
  m: {context: 1000}
destinations:
  - {id: a, tier: payg, provider: aws, models: [{model: m, name: "us.vendor.m-v1:0"}], price: "1 USD/Mtok", unlimited: true}
  - id: b
    tier: payg
    provider: own
    models: [m]
    price: "1 USD/Mtok"
    unlimited: true
    url: "http://10.0.0.7:8000/v1"
)";
  const FleetReading reading = parsed(yaml);
  ASSERT_TRUE(reading.mistakes.empty()) << describe(reading.mistakes);
  const Fleet& fleet = reading.fleet;
  const Provider& aws = fleet.providers[fleet.provider("aws")->value];
  EXPECT_EQ(aws.api, Api::bedrock);
  EXPECT_EQ(aws.region, "us-east-1");
  EXPECT_EQ(aws.key, (SecretName{.env = {}, .file = "aws.key"}));
  EXPECT_EQ(aws.key_id, (SecretName{.env = "AWS_ACCESS_KEY_ID", .file = {}}));
  const Provider& azure = fleet.providers[fleet.provider("azure")->value];
  EXPECT_EQ(azure.api_version, "2024-12-01-preview");
  EXPECT_EQ(azure.surfaces, (std::vector<std::string>{"chat", "/v1/images"}));
  const Provider& own = fleet.providers[fleet.provider("own")->value];
  EXPECT_EQ(own.endpoint, (Endpoint{false, "vllm", 8000, "", true}));
  EXPECT_EQ(own.cache_field, "cache_salt");
  EXPECT_EQ(fleet.destinations[0].serving[0].name, "us.vendor.m-v1:0");
  EXPECT_EQ(fleet.destinations[1].endpoint, (Endpoint{false, "10.0.0.7", 8000, "/v1", true}));
}

}  // namespace
}  // namespace ace
