#pragma once
/// What a worker saw of one candidate, in 24 bytes: what a decision is made again from, beside curves, prices and
/// health, which are events of their own.
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dispatch/dispatch.h"

namespace ace::event {

inline constexpr std::size_t kColumnBytes = 24;
inline constexpr std::size_t kColumnsMax = 32;  ///< kept of a decision unless everything is recorded

/// Utilization is recorded in steps of 2^-17 of the cap, up to four times the cap; a wait in steps of 2^-11 s, up to
/// 256 s; how much decoding slows prefill in steps of 2^-12, up to 128 times.
inline constexpr std::uint32_t kUseScale = 1U << 17, kWaitScale = 1U << 11, kSlowdownScale = 1U << 12;
inline constexpr std::uint32_t kUseMax = (1U << 19) - 1;
/// Places in LiveColumn::use of an offer that queues, which has no meter and no quota.
inline constexpr std::size_t kWaitAt = static_cast<std::size_t>(Resource::tokens);
inline constexpr std::size_t kSlowdownAt = static_cast<std::size_t>(Resource::requests);

struct LiveColumn {
  std::uint32_t offer = 0;   ///< below 2^24
  std::uint32_t cached = 0;  ///< predicted cached prompt tokens of this request, below 2^24
  std::uint8_t version = 0;  ///< of its curve, the low byte
  bool running = true, resident = true, throttled = false, tripped = false;
  std::uint8_t scarce = 0;  ///< Resource that the shadow price is of
  /// Share of the cap x kUseScale, by resource; prefill as the class of the request feels it (over ten seconds, or over
  /// a minute). Of an offer that queues the last two are Live::wait x kWaitScale, and by how much a prompt token takes
  /// longer than it would alone x kSlowdownScale.
  std::array<std::uint32_t, kResources> use{};
  float shadow_price = 0.0F;  ///< nano-USD per whole share of `scarce`
  friend bool operator==(const LiveColumn&, const LiveColumn&) = default;
};

/// Rounds the columns of one offer to what can be recorded, so that deciding on them and deciding again from the record
/// are the same. @param slo of the request: which average of prefill it feels
void quantise(const Snapshot& fleet, SloId slo, OfferId offer, Live& live);
/// The column of one offer, as a request of this class sees it. @param now tells throttles and trips that are over
LiveColumn column_of(const Snapshot& fleet, SloId slo, OfferId offer, const Live& live, Instant now);
/// Puts a column back: everything of `column` into `live`, but for throttles and trips, whose ends are events.
void apply(const Snapshot& fleet, SloId slo, const LiveColumn& column, Live& live);

/// Appends the 24 bytes, little endian: offer (3), flags (1), cached (3), version (1), five uses of 19 bits (12),
/// shadow price (4).
void append_column(std::string& out, const LiveColumn& column);
/// @return corrupt if the length is no multiple of 24 or a spare bit is set
Result<std::vector<LiveColumn>> columns_from(std::string_view bytes);
/// FNV-1a with a finaliser over the bytes of these columns: stands for candidates whose columns are not kept.
std::uint64_t digest_of(std::span<const LiveColumn> columns);

}  // namespace ace::event
