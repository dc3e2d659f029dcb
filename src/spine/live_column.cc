#include "spine/live_column.h"

#include <bit>
#include <cmath>

#include "core/hash.h"

namespace ace::event {
namespace {

constexpr auto kPrefill = static_cast<std::size_t>(Resource::prefill);
constexpr auto kSlots = static_cast<std::size_t>(Resource::slots);

std::uint32_t scaled(double value, std::uint32_t scale) {
  const double steps = value * scale + 0.5;
  if (!(steps > 0.0)) return 0;
  return steps >= kUseMax ? kUseMax : static_cast<std::uint32_t>(steps);
}

void append_little(std::string& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
}

std::uint64_t little(const char* at, int bytes) {
  std::uint64_t value = 0;
  for (int i = bytes; i-- > 0;) value = value << 8 | static_cast<unsigned char>(at[i]);
  return value;
}

/// The average of prefill that a class feels.
template <class AnyLive>
auto& prefill_of(const Snapshot& fleet, SloId slo, AnyLive& live) {
  const bool waits = slo.valid() && fleet.fleet().slo_classes[slo.value].only_waits();
  return waits ? live.sustained : live.use[kPrefill];
}

/// Who may be served there without a load that the class cannot wait for.
template <class AnyLive>
auto& ready_of(SloId slo, AnyLive& live) {
  return slo.valid() ? live.ready[slo.value] : live.resident;
}

/// By how much a prompt token takes longer than with nothing decoding beside it.
double slowdown_of(const Offer& offer, double wait_per_token) {
  return wait_per_token * offer.profile->prefill_tokens_per_s;
}

void slow_down(const Offer& offer, std::uint32_t slowdown, Live& live, std::size_t i) {
  const double factor = static_cast<double>(slowdown) / kSlowdownScale;
  live.wait_per_token[i] = factor / offer.profile->prefill_tokens_per_s;
  // A slot's share of the cap is that of the running units: so is what they prefill.
  live.per_unit[kPrefill][i] =
      factor * live.per_unit[kSlots][i] * offer.unit_capacity[kSlots] / offer.unit_capacity[kPrefill];
}

}  // namespace

void quantise(const Snapshot& fleet, SloId slo, OfferId offer, Live& live) {
  apply(fleet, slo, column_of(fleet, slo, offer, live, Instant{}), live);
}

LiveColumn column_of(const Snapshot& fleet, SloId slo, OfferId offer, const Live& live, Instant now) {
  const std::size_t i = offer.value;
  LiveColumn c;
  c.offer = offer.value;
  c.cached = static_cast<std::uint32_t>(live.cached[i] > 0 ? live.cached[i] : 0);
  c.version = static_cast<std::uint8_t>(live.version[i]);
  c.running = live.running[i] != 0;
  c.resident = ready_of(slo, live)[i] != 0;
  c.throttled = live.throttled_until[i] > nanos(now);
  c.tripped = live.tripped_until[i] > nanos(now);
  c.scarce = live.scarce[i];
  for (std::size_t r = 0; r < kResources; ++r) c.use[r] = scaled(live.use[r][i], kUseScale);
  c.use[kPrefill] = scaled(prefill_of(fleet, slo, live)[i], kUseScale);
  if (fleet[offer].profile) {
    c.use[kWaitAt] = scaled(live.wait[i], kWaitScale);
    c.use[kSlowdownAt] = scaled(slowdown_of(fleet[offer], live.wait_per_token[i]), kSlowdownScale);
  }
  c.shadow_price = static_cast<float>(live.shadow_price[i]);
  return c;
}

void apply(const Snapshot& fleet, SloId slo, const LiveColumn& c, Live& live) {
  const std::size_t i = c.offer;
  const bool queues = fleet[OfferId{c.offer}].profile.has_value();
  live.cached[i] = static_cast<std::int32_t>(c.cached);
  live.running[i] = c.running ? 1 : 0;
  ready_of(slo, live)[i] = c.resident ? 1 : 0;
  live.scarce[i] = c.scarce;
  prefill_of(fleet, slo, live)[i] = static_cast<double>(c.use[kPrefill]) / kUseScale;
  for (std::size_t r = kSlots; r < (queues ? kQueueing : kResources); ++r)
    live.use[r][i] = static_cast<double>(c.use[r]) / kUseScale;
  if (queues) {
    live.wait[i] = static_cast<double>(c.use[kWaitAt]) / kWaitScale;
    slow_down(fleet[OfferId{c.offer}], c.use[kSlowdownAt], live, i);
  }
  live.shadow_price[i] = static_cast<double>(c.shadow_price);
}

void append_column(std::string& out, const LiveColumn& c) {
  ACE_CHECK(c.offer < 1U << 24 && c.cached < 1U << 24 && c.scarce < 8, "a live column does not fit its 24 bytes");
  append_little(out, c.offer, 3);
  append_little(out,
                static_cast<unsigned>(c.running) | static_cast<unsigned>(c.resident) << 1 |
                    static_cast<unsigned>(c.throttled) << 2 | static_cast<unsigned>(c.tripped) << 3 |
                    static_cast<unsigned>(c.scarce) << 4,
                1);
  append_little(out, c.cached, 3);
  append_little(out, c.version, 1);
  uint128 uses = 0;
  for (std::size_t r = kResources; r-- > 0;) {
    ACE_CHECK(c.use[r] <= kUseMax, "a utilization does not fit its 19 bits");
    uses = uses << 19 | c.use[r];
  }
  append_little(out, static_cast<std::uint64_t>(uses), 8);
  append_little(out, static_cast<std::uint64_t>(uses >> 64), 4);
  append_little(out, std::bit_cast<std::uint32_t>(c.shadow_price), 4);
}

Result<std::vector<LiveColumn>> columns_from(std::string_view bytes) {
  if (bytes.size() % kColumnBytes != 0)
    return Error(Errc::corrupt, "live columns: expected a multiple of 24 bytes, got " + std::to_string(bytes.size()));
  std::vector<LiveColumn> columns(bytes.size() / kColumnBytes);
  for (std::size_t n = 0; n < columns.size(); ++n) {
    const char* at = bytes.data() + n * kColumnBytes;
    LiveColumn& c = columns[n];
    c.offer = static_cast<std::uint32_t>(little(at, 3));
    const auto flags = static_cast<std::uint8_t>(at[3]);
    c.running = (flags & 1) != 0;
    c.resident = (flags & 2) != 0;
    c.throttled = (flags & 4) != 0;
    c.tripped = (flags & 8) != 0;
    c.scarce = static_cast<std::uint8_t>(flags >> 4 & 7);
    c.cached = static_cast<std::uint32_t>(little(at + 4, 3));
    c.version = static_cast<std::uint8_t>(at[7]);
    uint128 uses = uint128{little(at + 16, 4)} << 64 | little(at + 8, 8);
    for (std::size_t r = 0; r < kResources; ++r, uses >>= 19)
      c.use[r] = static_cast<std::uint32_t>(static_cast<std::uint64_t>(uses) & kUseMax);
    if (uses != 0 || (flags & 0x80) != 0 || c.scarce >= kResources)
      return Error(Errc::corrupt, "live columns: a spare bit of column " + std::to_string(n) + " is set");
    c.shadow_price = std::bit_cast<float>(static_cast<std::uint32_t>(little(at + 20, 4)));
  }
  return columns;
}

std::uint64_t digest_of(std::span<const LiveColumn> columns) {
  std::string bytes;
  bytes.reserve(columns.size() * kColumnBytes);
  for (const LiveColumn& column : columns) append_column(bytes, column);
  return hash_of(bytes);
}

}  // namespace ace::event
