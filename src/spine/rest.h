#pragma once
/// What writing and reading events share.
#include <array>
#include <string_view>

#include "spine/label.h"
#include "spine/record.h"

namespace ace::event {

/// Causes of UnitsChanged by their numbers on the disk.
inline constexpr std::array<std::string_view, 9> kCauses = {"",     "fleet file", "schedule", "reactive", "eviction",
                                                            "plan", "start",      "failure",  "reclaim"};
/// The time that an id was made at, as it says.
constexpr std::uint64_t millis_of(EventId id) { return id.high >> 16; }

}  // namespace ace::event
