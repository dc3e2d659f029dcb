/// What becomes of a LiteLLM configuration.
#include "adapters/litellm_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "adapters/provider.h"

namespace ace {
namespace {

using testing::HasSubstr;
using testing::Not;
using Kind = LitellmFinding::Kind;

constexpr std::string_view kConfig = R"(model_list:
  - model_name: gpt-4o
    litellm_params:
      model: azure/my-gpt4o
      api_base: https://eu.openai.azure.com/
      api_version: "2024-10-21"
      api_key: os.environ/AZURE_EU_KEY
      rpm: 600
      tpm: 100000
      order: 2
      region_name: eu
    model_info: {base_model: azure/gpt-4o, max_input_tokens: 128000, max_output_tokens: 16384}
  - model_name: gpt-4o
    litellm_params: {model: gpt-4o, api_key: "sk-literal-secret", order: 1, weight: 3, input_cost_per_token: 0.0000025,
                     output_cost_per_token: 1e-5, cache_read_input_token_cost: 1.25e-6}
  - model_name: claude
    litellm_params: {model: bedrock/converse/us.anthropic.claude-x-v1:0, aws_region_name: us-east-1}
  - model_name: claude
    litellm_params: {model: anthropic/claude-x, api_key: os.environ/ANTHROPIC_API_KEY}
  - model_name: "my llama"
    litellm_params: {model: hosted_vllm/meta/llama, api_base: http://10.0.0.7:8000/v1, tags: [a]}
  - model_name: gemini
    litellm_params: {model: vertex_ai/gemini-2.5-flash, vertex_project: p1, vertex_location: europe-west4,
                     vertex_credentials: '{"private_key": "canary"}'}
  - model_name: fast
    litellm_params: {model: groq/llama-8b}
  - {model_name: "openai/*", litellm_params: {model: "openai/*"}}
  - {model_name: strange, litellm_params: {model: sagemaker/x}}
  - {model_name: nowhere, litellm_params: {model: azure/x}}
router_settings:
  routing_strategy: latency-based-routing
  num_retries: 2
  model_group_alias: {gpt-4: gpt-4o}
  fallbacks: [{gpt-4o: [claude]}]
litellm_settings: {cache: true, request_timeout: 600, drop_params: true, made_up: 1}
general_settings: {master_key: sk-master, database_url: "postgres://u:canary@h/db"}
environment_variables: {SOME_KEY: canary-value}
)";

LitellmImport imported(std::string_view yaml = kConfig, const LitellmOptions& options = {}) {
  return import_litellm(yaml, "config.yaml", options);
}

/// The first finding at a path; a finding without words if there is none.
LitellmFinding at(const LitellmImport& made, std::string_view path) {
  for (const LitellmFinding& f : made.findings)
    if (f.path == path) return f;
  return {};
}

Fleet fleet_of(const LitellmImport& made) {
  FleetReading reading = parse_fleet(made.fleet, "fleet.yaml", {}, {}, {});
  EXPECT_TRUE(reading.mistakes.empty()) << describe(reading.mistakes) << made.fleet;
  return std::move(reading.fleet);
}

TEST(ImportLitellm, makes_a_fleet_file_that_reads_without_a_mistake) {
  const LitellmImport made = imported();
  ASSERT_TRUE(made.mistakes.empty()) << describe(made.mistakes);
  const Fleet fleet = fleet_of(made);
  EXPECT_EQ(fleet.models.size(), 5U);
  EXPECT_EQ(fleet.destinations.size(), 7U);
  EXPECT_EQ(fleet.providers.size(), 7U);
  EXPECT_EQ(made.models, 5U);
  EXPECT_EQ(made.destinations, 7U);
  EXPECT_EQ(made.providers, 7U);

  const auto azure = fleet.destination("azure/gpt-4o");
  ASSERT_TRUE(azure);
  const Destination& d = fleet.destinations[azure->value];
  EXPECT_EQ(d.rpm, 600);
  EXPECT_EQ(d.tpm, 100000);
  EXPECT_EQ(d.serving[0].name, "my-gpt4o");
  const Provider& p = fleet.providers[d.provider.value];
  EXPECT_EQ(p.api, Api::azure_openai);
  EXPECT_EQ(p.api_version, "2024-10-21");
  EXPECT_EQ(p.key.env, "AZURE_EU_KEY");
  EXPECT_EQ(p.endpoint->host, "eu.openai.azure.com");
  EXPECT_EQ(p.jurisdictions, (std::vector<std::string>{"eu"}));
  EXPECT_EQ(fleet.models[fleet.model("gpt-4")->value].name, "gpt-4o") << "an alias of theirs is one of ours";
  EXPECT_EQ(fleet.models[fleet.model("gpt-4o")->value].context_max, Tokens{128000});
  EXPECT_EQ(fleet.policies.attempts_max, 3);
  EXPECT_TRUE(fleet.policies.response_cache);
  EXPECT_THAT(made.fleet,
              HasSubstr(R"(price: {input: "2.5 USD/Mtok", cached_input: "1.25 USD/Mtok", output: "10 USD/Mtok"})"));
  const Provider& vllm = fleet.providers[fleet.provider("hosted_vllm")->value];
  EXPECT_TRUE(vllm.allow_private);
}

TEST(ImportLitellm, makes_destinations_that_can_be_called) {
  const Fleet fleet = fleet_of(imported());
  for (std::uint32_t d = 0; d < fleet.destinations.size(); ++d) {
    const auto made = make_upstream(fleet, DestinationId{d}, [](const SecretName&) { return Secret("k"); });
    EXPECT_TRUE(made) << made.error().what();
  }
}

TEST(ImportLitellm, makes_a_gateway_that_only_observes) {
  const std::string gateway = imported().gateway;
  EXPECT_THAT(gateway, HasSubstr("mode: observe\n"));
  EXPECT_THAT(gateway, HasSubstr("\"gpt-4o\": \"openai/gpt-4o\"\n")) << "order 1 goes before order 2";
  EXPECT_THAT(gateway, HasSubstr("timeouts: {total: 600000ms}\n"));
}

TEST(ImportLitellm, copies_no_secret_and_says_where_each_belongs) {
  const LitellmImport made = imported();
  for (const std::string& text : {made.fleet, made.gateway})
    for (const char* secret : {"sk-literal-secret", "canary", "sk-master"}) EXPECT_THAT(text, Not(HasSubstr(secret)));
  for (const LitellmFinding& f : made.findings)
    for (const char* secret : {"sk-literal-secret", "canary", "sk-master"})
      EXPECT_THAT(f.what + f.name + f.path, Not(HasSubstr(secret)));
  EXPECT_EQ(at(made, "model_list[0].litellm_params.api_key").name, "AZURE_EU_KEY");
  EXPECT_EQ(at(made, "model_list[1].litellm_params.api_key").name, "OPENAI_API_KEY");
  EXPECT_THAT(at(made, "model_list[1].litellm_params.api_key").what, HasSubstr("a literal key, which was not copied"));
  EXPECT_EQ(at(made, "environment_variables.SOME_KEY").kind, Kind::secret);
  EXPECT_EQ(at(made, "general_settings.master_key").kind, Kind::secret);
}

TEST(ImportLitellm, drops_nothing_in_silence) {
  const LitellmImport made = imported();
  const struct {
    const char *path, *what;
  } cases[] = {
      {"model_list[1].litellm_params.weight", "there are no weights"},
      {"model_list[4].litellm_params.tags", "`tenants` and `compliance`"},
      {"model_list[5].litellm_params.vertex_credentials", "an access token"},
      {"model_list[7].model_name", "a wildcard"},
      {"model_list[8].litellm_params.model", "provider \"sagemaker\" is not one that can be called"},
      {"model_list[9]", "no api_base"},
      {"router_settings.routing_strategy", "cheapest destination"},
      {"router_settings.fallbacks", "`models.M.equivalents`"},
      {"litellm_settings.drop_params", "an error that names the field"},
      {"litellm_settings.made_up", "no counterpart"},
      {"general_settings.database_url", "the spine is a directory"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(at(made, c.path).kind, Kind::left_out) << c.path;
    EXPECT_THAT(at(made, c.path).what, HasSubstr(c.what)) << c.path;
    EXPECT_GT(at(made, c.path).line, 0) << c.path;
  }
  EXPECT_EQ(at(made, "model_list[4].model_name").kind, Kind::changed) << "\"my llama\" is called my-llama";
}

TEST(ImportLitellm, takes_windows_and_baselines_from_a_price_map) {
  const std::string map =
      R"({"claude-x": {"input_cost_per_token": 3e-6, "output_cost_per_token": 1.5e-5, "max_input_tokens": 200000,
          "max_output_tokens": 64000, "litellm_provider": "anthropic", "mode": "chat"}})";
  const Result<PriceReading> prices = parse_prices(map, PriceDialect::community);
  ASSERT_TRUE(prices);
  const LitellmImport made =
      imported(kConfig, {.prices = &prices->book, .prices_path = "prices.json", .today = "2026-11-30"});
  EXPECT_THAT(made.fleet, HasSubstr("prices: [{path: \"prices.json\", dialect: community}]\n"));
  EXPECT_THAT(made.fleet, HasSubstr(R"("claude": {context: 200000, output_max: 64000)"));
  EXPECT_THAT(made.fleet,
              HasSubstr(R"(baseline: {destination: "anthropic/claude", price_key: "claude-x", as_of: 2026-11-30)"));
  const FleetReading reading =
      parse_fleet(made.fleet, "fleet.yaml", {}, [&](const std::string&) -> Result<std::string> { return map; }, {});
  ASSERT_TRUE(reading.mistakes.empty()) << describe(reading.mistakes);
  EXPECT_TRUE(reading.fleet.models[reading.fleet.model("claude")->value].baseline);
  EXPECT_THAT(at(made, "model_list[6]").what, HasSubstr("no row \"groq/llama-8b\" in the price map"));
}

TEST(ImportLitellm, refuses_what_is_no_configuration) {
  for (const char* text : {"", "- a\n", "a: 1\n", "model_list: x\n", "model_list: [\n", "model_list: &x [*x]\n"}) {
    const LitellmImport made = imported(text);
    EXPECT_FALSE(made.mistakes.empty()) << text;
    EXPECT_EQ(made.fleet, "") << text;
  }
  EXPECT_EQ(imported("model_list: [{model_name: a}]\n").destinations, 0U);
}

TEST(ImportLitellm, tells_names_apart_by_more_than_case) {
  const LitellmImport made = imported(
      "model_list:\n"
      "  - {model_name: Fast, litellm_params: {model: groq/a}}\n"
      "  - {model_name: fast, litellm_params: {model: groq/b}}\n"
      "  - {model_name: fast, litellm_params: {model: groq/b, api_key: os.environ/OTHER}}\n"
      "router_settings: {model_group_alias: {FAST: Fast, quick: {model: Fast, hidden: true}}}\n");
  const Fleet fleet = fleet_of(made);
  EXPECT_EQ(fleet.models.size(), 1U);
  EXPECT_EQ(fleet.destinations.size(), 3U);
  EXPECT_EQ(fleet.providers.size(), 2U);
  EXPECT_TRUE(fleet.model("quick"));
}

}  // namespace
}  // namespace ace
