#pragma once
/// Largest-remainder allocation (Hamilton's method), the definition behind `allocate` of money.h.
#include <algorithm>
#include <numeric>
#include <vector>

#include "core/money.h"

namespace ace {

template <class Weights, class Parts>
void allocate(Usd amount, const Weights& weights, Parts& parts) {
  const std::size_t n = weights.size();
  ACE_CHECK(parts.size() == n, "allocate: one part per weight");
  if (n == 0) {
    ACE_CHECK(amount == Usd{}, "allocate: an amount needs somebody to carry it");
    return;
  }
  int128 total = 0;
  for (const auto weight : weights) {
    ACE_CHECK(weight >= 0, "allocate: a weight is negative");
    total += weight;
  }
  for (auto& part : parts) part = Usd{};
  if (total == 0) {
    parts[0] = amount;
    return;
  }
  const int128 sign = amount.nano < 0 ? -1 : 1;
  const int128 magnitude = int128{amount.nano} * sign;
  std::vector<int128> remainder(n);
  int128 left = magnitude;
  for (std::size_t i = 0; i < n; ++i) {
    const int128 product = magnitude * int128{weights[i]};
    parts[i].nano = static_cast<std::int64_t>(product / total * sign);
    left -= product / total;
    remainder[i] = product % total;
  }
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return remainder[a] > remainder[b]; });
  for (std::size_t i = 0; left > 0; ++i, --left) parts[order[i]].nano += static_cast<std::int64_t>(sign);
}

}  // namespace ace
