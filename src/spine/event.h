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
};

/// Where it was sent, and what the decision rested on.
struct Decided {
  RequestId id;
  Instant at{};
  std::uint64_t snapshot = 0;
  Decision decision;
  Prediction predicted;
  Tokens cached_predicted{0};
  /// The cheapest feasible pay-as-you-go offer for the model used, at admission; none if there is none. For C3.
  OfferId cheapest_payg;
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
};

/// A stretch of fixed cost: [from, to) of a destination's units, or of ACE's own hosts.
struct FixedCost {
  enum class Kind : std::uint8_t { amortization, idle_power, commitment, rental, hosts } kind = Kind::amortization;
  DestinationId destination;  ///< none for hosts
  Instant from{}, to{};
  std::int64_t units = 0;
  Usd amount{};
};
std::string_view name_of(FixedCost::Kind kind);

/// One use of one GPU (or PTU deployment unit) over [start_ms, end_ms): bookings of one device are disjoint.
struct GpuBooking {
  enum class Use : std::uint8_t { served, valley, lent, released } use = Use::served;
  std::string device;
  std::int64_t start_ms = 0, end_ms = 0;
};

/// Curves, prices, health and units are events of their own.
struct Changed {
  Belief::Change change;
};
struct UnitsChanged {
  Instant at{};
  DestinationId destination;
  std::int64_t before = 0, after = 0;
  std::string cause;  ///< "fleet file", "schedule", "reactive", "eviction", "plan"
};

using Event = std::variant<Admitted, Decided, Attempted, Completed, FixedCost, GpuBooking, Changed, UnitsChanged>;

}  // namespace ace::event
