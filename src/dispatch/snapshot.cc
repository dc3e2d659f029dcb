#include "dispatch/snapshot.h"

#include <algorithm>
#include <limits>

#include "dispatch/roofline.h"

namespace ace {
namespace {

/// Share of its batch at which an engine is priced: where knees lie before anything was learnt.
constexpr double kKneeShare = 0.9;
/// Tokens that a running sequence holds on average, for the decode rate at the knee.
constexpr double kTokensPerSequence = 2048.0;

constexpr std::uint32_t bit(Unit unit) { return 1U << static_cast<unsigned>(unit); }

bool contains(const std::vector<std::string>& sorted, std::string_view name) {
  return std::binary_search(sorted.begin(), sorted.end(), name);
}

/// Marginal energy at the wall per token, in joules.
///
/// An engine at its knee draws W(knee) - W(idle) more than an idle one, whether it computes prompts or answers, so a
/// token costs that power times the engine seconds it takes: 1 / prefill rate for a prompt token, step(B) / B for an
/// output token at the knee's batch B. Both are shares of the same second, so the parts add up to the engine's draw.
void price_energy(Offer& offer, double pue) {
  const ServerProfile& p = *offer.profile;
  const double watts = std::max(0.0, p.watts_busy - p.watts_idle) * pue;
  if (p.prefill_tokens_per_s > 0.0) offer.joules_per_prefill_token = watts / p.prefill_tokens_per_s;
  const double by_memory = static_cast<double>(p.kv_tokens_max) / kTokensPerSequence;
  const double batch = std::max(1.0, kKneeShare * std::min(static_cast<double>(p.batch_max), by_memory));
  offer.joules_per_decode_token = watts * step_seconds(p, batch, batch * kTokensPerSequence) / batch;
}

/// Weights of this model on one TP group, in bytes; 0 where the shape is not known.
double weight_bytes(const Model& model, Precision precision) {
  return model.architecture ? model.architecture->parameters * bytes_per_weight(precision) : 0.0;
}

/// What the replica does, measured or by the roofline, and whether its weights fit beside those placed before it.
void place_on_gpus(const Fleet& fleet, const Destination& at, double& bytes_taken, Offer& offer) {
  const Model& model = fleet.models[offer.model.value];
  const Accelerator* gpu = find_accelerator(at.accelerator);
  offer.replicas_per_unit = at.replicas_per_unit();
  offer.profile = offer.serving->measured;
  if (gpu != nullptr && model.architecture) {
    const double weights = weight_bytes(model, at.precision);
    const double vram = gpu->vram_bytes * static_cast<double>(at.tp);
    offer.resident = bytes_taken + weights <= vram;
    if (weights <= vram) offer.load_s = weights * static_cast<double>(offer.replicas_per_unit) / at.load_bytes_per_s;
    if (!offer.profile) {
      if (const Result<ServerProfile> predicted =
              roofline(*model.architecture, *gpu, at.tp, at.precision, at.interconnect)) {
        offer.profile = *predicted;
        offer.profile->prefill_chunk = at.prefill_chunk.value_or(offer.profile->prefill_chunk);
        // Models placed before leave less memory for this one's KV cache. Where they leave none, its weights are not
        // kept beside them: it is a guest, which has all of it.
        const auto lost =
            static_cast<std::int64_t>(bytes_taken / std::max(1.0, model.architecture->kv_bytes_per_token));
        if (lost >= predicted->kv_tokens_max) offer.resident = false;
        if (offer.resident) offer.profile->kv_tokens_max -= lost;
      }
    }
    if (offer.resident) bytes_taken += weights;
  }
  if (!offer.profile || offer.replicas_per_unit <= 0) {
    offer.resident = false;  // nothing is known of what it could do, or the weights do not fit
    offer.load_s = 0.0;
    return;
  }
  const auto replicas = static_cast<double>(offer.replicas_per_unit);
  const ServerProfile& p = *offer.profile;
  offer.unit_capacity = {p.prefill_tokens_per_s * to_seconds(kPrefillWindow) * replicas,
                         static_cast<double>(p.batch_max) * replicas, static_cast<double>(p.kv_tokens_max) * replicas,
                         0.0, 0.0};
  if (p.kv_tokens_max <= 0 || p.batch_max <= 0 || p.prefill_tokens_per_s <= 0.0) {
    offer.resident = false;
    offer.load_s = 0.0;
  }
  if (offer.tier == Tier::owned) price_energy(offer, fleet.electricity.pue);
}

/// The provider's meter or its quotas.
void limit_api(const Destination& at, Offer& offer) {
  constexpr auto tokens = static_cast<std::size_t>(Resource::tokens);
  constexpr auto requests = static_cast<std::size_t>(Resource::requests);
  if (offer.serving->ptu) offer.unit_capacity[tokens] = CommitmentMeter(*offer.serving->ptu).capacity();
  if (offer.serving->gsu) offer.unit_capacity[tokens] = CommitmentMeter(*offer.serving->gsu).capacity();
  if (offer.tier != Tier::payg || at.unlimited) return;
  if (at.tpm) offer.unit_capacity[tokens] = static_cast<double>(*at.tpm);
  if (at.rpm) offer.unit_capacity[requests] = static_cast<double>(*at.rpm);
}

/// Can a plain text request be priced there?
bool priced(const Fleet& fleet, const Offer& offer) {
  if (!offer.price) return offer.tier != Tier::payg;
  const Destination& at = fleet.destinations[offer.destination.value];
  const auto service = static_cast<std::size_t>(at.service);
  return std::all_of(fleet.prices.rows[offer.price->value].tiers.begin(),
                     fleet.prices.rows[offer.price->value].tiers.end(), [&](const ContextTier& tier) {
                       constexpr std::uint32_t needed = bit(Unit::input) | bit(Unit::output);
                       return (tier.by_service[service].mask() & needed) == needed;
                     });
}

void extend(OfferRange& range, const Fleet& fleet, const Offer& offer, OfferId id) {
  constexpr Tokens endless{std::numeric_limits<std::int64_t>::max()};
  if (range.count++ == 0) range = {offer.model, id, 1, 1.0, endless, endless, ~0U, endless, false};
  range.context_min = std::min(range.context_min, offer.context_max);
  if (offer.output_max.value > 0) range.output_min = std::min(range.output_min, offer.output_max);
  range.common &= offer.capabilities;
  range.slow = range.slow || only_for_deferrable(fleet.destinations[offer.destination.value].service);
  if (!offer.price) return;
  const std::vector<ContextTier>& tiers = fleet.prices.rows[offer.price->value].tiers;
  if (tiers.size() > 1) range.tier_min = std::min(range.tier_min, tiers[1].above);
}

/// Does `a` serve whatever `b` serves and never ask more for it? Decided for rows of one context tier.
bool never_dearer(const Fleet& fleet, const Offer& a, const Offer& b) {
  const Destination &at_a = fleet.destinations[a.destination.value], &at_b = fleet.destinations[b.destination.value];
  const PriceRow &row_a = fleet.prices.rows[a.price->value], &row_b = fleet.prices.rows[b.price->value];
  if (row_a.tiers.size() != 1 || row_b.tiers.size() != 1 || (b.capabilities & ~a.capabilities) != 0) return false;
  if (only_for_deferrable(at_a.service) && !only_for_deferrable(at_b.service)) return false;
  if (a.context_max < b.context_max) return false;
  if (a.output_max.value > 0 && (b.output_max.value == 0 || a.output_max < b.output_max)) return false;
  const Rates& left = rates_for(row_a, Tokens{0}, at_a.service);
  const Rates& right = rates_for(row_b, Tokens{0}, at_b.service);
  if ((right.mask() & ~left.mask()) != 0) return false;
  for (std::size_t i = 0; i < kUnits; ++i) {
    const auto unit = static_cast<Unit>(i);
    if (right[unit] &&
        int128{left.priced(unit).nano} * at_a.uplift_ppm > int128{right.priced(unit).nano} * at_b.uplift_ppm)
      return false;
  }
  return true;
}

std::uint32_t capabilities_of(const Usage& usage) {
  std::uint32_t needs = kText;
  if (usage[Unit::image_input] != 0 || usage[Unit::image_output] != 0) needs |= kImage;
  if (usage[Unit::audio_input] != 0 || usage[Unit::audio_output] != 0) needs |= kAudio;
  if (usage[Unit::video_input] != 0) needs |= kVideo;
  return needs;
}

}  // namespace

std::string_view name_of(Exclusion exclusion) {
  constexpr std::array<std::string_view, kExclusions> names = {
      "none",        "jurisdiction", "data_class", "provider",    "retention",    "context",  "output",
      "modality",    "tools",        "vram",       "accelerator", "interconnect", "service",  "unpriced",
      "not_running", "not_resident", "tripped",    "throttled",   "saturated",    "attempted"};
  return names[static_cast<std::size_t>(exclusion)];
}

std::string_view name_of(Resource resource) {
  constexpr std::array<std::string_view, kResources> names = {"prefill", "slots", "kv", "tokens", "requests"};
  return names[static_cast<std::size_t>(resource)];
}

Snapshot::Snapshot(const Fleet& fleet) : fleet_(&fleet) {
  for (std::size_t d = 0; d < fleet.destinations.size(); ++d) {
    const Destination& at = fleet.destinations[d];
    double bytes_taken = 0.0;
    for (const Serving& serving : at.serving) {
      const Model& model = fleet.models[serving.model.value];
      Offer offer;
      offer.destination = DestinationId{static_cast<std::uint32_t>(d)};
      offer.model = serving.model;
      offer.tier = at.tier;
      offer.serving = &serving;
      offer.price = serving.price;
      offer.context_max = serving.context_max ? std::min(*serving.context_max, model.context_max) : model.context_max;
      offer.output_max = model.output_max;
      offer.capabilities = model.capabilities;
      if (runs_on_gpus(at.tier))
        place_on_gpus(fleet, at, bytes_taken, offer);
      else
        limit_api(at, offer);
      offers_.push_back(offer);
    }
  }
  std::sort(offers_.begin(), offers_.end(), [](const Offer& a, const Offer& b) {
    return std::pair(a.model, a.destination) < std::pair(b.model, b.destination);
  });

  std::vector<OfferRange> own(fleet.models.size());
  for (std::uint32_t i = 0; i < offers_.size(); ++i) extend(own[offers_[i].model.value], fleet, offers_[i], OfferId{i});
  candidates_.resize(fleet.models.size());
  ranges_.resize(fleet.models.size());
  for (std::size_t m = 0; m < fleet.models.size(); ++m) {
    if (own[m].count > 0) ranges_[m].push_back(own[m]);
    for (const Equivalent& equivalent : fleet.models[m].equivalents) {
      OfferRange range = own[equivalent.model.value];
      range.verbosity = static_cast<double>(equivalent.verbosity_ppm) / 1e6;
      if (range.count > 0) ranges_[m].push_back(range);
    }
    for (const OfferRange& range : ranges_[m])
      for (std::uint32_t i = 0; i < range.count; ++i) candidates_[m].push_back(OfferId{range.first.value + i});
    std::size_t lots = 0;
    for (const OfferRange& range : ranges_[m]) lots += range.lots();
    lots_max_ = std::max(lots_max_, lots);
  }
  const std::size_t lots = (offers_.size() + kLot - 1) / kLot;
  queues_.assign(lots, 0);
  committed_.assign(lots, 0);
  for (std::size_t i = 0; i < offers_.size(); ++i) {
    if (runs_on_gpus(offers_[i].tier)) queues_[i / kLot] |= std::uint64_t{1} << i % kLot;
    if (offers_[i].tier == Tier::reserved) committed_[i / kLot] |= std::uint64_t{1} << i % kLot;
  }
  for (const auto& [provider, bias] : fleet.policies.bias)
    bias_floor_ = std::min(bias_floor_, static_cast<double>(bias.nano) * 1e-6);

  fixed_.assign(fleet.compliance.size() + 1, std::vector<std::uint8_t>(offers_.size()));
  barred_.assign(fixed_.size(), {std::vector<std::uint64_t>(lots), {}});
  for (std::size_t r = 0; r < fixed_.size(); ++r) {
    barred_[r].counts.assign(fleet.models.size(), {});
    const ComplianceId rule = r == 0 ? ComplianceId{} : ComplianceId{static_cast<std::uint32_t>(r - 1)};
    for (std::size_t i = 0; i < offers_.size(); ++i) {
      Exclusion why = compliance(rule, {}, offers_[i].destination);
      if (why == Exclusion::none && !priced(fleet, offers_[i])) why = Exclusion::unpriced;
      fixed_[r][i] = static_cast<std::uint8_t>(why);
      if (why == Exclusion::none) continue;
      barred_[r].lots[i / kLot] |= std::uint64_t{1} << i % kLot;
      ++barred_[r].counts[offers_[i].model.value][static_cast<std::size_t>(why)];
    }
    for (std::size_t m = 0; m < fleet.models.size(); ++m) {
      std::vector<OfferId>& sellers = sellers_.emplace_back();
      for (std::uint32_t i = own[m].first.value; i < own[m].first.value + own[m].count; ++i) {
        const auto beaten = [&](OfferId other) { return never_dearer(fleet, offers_[other.value], offers_[i]); };
        if (offers_[i].tier == Tier::payg && fixed_[r][i] == 0 && std::none_of(sellers.begin(), sellers.end(), beaten))
          sellers.push_back(OfferId{i});
      }
    }
  }
}

bool Snapshot::data_class_allowed(ComplianceId rule, std::string_view data_class) const {
  if (!rule.valid() || data_class.empty()) return true;
  const std::vector<std::string>& allowed = fleet_->compliance[rule.value].data_classes;
  return allowed.empty() || contains(allowed, data_class);
}

Exclusion Snapshot::compliance(ComplianceId rule, std::string_view data_class, DestinationId destination) const {
  if (!rule.valid()) return Exclusion::none;
  const Compliance& c = fleet_->compliance[rule.value];
  const Provider& provider = fleet_->providers[fleet_->destinations[destination.value].provider.value];
  // Content may come to rest wherever the provider operates, so every one of its jurisdictions must be allowed.
  const auto allowed = [&](const std::string& j) { return contains(c.jurisdictions, j); };
  if (!c.jurisdictions.empty() && (provider.jurisdictions.empty() ||
                                   !std::all_of(provider.jurisdictions.begin(), provider.jurisdictions.end(), allowed)))
    return Exclusion::jurisdiction;
  if (!data_class_allowed(rule, data_class)) return Exclusion::data_class;
  if (!c.providers.empty() && !contains(c.providers, provider.name)) return Exclusion::provider;
  if (c.retention_max && provider.retention > *c.retention_max) return Exclusion::retention;
  return Exclusion::none;
}

Snapshot::EnergyPrice Snapshot::energy_price(OfferId id, UsdPerKwh electricity) const {
  const Offer& offer = offers_[id.value];
  // J/token x USD/kWh / 3.6e6 J/kWh is USD per token; a million tokens at once keeps the digits.
  const auto per_mtok = [&](double joules) {
    const Result<Usd> price = usd_from_physics(joules * (static_cast<double>(electricity.nano) * 1e-9) / 3.6);
    ACE_CHECK(price.has_value(), "a token's energy costs less than a thousand dollars");
    return UsdPerMtok{price->nano};
  };
  return {per_mtok(offer.joules_per_prefill_token), per_mtok(offer.joules_per_decode_token)};
}

Result<Usd> Snapshot::price(OfferId id, const Usage& usage, Instant t) const {
  const Offer& offer = offers_[id.value];
  const Destination& at = fleet_->destinations[offer.destination.value];
  switch (offer.tier) {
    case Tier::payg:
    case Tier::reserved:
      if (offer.price) return price_of(usage, fleet_->prices.rows[offer.price->value], at.service, at.uplift_ppm);
      if (offer.tier == Tier::reserved) return Usd{};
      return Error(Errc::unpriced, "\"" + at.name + "\" has no price for \"" + fleet_->models[offer.model.value].name +
                                       "\"; give it a price_key");
    case Tier::owned: {
      const EnergyPrice energy = energy_price(id, fleet_->electricity.booked(t));
      const std::int64_t prefill = usage.prompt().value - usage[Unit::cached_input];
      return round_femto(femto_usd(prefill, energy.prefill) + femto_usd(usage.completion().value, energy.decode));
    }
    case Tier::spot:
    case Tier::on_demand:
      break;
  }
  return Usd{};
}

std::optional<Snapshot::Cheapest> Snapshot::cheapest_payg(ModelId model, ComplianceId rule, std::string_view data_class,
                                                          const Usage& usage, bool waits) const {
  if (!data_class_allowed(rule, data_class)) return std::nullopt;
  const Tokens prompt = usage.prompt(), completion = usage.completion();
  const std::uint32_t needs = capabilities_of(usage);
  std::optional<Cheapest> best;
  for (const OfferId id : sellers_[row_of(rule) * ranges_.size() + model.value]) {
    const Offer& offer = offers_[id.value];
    if ((offer.capabilities & needs) != needs) continue;
    if (prompt.value > offer.context_max.value - completion.value) continue;
    if (offer.output_max.value > 0 && completion > offer.output_max) continue;
    const Destination& at = fleet_->destinations[offer.destination.value];
    if (!waits && only_for_deferrable(at.service)) continue;
    const Result<Usd> price = price_of(usage, fleet_->prices.rows[offer.price->value], at.service, at.uplift_ppm);
    if (price && (!best || *price < best->price)) best = Cheapest{id, *price};
  }
  return best;
}

}  // namespace ace
