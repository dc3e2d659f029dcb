#pragma once
/// An event as it is written and read: the value, what names it, and the evidence of a decision. docs/SPINE.md.
///
/// Start with `encode` and `decode`.
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "spine/event.h"
#include "spine/live_column.h"

namespace ace::event {

/// Kinds by the numbers they have on the disk.
enum class Kind : std::uint8_t {
  none = 0,
  admitted = 6,
  decided = 7,
  attempted = 8,
  first_token = 9,
  completed = 10,
  cache_hit = 11,
  changed = 12,
  health_changed = 13,
  passed = 14,
  fixed_cost = 16,
  gpu_booking = 17,
  units_changed = 18,
  settlement_closed = 19,
  price_changed = 20,
  fleet_changed = 21,
  capacity_observed = 22,
  plan_made = 23,
  action = 24,
  gap = 25,
  named = 26,
  lifecycle = 27,
};
std::string_view name_of(Kind kind);
Kind kind_of(const Event& event);

using EventId = Id128<struct EventIdTag>;

/// What makes an event unique: the same key and the same bytes is the same event.
struct Key {
  std::uint32_t tenant = 0;
  EventId id;
  Kind kind = Kind::none;
  std::uint32_t ordinal = 0;
  friend auto operator<=>(const Key&, const Key&) = default;
};

/// What a decision rested on, beside the request (its Admitted) and the fleet (its snapshot).
struct Evidence {
  Duration waited{0};
  OfferId failed_at;
  std::vector<LiveColumn> live;     ///< of feasible candidates, by rank; at most kColumnsMax unless all is recorded
  std::uint64_t others_digest = 0;  ///< of the feasible ones that are not in `live`; 0 = none
  friend bool operator==(const Evidence&, const Evidence&) = default;
};

struct Record {
  /// Names the event if it has no id of its own; else the two are the same. Symbol 0 is no tenant.
  EventId id;
  std::uint32_t tenant = 0;
  std::uint32_t ordinal = 0;   ///< of several events of one kind and id: the number of an attempt
  std::uint64_t snapshot = 0;  ///< of the fleet that every index in the event is of; a Decided holds the same
  Event event;
  Evidence evidence;  ///< of a Decided
};

/// The id of an event that has one (requests, plans, actions), else zero.
EventId own_id(const Event& event);
Key key_of(const Record& record);
/// When it happened: what `at` is on the disk.
Instant at_of(const Event& event);

/// The bytes of one event. A Decision's terms are not among them: decide() gives them again from the evidence.
/// @return bad_input if a text is no label or a cause is unknown, out_of_range if a number is
Result<std::string> encode(const Record& record);
/// Tenant, id and snapshot are put back where the value holds them too.
/// @return corrupt, or bad_input for a kind that a newer version wrote
Result<Record> decode(std::string_view bytes);
/// The key alone. @return as decode
Result<Key> key_from(std::string_view bytes);

}  // namespace ace::event
