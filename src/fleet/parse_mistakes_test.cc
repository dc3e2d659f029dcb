/// What a person sees for each kind of mistake in a fleet file. Each case changes one thing in the reference file.
#include <gtest/gtest.h>

#include <chrono>

#include "core/testing.h"
#include "fleet/example_testing.h"

namespace ace {
namespace {

/// The reference file with one thing changed.
std::string edited(std::string_view from, std::string_view to) {
  std::string text(kExampleFleet);
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << "not in the reference file: " << from;
  return text.replace(at, from.size(), to);
}

std::string what_is_wrong(std::string_view yaml, const World& world = {}) {
  return describe(parsed(yaml, world).mistakes);
}

struct Case {
  const char* why;
  const char* from;
  const char* to;
  const char* want;  ///< part of what is printed
};

void expect_each(std::initializer_list<Case> cases) {
  for (const Case& c : cases) {
    const std::string said = what_is_wrong(edited(c.from, c.to));
    EXPECT_NE(said.find(c.want), std::string::npos) << c.why << "\n" << said;
  }
}

constexpr const char* kClusters = R"({dc1: {racks: [{id: r1, nodes: "n[1-4]"}], healthy_floor: 80%}})";
constexpr const char* kFloor = "healthy_floor: 80%";
constexpr const char* kUnits = "units: 1, ";

TEST(Mistakes, look_as_the_style_page_shows) {
  // As STYLE prints it, also for a price that stands on the destination itself.
  const std::string yaml = R"(version: 1
providers:
  api: {jurisdictions: [us]}
models:
  m: {context: 1000}
destinations:
  - id: a
    tier: payg
    provider: api
    models: [m]
    unlimited: true
    price: "0,60 USD/Mtok"
)";
  EXPECT_EQ(what_is_wrong(yaml),
            "fleet.yaml:12:12: destinations[0].price: expected a decimal number with its unit, got \"0,60 USD/Mtok\"\n"
            "   12 |     price: \"0,60 USD/Mtok\"      write \"0.60 USD/Mtok\"\n");
}

TEST(Mistakes, are_all_reported_at_once_in_the_order_of_the_file) {
  const std::string yaml = R"(version: 2
providers:
  api: {juristictions: [us]}
models:
  m: {context: 1e5}
destinations:
  - {id: a, tier: payg, provider: apo, models: [m]}
  - {id: a, tier: paid, provider: api, models: []}
polices: {}
)";
  EXPECT_EQ(
      what_is_wrong(yaml),
      "fleet.yaml:1:10: version: expected a whole number from 1 to 1, got 2\n"
      "    1 | version: 2\n"
      "fleet.yaml:3:8: providers.api: the key `jurisdictions` is missing\n"
      "    3 |   api: {juristictions: [us]}      say whose law applies: jurisdictions: [eu]\n"
      "fleet.yaml:3:9: providers.api.juristictions: unknown key `juristictions`\n"
      "    3 |   api: {juristictions: [us]}      did you mean \"jurisdictions\"?\n"
      "fleet.yaml:5:16: models.m.context: expected a whole number, got \"1e5\"\n"
      "    5 |   m: {context: 1e5}\n"
      "fleet.yaml:7:35: destinations[0].provider: there is no provider \"apo\"\n"
      "    7 |   - {id: a, tier: payg, provider: apo, models: [m]}      did you mean \"api\"?\n"
      "fleet.yaml:8:10: destinations[1].id: a second destination \"a\"; the first is on line 7\n"
      "    8 |   - {id: a, tier: paid, provider: api, models: []}      give one of them another id\n"
      "fleet.yaml:8:19: destinations[1].tier: expected one of owned, reserved, spot, on_demand, payg, got \"paid\"\n"
      "    8 |   - {id: a, tier: paid, provider: api, models: []}\n"
      "fleet.yaml:8:48: destinations[1].models: an empty list of models means nothing here\n"
      "    8 |   - {id: a, tier: paid, provider: api, models: []}      list at least one or remove the key\n"
      "fleet.yaml:9:1: polices: unknown key `polices`\n"
      "    9 | polices: {}      did you mean \"policies\"?\n");
}

TEST(Mistakes, show_the_part_of_a_long_line_that_matters) {
  EXPECT_EQ(
      what_is_wrong(edited("1.90 USD/h/gpu", "1.90 USD/gpu")),
      "fleet.yaml:10:204: destinations[0].amortization: expected USD/h/gpu or USD/h/unit (or /month, /year), got "
      "\"1.90 USD/gpu\"\n"
      "   10 | ... interconnect: nvlink, count: 8, tp: 4, precision: bf16, units: 1, amortization: \"1.90 USD/gpu\"}"
      "      write e.g. \"1.90 USD/h/gpu\"\n");
}

TEST(Mistakes, of_the_text_itself_stop_before_anything_is_guessed) {
  const struct {
    const char* why;
    std::string yaml;
    const char* want;
  } cases[] = {
      {"Y06 empty", "", "fleet.yaml:1:1: the file is empty"},
      {"Y06 null", "null\n", "the file is empty"},
      {"Y06 comments only", "# nothing\n# here\n", "the file is empty"},
      {"Y06 a list at the top", "- a\n", "expected a map, got a list"},
      {"two documents", std::string(kExampleFleet) + "---\nversion: 1\n", "a second document in the same file"},
      {"Y02 duplicate key, both lines", "version: 1\nmodels: {}\nversion: 1\n",
       "the key `version` appears twice, on lines 1 and 3"},
      {"Y10 a tag", "version: !!python/object/apply:os.system [ls]\n", "a tag ("},
      {"Y10 binary", "version: !!binary aGk=\n", "a tag ("},
      {"Y10 include", "version: !include /etc/shadow\n", "a tag (!include)"},
      {"an anchor", "version: &v 1\n", "anchors and aliases are switched off"},
      {"syntax", "version: [1\n", "not YAML: "},
      {"a NUL byte", std::string("version: 1\0\n", 12), "byte 0x00 is a control character"},
      {"not UTF-8", "version: \xff\n", "byte 0xff is not UTF-8"},
      {"UTF-16", std::string("\xff\xfev\0e\0", 6), "byte 0xff is not UTF-8"},
      {"a merge key", "<<: {version: 1}\n", "unknown key `<<`"},
      {"a key that is a list", "[a, b]: 1\n", "expected a name as key, got a list"},
  };
  for (const auto& c : cases) {
    const std::string said = what_is_wrong(c.yaml);
    EXPECT_NE(said.find(c.want), std::string::npos) << c.why << "\n" << said;
  }
}

TEST(Mistakes, of_size_are_found_within_bounds) {
  // Y01: nine levels of ten aliases each would be a billion values.
  std::string bomb = "a0: &a0 [lol]\n";
  for (int i = 1; i < 10; ++i) {
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int j = 0; j < 10; ++j) bomb += (j > 0 ? ", *a" : "*a") + std::to_string(i - 1);
    bomb += "]\n";
  }
  std::string many = "version: 1\nx:\n";
  for (int i = 0; i < 200'000; ++i) many += "- 1\n";
  const struct {
    const char* why;
    std::string yaml;
    const char* want;
  } cases[] = {
      {"Y01 alias bomb", bomb, "aliases are switched off"},
      {"Y11 5 MiB", std::string(5U << 20U, ' '), "the file has 5242880 bytes, more than 1048576"},
      {"Y11 too many values", many, "more than 100000 values in one file"},
      {"Y11 a line without end", "x: [" + std::string(100'000, '1') + "]",
       "the line has 100005 bytes, more than 65536"},
      {"Y11 300 deep", "x: " + std::string(300, '['), "nesting deeper than 64 levels"},
      {"Y11 300 deep, maps",
       "x: " +
           [] {
             std::string s;
             for (int i = 0; i < 300; ++i) s += "{a: ";
             return s;
           }(),
       "nesting deeper than 64 levels"},
      {"a million nodes in one range", edited("n[1-4]", "n[1-1000000]"), "at most 50000 nodes in one place"},
  };
  for (const auto& c : cases) {
    const FleetReading reading = parsed(c.yaml);
    const std::string said = describe(reading.mistakes);
    EXPECT_NE(said.find(c.want), std::string::npos) << c.why << "\n" << said.substr(0, 2000);
    EXPECT_LE(reading.mistakes.size(), 1000U) << c.why;
  }
}

TEST(Mistakes, of_type_are_never_coerced) {
  // Y03: strings are strings; numbers are plain digits.
  expect_each({
      {"exponent", "tpm: 2000000", "tpm: 2e6", "expected a whole number, got \"2e6\""},
      {"octal", kUnits, "units: 017, ", "write it without the leading zero"},
      {"sexagesimal", "ttft: 800ms", "ttft: 12:34:56", "expected a time with its unit"},
      {"yes", "contracted: false", "contracted: yes", "expected true or false, got \"yes\""},
      {"underscores", "tpm: 2000000", "tpm: 2_000_000", "write 2000000"},
      {"list for a word", "tier: payg", "tier: [payg]", "got a list"},
      {"word for a list", "teams: [search]", "teams: search", "write [search]"},
      {"no value", "region: eu-west", "region:", "the key has no value"},
      {"a bare price", "\"0.12 USD/kWh\"", "0.12", "add the unit: \"0.12 USD/kWh\""},
      {"percentage as a ratio", "retry_budget: 10%", "retry_budget: 0.1", "write \"10%\""},
      {"reserved of an API", "teams: [search]", "reserved: {together: 10%}, teams: [search]", "is paid by use"},
      {"reserved nowhere", "teams: [search]", "reserved: {h100-b: 10%}, teams: [search]", "did you mean \"h100-a\"?"},
      {"reserved as a ratio", "teams: [search]", "reserved: {h100-a: 0.1}, teams: [search]", "write \"10%\""},
      {"more than all of it", "teams: [search]", "reserved: {h100-a: 101%}, teams: [search]", "h100-a"},
      {"fraction of a count", "count: 8", "count: 8.0", "expected a whole number, got \"8.0\""},
  });
  const FleetReading reading = parsed(edited("region: eu-west", "region: no"));
  ASSERT_TRUE(reading.mistakes.empty()) << describe(reading.mistakes);
  EXPECT_EQ(reading.fleet.destinations[0].region, "no");
}

TEST(Mistakes, beyond_a_hundred_are_counted) {
  std::string many(kExampleFleet);
  for (int i = 0; i < 150; ++i) many += "zz" + std::to_string(i) + ": 1\n";
  const std::string told = what_is_wrong(many);
  EXPECT_NE(told.find("zz99"), std::string::npos);
  EXPECT_EQ(told.find("zz100"), std::string::npos);
  EXPECT_NE(told.find("and 50 more"), std::string::npos) << told.substr(told.size() - 200);
}

TEST(Mistakes, of_reference_list_what_there_is) {
  expect_each({
      {"provider", "provider: own, region", "provider: ovn, region", "there is no provider \"ovn\""},
      {"listed", "provider: own, region", "provider: zzzzzzzz, region", "known: azure, own, together"},
      {"model", "models: [gpt-4.1]", "models: [gpt-4.2]", "did you mean \"gpt-4.1\"?"},
      {"SLO class", "slo: chat", "slo: chart", "there is no SLO class \"chart\""},
      {"compliance", "compliance: eu-only", "compliance: eu_only", "did you mean \"eu-only\"?"},
      {"provider in compliance", "providers: [azure, own]", "providers: [azur, own]", "did you mean \"azure\"?"},
      {"equivalent (P11: to a missing one)", "{model: qwen-72b", "{model: qwen-72", "there is no model \"qwen-72\""},
      {"audit", "evidence: docs/q.md", "evidence: docs/q.md, audit: {judged: 9, good: 10}", "more good answers than"},
      {"equivalent of itself", "{model: qwen-72b", "{model: llama-70b", "a model is no equivalent of itself"},
      {"spill", "spill: none", "spill: togetherr", "there is no destination \"togetherr\""},
      {"spill to our own", "spill: none", "spill: h100-a", "which is not pay-as-you-go"},
      {"baseline", "{destination: together", "{destination: togetheer", "did you mean \"together\"?"},
      {"baseline on owned", "{destination: together", "{destination: h100-a", "\"h100-a\" is owned"},
      {"baseline elsewhere", "models: [llama-3.3-70b], price_key", "models: [qwen-72b], price_key",
       "\"together\" does not serve \"llama-3.3-70b\""},
      {"bias", "{azure: \"-0.05", "{asure: \"-0.05", "did you mean \"azure\"?"},
  });
}

TEST(Mistakes, of_identity_are_errors) {
  expect_each({
      {"Y08 destinations by case", "id: together", "id: H100-A", "differ by case only"},
      {"P11 models by case", "qwen-72b: {context", "Gpt-4.1: {context", "two models differ by case only"},
      {"P11 alias is a model", "[llama-70b]", "[qwen-72b]", "the alias \"qwen-72b\" is itself a model"},
      {"P11 alias of itself", "[llama-70b]", "[llama-3.3-70b]", "is itself a model"},
      {"P11 alias by case", "[llama-70b]", "[QWEN-72b]", "two models or aliases differ by case only"},
      {"alias twice", "[llama-70b]", "[llama-70b, llama-70b]", "already means"},
      {"Y08 rack twice", "[{id: r1, nodes: \"n[1-4]\"}]", "[{id: r1, nodes: a}, {id: r1, nodes: b}]",
       "a second rack \"r1\""},
      {"Y08 racks by case", "[{id: r1, nodes: \"n[1-4]\"}]", "[{id: r1, nodes: a}, {id: R1, nodes: b}]",
       "two racks differ by case only"},
      {"Y08 node in two racks", "[{id: r1, nodes: \"n[1-4]\"}]", "[{id: r1, nodes: \"n[1-4]\"}, {id: r2, nodes: n3}]",
       "node \"n3\" is already in rack \"r1\""},
      {"model twice", "models: [gpt-4.1]", "models: [gpt-4.1, gpt-4.1]", "is listed twice"},
      {"a name with a blank", "id: together", "id: to gether", "expected a name of letters"},
  });
  // P11, the cycle: a is another word for b and b for a.
  const std::string cycle =
      what_is_wrong(edited("qwen-72b: {context: 131072}", "qwen-72b: {context: 131072, aliases: [llama-3.3-70b]}"));
  EXPECT_NE(cycle.find("never points on"), std::string::npos) << cycle;
}

TEST(Mistakes, of_emptiness_never_mean_everything) {
  expect_each({
      {"Y06 racks: []", kClusters, "{dc1: {racks: []}}", "an empty list of racks means nothing here"},
      {"Y06 racks:", kClusters, "{dc1: {racks: }}", "the key has no value"},
      {"Y06 no racks", kClusters, "{dc1: {healthy_floor: 80%}}", "no racks never means all racks"},
      {"clusters: {}", kClusters, "{}", "an empty map of clusters"},
      {"Y07 selector: {}", kFloor, "healthy_floor: 80%, selector: {}", "selector_matches_everything"},
      {"Y07 match: *", kFloor, "healthy_floor: 80%, match: \"*\"", "selector_matches_everything"},
      {"Y07 label: *", kFloor, "healthy_floor: 80%, selector: {pool: \"*\"}", "selector_matches_everything"},
      {"teams: []", "teams: [search]", "teams: []", "an empty list of names"},
      {"jurisdictions: []", "{jurisdictions: [us]", "{jurisdictions: []", "an empty list of names"},
      {"compliance that restricts nothing",
       "{jurisdictions: [eu], providers: [azure, own], data_classes: [personal], retention_max: 30d}", "{}",
       "restricts nothing"},
  });
}

TEST(Mistakes, of_the_floor_and_of_windows_are_errors) {
  expect_each({
      {"Y05 0", kFloor, "healthy_floor: 0", "write \"0%\""},
      {"Y05 0%", kFloor, "healthy_floor: 0%", "add allow_zero_floor: true"},
      {"Y05 -1", kFloor, "healthy_floor: -1", "expected a percentage"},
      {"Y05 -1%", kFloor, "healthy_floor: -1%", "expected a percentage from 0% to 100%"},
      {"Y05 110%", kFloor, "healthy_floor: 110%", "expected a percentage from 0% to 100%"},
      {"Y05 0.8", kFloor, "healthy_floor: 0.8", "write \"80%\""},
      {"Y17 24:30", kUnits, "schedule: [{window: \"00:00-24:30\", units: 1}], ", "a stretch of the day"},
      {"Y17 CEST", kUnits, "schedule: [{window: \"00:00-24:00\", units: 1, timezone: CEST}], ",
       "is not an IANA time zone"},
      {"Y17 another zone", kUnits, "schedule: [{window: \"00:00-24:00\", units: 1, timezone: Europe/Berlin}], ",
       "write the window in UTC"},
      {"Y17 overlap", kUnits,
       "schedule: [{window: \"00:00-12:00\", units: 1, days: mon-fri}, {window: \"11:00-13:00\", units: 2, days: "
       "[fri]}], ",
       "overlaps the one on line 10"},
      {"over midnight", kUnits, "schedule: [{window: \"22:00-06:00\", units: 1}], ", "split it at midnight"},
      {"schedule and policy", kUnits, "schedule: [{window: \"00:00-12:00\", units: 1}], policy: reactive, ",
       "contradict each other"},
      {"policy that flaps", kUnits, "policy: {reactive: {up_at: 30%, down_at: 80%}}, ", "units would flap"},
  });
  EXPECT_EQ(what_is_wrong(edited(kFloor, "healthy_floor: 0%, allow_zero_floor: true")), "");
}

TEST(Mistakes, of_prices_are_errors) {
  expect_each({
      {"negative", "\"1.90 USD/h/gpu\"", "\"-1.90 USD/h/gpu\"", "cannot be negative"},
      {"wrong unit", "\"0.12 USD/kWh\"", "\"0.12 USD/h\"", "expected a price per kWh or MWh"},
      {"unit before its time", "\"260 USD/month/unit\"", "\"260 USD/unit\"", "USD/h/unit or USD/h"},
      {"other money", "\"0.12 USD/kWh\"", "\"0.12 EUR/kWh\"", "no exchange rate for EUR is known"},
      {"ten decimals", "\"0.12 USD/kWh\"", "\"0.1234567891 USD/kWh\"", "at most 9 decimals"},
      {"beside a key", "tpm: 2000000", "price: \"1 USD/Mtok\"", "a price beside a price_key"},
      {"on a GPU", kUnits, "units: 1, price_key: x, ", "`price_key` means nothing for tier owned"},
      {"a PTU size not sold", "units: 100,", "units: 120,",
       "120 units are not sold for \"gpt-4.1\": at least 50, in steps of 50"},
      {"a PTU of an unknown model", "models: [gpt-4.1]", "models: [qwen-72b]",
       "the throughput of a unit for \"qwen-72b\""},
      {"unlimited and limited", "tpm: 2000000", "tpm: 2000000, unlimited: true", "unlimited beside a limit"},
      {"p95 under p50", "ttft_p95: 900ms", "ttft_p95: 300ms", "ttft_p95 is below ttft_p50"},
      {"bias without its unit", "\"-0.05 USD/Mtok\"", "\"-0.05 USD\"", "write e.g. \"-0.05 USD/Mtok\""},
      {"per token", "epsilon: 0.005", "epsilon: 0.005, hosts: {cache: \"1 USD/month/gpu\"}",
       "expected USD/h (or /month, /year)"},
  });
}

TEST(Mistakes, of_hardware_are_errors) {
  expect_each({
      {"unknown GPU", "h100-80g", "h100-80gb", "did you mean \"h100-80g\"?"},
      {"not the GPU's memory", "vram: 80GiB", "vram: 40GiB", "a h100-80g has 80GiB"},
      {"tp does not divide", "tp: 4", "tp: 3", "tp must divide count"},
      {"more shards than a node has GPUs", "count: 8, tp: 4", "count: 16, tp: 16",
       "write interconnect: infiniband, roce, ethernet or nvswitch"},
      {"a class that asks for no GPU there is", "chat: {", "chat: {requires: {accelerator: hoper}, ",
       "did you mean \"hopper\"?"},
      {"a class that asks for what nobody knows", "chat: {", "chat: {requires: {ram: 80GiB}, ", "requires.ram"},
      {"unknown shape", "models: [llama-3.3-70b], accelerator", "models: [gpt-4.1], accelerator",
       "the shape of \"gpt-4.1\" is not known"},
      {"precision", "precision: bf16", "precision: fp16", "expected one of bf16, fp8, int4"},
      {"interconnect", "interconnect: nvlink", "interconnect: nvlnk", "did you mean \"nvlink\"?"},
      {"no chunk", kUnits, "units: 1, prefill_chunk: 0, ", "prefill_chunk"},
      {"a chunk beside a measurement", kUnits,
       "units: 1, prefill_chunk: 1024, measured: {prefill_tokens_per_s: 9000, step_base: 20ms, kv_tokens_max: "
       "100000}, ",
       "write it under measured"},
      {"rental on owned", kUnits, "units: 1, rental: {price: \"20 USD/h/unit\"}, ",
       "`rental` means nothing for tier owned"},
      {"no amortization", ", amortization: \"1.90 USD/h/gpu\"", "", "the key `amortization` is missing"},
  });
}

TEST(Mistakes, with_secrets_never_show_them) {
  const char* const key = "key: {env: TOGETHER_KEY}";
  const struct {
    const char* to;
    const char* want;
  } cases[] = {
      {"key: sk-live-a1b2c3d4", "a literal key does not belong in this file"},
      {"api_key: sk-live-a1b2c3d4", "a secret does not belong in this file"},
      {"key: \"sk-live-a1b2c3d4\"", "a literal key does not belong"},
      {"key: {env: sk-live-a1b2c3d4}", "expected the name of a variable"},
      {"apikey: 'hunter-a1b2c3d4'", "a secret does not belong"},
      {"password: a1b2c3d4, retention: 5", "a secret does not belong"},
      {"retention: 5, auth_token: a1b2c3d4", "a secret does not belong"},
  };
  for (const auto& c : cases) {
    const std::string said = what_is_wrong(edited(key, c.to));
    EXPECT_NE(said.find(c.want), std::string::npos) << c.to << "\n" << said;
    EXPECT_EQ(said.find("a1b2c3d4"), std::string::npos) << said;
  }
  // Y16: the URL's own password, and one in a line that is not even YAML.
  for (const std::string& yaml : {edited("https://api.together.example", "https://u:a1b2c3d4@api.together.example"),
                                  edited(key, "key: a1b2c3d4 : : {")}) {
    const std::string said = what_is_wrong(yaml);
    EXPECT_NE(said, "");
    EXPECT_EQ(said.find("a1b2c3d4"), std::string::npos) << said;
  }
}

TEST(Mistakes, of_how_a_provider_is_called_are_told) {
  const char* const azure = "api: azure-openai,";
  const char* const together = "api: openai,";
  const char* const owned = "amortization: \"1.90 USD/h/gpu\"";
  expect_each({
      {"an API", together, "api: opanai,", "expected one of openai, azure-openai, anthropic, vertex, bedrock"},
      {"a version", azure, "api: azure-openai, api_version: latest,", "write e.g. 2024-10-21, or v1"},
      {"a version of no day", azure, "api: azure-openai, api_version: 2024-02-30,", "write e.g. 2024-10-21, or v1"},
      {"a version for OpenAI", together, "api: openai, api_version: 2024-10-21,",
       "`api_version` means nothing for api openai"},
      {"a region for Azure", azure, "api: azure-openai, region: eu,", "`region` means nothing for api azure-openai"},
      {"a region for nobody", "own: {jurisdictions: [eu]}", "own: {jurisdictions: [eu], region: eu}",
       "`region` means nothing without an api"},
      {"Vertex without a project", azure, "api: vertex, region: europe-west4,", "name the Google Cloud project"},
      {"Vertex without a region", azure, "api: vertex, project: p,", "name the provider's region"},
      {"Bedrock without a region", azure, "api: bedrock,", "name the provider's region"},
      {"a token without a key id", azure, "api: bedrock, region: us-east-1, session_token: {env: T},",
       "add key_id: {env: AWS_ACCESS_KEY_ID}"},
      {"a literal key id", azure, "api: bedrock, region: us-east-1, key_id: AKIDEXAMPLE,",
       "a literal key does not belong in this file"},
      {"a file and a variable", "key: {env: AZURE_KEY}", "key: {env: AZURE_KEY, file: k}", "keep one of env and file"},
      {"no variable", "key: {env: AZURE_KEY}", "key: {}", "write {env: NAME}, or {file: PATH}"},
      {"a surface", together, "api: openai, surfaces: [chat, chats],", "\"chats\" is no operation and no path"},
      {"a path", together, "api: openai, surfaces: [/v1/../admin],", "\"/v1/../admin\" is no operation and no path"},
      {"a cache field", together, "api: openai, cache: {key: user},", "expected one of prompt_cache_key, cache_salt"},
      {"a name", "models: [gpt-4.1]", "models: [{model: gpt-4.1, name: \"a b\"}]", "destinations[1].models[0].name"},
      {"a URL of a destination", owned, "amortization: \"1.90 USD/h/gpu\", url: \"https://10.0.0.7\"",
       "allow_private: true"},
      {"a URL of metrics", owned, "amortization: \"1.90 USD/h/gpu\", metrics: [\"ftp://x\"]", "expected an https URL"},
      {"metrics of an API", "tpm: 2000000", "tpm: 2000000, metrics: \"https://x.example/metrics\"",
       "`metrics` means nothing for tier payg"},
  });
}

TEST(Mistakes, of_urls_are_errors) {
  const char* const url = "https://api.together.example";
  expect_each({
      {"Y16 user and password", url, "https://u:p@host.example", "a URL without user and password"},
      {"Y16 http", url, "http://api.together.example", "write \"https://api.together.example\""},
      {"Y16 metadata", url, "https://169.254.169.254", "not link-local, multicast or a metadata service"},
      {"Y16 trailing dot", url, "https://api.together.example.", "without a trailing dot"},
      {"Y16 private", url, "https://10.0.0.7", "allow_private: true"},
  });
  EXPECT_EQ(
      what_is_wrong(edited("url: \"https://api.together.example\"", "url: \"https://10.0.0.7\", allow_private: true")),
      "");
}

TEST(Mistakes, of_the_environment_are_errors) {
  const std::string yaml = edited("region: eu-west", "region: \"${REGION}\"");
  const std::string unset = what_is_wrong(yaml), empty = what_is_wrong(yaml, {{}, {{"REGION", ""}}});
  EXPECT_NE(unset.find("the environment variable REGION is not set"), std::string::npos) << unset;
  EXPECT_NE(empty.find("the environment variable REGION is empty"), std::string::npos) << empty;
  EXPECT_NE(what_is_wrong(edited("region: eu-west", "region: \"${\"")).find("expected ${NAME}"), std::string::npos);
  EXPECT_NE(what_is_wrong(kExampleFleet, {{}, {{"TOGETHER_KEY", ""}}}).find("TOGETHER_KEY is empty"),
            std::string::npos);
  const FleetReading reading = parsed(yaml, {{}, {{"REGION", "eu-west"}}});
  ASSERT_TRUE(reading.mistakes.empty()) << describe(reading.mistakes);
  EXPECT_EQ(reading.fleet.destinations[0].region, "eu-west");
  // A value cannot smuggle in keys.
  EXPECT_NE(what_is_wrong(yaml, {{}, {{"REGION", "eu, tier: payg"}}}).find("expected a name of letters"),
            std::string::npos);
}

TEST(Mistakes, point_into_the_file_whatever_is_cut_from_it) {
  const std::string whole(kExampleFleet);
  const auto lines = std::count(whole.begin(), whole.end(), '\n');
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string cut = whole;
    cut.erase(i, 1);
    const FleetReading reading = parsed(cut);
    if (reading.mistakes.empty()) {
      ASSERT_EQ(reading.fleet.destinations.size(), 3U) << "cut at " << i;
      continue;
    }
    for (const Mistake& m : reading.mistakes) {
      ASSERT_GE(m.line, 1) << "cut at " << i;
      ASSERT_LE(m.line, lines) << "cut at " << i << ": " << m.what;
      ASSERT_GE(m.column, 1) << "cut at " << i;
    }
    ASSERT_NE(describe(reading.mistakes), "");
  }
}

TEST(Mistakes, are_found_in_files_of_noise) {
  const std::string whole(kExampleFleet);
  const std::string_view alphabet = "{}[],:-#&*!|>'\"%@` \n\t0a~?";
  for_each_seed(300, [&](Rng& rng) {
    std::string text = whole;
    for (std::uint64_t n = 1 + rng.below(8); n > 0; --n) {
      const std::size_t at = rng.below(text.size());
      switch (rng.below(3)) {
        case 0:
          text[at] = alphabet[rng.below(alphabet.size())];
          break;
        case 1:
          text.insert(at, 1, alphabet[rng.below(alphabet.size())]);
          break;
        default:
          text.erase(at, 1 + rng.below(20));
          break;
      }
    }
    const FleetReading once = parsed(text), twice = parsed(text);
    EXPECT_EQ(describe(once.mistakes), describe(twice.mistakes));
    EXPECT_EQ(once.fleet, twice.fleet);
  });
}

}  // namespace
}  // namespace ace
