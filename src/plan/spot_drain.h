#pragma once
/// What to do with the work on a unit that is about to be taken.
#include <cstdint>
#include <span>
#include <vector>

#include "core/money.h"
#include "core/time.h"

namespace ace {

enum class DrainAction : std::uint8_t {
  finish,     ///< it ends before the unit is gone
  hand_over,  ///< saved or sent elsewhere before the unit is gone
  lose,       ///< neither fits: what was done since the last checkpoint is done again
};

/// One request or job on the unit.
struct DrainItem {
  Duration left{};       ///< until it ends, at its upper estimate (p90): a lead that is missed cannot be had again
  Duration hand_over{};  ///< to write its checkpoint, or to start it elsewhere; negative = it cannot move (a client has
                         ///< its first bytes)
  Usd at_stake{};        ///< to do again what is lost, at the price of where it will be done
  Usd cost_of_hand_over{};  ///< to do again elsewhere what a hand-over does not carry (a prompt's prefill)
};

struct Drain {
  std::vector<DrainAction> actions;  ///< by item
  Usd lost{};                        ///< at stake of what is lost, and the cost of hand-overs: booked when it happens
  Duration done{};                   ///< when the last that finishes or moves is off the unit
};

/// Each item by itself: finishing is free, so it comes first; then the lesser loss. A hand-over that costs as much as
/// the loss is not made. Items are saved side by side.
/// @param lead  until the unit is gone, less what it takes to act
Drain drain(Duration lead, std::span<const DrainItem> items);

}  // namespace ace
