/// Closing the books: gates are judged, accounts are sorted, totals are read off.
#include "ledger/statement.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <span>
#include <tuple>

#include "ledger/fold.h"
#include "ledger/settlement.h"

namespace ace {
namespace {

constexpr std::size_t index(Reason reason) { return static_cast<std::size_t>(reason); }

/// Place of every symbol among the names; equal names keep the order of their symbols.
std::vector<std::uint32_t> ranks(std::span<const std::string> names) {
  std::vector<std::uint32_t> order(names.size()), rank(names.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return names[a] < names[b]; });
  for (std::uint32_t place = 0; place < order.size(); ++place) rank[order[place]] = place;
  return rank;
}

struct Share {
  std::uint64_t part = 0, whole = 0;
};

/// Counts of whole days, for cells and classes too small to be judged alone.
class Days {
 public:
  using Slots = std::vector<std::pair<fold::SlotKey, fold::Slot>>;
  explicit Days(const Slots& slots) {
    for (const auto& [key, slot] : slots) {
      Share& served = served_[{day(key.hour), key.tenant, key.model}];
      served.part += slot.served;
      served.whole += slot.requests;
      Share& met = met_[{day(key.hour), key.tenant, key.model, key.slo}];
      met.part += slot.slo_met;
      met.whole += slot.requests;
    }
  }
  [[nodiscard]] Share served(const fold::SlotKey& key) const {
    return served_.at({day(key.hour), key.tenant, key.model});
  }
  [[nodiscard]] Share met(const fold::SlotKey& key) const {
    return met_.at({day(key.hour), key.tenant, key.model, key.slo});
  }

 private:
  static std::int64_t day(std::int64_t hour) { return floor_div(hour, 24); }
  std::map<std::tuple<std::int64_t, std::uint32_t, ModelId>, Share> served_;
  std::map<std::tuple<std::int64_t, std::uint32_t, ModelId, SloId>, Share> met_;
};

/// Have this tenant's audits shown that its cache answers falsely more often than the bound allows?
bool disproven(const Gates& gates, std::uint32_t tenant) {
  const auto found = gates.audits.find(tenant);
  return found != gates.audits.end() &&
         wilson_lower(found->second.false_hits, found->second.audited) > gates.false_hits_max;
}

/// The gate a cell fails, or none. A request not served counts as a miss, so refusing slow requests helps nobody; each
/// class must reach its own target, so an easy class hides no hard one.
Reason judge(std::span<const std::pair<fold::SlotKey, fold::Slot>> classes, const Days& days,
             const fold::Measures& measures, const Gates& gates, Cell& cell) {
  Share served{cell.served, cell.requests};
  cell.judged_by_day = cell.requests < gates.cell_requests_min;
  if (cell.judged_by_day) served = days.served(classes.front().first);
  if (!share_reached(served.part, served.whole, gates.served_min)) return Reason::cell_served_fraction;
  for (const auto& [key, slot] : classes) {
    Share met{slot.slo_met, slot.requests};
    if (slot.requests < gates.cell_requests_min) met = days.met(key);
    if (!share_reached(met.part, met.whole, measures.slo(key.slo).target)) return Reason::cell_slo;
  }
  for (const auto& [key, slot] : classes)
    if (slot.disproven > 0 || (slot.inexact_hits > 0 && disproven(gates, key.tenant))) return Reason::cell_quality;
  return Reason::none;
}

void enter(OneSaving& sum, const fold::One& account, bool failed) {
  sum.requests += account.requests;
  sum.baseline += account.baseline;
  sum.claimed += account.claimed;
  sum.disallowed += account.withheld;
  if (failed) sum.disallowed += account.gated;
}

void close_cells(const Ledger::Options& options, const fold::Measures& measures, Days::Slots slots, Statement& s) {
  const auto order = [&](const fold::SlotKey& key) {
    return std::tuple(key.hour, s.tenant_rank[key.tenant], key.model, key.slo);
  };
  std::erase_if(slots, [](const auto& entry) { return entry.second == fold::Slot{}; });  // all of it was taken back
  std::sort(slots.begin(), slots.end(), [&](const auto& a, const auto& b) { return order(a.first) < order(b.first); });
  const Days days(slots);
  OneSaving assumed;
  for (std::size_t from = 0, to = 0; from < slots.size(); from = to) {
    const fold::SlotKey& key = slots[from].first;
    Cell cell;
    cell.hour = key.hour;
    cell.tenant = key.tenant;
    cell.model = key.model;
    fold::Slot sum;
    for (; to < slots.size() && slots[to].first.hour == key.hour && slots[to].first.tenant == key.tenant &&
           slots[to].first.model == key.model;
         ++to)
      sum += slots[to].second;
    cell.requests = sum.requests;
    cell.served = sum.served;
    cell.slo_met = sum.slo_met;
    cell.baseline = sum.baseline;
    cell.actual = sum.actual;
    cell.claimed = sum.claimed;
    cell.disallowed = sum.withheld;
    cell.failed = judge(std::span(slots).subspan(from, to - from), days, measures, options.gates, cell);
    const bool failed = cell.failed != Reason::none;
    if (failed) {
      cell.disallowed += sum.gated;
      s.disallowed_by_reason[index(cell.failed)] += sum.gated.sum();
      s.requests_by_reason[index(cell.failed)] += sum.gated_requests;
    }
    s.served += cell.served;
    s.slo_met += cell.slo_met;
    s.c0 += cell.baseline;
    s.c4 += cell.actual;
    s.claimed += cell.claimed;
    s.disallowed += cell.disallowed;
    enter(s.other, sum.other, failed);
    enter(s.cheapest, sum.cheapest, failed);
    enter(s.all_payg, sum.all_payg, failed);
    enter(s.all_payg_uncached, sum.all_payg_uncached, failed);
    enter(assumed, sum.assumed, failed);
    s.cells.push_back(cell);
  }
  s.counted = s.claimed;
  s.counted -= s.disallowed;
  for (OneSaving* sum : {&s.other, &s.cheapest, &s.all_payg, &s.all_payg_uncached})
    sum->counted = sum->claimed - sum->disallowed;
  s.assumed_baseline = assumed.claimed - assumed.disallowed;
  if (s.assumed_baseline != Usd{}) s.grade = Grade::assumed;
  s.c1 = s.c0 - s.claimed.lever[static_cast<std::size_t>(Lever::caching)];
  s.c2 = s.c1 - s.claimed.lever[static_cast<std::size_t>(Lever::routing)];
  s.c3 = s.c2 - s.claimed.lever[static_cast<std::size_t>(Lever::arbitrage)];
  ACE_CHECK(s.c0 - s.c4 == s.claimed.sum(), "levers and the unattributed amount sum to baseline minus actual");
}

}  // namespace

std::vector<Cell> fold::judge(const Table<SlotKey, Slot>& slots, const Measures& measures,
                              const Ledger::Options& options, std::span<const std::string> tenants) {
  Statement s;
  s.tenant_rank = ranks(tenants);
  close_cells(options, measures, slots.entries(), s);
  return std::move(s.cells);
}

Statement fold::close(const Accounts& accounts, const Bookings& bookings, const Measures& measures,
                      const Ledger::Options& options, const SymbolNames& names) {
  const Totals t = accounts.totals();
  Statement s;
  s.baseline = options.baseline;
  s.from = t.first;
  s.to = t.last;
  if (options.from != Instant{} || options.to != Instant{}) {
    s.from = options.from;
    s.to = options.to;
  }
  s.tenant_rank = ranks(names.tenants());
  for (const auto& [key, slot] : accounts.slots.entries())
    ACE_CHECK(key.tenant < names.tenants().size(), "every tenant that was booked has a name");
  s.requests = t.requests;
  s.cache_hits = t.cache_hits;
  s.aborted = t.aborted;
  s.not_served_by_verdict = t.not_served_by_verdict;
  s.spilled = t.spilled;
  s.retried = t.retried;
  s.reserve_short = t.reserve_short;
  s.input = t.input;
  s.cached = t.cached;
  s.output = t.output;
  s.goodput = t.goodput;
  s.denominator = t.denominator;
  s.disallowed_by_reason = t.disallowed_by_reason;
  s.requests_by_reason = t.requests_by_reason;
  s.assumed_routing = t.disallowed_by_reason[index(Reason::assumed_routing)];
  s.priced_requests = t.priced_requests;
  s.excluded_c0 = t.excluded_c0;
  s.observed_baseline = t.observed;
  s.observed_requests = t.observed_requests;
  s.untimed = t.untimed;
  for (const auto& [minute, tokens] : accounts.minutes.entries())
    s.peak_tpm_all_payg = std::max(s.peak_tpm_all_payg, tokens);
  s.gpu_time = bookings.by_use();
  close_cells(options, measures, accounts.slots.entries(), s);
  if (options.shapley) {
    const Shapley split = shapley_of(t.coalitions);
    s.shapley = split.value;
    s.shapley_low = split.low;
    s.shapley_high = split.high;
  }
  for (const auto& [key, used] : accounts.usage.entries()) {
    if (used == Used{}) continue;  // all of it was taken back
    s.usage.push_back({.hour = key.hour,
                       .tenant = key.tenant,
                       .team = key.team,
                       .project = key.project,
                       .model = key.model,
                       .destination = key.destination,
                       .slo = key.slo,
                       .requests = used.requests,
                       .input = used.input,
                       .cached = used.cached,
                       .output = used.output,
                       .parts = used.parts,
                       .marginal = used.marginal,
                       .baseline = used.baseline,
                       .charged = {},
                       .fixed = {},
                       .hosts = {},
                       .idle = {},
                       .logged_requests = used.logged_requests,
                       .logged = used.logged,
                       .by_prices = used.by_prices});
  }
  std::sort(s.usage.begin(), s.usage.end(), [&](const UsageLine& a, const UsageLine& b) {
    const auto place = [&](const UsageLine& l) {
      return std::tuple(l.hour, s.tenant_rank[l.tenant], names.team(l.team), l.team, names.project(l.project),
                        l.project, l.model, l.destination, l.slo);
    };
    return place(a) < place(b);
  });
  settle_costs({measures, options, accounts.fixed}, s);
  s.avoidable = s.c4;
  for (const auto& [key, fixed] : accounts.fixed)
    if (key.second == event::FixedCost::Kind::rental) s.avoidable += fixed.amount;
  return s;
}

Reason Statement::gate_of(std::int64_t hour, std::uint32_t tenant, ModelId model) const {
  const auto order = [&](const Cell& cell) { return std::tuple(cell.hour, tenant_rank[cell.tenant], cell.model); };
  if (tenant >= tenant_rank.size()) return Reason::none;
  const std::tuple wanted(hour, tenant_rank[tenant], model);
  const auto at = std::lower_bound(cells.begin(), cells.end(), wanted,
                                   [&](const Cell& cell, const auto& key) { return order(cell) < key; });
  return at != cells.end() && order(*at) == wanted ? at->failed : Reason::none;
}

std::vector<Bar> waterfall(const Statement& s) {
  std::vector<Bar> bars = {{"baseline", s.c0, true, {}, {}}};
  for (std::size_t i = 0; i < kLevers; ++i)
    bars.push_back({name_of(static_cast<Lever>(i)), -s.claimed.lever[i], false, {}, {}});
  if (s.claimed.unattributed != Usd{}) bars.push_back({"unattributed", -s.claimed.unattributed, false, {}, {}});
  Bar fixed{"fixed cost", s.fixed, false, {}, {}};
  for (const FixedLine& line : s.fixed_lines) {
    fixed.used += line.used;
    fixed.idle += line.idle;
  }
  bars.push_back(fixed);
  bars.push_back({"actual", s.c4 + s.fixed, true, {}, {}});
  return bars;
}

namespace {
std::optional<double> per_dollar(std::int64_t tokens, Usd dollars) {
  if (dollars <= Usd{}) return std::nullopt;
  return static_cast<double>(tokens) * 1e9 / static_cast<double>(dollars.nano);  // a ratio to read, never money
}
}  // namespace

std::optional<double> goodput_per_avoidable_dollar(const Statement& s) { return per_dollar(s.goodput, s.avoidable); }
std::optional<double> goodput_per_loaded_dollar(const Statement& s) { return per_dollar(s.goodput, s.c4 + s.fixed); }

std::string_view name_of(BaselineKind kind) {
  constexpr std::array<std::string_view, 4> names = {"all-payg", "status-quo", "round-robin", "all-payg-uncached"};
  return names[static_cast<std::size_t>(kind)];
}
std::string_view name_of(SettlementPolicy policy) {
  constexpr std::array<std::string_view, 3> names = {"pooled", "clearing", "as-dispatched"};
  return names[static_cast<std::size_t>(policy)];
}
std::string_view name_of(IdlePolicy policy) {
  constexpr std::array<std::string_view, 4> names = {"by-usage", "by-reservation", "even", "keep-idle"};
  return names[static_cast<std::size_t>(policy)];
}
std::string_view name_of(Adjustment::Kind kind) {
  constexpr std::array<std::string_view, 5> names = {"reserved_idle", "shared_idle", "unassigned", "batch_cap",
                                                     "surplus"};
  return names[static_cast<std::size_t>(kind)];
}

}  // namespace ace
