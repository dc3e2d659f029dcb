#pragma once
/// For tests: the reference fleet file, word for word as the design gives it, and a way to parse with little ado.
#include <map>
#include <string>
#include <string_view>

#include "fleet/fleet.h"

namespace ace {

inline constexpr std::string_view kExampleFleet = R"(version: 1
electricity: {price: "0.12 USD/kWh", pue: 1.3}            # or {series: prices.csv, zone: DE, fx: {...}}
providers: {own: {jurisdictions: [eu]}, together: {jurisdictions: [us], api: openai, url: "https://api.together.example", key: {env: TOGETHER_KEY}}, azure: {jurisdictions: [eu], retention: 30d, api: azure-openai, url: "https://x.openai.azure.com", key: {env: AZURE_KEY}}}
models: {llama-3.3-70b: {aliases: [llama-70b], context: 131072, quality: q3, baseline: {destination: together, price_key: "together_ai/llama-3.3-70b", as_of: 2026-11-01, contracted: false},
                         equivalents: [{model: qwen-72b, quality_min: 0.97, verbosity: 1.05, evidence: docs/q.md}]}, qwen-72b: {context: 131072}, gpt-4.1: {context: 1047576}}
slo_classes: {chat: {ttft: 800ms, tpot: 60ms, target: 0.99, value: payg}, batch: {deadline: 24h}}
tenants: {acme: {slo: chat, compliance: eu-only, teams: [search]}}
compliance: {eu-only: {jurisdictions: [eu], providers: [azure, own], data_classes: [personal], retention_max: 30d}}
destinations:
  - {id: h100-a, tier: owned, provider: own, region: eu-west, models: [llama-3.3-70b], accelerator: h100-80g, vram: 80GiB, interconnect: nvlink, count: 8, tp: 4, precision: bf16, units: 1, amortization: "1.90 USD/h/gpu"}
  - {id: ptu-eu, tier: reserved, provider: azure, models: [gpt-4.1], ptu: {units: 100, fee: "260 USD/month/unit", spill: none}}
  - {id: together, tier: payg, provider: together, models: [llama-3.3-70b], price_key: "together_ai/llama-3.3-70b", tpm: 2000000, latency: {ttft_p50: 400ms, ttft_p95: 900ms, tpot_p50: 12ms}}
clusters: {dc1: {racks: [{id: r1, nodes: "n[1-4]"}], healthy_floor: 80%}}   # read by trust and reclaim
policies: {bias: {azure: "-0.05 USD/Mtok"}, epsilon: 0.005, retry_budget: 10%, retries_min: 5}
)";

/// The one row that the reference file's price_key names.
inline PriceBook example_prices() {
  Rates rates;
  rates.set(Unit::input, UsdPerMtok{880'000'000});
  rates.set(Unit::cached_input, UsdPerMtok{880'000'000});
  rates.set(Unit::output, UsdPerMtok{880'000'000});
  PriceRow row;
  row.key = "together_ai/llama-3.3-70b";
  row.tiers.resize(1);
  row.tiers[0].by_service.fill(rates);
  return PriceBook{{row}};
}

/// Files and variables that a test hands in.
struct World {
  std::map<std::string, std::string> files, variables;
};

inline FleetReading parsed(std::string_view yaml, const World& world = {}) {
  const ReadText read = [&](const std::string& path) -> Result<std::string> {
    const auto found = world.files.find(path);
    if (found == world.files.end()) return Error(Errc::not_found, "no such file");
    return found->second;
  };
  const ReadEnv env = [&](const std::string& name) -> std::optional<std::string> {
    const auto found = world.variables.find(name);
    if (found == world.variables.end()) return std::nullopt;
    return found->second;
  };
  return parse_fleet(yaml, "fleet.yaml", example_prices(), read, env);
}

}  // namespace ace
