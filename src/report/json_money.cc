/// Sections on what it cost, what it saved, and who pays.
#include "report/json_sections.h"

namespace ace::report {

Json Sections::headline() const {
  const Usd baseline = s.baseline_cost();
  const Usd marginal = decomposes(s.baseline) ? baseline : s.other.baseline;
  const Usd counted = s.counted_marginal();
  Json servers = Json::array();
  for (const SensitivityRow& r : a.sensitivity)
    if (r.servers) servers.push_back({{"what", r.what}, {"saving_share", r.saving_share}, {"change", r.change}});
  Json j;
  j["baseline"] = name_of(s.baseline);
  j["grade"] = name_of(s.grade);
  j["baseline_usd"] = usd(baseline);
  j["actual_marginal_usd"] = usd(s.c4);
  j["fixed_usd"] = usd(s.fixed);
  j["actual_fully_loaded_usd"] = usd(s.c4 + s.fixed);
  j["claimed_saving_usd"] = usd(s.claimed_saving());
  j["counted_saving_usd"] = usd(s.counted_saving());
  j["counted_saving_share"] = share(s.counted_saving(), baseline);
  j["counted_marginal_saving_usd"] = usd(counted);
  j["counted_marginal_saving_share"] = share(counted, marginal);
  j["disallowed_usd"] = usd(s.disallowed_saving());
  j["assumed_routing_usd"] = usd(s.assumed_routing);
  j["assumed_baseline_usd"] = usd(s.assumed_baseline);
  j["other_servers"] = servers;
  return j;
}

Json Sections::baselines() const {
  Json all = Json::array();
  /// @param fixed what of the fixed cost stands on the baseline's side too
  const auto one = [&](const char* name, const char* meaning, const OneSaving& against, Usd fixed) {
    const Usd baseline = against.baseline + fixed, added = s.fixed - fixed;
    all.push_back({{"baseline", name},
                   {"meaning", meaning},
                   {"baseline_usd", usd(baseline)},
                   {"claimed_saving_usd", usd(against.claimed - added)},
                   {"counted_saving_usd", usd(against.counted - added)},
                   {"counted_saving_share", share(against.counted - added, baseline)},
                   {"fixed_on_both_sides_usd", usd(fixed)}});
  };
  one("all-payg",
      "every request at its model's default pay-as-you-go price, no fixed cost; includes what the customer's own "
      "purchases save",
      s.all_payg, {});
  if (s.other.requests > 0) {
    const bool in_turn = s.baseline == BaselineKind::round_robin;
    one(in_turn ? "round-robin" : "status-quo",
        in_turn ? "the same fleet, every feasible destination in turn, the same fixed cost; what ACE changes"
        : s.observed_requests > 0 ? "what the log says a request cost, where it does, else the declared order; fixed "
                                    "cost of what was held already (--held) stands on both sides, of the rest on ours "
                                    "alone"
                                  : "the same fleet in declared order up to each cap, overflow to the default API, the "
                                    "same fixed cost; what ACE changes",
        s.other, s.fixed_other);
    all.back()["served_share"] = share(a.status_quo_served, s.requests);
    all.back()["slo_share"] = share(a.status_quo_slo_met, a.status_quo_served);
    if (s.observed_requests > 0 && !in_turn) {
      all.back()["observed_requests"] = s.observed_requests;
      all.back()["observed_usd"] = usd(s.observed_baseline);
    }
  }

  one("all-payg-uncached", "as all-payg, without the provider's own prompt cache", s.all_payg_uncached, {});
  one("cheapest-compliant-payg", "as all-payg, at the cheapest compliant price of each model", s.cheapest, {});
  return all;
}

Json Sections::waterfall_bars() const {
  Json bars = Json::array();
  for (const Bar& bar : waterfall(s)) {
    Json j{{"bar", bar.name}, {"total", bar.total}, {"usd", usd(bar.amount)}};
    if (bar.used != Usd{} || bar.idle != Usd{}) {
      j["used_usd"] = usd(bar.used);
      j["idle_usd"] = usd(bar.idle);
    }
    bars.push_back(std::move(j));
  }
  return bars;
}

Json Sections::levers() const {
  Json all = Json::array();
  for (std::size_t i = 0; i < kLevers; ++i)
    all.push_back({{"lever", name_of(static_cast<Lever>(i))},
                   {"claimed_usd", usd(s.claimed.lever[i])},
                   {"disallowed_usd", usd(s.disallowed.lever[i])},
                   {"counted_usd", usd(s.counted.lever[i])},
                   {"shapley_usd", usd(s.shapley[i])},
                   {"shapley_low_usd", usd(s.shapley_low[i])},
                   {"shapley_high_usd", usd(s.shapley_high[i])}});
  return all;
}

Json Sections::fixed_cost() const {
  Json lines = Json::array();
  for (const FixedLine& line : s.fixed_lines)
    lines.push_back({{"destination", line.destination.valid() ? destination(line.destination) : "ACE hosts"},
                     {"kind", name_of(line.kind)},
                     {"used_usd", usd(line.used)},
                     {"idle_usd", usd(line.idle)},
                     {"on_both_sides", line.both_sides}});
  return lines;
}

Json Sections::destinations() const {
  struct Sum {
    std::uint64_t requests = 0;
    std::int64_t tokens = 0;
    Usd marginal{}, fixed{};
  };
  std::vector<Sum> sums(fleet.destinations.size());
  for (const UsageLine& line : s.usage) {
    if (!line.destination.valid()) continue;
    Sum& sum = sums[line.destination.value];
    sum.requests += line.requests;
    sum.tokens += line.input + line.cached + line.output;
    sum.marginal += line.marginal;
  }
  for (const FixedLine& line : s.fixed_lines)
    if (line.destination.valid()) sums[line.destination.value].fixed += line.used + line.idle;
  Json all = Json::array();
  for (std::size_t d = 0; d < fleet.destinations.size(); ++d) {
    const Destination& destination = fleet.destinations[d];
    all.push_back({{"destination", destination.name},
                   {"tier", name_of(destination.tier)},
                   {"provider", fleet.providers[destination.provider.value].name},
                   {"region", destination.region},
                   {"used_share", d < a.used_share.size() ? Json(a.used_share[d]) : Json(nullptr)},
                   {"model_loads", d < a.loads.size() ? a.loads[d].count : 0},
                   {"model_load_seconds", d < a.loads.size() ? to_seconds(a.loads[d].time) : 0.0},
                   {"requests", sums[d].requests},
                   {"tokens", sums[d].tokens},
                   {"marginal_usd", usd(sums[d].marginal)},
                   {"fixed_usd", usd(sums[d].fixed)}});
  }
  return all;
}

Json Sections::chargeback() const {
  Json all = Json::array();
  for (const ChargeLine& line : ace::chargeback(s, {By::tenant, By::team, By::model, By::destination},
                                                SymbolNames(a.tenants, a.teams, a.projects))) {
    if (line.kind != ChargeKind::usage) continue;  // the rows beside usage are in settlement.adjustments
    all.push_back({{"tenant", tenant(*line.tenant)},
                   {"team", team(*line.team)},
                   {"model", model(line.model)},
                   {"destination", destination(line.destination)},
                   {"requests", line.requests},
                   {"input_tokens", line.input},
                   {"cached_tokens", line.cached},
                   {"output_tokens", line.output},
                   {"baseline_usd", usd(line.baseline)},
                   {"marginal_usd", usd(line.marginal)},
                   {"charged_usd", usd(line.charged)},
                   {"fixed_usd", usd(line.fixed + line.hosts)},
                   {"idle_usd", usd(line.idle)},
                   {"total_usd", usd(line.total())}});
  }
  return all;
}

Json Sections::settlement() const {
  Json clearing = Json::array();
  for (const ClearingLine& line : s.clearing)
    clearing.push_back({{"hour", to_rfc3339(instant(line.hour * nanos(kHour)))},
                        {"model", model(line.model)},
                        {"slo", slo(line.slo)},
                        {"dearest", destination(line.dearest)},
                        {"clearing_usd_per_mtok", to_decimal(line.clearing)},
                        {"average_usd_per_mtok", to_decimal(line.average)}});
  Json adjustments = Json::array();
  for (const Adjustment& x : s.adjustments)
    adjustments.push_back({{"kind", name_of(x.kind)},
                           {"destination", destination(x.destination)},
                           {"tenant", x.tenant ? Json(tenant(*x.tenant)) : Json(nullptr)},
                           {"usd", usd(x.amount)}});
  return {{"clearing", clearing},
          {"adjustments", adjustments},
          {"idle_reserved_usd", usd(s.idle_reserved)},
          {"idle_unassigned_usd", usd(s.idle_unassigned)}};
}

}  // namespace ace::report
