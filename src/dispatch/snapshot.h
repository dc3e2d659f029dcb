#pragma once
/// The fleet compiled for decisions: offers in columns, who may serve whom, and what it costs. Immutable and numbered.
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/time.h"
#include "fleet/fleet.h"

namespace ace {

/// Why a candidate is out. The order is the order of testing: compliance, capability, price, health, capacity.
enum class Exclusion : std::uint8_t {
  none,
  jurisdiction,
  data_class,
  provider,
  retention,  // compliance
  context,
  output,
  modality,
  tools,
  vram,
  accelerator,
  interconnect,
  service,   // capability; service: batch or flex, for requests that can wait
  unpriced,  // a payg offer without a price
  not_running,
  not_resident,  // unit states
  tripped,
  throttled,  // health
  saturated,  // no capacity under the cap
  attempted,  // this request failed there already
};
inline constexpr std::size_t kExclusions = 20;
std::string_view name_of(Exclusion exclusion);

/// The resources whose use is utilization. The first three queue (they have a knee below their cap), the others admit
/// or refuse.
enum class Resource : std::uint8_t { prefill, slots, kv, tokens, requests };
inline constexpr std::size_t kResources = 5;
inline constexpr std::size_t kQueueing = 3;
std::string_view name_of(Resource resource);

/// Prefill load is an average over this time, which a stretch of decode feels.
inline constexpr Duration kPrefillWindow = 10 * kSecond;
/// And over this one for classes that only wait: of anything shorter their wait tells more.
inline constexpr Duration kSustainedWindow = kMinute;
/// A prompt's weight in the longer average, over its weight in the shorter.
inline constexpr double kSustainedWeight = 1.0 / 6.0;

/// One model at one destination: what the dispatcher ranks. Sorted by (model, destination).
struct Offer {
  DestinationId destination;
  ModelId model;
  Tier tier = Tier::payg;
  const Serving* serving = nullptr;      ///< into the fleet; never null
  std::optional<ServerProfile> profile;  ///< GPU tiers: one replica, measured or roofline
  std::int64_t replicas_per_unit = 0;    ///< replicas of this model in one unit, resident together with the others
  bool resident = true;                  ///< weights fit beside those of the models listed before it
  double load_s = 0.0;                   ///< seconds to load its weights into a unit; 0 where its shape is not known
  /// Fits only alone: it may take the place of the resident ones for a while.
  [[nodiscard]] bool guest() const { return !resident && load_s > 0.0; }
  std::optional<PriceId> price;
  Tokens context_max{0}, output_max{0};  ///< output_max 0 = bounded by the context only
  std::uint32_t capabilities = kText;
  /// What one running unit holds, by resource, in its own unit: prompt tokens per kPrefillWindow, running sequences, KV
  /// tokens, weighted tokens in the meter's bucket (or per minute), requests per minute. 0 = does not bind.
  std::array<double, kResources> unit_capacity{};
  /// Marginal energy in joules at the wall (PUE included) per prefill and per decode token, at the knee. Owned only.
  double joules_per_prefill_token = 0.0, joules_per_decode_token = 0.0;
};

/// Offers whose ids agree but for the last six bits: one word says something of each.
inline constexpr std::size_t kLot = 64;

/// Offers of one model, side by side: what a request may be served by. Equivalents answer at their own length.
struct OfferRange {
  ModelId model;
  OfferId first;
  std::uint32_t count = 0;
  [[nodiscard]] std::size_t lots() const { return (first.value % kLot + count + kLot - 1) / kLot; }
  double verbosity = 1.0;  ///< output of this model over output of the requested one
  Tokens context_min{0};   ///< least context window and output limit, and the capabilities common to all: a request
  Tokens output_min{0};    ///< within them cannot miss one
  std::uint32_t common = 0;
  Tokens tier_min{0};  ///< prompts up to here are priced in the first context tier everywhere
  bool slow = false;   ///< some are sold as batch or flex
  friend bool operator==(const OfferRange&, const OfferRange&) = default;
};

class Snapshot {
 public:
  /// Compiles a fleet. `fleet` must outlive the snapshot. The roofline fills in what was not measured.
  explicit Snapshot(const Fleet& fleet);

  [[nodiscard]] const Fleet& fleet() const { return *fleet_; }
  [[nodiscard]] std::span<const Offer> offers() const { return offers_; }
  [[nodiscard]] const Offer& operator[](OfferId id) const { return offers_[id.value]; }
  /// Offers that can answer a request for `model`: its own first, then its equivalents', each in destination order.
  [[nodiscard]] std::span<const OfferId> candidates(ModelId model) const { return candidates_[model.value]; }
  /// The same as ranges of ids, the model's own first; models without an offer have none.
  [[nodiscard]] std::span<const OfferRange> ranges(ModelId model) const { return ranges_[model.value]; }
  /// By offer: the exclusion that no request of this rule can escape, as a byte (compliance, the data class aside; then
  /// unpriced).
  [[nodiscard]] std::span<const std::uint8_t> fixed_exclusions(ComplianceId rule) const { return fixed_[row_of(rule)]; }
  /// The same as bits, by lot, and how many of a model's own offers are out for each reason.
  [[nodiscard]] std::span<const std::uint64_t> barred(ComplianceId rule) const { return barred_[row_of(rule)].lots; }
  [[nodiscard]] const std::array<std::uint32_t, kExclusions>& barred_counts(ComplianceId rule, ModelId model) const {
    return barred_[row_of(rule)].counts[model.value];
  }
  /// By lot: offers whose resources queue (GPUs), and those whose meter admits while it is not full (reserved). Of all
  /// others the request itself must fit the quota.
  [[nodiscard]] std::span<const std::uint64_t> queues() const { return queues_; }
  [[nodiscard]] std::span<const std::uint64_t> committed() const { return committed_; }
  /// Least bias of any provider, nano-USD per token; at most 0.
  [[nodiscard]] double bias_floor() const { return bias_floor_; }
  /// Most lots that the ranges of one model touch.
  [[nodiscard]] std::size_t lots_max() const { return lots_max_; }
  /// May this rule's requests carry that class of data at all?
  [[nodiscard]] bool data_class_allowed(ComplianceId rule, std::string_view data_class) const;
  /// First compliance rule the destination breaks for this tenant class, or none.
  [[nodiscard]] Exclusion compliance(ComplianceId rule, std::string_view data_class, DestinationId destination) const;

  /// Booked marginal price of `usage` at an offer at time `t`: payg by its row, owned by energy, reserved by the
  /// declared fee, spot and on-demand zero. Exact integers, one rounding.
  /// @return unpriced if a payg offer has no price for a counted unit.
  [[nodiscard]] Result<Usd> price(OfferId offer, const Usage& usage, Instant t) const;
  /// The energy prices behind it, per million prefill and decode tokens: the named place where physics becomes money
  /// (J/token x USD/kWh / 3.6e6, rounded half away from zero to nano-USD per million tokens).
  struct EnergyPrice {
    UsdPerMtok prefill, decode;
  };
  [[nodiscard]] EnergyPrice energy_price(OfferId offer, UsdPerKwh electricity) const;

  /// Cheapest compliant and capable payg price of `model` for `usage`, ties by destination; nullopt if there is none.
  /// @param waits may it be sold as batch or flex?
  struct Cheapest {
    OfferId offer;
    Usd price;
  };
  [[nodiscard]] std::optional<Cheapest> cheapest_payg(ModelId model, ComplianceId rule, std::string_view data_class,
                                                      const Usage& usage, bool waits) const;

 private:
  static std::size_t row_of(ComplianceId rule) { return rule.valid() ? rule.value + 1 : 0; }
  struct Barred {
    std::vector<std::uint64_t> lots;
    std::vector<std::array<std::uint32_t, kExclusions>> counts;  ///< by model
  };

  const Fleet* fleet_;
  std::vector<Offer> offers_;
  std::vector<std::vector<OfferId>> candidates_;   ///< by model
  std::vector<std::vector<OfferRange>> ranges_;    ///< by model
  std::vector<std::uint64_t> queues_, committed_;  ///< by lot
  double bias_floor_ = 0.0;
  std::size_t lots_max_ = 0;
  std::vector<std::vector<std::uint8_t>> fixed_;  ///< by compliance rule, the first for none; by offer
  std::vector<Barred> barred_;                    ///< by compliance rule, likewise
  /// By rule as in fixed_ and model: its compliant payg offers in destination order, without those that an earlier one
  /// never asks more than.
  std::vector<std::vector<OfferId>> sellers_;
};

}  // namespace ace
