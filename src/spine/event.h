#pragma once
/// What lands on the event spine: plain values, no prompt, no completion, no raw identity.
/// Replay, shadow and the gateway all speak in these; the ledger folds nothing else.
#include <array>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "core/ids.h"
#include "core/time.h"
#include "core/units.h"
#include "dispatch/dispatch.h"

namespace ace::event {

/// A request came in. Tenant, team and model are what the ledger groups by.
struct Admitted {
  RequestId id;
  std::int64_t row = 0;  ///< of the trace; 0 in live traffic
  Instant at{};
  std::uint32_t tenant = 0, team = 0;  ///< symbols of the run's name tables (declared or masked names)
  TenantId declared_tenant;            ///< in the fleet; none for an undeclared one
  ModelId requested;
  SloId slo;
  ComplianceId compliance;
  Tokens prompt{0};      ///< total context
  Tokens max_output{0};  ///< 0 = not stated
  std::uint32_t needs = kText;
  /// Prompt tokens the default provider would have had in its automatic cache, had all of this tenant's traffic gone
  /// there.
  Tokens h0{0};
  bool batch = false;
  std::uint32_t project = 0, key = 0;  ///< symbols like tenant and team; 0 = none
  friend bool operator==(const Admitted&, const Admitted&) = default;
};

/// Where it was sent, and what the decision rested on.
struct Decided {
  RequestId id;
  Instant at{};
  std::uint64_t snapshot = 0;
  Decision decision;
  Prediction predicted;
  Tokens cached_predicted{0};
  /// The cheapest feasible pay-as-you-go offer for the model used, at admission; none if there is none. For C3. On the
  /// spine it is that of the answer as predicted.
  OfferId cheapest_payg;
  friend bool operator==(const Decided&, const Decided&) = default;
};

/// One try at one destination.
struct Attempted {
  RequestId id;
  OfferId offer;
  Instant from{}, to{};
  bool answered = false;                    ///< false = it failed, was refused or was lost
  Rejection rejection = Rejection::failed;  ///< where not answered
  bool eviction = false;                    ///< lost with its spot unit
  Usage billed;                             ///< what the destination bills for it, also when it failed
  Instant energy_hour{};                    ///< its price holds for the whole attempt (admission hour)
  OfferId billed_as;                        ///< native spillover: the deployment named in the response, else `offer`
  friend bool operator==(const Attempted&, const Attempted&) = default;
};

enum class Outcome : std::uint8_t {
  served,
  cache_hit,     ///< answered from ACE's own response cache, or coalesced with a running twin
  not_served,    ///< refused, or every attempt failed
  client_abort,  ///< the client went away: priced on the tokens produced, on both sides
};
std::string_view name_of(Outcome outcome);

/// The end of a request.
struct Completed {
  RequestId id;
  Instant at{};
  Outcome outcome = Outcome::served;
  Verdict verdict = Verdict::dispatched;  ///< why, if not served
  OfferId offer;                          ///< that answered; none for a cache hit or a refusal
  Usage usage;                            ///< of the model used, as served
  Tokens output_requested{0};             ///< output of the requested model: the same, or used / verbosity of the pair
  Tokens h1{0};                           ///< prompt tokens really served from cache where it ran
  Duration ttft{0}, tpot{0};
  bool slo_met = false;
  Usd lookup_cost{};                     ///< of a response-cache hit
  std::int64_t observed_cost_nano = -1;  ///< what the customer's log says it cost; -1 = unknown
  bool in_gap = false;                   ///< decided while the spine could not record
  bool exact_match = true;               ///< of a cache hit: the key was tenant, model and the full canonical request
  friend bool operator==(const Completed&, const Completed&) = default;
};

/// A stretch of fixed cost: [from, to) of a destination's units, or of ACE's own hosts.
struct FixedCost {
  enum class Kind : std::uint8_t { amortization, idle_power, commitment, rental, hosts } kind = Kind::amortization;
  DestinationId destination;  ///< none for hosts
  Instant from{}, to{};
  std::int64_t units = 0;
  Usd amount{};
  /// Share of the capacity paid for that was used, in parts per million; -1 = not known, which counts as idle. Hosts
  /// serve everybody: all of them count as used.
  std::int64_t used_ppm = -1;
  friend bool operator==(const FixedCost&, const FixedCost&) = default;
};
std::string_view name_of(FixedCost::Kind kind);

/// One use of one GPU (or PTU deployment unit) over [start_ms, end_ms): bookings of one device are disjoint.
struct GpuBooking {
  enum class Use : std::uint8_t { served, valley, lent, released } use = Use::served;
  std::string device;
  std::int64_t start_ms = 0, end_ms = 0;
  friend bool operator==(const GpuBooking&, const GpuBooking&) = default;
};

/// Curves, prices, health and units are events of their own.
struct Changed {
  Belief::Change change;
  friend bool operator==(const Changed&, const Changed&) = default;
};
struct UnitsChanged {
  Instant at{};
  DestinationId destination;
  std::int64_t before = 0, after = 0;
  std::string cause;  ///< "fleet file", "schedule", "reactive", "eviction", "plan"
  friend bool operator==(const UnitsChanged&, const UnitsChanged&) = default;
};

/// The first token left for the client.
struct FirstToken {
  RequestId id;
  Instant at{};
  OfferId offer;
  Duration ttft{0};  ///< as the client saw it
  friend bool operator==(const FirstToken&, const FirstToken&) = default;
};

/// Answered without a model: from ACE's own response cache, or by waiting for a running twin.
struct CacheHit {
  enum class Kind : std::uint8_t { exact, coalesced, semantic } kind = Kind::exact;
  RequestId id;
  Instant at{};
  RequestId source;  ///< the request whose answer it is
  Usd lookup_cost{};
  friend bool operator==(const CacheHit&, const CacheHit&) = default;
};
std::string_view name_of(CacheHit::Kind kind);

/// A request that was handed on unread: images, files, batches and what is not known yet. Nothing in it was counted, so
/// it has no price, no baseline and no saving. Said twice: before it is sent (ordinal 0) and when it has ended (1).
struct Passed {
  RequestId id;
  Instant at{};
  std::uint32_t tenant = 0, team = 0, project = 0, key = 0;  ///< symbols, as of an Admitted
  TenantId declared_tenant;
  ComplianceId compliance;
  DestinationId destination;
  std::int32_t status = 0;              ///< of the answer; 0 = none came (yet)
  std::int64_t sent = 0, received = 0;  ///< bytes of both bodies, as far as they came
  friend bool operator==(const Passed&, const Passed&) = default;
};

/// A cell (admission hour x tenant x requested model) will take no more events: what it came to, before any correction.
struct SettlementClosed {
  Instant at{};
  std::int64_t hour = 0;  ///< of admission, since the epoch
  std::uint32_t tenant = 0;
  ModelId model;
  std::int64_t requests = 0;
  Usd baseline{}, actual{}, counted{}, disallowed{};
  std::uint32_t gate = 0;  ///< ledger Reason of the cell, 0 = it passed
  friend bool operator==(const SettlementClosed&, const SettlementClosed&) = default;
};

/// One unit of one offer costs something else from now on.
struct PriceChanged {
  Instant at{};
  OfferId offer;
  Unit unit = Unit::input;
  UsdPerMtok before, after;  ///< nano-USD per million of the unit
  friend bool operator==(const PriceChanged&, const PriceChanged&) = default;
};

/// SHA-256 of bytes that lie beside the log under that name.
using Digest = std::array<std::uint8_t, 32>;

/// A new fleet snapshot is in force. Indices in later events with this snapshot number mean these names; the files
/// themselves are kept by digest, so that the snapshot can be compiled again.
struct FleetChanged {
  /// Where the events under this snapshot come from. Only a live shell's amounts are measured.
  enum class Source : std::uint8_t {
    simulated,  ///< a replay on simulated servers
    live,       ///< requests that ACE dispatched
    shadow,     ///< requests that others served, beside what ACE would have decided
    observed,   ///< what somebody's log says
  } source = Source::simulated;
  Instant at{};
  struct File {
    enum class Role : std::uint8_t {
      fleet,
      prices,  ///< a price map that was given beside the fleet file
      series,  ///< whatever the fleet file names, in the order in which it was read
    } role = Role::fleet;
    std::string name;  ///< as the fleet file calls it, without folders
    Digest sha256{};
    friend bool operator==(const File&, const File&) = default;
  };
  std::vector<File> files;
  std::vector<std::string> destinations, models, tenants, slo_classes, compliance;
  struct Offered {
    DestinationId destination;
    ModelId model;
    friend bool operator==(const Offered&, const Offered&) = default;
  };
  std::vector<Offered> offers;
  std::uint64_t digest = 0;  ///< Fleet::digest: of all that was read, values of the environment included
  friend bool operator==(const FleetChanged&, const FleetChanged&) = default;
};
std::string_view name_of(FleetChanged::Source source);

/// What keeps an offer out, or lets it in again.
struct HealthChanged {
  enum class State : std::uint8_t { healthy, derated, throttled, tripped, unreachable } state = State::healthy;
  Instant at{};
  OfferId offer;
  Instant until{};      ///< of a throttle or trip; the epoch = not known
  double derate = 1.0;  ///< price factor, >= 1
  friend bool operator==(const HealthChanged&, const HealthChanged&) = default;
};
std::string_view name_of(HealthChanged::State state);

/// What was seen of a destination's capacity.
struct CapacityObserved {
  enum class Source : std::uint8_t { gateway, slurm, kubernetes, prometheus, provider } source = Source::gateway;
  Instant at{};
  DestinationId destination;
  std::int64_t units_running = 0, units_healthy = 0, units_total = 0;
  /// Left in the provider's own windows, as its headers say; -1 = not said.
  std::int64_t tokens_remaining = -1, requests_remaining = -1;
  friend bool operator==(const CapacityObserved&, const CapacityObserved&) = default;
};
std::string_view name_of(CapacityObserved::Source source);

/// The slow loop decided how much to hold.
struct PlanMade {
  PlanId id;
  Instant at{}, from{}, to{};
  struct Target {
    DestinationId destination;
    std::int64_t units = 0;
    friend bool operator==(const Target&, const Target&) = default;
  };
  std::vector<Target> targets;
  Usd cost{};       ///< of the window, as planned
  Digest inputs{};  ///< SHA-256 of what it was made from
  friend bool operator==(const PlanMade&, const PlanMade&) = default;
};

/// One step of one action on the world; the five stages are five events with the same id.
struct Action {
  enum class Stage : std::uint8_t { intended, notified, executed, vetoed, undone } stage = Stage::intended;
  /// In the order in which classes climb the ladder.
  enum class Kind : std::uint8_t {
    scale_to_zero,
    evict_workspace,
    cordon,
    right_size,
    defragment,
    migrate_hardware,
    reduce_models,
    migrate_routing,
    lower_precision,
    resize,  ///< by the plan
  } kind = Kind::scale_to_zero;
  enum class Outcome : std::uint8_t { pending, done, failed, unknown } outcome = Outcome::pending;
  ActionId id;
  Instant at{};
  PlanId plan;                  ///< zero = not from a plan
  std::uint32_t cluster = 0;    ///< symbol
  std::uint32_t target = 0;     ///< symbol of what is acted on
  DestinationId destination;    ///< it belongs to; none = not in the fleet
  std::int64_t units = 0;       ///< GPUs or units it concerns
  std::uint32_t rung = 0;       ///< of trust, when it was taken
  std::uint64_t epoch = 0;      ///< fencing token of the lease
  std::uint32_t why = 0;        ///< symbol of a reason code
  Usd value{}, cost_at_risk{};  ///< of the receipt
  friend bool operator==(const Action&, const Action&) = default;
};
std::string_view name_of(Action::Stage stage);
std::string_view name_of(Action::Kind kind);
std::string_view name_of(Action::Outcome outcome);

/// The spine did not record over [from, to): what was decided then cannot be verified.
struct Gap {
  enum class Cause : std::uint8_t { disk_full, disk_error, overload, crash, clock } cause = Cause::disk_full;
  Instant from{}, to{};
  std::int64_t events = -1;  ///< that were not recorded; -1 = not known
  friend bool operator==(const Gap&, const Gap&) = default;
};
std::string_view name_of(Gap::Cause cause);

/// From now on this number stands for that name. A name is a declared label or a mask, never a raw identity.
struct Named {
  enum class Kind : std::uint8_t { tenant, team, project, cluster, device, reason, key } kind = Kind::tenant;
  Instant at{};
  std::uint32_t symbol = 0;
  std::string name;
  friend bool operator==(const Named&, const Named&) = default;
};
std::string_view name_of(Named::Kind kind);

/// A writer opened the log, or closed it in good order.
struct Lifecycle {
  enum class What : std::uint8_t { started, recovered, stopped, disk_full } what = What::started;
  Instant at{};
  std::uint64_t bytes_cut = 0;  ///< of a torn tail that nobody had been told was durable
  friend bool operator==(const Lifecycle&, const Lifecycle&) = default;
};
std::string_view name_of(Lifecycle::What what);

using Event = std::variant<Admitted, Decided, Attempted, FirstToken, Completed, CacheHit, SettlementClosed, FixedCost,
                           GpuBooking, PriceChanged, FleetChanged, HealthChanged, CapacityObserved, Changed,
                           UnitsChanged, PlanMade, Action, Gap, Named, Lifecycle, Passed>;

}  // namespace ace::event
