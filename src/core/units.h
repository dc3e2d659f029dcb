#pragma once
/// Counted things that do not mix, and strong indices into a snapshot's name tables.
#include <compare>
#include <cstdint>
#include <functional>

namespace ace {

/// A counted thing. `Tokens + Requests` does not compile; that is the point.
template <class Tag>
struct Count {
  std::int64_t value = 0;
  friend constexpr auto operator<=>(Count, Count) = default;
  friend constexpr Count operator+(Count a, Count b) { return {a.value + b.value}; }
  friend constexpr Count operator-(Count a, Count b) { return {a.value - b.value}; }
  constexpr Count& operator+=(Count b) { return value += b.value, *this; }
  constexpr Count& operator-=(Count b) { return value -= b.value, *this; }
};
using Tokens = Count<struct TokensTag>;
using Requests = Count<struct RequestsTag>;
using GpuMillis = Count<struct GpuMillisTag>;

/// An index into a snapshot's name table, sorted by bytes: a tie by index is a tie by name.
template <class Tag>
struct Index {
  static constexpr std::uint32_t kNone = 0xffff'ffff;
  std::uint32_t value = kNone;
  [[nodiscard]] constexpr bool valid() const { return value != kNone; }
  friend constexpr auto operator<=>(Index, Index) = default;
};
using DestinationId = Index<struct DestinationTag>;
using ModelId = Index<struct ModelTag>;
using TenantId = Index<struct TenantTag>;
using ProviderId = Index<struct ProviderTag>;
using SloId = Index<struct SloTag>;
using ComplianceId = Index<struct ComplianceTag>;
/// One model at one destination: the thing the dispatcher ranks. Sorted by (model, destination).
using OfferId = Index<struct OfferTag>;
/// A row of the price book.
using PriceId = Index<struct PriceTag>;

}  // namespace ace

template <class Tag>
struct std::hash<ace::Index<Tag>> {
  std::size_t operator()(ace::Index<Tag> index) const noexcept { return index.value; }
};
