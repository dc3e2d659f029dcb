#pragma once
/// What exists: destinations, models, prices, compliance, tenants, electricity. Immutable values, numbered by a
/// snapshot.
///
/// Start with `Destination`, then `parse_fleet`.
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/names.h"
#include "core/time.h"
#include "core/units.h"
#include "fleet/catalog.h"
#include "fleet/commitment.h"
#include "fleet/endpoint.h"
#include "fleet/hardware.h"
#include "fleet/price.h"

namespace ace {

/// Gives the shape of the cost curve.
enum class Tier : std::uint8_t { owned, reserved, spot, on_demand, payg };
inline constexpr std::size_t kTiers = 5;
std::string_view name_of(Tier tier);
/// Pools of GPUs that we run, whoever owns them; the rest is sold by the token or the unit.
constexpr bool runs_on_gpus(Tier tier) { return tier == Tier::owned || tier == Tier::spot || tier == Tier::on_demand; }

/// Energy price, nano-USD per kWh; may be negative.
struct UsdPerKwh {
  std::int64_t nano = 0;
  friend constexpr auto operator<=>(UsdPerKwh, UsdPerKwh) = default;
};

/// Flat, or hourly over a stretch of hours since the epoch. A series covers every hour it is asked for, or load fails.
struct Electricity {
  UsdPerKwh flat{};
  std::int64_t first_hour = 0;       ///< hours since the epoch
  std::vector<UsdPerKwh> hourly;     ///< booked prices; empty = flat
  std::vector<UsdPerKwh> day_ahead;  ///< what the brain sees; empty = the booked ones
  double pue = 1.0;
  /// Booked price of the hour of `t`. Outside the series the nearest hour holds: a replay refuses requests there
  /// (replay/horizon.h), so that is for what is still in flight at its end.
  [[nodiscard]] UsdPerKwh booked(Instant t) const;
  [[nodiscard]] UsdPerKwh believed(Instant t) const;
  friend bool operator==(const Electricity&, const Electricity&) = default;
};

/// The automatic prompt cache of a provider, for the all-API counterfactual (h0) and for prediction.
struct PromptCache {
  Tokens min_prefix{1024}, block{128};
  Duration ttl{5 * kMinute};
  bool enabled = false;
  friend bool operator==(const PromptCache&, const PromptCache&) = default;
};

struct Provider {
  std::string name;
  std::vector<std::string> jurisdictions;  ///< sorted
  Duration retention{0};                   ///< how long it keeps content; 0 = not at all
  PromptCache cache;
  // Used by the gateway alone.
  Api api = Api::none;
  std::optional<Endpoint> endpoint{};
  bool allow_private = false;
  SecretName key{}, key_id{}, session_token{};  ///< key_id: AWS signatures instead of a bearer token
  std::string api_version{}, region{}, project{}, organization{};
  /// Operations by their short names ("chat"), and paths handed on unread ("/v1/images"); empty = what its API has.
  std::vector<std::string> surfaces{};
  std::string cache_field{};  ///< of a request that takes a tenant's cache key; empty = only where one was sent
  friend bool operator==(const Provider&, const Provider&) = default;
};

/// Bits of what a request may need and a model may offer.
enum Capability : std::uint32_t {
  kText = 1U << 0,
  kImage = 1U << 1,
  kAudio = 1U << 2,
  kVideo = 1U << 3,
  kTools = 1U << 4,
  kJsonSchema = 1U << 5,
  kReasoning = 1U << 6,
};

/// The default pay-as-you-go price of a model, frozen: the counterfactual.
struct Baseline {
  DestinationId destination;
  PriceId price;
  std::string as_of;
  bool contracted = false;  ///< not contracted = graded `assumed`
  friend bool operator==(const Baseline&, const Baseline&) = default;
};

/// Answers of two models compared blind: how many pairs, and in how many the stand-in was as good or better.
struct QualityAudit {
  std::uint64_t judged = 0, good = 0;
  friend bool operator==(const QualityAudit&, const QualityAudit&) = default;
};

struct Equivalent {
  ModelId model;
  double quality_min = 1.0;                ///< least share of answers that must be as good
  std::int64_t verbosity_ppm = 1'000'000;  ///< output of this model over output of the requested one
  std::string evidence;                    ///< empty = routing savings are `assumed`
  QualityAudit audit{};
  friend bool operator==(const Equivalent&, const Equivalent&) = default;
};

struct Model {
  std::string name;
  std::vector<std::string> aliases;
  Tokens context_max{0}, output_max{0};  ///< output_max 0 = bounded by the context only
  std::string quality;
  std::uint32_t capabilities = kText;
  std::optional<Architecture> architecture;  ///< from the file, else from the built-in table
  std::optional<Baseline> baseline;
  std::vector<Equivalent> equivalents;
  friend bool operator==(const Model&, const Model&) = default;
};

/// Hardware that a class of requests asks for, beyond what its models need. An API does not say what it runs on, so it
/// meets none.
struct Requirements {
  double vram_bytes_min = 0.0;                   ///< of one GPU; 0 = any
  std::string accelerator_family, interconnect;  ///< empty = any
  [[nodiscard]] bool none() const {
    return vram_bytes_min <= 0.0 && accelerator_family.empty() && interconnect.empty();
  }
  friend bool operator==(const Requirements&, const Requirements&) = default;
};

struct SloClass {
  std::string name;
  std::optional<Duration> ttft, tpot, deadline;  ///< deadline without ttft = deferrable
  double target = 0.99;                          ///< share of requests that must meet every limit
  double epsilon = 0.005;                        ///< predicted miss rate at the knee
  std::optional<Usd> miss_value;                 ///< absent = the request's reference PAYG price
  int priority = 0;                              ///< lower is shed first
  Requirements hardware;
  [[nodiscard]] bool deferrable() const { return deadline.has_value() && !ttft.has_value(); }
  /// Others' prefill reaches it as a wait: its first token has a limit, its pace has none.
  [[nodiscard]] bool only_waits() const { return ttft.has_value() && !tpot.has_value(); }
  /// Did an answer come as promised? @param total from arrival to the last token
  [[nodiscard]] bool kept(Duration first, Duration per_token, Duration total) const {
    return (!ttft || first <= *ttft) && (!tpot || per_token <= *tpot) && (!deadline || total <= *deadline);
  }
  friend bool operator==(const SloClass&, const SloClass&) = default;
};

struct Compliance {
  std::string name;
  std::vector<std::string> jurisdictions, providers, data_classes;  ///< sorted; empty = any
  std::optional<Duration> retention_max;
  friend bool operator==(const Compliance&, const Compliance&) = default;
};

/// A share of the capacity of a destination that is set aside for a tenant, used or not.
struct ReservedShare {
  DestinationId destination;
  std::int64_t share_ppm = 0;  ///< all tenants together at most 1,000,000
  friend bool operator==(const ReservedShare&, const ReservedShare&) = default;
};
struct Tenant {
  std::string name;
  SloId slo;
  ComplianceId compliance;                   ///< none = unrestricted
  std::string data_class;                    ///< empty = none declared
  std::vector<std::string> teams, projects;  ///< sorted
  std::vector<ReservedShare> reserved;       ///< by destination
  friend bool operator==(const Tenant&, const Tenant&) = default;
};

/// Units from `from` to `to` (minutes of the UTC day, on the days of the mask, bit 0 = Monday).
struct ScheduleWindow {
  std::uint8_t days = 0x7f;
  int from_minute = 0, to_minute = 1440;
  std::int64_t units = 0;
  friend bool operator==(const ScheduleWindow&, const ScheduleWindow&) = default;
};
/// The named deterministic stand-in for a plan: one unit up when utilization stays at or above `up_at`, one down below
/// `down_at`.
struct ReactivePolicy {
  double up_at = 0.8, down_at = 0.3;  ///< share of the knee
  Duration start_delay{5 * kMinute}, min_up{30 * kMinute}, min_down{10 * kMinute};
  std::int64_t units_min = 0, units_max = 1;
  friend bool operator==(const ReactivePolicy&, const ReactivePolicy&) = default;
};
/// How many units run when. A unit of an owned, spot or on-demand pool is one node of `count` GPUs.
struct UnitPlan {
  std::int64_t units = 1;
  std::vector<ScheduleWindow> schedule;
  std::optional<ReactivePolicy> reactive;
  [[nodiscard]] std::int64_t at_most() const;  ///< units that may ever run
  /// Units as scheduled for `t`; the plain number outside of every window.
  [[nodiscard]] std::int64_t scheduled(Instant t) const;
  friend bool operator==(const UnitPlan&, const UnitPlan&) = default;
};

/// A step series over time: value i holds from start + i x step. Empty = absent.
struct StepSeries {
  Instant start{};
  Duration step{kHour};
  std::vector<double> values;
  [[nodiscard]] double at(Instant t) const;  ///< the first or last value outside
  friend bool operator==(const StepSeries&, const StepSeries&) = default;
};

/// Rented by the unit-hour; spot may be taken away.
struct Rental {
  Usd hourly{};                    ///< per unit
  std::vector<Usd> hourly_series;  ///< per hour since `series_first_hour`; empty = flat
  std::int64_t series_first_hour = 0;
  Duration increment{kHour};     ///< billing increment
  double hazard_per_hour = 0.0;  ///< spot: chance that a unit is taken within an hour
  StepSeries availability;       ///< spot: units that can be had; overrides the hazard
  Duration notice{2 * kMinute};  ///< drain time between notice and loss
  /// Price of a unit-hour that begins at `t`: the flat one, or the first or last of the series outside of it.
  [[nodiscard]] Usd at(Instant t) const;
  friend bool operator==(const Rental&, const Rental&) = default;
};

/// A latency distribution of an API, as declared: log-normal through the stated quantiles.
struct Latency {
  Duration ttft_p50{400 * 1'000'000}, ttft_p95{900 * 1'000'000}, tpot_p50{12 * 1'000'000}, tpot_p95{25 * 1'000'000};
  double error_rate = 0.0;  ///< share of calls that fail with 5xx
  friend bool operator==(const Latency&, const Latency&) = default;
};

/// A model as one destination serves it.
struct Serving {
  ModelId model;
  std::optional<PriceId> price;           ///< payg: its row; reserved: a declared per-token fee
  std::optional<ServerProfile> measured;  ///< overrides the roofline
  std::optional<PtuTerms> ptu;
  std::optional<GsuTerms> gsu;
  std::optional<Tokens> context_max;  ///< where smaller than the model's
  std::string name{};                 ///< what the model is called there (a deployment); empty = as here
  friend bool operator==(const Serving&, const Serving&) = default;
};

/// How fast a node loads weights where the fleet file does not say. 15 GB of Llama 3 8B took 7.53 s from a cloud SSD of
/// 4 GB/s with concurrent streaming, and 6 times as long with the default loader: "Reducing Cold Start Latency for LLM
/// Inference with NVIDIA Run:ai Model Streamer", developer.nvidia.com, 2025-09.
inline constexpr double kLoadBytesPerS = 2e9;

/// Somewhere a request can run, as the fleet file says. A value: copy it, compare it, log it.
struct Destination {
  std::string name;
  Tier tier = Tier::payg;
  std::uint32_t declared = 0;  ///< position in the file: the order of the status-quo baseline
  ProviderId provider;
  std::string region;
  std::vector<Serving> serving;  ///< sorted by model
  // GPUs (owned, spot, on_demand)
  std::string accelerator, interconnect;
  double vram_bytes = 0.0;  ///< of one GPU; 0 = no GPU of ours
  std::int64_t gpus_per_unit = 0, tp = 1;
  Precision precision = Precision::bf16;
  double load_bytes_per_s = kLoadBytesPerS;  ///< weights from a node's storage into its GPUs
  /// Prompt tokens that its engines take in one step, where they are set so; of what is measured, the measurement says.
  std::optional<std::int64_t> prefill_chunk;
  UnitPlan units;
  Usd amortization_hourly{};  ///< owned: per unit-hour (GPU price x GPUs)
  std::optional<Rental> rental;
  // commitments
  Usd commitment_hourly{};  ///< reserved: fee of the whole block per hour
  std::optional<DestinationId> native_spill;
  // APIs
  std::optional<std::int64_t> rpm, tpm;
  bool unlimited = false;  ///< the operator says that there is no quota
  Latency latency;
  ServiceTier service = ServiceTier::standard;
  std::int64_t uplift_ppm = 1'000'000;
  // Used by the gateway alone.
  std::optional<Endpoint> endpoint{};  ///< in the place of the provider's
  std::vector<Endpoint> metrics{};     ///< of its engines, in Prometheus' text
  [[nodiscard]] std::int64_t replicas_per_unit() const { return tp > 0 ? gpus_per_unit / tp : 0; }
  /// What an hour of one unit costs, used or not: amortization, rent, or its share of the commitment's fee.
  [[nodiscard]] Usd unit_hourly(Instant t) const;
  friend bool operator==(const Destination&, const Destination&) = default;
};

struct Cluster {
  std::string name;
  struct Rack {
    std::string id;
    std::vector<std::string> nodes;  ///< expanded
    friend bool operator==(const Rack&, const Rack&) = default;
  };
  std::vector<Rack> racks;
  std::map<std::string, std::string> selector;  ///< labels that a node must carry; never one that matches everything
  std::int64_t healthy_floor_ppm = 800'000;
  friend bool operator==(const Cluster&, const Cluster&) = default;
};

struct Policies {
  std::map<std::uint32_t, UsdPerMtok> bias;  ///< by provider index; ordering only
  std::optional<double> epsilon;             ///< overrides each class's default
  std::int64_t retry_budget_ppm = 100'000;   ///< of live traffic
  std::int64_t retries_min = 3;              ///< in any ten seconds, whatever the traffic
  int attempts_max = 3;
  bool reserve_enforce = false;                                 ///< hold back batch classes when headroom is short
  std::optional<Usd> cache_hosts_hourly, gateway_hosts_hourly;  ///< fixed cost of ACE itself
  bool response_cache = false;                                  ///< exact-match response cache
  friend bool operator==(const Policies&, const Policies&) = default;
};

/// The snapshot of everything that exists. Ids index the vectors; names are sorted, so ties by id are ties by name.
struct Fleet {
  std::uint64_t number = 1;
  std::uint64_t digest = 0;  ///< of the normalised text of the file and all it includes
  std::vector<Provider> providers;
  std::vector<Model> models;
  std::vector<SloClass> slo_classes;
  std::vector<Compliance> compliance;
  std::vector<Tenant> tenants;
  std::vector<Destination> destinations;
  std::vector<Cluster> clusters;
  Electricity electricity;
  PriceBook prices;
  Policies policies;
  SloId default_slo;  ///< of tenants that declare none

  [[nodiscard]] std::optional<ModelId> model(std::string_view name_or_alias) const;
  [[nodiscard]] std::optional<TenantId> tenant(std::string_view name) const;
  [[nodiscard]] std::optional<DestinationId> destination(std::string_view name) const;
  [[nodiscard]] std::optional<ProviderId> provider(std::string_view name) const;
  friend bool operator==(const Fleet&, const Fleet&) = default;
};

/// A mistake in a file a person wrote: where, what was expected, how to mend it.
struct Mistake {
  std::string file;
  int line = 0, column = 0;  ///< from 1
  std::string path;          ///< "destinations[2].price"
  std::string what;          ///< "expected a decimal number with its unit, got \"0,60 USD/Mtok\""
  std::string excerpt;       ///< the line itself
  std::string mend;          ///< "write \"0.60 USD/Mtok\""
};
/// The first hundred mistakes, and how many more there are: for each "file:line:column: path: what" and its excerpt.
std::string describe(const std::vector<Mistake>& mistakes);

/// Where the shell's file reading is handed in: path relative to the fleet file -> text. Pure code never opens a file.
using ReadText = std::function<Result<std::string>(const std::string& path)>;
using ReadEnv = std::function<std::optional<std::string>(const std::string& name)>;

struct FleetReading {
  Fleet fleet;
  std::vector<Mistake> mistakes;  ///< not empty = the fleet must not be used
  std::vector<std::string> warnings;
};

/// Parses and resolves a fleet file (DESIGN 6.2). Never throws; every mistake is reported at once.
/// @param prices additional price map (`--prices`), which the file's own `prices: PATH` entries extend
FleetReading parse_fleet(std::string_view yaml, const std::string& file, const PriceBook& prices, const ReadText& read,
                         const ReadEnv& env);

/// Whether a changed fleet may replace the running one without a person's word. `held` keeps the old one running.
struct ReloadVerdict {
  bool held = false;
  std::vector<std::string> reasons;  ///< "delta_needs_ack: ..." one per finding, sorted by kind and name
};
/// Holds what could empty a fleet or move money by a slip: 30% of the nodes of a cluster or a whole rack gone, a
/// cluster gone, a healthy floor changed, a price (tokens, energy, amortization, fee, unit-hour) changed or gone.
ReloadVerdict hold_reload(const Fleet& before, const Fleet& after);

}  // namespace ace
