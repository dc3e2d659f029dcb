#pragma once
/// 128-bit names of things that happen: `req_` + 26 base32 characters, and act_, plan_ alike.
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/result.h"
#include "core/rng.h"
#include "core/time.h"

namespace ace {

/// 48 bits of milliseconds and 80 random bits; sorts by time.
template <class Tag>
struct Id128 {
  std::uint64_t high = 0, low = 0;
  friend constexpr auto operator<=>(const Id128&, const Id128&) = default;
};
using RequestId = Id128<struct RequestIdTag>;
using ActionId = Id128<struct ActionIdTag>;
using PlanId = Id128<struct PlanIdTag>;

/// Crockford base32 of 128 bits, 26 characters, upper bits first.
std::string to_base32(std::uint64_t high, std::uint64_t low);
/// @return bad_input unless it is 26 characters of that alphabet that fit 128 bits.
Result<RequestId> request_id_from(std::string_view text);

inline std::string to_string(RequestId id) { return "req_" + to_base32(id.high, id.low); }

/// @param at a time after 1970
RequestId make_request_id(Instant at, Rng& rng);

}  // namespace ace
