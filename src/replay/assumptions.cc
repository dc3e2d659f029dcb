#include "replay/assumptions.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/text.h"
#include "replay/horizon.h"

namespace ace {
namespace {

using Said = std::vector<std::string>;

bool knows(const Interner& names, std::string_view name) {
  for (std::uint32_t symbol = 0; symbol < names.size(); ++symbol)
    if (names[symbol] == name) return true;
  return false;
}

/// What each model is compared with.
void baselines(const Snapshot& snapshot, Said& said) {
  const Fleet& fleet = snapshot.fleet();
  for (const Model& model : fleet.models) {
    if (!model.baseline) {
      said.push_back(model.name +
                     " has no default price: it is compared with the cheapest compliant API that takes the "
                     "request, and its baseline is assumed");
      continue;
    }
    if (!model.baseline->contracted)
      said.push_back("the default price of " + model.name +
                     " is a list price, not contracted: its baseline is assumed");
    std::vector<std::string> others;
    for (const Tenant& tenant : fleet.tenants)
      if (snapshot.compliance(tenant.compliance, tenant.data_class, model.baseline->destination) != Exclusion::none)
        others.push_back(tenant.name);
    if (!others.empty())
      said.push_back("the default of " + model.name + " may not serve " + listed(others, 8) +
                     ": compared with the cheapest API that may, and that baseline is assumed");
    for (const Equivalent& pair : model.equivalents)
      said.push_back(fleet.models[pair.model.value].name + " may stand in for " + model.name +
                     (pair.evidence.empty()
                          ? " without evidence: its routing saving is assumed"
                          : " by " + pair.evidence + ", which the fleet file names and nobody read here"));
  }
}

/// How the servers of the world differ from what is said, and believed, of them.
std::string world_of(const ServerProfile& profile, const AnalyzeOptions& options) {
  if (options.plant_slowdown) return "";  // said once for all
  if (profile.measured) return ": assumed, the simulated servers keep it exactly";
  return fmt::format(
      ": the simulated servers take {} times as long, by which rooflines are wrong elsewhere "
      "(docs/ROOFLINE.md)",
      1.0 + kRooflineError);
}

/// What capacity costs and can do, as its owner says.
void capacity(const Snapshot& snapshot, const AnalyzeOptions& options, Instant from, Said& said) {
  const Fleet& fleet = snapshot.fleet();
  for (std::uint32_t i = 0; i < fleet.destinations.size(); ++i) {
    const Destination& d = fleet.destinations[i];
    if (d.tier == Tier::payg) {
      if (!d.unlimited && !d.tpm && !d.rpm) said.push_back(d.name + " declares no rate limit: none was applied");
      continue;
    }
    if (d.tier == Tier::owned || d.tier == Tier::reserved)
      said.push_back(fmt::format("{} of {} costs {} USD an hour{}, as the fleet file says",
                                 d.tier == Tier::owned ? "a unit" : "the commitment", d.name,
                                 to_decimal(d.tier == Tier::owned ? d.unit_hourly(from) : d.commitment_hourly),
                                 d.tier == Tier::owned ? " to own" : ""));
    if (d.tier == Tier::spot && d.rental && d.rental->hazard_per_hour <= 0.0 && d.rental->availability.values.empty())
      said.push_back("no unit of " + d.name + " is ever taken away: its fleet file says hazard 0");
    for (const Offer& offer : snapshot.offers()) {
      if (offer.destination.value != i || !offer.profile) continue;
      said.push_back("capacity and latency of " + d.name + " for " + fleet.models[offer.model.value].name +
                     (offer.profile->measured ? " are a measurement that the fleet file states"
                                              : " are a roofline, not a measurement") +
                     world_of(*offer.profile, options));
    }
  }
  for (std::string& beyond : beyond_data_sheet(snapshot)) said.push_back(std::move(beyond));
}

/// Where a step full of prompts takes nearly all of the time that a class gives a token, a low knee is the only way to
/// keep answers of a few tokens from meeting one.
void full_steps(const Snapshot& snapshot, const AnalyzeOptions& options, const RunResult& run, Said& said) {
  constexpr double kNearly = 0.9;
  for (const KneePoint& knee : run.knees) {
    const Offer& offer = snapshot[knee.offer];
    const SloClass& slo = snapshot.fleet().slo_classes[knee.slo.value];
    if (!slo.tpot || knee.fitted >= knee.prior) continue;
    const ServerProfile& p = *offer.profile;
    const double slower = options.plant_slowdown.value_or(p.measured ? 1.0 : 1.0 + kRooflineError);
    const double prompts = std::max(p.step_base_s, static_cast<double>(p.prefill_chunk) / p.prefill_tokens_per_s);
    const double step = slower * (prompts + p.step_per_sequence_s);
    if (step < kNearly * to_seconds(*slo.tpot)) continue;
    said.push_back(fmt::format(
        "a step of {} with {} prompt tokens takes {:.0f} ms of the {:.0f} ms that {} allows a token: answers of a few "
        "tokens beside it come late, and its knee fell to {:.0f}% for them; a smaller prefill_chunk may cost less "
        "(docs/FLEET.md)",
        snapshot.fleet().destinations[offer.destination.value].name, p.prefill_chunk, 1e3 * step,
        1e3 * to_seconds(*slo.tpot), slo.name, 100.0 * knee.fitted));
  }
}

/// Whose requests run without a rule that others have.
void tenants(const Fleet& fleet, const RequestSource& source, Said& said) {
  const bool ruled = std::any_of(fleet.tenants.begin(), fleet.tenants.end(),
                                 [](const Tenant& tenant) { return tenant.compliance.valid(); });
  if (!ruled) return;
  std::vector<std::string> others;
  const Interner& names = source.tenants();
  for (std::uint32_t symbol = 0; symbol < names.size(); ++symbol)
    if (!fleet.tenant(names[symbol])) others.push_back(names[symbol].empty() ? "(none)" : names[symbol]);
  if (!others.empty())
    said.push_back("the fleet file declares no tenant " + listed(others, 8) +
                   ": their requests run without a compliance rule");
}

}  // namespace

std::vector<std::string> assumptions_of(const Snapshot& snapshot, const RequestSource& source,
                                        const AnalyzeOptions& options, const RunResult& run) {
  const Fleet& fleet = snapshot.fleet();
  Said said;
  said.push_back(
      "every amount is modelled: the trace was replayed against simulated servers and declared API latencies");
  if (options.plant_slowdown)
    said.push_back(fmt::format(
        "the servers of the simulated world take {} times as long as the fleet file says "
        "(--plant-slowdown){}",
        *options.plant_slowdown, *options.plant_slowdown == 1.0 ? ", just what the dispatcher believes" : ""));
  if (!options.naming.model.empty())
    said.push_back("every request was replayed as one for " + options.naming.model + " (--model)");
  if (!options.naming.model_map.empty()) {
    std::vector<std::string> pairs;
    for (const auto& [name, to] : options.naming.model_map) pairs.push_back(name + " as " + to);
    said.push_back("models of the trace were replayed under other names (--model-map): " + listed(pairs, 32));
  } else if (options.naming.model.empty() && fleet.models.size() == 1 && knows(source.models(), "")) {
    said.push_back("requests that name no model were replayed as ones for " + fleet.models[0].name +
                   ", the only one of the fleet");
  }
  for (const std::string& note : source.notes()) said.push_back("the trace: " + note);
  baselines(snapshot, said);
  for (std::string& chosen : Horizon(fleet).assumptions(run.first, run.last)) said.push_back(std::move(chosen));
  capacity(snapshot, options, run.first, said);
  full_steps(snapshot, options, run, said);
  tenants(fleet, source, said);
  if (run.folded_tenants > 1)
    said.push_back(grouped(static_cast<std::int64_t>(run.folded_tenants)) +
                   " tenants that the fleet file does not declare, those that came last, stand together as one");
  said.push_back("the trace has no request contents: the response cache of ACE saved nothing here");
  if (const std::uint64_t hits = run.statement.cache_hits; hits > 0)
    said.push_back(std::to_string(hits) +
                   " requests were answered by the response cache of the gateway that wrote the log, and are here too: "
                   "no model runs, " +
                   (fleet.policies.response_cache
                        ? "and that cache compares whole requests, as the fleet file says"
                        : "and that is no counted saving unless the cache compares whole requests (policies: "
                          "{response_cache: true})"));
  if (run.last - run.first < 7 * kDay)
    said.push_back("the window is shorter than 7 days: fixed cost and load shape do not extrapolate");
  return said;
}

std::vector<std::string> beyond_data_sheet(const Snapshot& snapshot) {
  const Fleet& fleet = snapshot.fleet();
  Said said;
  for (const Offer& offer : snapshot.offers()) {
    const Destination& d = fleet.destinations[offer.destination.value];
    const Model& model = fleet.models[offer.model.value];
    const Accelerator* gpu = find_accelerator(d.accelerator);
    if (!offer.profile || !offer.profile->measured || gpu == nullptr || !model.architecture) continue;
    const ServerProfile& measured = *offer.profile;
    const double gpus = static_cast<double>(d.tp);
    const double weights = model.architecture->parameters * bytes_per_weight(d.precision);
    const auto tell = [&](const std::string& what) {
      said.push_back(fmt::format("what is measured of {} for {} is beyond the data sheet of {} {}: {}", d.name,
                                 model.name, d.tp, gpu->name, what));
    };
    if (!plausible_prefill(*model.architecture, *gpu, d.tp, d.precision, measured.prefill_tokens_per_s))
      tell(fmt::format("{:.0f} prompt tokens/s", measured.prefill_tokens_per_s));
    // A step reads every weight that is used; of a mixture of experts at least those of one token.
    const double active = std::min(1.0, model.architecture->parameters_active / model.architecture->parameters);
    if (measured.step_base_s < weights * active / (gpus * gpu->bandwidth))
      tell(fmt::format("a step of {:.3g} ms", measured.step_base_s * 1e3));
    if (static_cast<double>(measured.kv_tokens_max) * model.architecture->kv_bytes_per_token >
        gpus * gpu->vram_bytes - weights)
      tell(fmt::format("{} KV tokens", measured.kv_tokens_max));
  }
  return said;
}

}  // namespace ace
