#include "ledger/settlement.h"

#include <algorithm>
#include <tuple>

namespace ace {
namespace {

constexpr std::int64_t kWhole = 1'000'000;  ///< parts per million

/// What of a fixed cost was in use, in parts per million.
std::int64_t share_used(const fold::Fixed& fixed) {
  if (fixed.amount == Usd{}) return 0;
  const int128 sign = fixed.amount < Usd{} ? -1 : 1;
  const int128 ppm = divide_half_away(sign * fixed.used.nano * kWhole, sign * fixed.amount.nano);
  return static_cast<std::int64_t>(std::clamp<int128>(ppm, 0, kWhole));
}

class Settlement {
 public:
  Settlement(const CostBooks& books, Statement& statement) : books_(books), s_(statement) {
    for (const UsageLine& line : s_.usage) {
      const Settler::Weights w = books_.measures.weights[line.model.value];
      normalized_.push_back(int128{w.input} * line.input + int128{w.cached} * line.cached +
                            int128{w.output} * line.output);
    }
  }

  void marginal() {
    std::map<std::tuple<std::int64_t, ModelId, SloId>, std::vector<std::size_t>> intervals;
    for (std::size_t i = 0; i < s_.usage.size(); ++i) {
      UsageLine& line = s_.usage[i];
      line.charged = line.marginal;
      if (line.destination.valid()) intervals[{line.hour, line.model, line.slo}].push_back(i);
    }
    for (const auto& [key, lines] : intervals) interval(lines);
    for (const auto& [destination, amount] : surplus_) return_surplus(destination, amount);
  }

  void fixed() {
    std::map<DestinationId, fold::Fixed> by_destination;
    for (const auto& [key, fixed] : books_.fixed) {
      const auto& [destination, kind] = key;
      const bool both = stands_on_both_sides(destination);
      s_.fixed_lines.push_back({destination, kind, fixed.used, fixed.amount - fixed.used, both});
      s_.fixed += fixed.amount;
      if (both) s_.fixed_other += fixed.amount;
      by_destination[destination] += fixed;
    }
    for (const auto& [destination, amounts] : by_destination) {
      if (!spread(amounts.used, destination, destination.valid() ? &UsageLine::fixed : &UsageLine::hosts))
        adjust(Adjustment::Kind::unassigned, destination, {}, amounts.used);
      idle(destination, amounts);
    }
  }

  /// Batch lines pay at most their batch baseline; so does a tenant with batch lines alone, its shared idle included.
  void cap_batch() {
    std::map<std::uint32_t, std::pair<bool, Usd>> tenants;  // only batch so far; room under the baseline
    for (UsageLine& line : s_.usage) {
      const bool batch = books_.measures.slo(line.slo).deferrable();
      if (batch && line.total() > line.baseline) {
        Usd excess = line.total() - line.baseline;
        adjust(Adjustment::Kind::batch_cap, line.destination, {}, excess);
        for (Usd UsageLine::*part : {&UsageLine::idle, &UsageLine::fixed, &UsageLine::hosts}) {
          const Usd cut = std::clamp(excess, Usd{}, std::max(line.*part, Usd{}));
          line.*part -= cut;
          excess -= cut;
        }
        line.charged -= excess;
      }
      auto& [only_batch, room] = tenants.try_emplace(line.tenant, true, Usd{}).first->second;
      only_batch = only_batch && batch;
      room += line.baseline - line.total();
    }
    for (std::size_t i = 0, count = s_.adjustments.size(); i < count; ++i) {
      if (s_.adjustments[i].kind != Adjustment::Kind::shared_idle) continue;
      const auto found = tenants.find(*s_.adjustments[i].tenant);
      if (found == tenants.end() || !found->second.first) continue;
      Usd& room = found->second.second;
      const Usd cut = s_.adjustments[i].amount - std::min(s_.adjustments[i].amount, std::max(room, Usd{}));
      s_.adjustments[i].amount -= cut;
      room -= s_.adjustments[i].amount;
      if (cut != Usd{}) adjust(Adjustment::Kind::batch_cap, s_.adjustments[i].destination, {}, cut);
    }
  }

  /// Sorts, joins rows of one name, and checks that nothing was lost.
  void finish() {
    std::vector<Adjustment>& rows = s_.adjustments;
    const auto place = [&](const Adjustment& a) {
      return std::tuple(a.kind, a.destination, a.tenant ? s_.tenant_rank[*a.tenant] + 1U : 0U);
    };
    std::stable_sort(rows.begin(), rows.end(), [&](const auto& a, const auto& b) { return place(a) < place(b); });
    std::vector<Adjustment> joined;
    for (const Adjustment& row : rows)
      if (!joined.empty() && place(joined.back()) == place(row))
        joined.back().amount += row.amount;
      else
        joined.push_back(row);
    std::erase_if(joined, [](const Adjustment& row) { return row.amount == Usd{}; });
    rows = std::move(joined);
    Usd total{};
    for (const UsageLine& line : s_.usage) total += line.total();
    for (const Adjustment& row : rows) {
      total += row.amount;
      if (row.kind == Adjustment::Kind::reserved_idle) s_.idle_reserved += row.amount;
      if (row.kind == Adjustment::Kind::unassigned || row.kind == Adjustment::Kind::batch_cap)
        s_.idle_unassigned += row.amount;
    }
    ACE_CHECK(total == s_.c4 + s_.fixed, "a settlement charges the actual cost, no more and no less");
  }

 private:
  struct Seller {
    int128 cost = 0, normalized = 0;  ///< nano-USD, micro-tokens
  };

  void adjust(Adjustment::Kind kind, DestinationId destination, std::optional<std::uint32_t> tenant, Usd amount) {
    if (amount != Usd{}) s_.adjustments.push_back({kind, destination, tenant, amount});
  }

  static UsdPerMtok per_mtok(int128 cost, int128 normalized) {
    return {static_cast<std::int64_t>(divide_half_away(cost * 1'000'000 * 1'000'000, normalized))};
  }

  /// One hour x model x SLO class.
  void interval(const std::vector<std::size_t>& lines) {
    std::map<DestinationId, Seller> sellers;
    Seller all;
    for (const std::size_t i : lines) {
      const UsageLine& line = s_.usage[i];
      for (Seller* seller : {&sellers[line.destination], &all}) {
        seller->cost += line.marginal.nano;
        seller->normalized += normalized_[i];
      }
    }
    if (all.normalized == 0) return;  // no tokens, no price: as dispatched
    const std::pair<const DestinationId, Seller>* dearest = nullptr;
    for (const auto& seller : sellers) {
      if (seller.second.normalized == 0) continue;
      if (dearest == nullptr ||
          seller.second.cost * dearest->second.normalized > dearest->second.cost * seller.second.normalized)
        dearest = &seller;
    }
    const UsageLine& first = s_.usage[lines.front()];
    s_.clearing.push_back({first.hour, first.model, first.slo, dearest->first,
                           per_mtok(dearest->second.cost, dearest->second.normalized),
                           per_mtok(all.cost, all.normalized)});
    const Usd cost{static_cast<std::int64_t>(all.cost)};
    if (books_.options.settlement == SettlementPolicy::pooled) {
      std::vector<int128> weights;
      for (const std::size_t i : lines) weights.push_back(normalized_[i]);
      std::vector<Usd> parts(lines.size());
      allocate(cost, weights, parts);
      for (std::size_t i = 0; i < lines.size(); ++i) s_.usage[lines[i]].charged = parts[i];
    } else if (books_.options.settlement == SettlementPolicy::clearing) {
      const auto at_clearing = [&](int128 normalized) {
        return static_cast<std::int64_t>(
            divide_half_away(dearest->second.cost * normalized, dearest->second.normalized));
      };
      Usd surplus = -cost;
      for (const std::size_t i : lines) {
        s_.usage[i].charged = Usd{at_clearing(normalized_[i])};
        surplus += s_.usage[i].charged;
      }
      std::vector<int128> rents;
      for (const auto& [destination, seller] : sellers)
        rents.push_back(std::max<int128>(at_clearing(seller.normalized) - seller.cost, 0));
      std::vector<Usd> parts(sellers.size());
      allocate(surplus, rents, parts);
      std::size_t at = 0;
      for (const auto& [destination, seller] : sellers) surplus_[destination] += parts[at++];
    }
  }

  [[nodiscard]] std::vector<Reservation> holders(DestinationId destination) const {
    std::vector<Reservation> held;
    for (const Reservation& reservation : books_.options.reservations)
      if (reservation.destination == destination) held.push_back(reservation);
    std::stable_sort(held.begin(), held.end(), [&](const Reservation& a, const Reservation& b) {
      return s_.tenant_rank[a.tenant] < s_.tenant_rank[b.tenant];
    });
    return held;
  }

  void return_surplus(DestinationId destination, Usd amount) {
    const std::vector<Reservation> held = holders(destination);
    std::vector<std::int64_t> weights = {kWhole};
    for (const Reservation& r : held) {
      weights.push_back(r.share_ppm);
      weights.front() -= r.share_ppm;
    }
    std::vector<Usd> parts(weights.size());
    allocate(amount, weights, parts);
    adjust(Adjustment::Kind::surplus, destination, {}, -parts.front());
    for (std::size_t i = 0; i < held.size(); ++i)
      adjust(Adjustment::Kind::surplus, destination, held[i].tenant, -parts[i + 1]);
  }

  /// Spreads an amount over the lines of a destination by normalized tokens, of ACE's hosts over all by requests.
  /// @return false if nobody used it: nothing is spread
  bool spread(Usd amount, DestinationId destination, Usd UsageLine::*part) {
    std::vector<std::size_t> lines;
    std::vector<int128> weights;
    int128 total = 0;
    for (std::size_t i = 0; i < s_.usage.size(); ++i) {
      if (destination.valid() && s_.usage[i].destination != destination) continue;
      lines.push_back(i);
      weights.push_back(destination.valid() ? normalized_[i] : int128{s_.usage[i].requests});
      total += weights.back();
    }
    if (total == 0) return false;
    std::vector<Usd> parts(lines.size());
    allocate(amount, weights, parts);
    for (std::size_t i = 0; i < lines.size(); ++i) s_.usage[lines[i]].*part += parts[i];
    return true;
  }

  /// First what tenants reserved and did not use, then the rest by policy.
  void idle(DestinationId destination, const fold::Fixed& fixed) {
    const Usd amount = fixed.amount - fixed.used;
    const std::int64_t share = share_used(fixed);
    const std::vector<Reservation> held = holders(destination);
    std::map<std::uint32_t, int128> used;
    int128 all = 0;
    for (std::size_t i = 0; i < s_.usage.size(); ++i)
      if (s_.usage[i].destination == destination) {
        used[s_.usage[i].tenant] += normalized_[i];
        all += normalized_[i];
      }
    std::int64_t unassigned = kWhole - share;
    std::vector<std::int64_t> weights = {0};
    for (const Reservation& r : held) {
      const int128 by_tenant = all == 0 ? 0 : divide_half_away(used[r.tenant] * share, all);
      weights.push_back(std::max<std::int64_t>(0, r.share_ppm - static_cast<std::int64_t>(by_tenant)));
      unassigned -= weights.back();
    }
    weights.front() = std::max<std::int64_t>(0, unassigned);
    std::vector<Usd> parts(weights.size());
    allocate(amount, weights, parts);
    for (std::size_t i = 0; i < held.size(); ++i)
      adjust(Adjustment::Kind::reserved_idle, destination, held[i].tenant, parts[i + 1]);
    share_idle(destination, parts.front(), held);
  }

  void share_idle(DestinationId destination, Usd amount, const std::vector<Reservation>& held) {
    std::vector<std::uint32_t> tenants;
    std::vector<std::int64_t> weights;
    switch (books_.options.idle) {
      case IdlePolicy::by_usage:
        if (!spread(amount, destination, &UsageLine::idle))
          adjust(Adjustment::Kind::unassigned, destination, {}, amount);
        return;
      case IdlePolicy::by_reservation:
        for (const Reservation& r : held) {
          tenants.push_back(r.tenant);
          weights.push_back(r.share_ppm);
        }
        break;
      case IdlePolicy::even:
        for (const UsageLine& line : s_.usage) tenants.push_back(line.tenant);
        std::sort(tenants.begin(), tenants.end(),
                  [&](std::uint32_t a, std::uint32_t b) { return s_.tenant_rank[a] < s_.tenant_rank[b]; });
        tenants.erase(std::unique(tenants.begin(), tenants.end()), tenants.end());
        weights.assign(tenants.size(), 1);
        break;
      case IdlePolicy::keep_idle:
        break;
    }
    if (std::all_of(weights.begin(), weights.end(), [](std::int64_t w) { return w == 0; })) {
      adjust(Adjustment::Kind::unassigned, destination, {}, amount);
      return;
    }
    std::vector<Usd> parts(tenants.size());
    allocate(amount, weights, parts);
    for (std::size_t i = 0; i < tenants.size(); ++i)
      adjust(Adjustment::Kind::shared_idle, destination, tenants[i], parts[i]);
  }

  /// Another way of dispatching on this fleet pays for the same capacity. A log that says what its requests cost comes
  /// from another fleet: what that one paid for beside is what it is said to have held. ACE's hosts are ACE's alone.
  [[nodiscard]] bool stands_on_both_sides(DestinationId destination) const {
    if (!destination.valid()) return false;
    const bool observed = s_.observed_requests > 0 && books_.options.baseline != BaselineKind::round_robin;
    const std::vector<bool>& held = books_.options.held;
    return !observed || (destination.value < held.size() && held[destination.value]);
  }

  const CostBooks& books_;
  Statement& s_;
  std::vector<int128> normalized_;  ///< micro-tokens, by usage line
  std::map<DestinationId, Usd> surplus_;
};

}  // namespace

void settle_costs(const CostBooks& books, Statement& s) {
  Settlement settlement(books, s);
  settlement.marginal();
  settlement.fixed();
  settlement.cap_batch();
  settlement.finish();
}

}  // namespace ace
