#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "report/report.h"

namespace ace {
namespace {

using Json = nlohmann::ordered_json;

std::string usd(Usd amount) { return to_decimal(amount); }
std::string usd(std::int64_t nano) { return to_decimal(Usd{nano}); }

/// A share, as a ratio of exact amounts; null where the denominator is not positive.
Json share(Usd part, Usd whole) {
  if (whole.nano <= 0) return nullptr;
  return static_cast<double>(part.nano) / static_cast<double>(whole.nano);
}
Json share(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return nullptr;
  return static_cast<double>(part) / static_cast<double>(whole);
}

struct Writer {
  const Fleet& fleet;
  const Snapshot& snapshot;
  const Analysis& a;
  const Statement& s;

  [[nodiscard]] std::string destination(DestinationId id) const {
    return id.valid() ? fleet.destinations[id.value].name : "";
  }
  [[nodiscard]] std::string model(ModelId id) const { return id.valid() ? fleet.models[id.value].name : ""; }
  [[nodiscard]] std::string slo(SloId id) const { return id.valid() ? fleet.slo_classes[id.value].name : ""; }
  [[nodiscard]] std::string tenant(std::uint32_t symbol) const {
    return symbol < a.tenants.size() ? a.tenants[symbol] : "";
  }
  [[nodiscard]] std::string team(std::uint32_t symbol) const { return symbol < a.teams.size() ? a.teams[symbol] : ""; }

  [[nodiscard]] Json headline() const {
    // Fixed cost stands on both sides of a baseline that uses the same fleet.
    const bool greenfield = decomposes(s.baseline);
    const Usd marginal = greenfield ? s.denominator : s.other.baseline;
    const Usd baseline = greenfield ? marginal : marginal + s.fixed;
    const Usd counted = greenfield ? s.counted.sum() : s.other.counted;
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
    j["disallowed_usd"] = usd(greenfield ? s.disallowed.sum() : s.other.disallowed);
    j["assumed_routing_usd"] = usd(s.assumed_routing);
    j["assumed_baseline_usd"] = usd(s.assumed_baseline);
    return j;
  }

  [[nodiscard]] Json baselines() const {
    Json all = Json::array();
    const auto one = [&](const char* name, const char* meaning, Usd baseline, Usd claimed, Usd counted,
                         bool fixed_on_both) {
      all.push_back({{"baseline", name},
                     {"meaning", meaning},
                     {"baseline_usd", usd(fixed_on_both ? baseline + s.fixed : baseline)},
                     {"claimed_saving_usd", usd(claimed)},
                     {"counted_saving_usd", usd(counted)},
                     {"counted_saving_share", share(counted, fixed_on_both ? baseline + s.fixed : baseline)},
                     {"fixed_cost_on_both_sides", fixed_on_both}});
    };
    one("all-payg",
        "every request at its model's default pay-as-you-go price, no fixed cost; includes what the customer's own "
        "purchases save",
        s.all_payg.baseline, s.all_payg.claimed - s.fixed, s.all_payg.counted - s.fixed, false);
    if (s.other.requests > 0) {
      const bool in_turn = s.baseline == BaselineKind::round_robin;
      one(in_turn ? "round-robin" : "status-quo",
          in_turn ? "the same fleet, every feasible destination in turn, the same fixed cost; what ACE changes"
          : s.observed_requests > 0
              ? "what the log says each request cost, the same fixed cost; what ACE changes"
              : "the same fleet in declared order up to each cap, overflow to the default API, the "
                "same fixed cost; what ACE changes",
          s.other.baseline, s.other.claimed, s.other.counted, true);
      all.back()["served_share"] = share(a.status_quo_served, s.requests);
      all.back()["slo_share"] = share(a.status_quo_slo_met, a.status_quo_served);
    }

    one("all-payg-uncached", "as all-payg, without the provider's own prompt cache", s.all_payg_uncached.baseline,
        s.all_payg_uncached.claimed - s.fixed, s.all_payg_uncached.counted - s.fixed, false);
    one("cheapest-compliant-payg", "as all-payg, at the cheapest compliant price of each model", s.cheapest.baseline,
        s.cheapest.claimed - s.fixed, s.cheapest.counted - s.fixed, false);
    return all;
  }

  [[nodiscard]] Json waterfall_bars() const {
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

  [[nodiscard]] Json levers() const {
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

  [[nodiscard]] Json coverage() const {
    Json excluded = Json::array();
    for (std::size_t r = 1; r < kReasons; ++r)
      if (s.excluded_c0[r] != Usd{} || ((r == 1 || r == 2) && s.requests_by_reason[r] > 0))
        excluded.push_back({{"reason", name_of(static_cast<Reason>(r))},
                            {"requests", s.requests_by_reason[r]},
                            {"cost_usd", usd(s.excluded_c0[r])},
                            {"share_of_baseline", share(s.excluded_c0[r], s.denominator + s.excluded_c0[r])}});
    Json unreplayed = Json::array();
    for (const Unreplayed& u : a.unreplayed)
      unreplayed.push_back({{"reason", u.reason}, {"requests", u.requests}, {"tokens", u.tokens}});
    Json skipped = Json::array();
    for (const SkippedRows& r : a.skipped)
      skipped.push_back({{"reason", r.reason}, {"rows", r.count}, {"first_lines", r.lines}});
    return {{"rows", a.rows},
            {"requests", s.requests},
            {"priced_requests", s.priced_requests},
            {"priced_share", share(s.priced_requests, s.requests)},
            {"excluded", excluded},
            {"not_replayed", unreplayed},
            {"rows_skipped", skipped}};
  }

  [[nodiscard]] Json service() const {
    Json refused = Json::array();
    for (std::size_t v = 1; v < s.not_served_by_verdict.size(); ++v)
      if (s.not_served_by_verdict[v] > 0)
        refused.push_back({{"verdict", name_of(static_cast<Verdict>(v))}, {"requests", s.not_served_by_verdict[v]}});
    return {{"requests", s.requests},
            {"served", s.served},
            {"served_share", share(s.served, s.requests)},
            {"slo_met", s.slo_met},
            {"slo_share", share(s.slo_met, s.served)},
            {"cache_hits", s.cache_hits},
            {"client_aborts", s.aborted},
            {"not_served", refused},
            {"spilled", s.spilled},
            {"retried", s.retried},
            {"evictions", a.evictions},
            {"unit_changes", a.unit_changes},
            {"input_tokens", s.input},
            {"cached_tokens", s.cached},
            {"output_tokens", s.output},
            {"goodput_tokens", s.goodput},
            {"peak_tokens_per_minute", s.peak_tpm_all_payg}};
  }

  [[nodiscard]] Json goodput() const {
    const auto ratio = [](std::optional<double> value) { return value ? Json(*value) : Json(nullptr); };
    return {{"avoidable_usd", usd(s.avoidable)},
            {"tokens_per_avoidable_usd", ratio(goodput_per_avoidable_dollar(s))},
            {"tokens_per_fully_loaded_usd", ratio(goodput_per_loaded_dollar(s))}};
  }

  [[nodiscard]] Json gates() const {
    std::uint64_t failed = 0;
    Json failing = Json::array();
    for (const Cell& cell : s.cells) {
      if (cell.failed == Reason::none) continue;
      ++failed;
      if (failing.size() < 200)
        failing.push_back({{"hour", to_rfc3339(instant(cell.hour * nanos(kHour)))},
                           {"tenant", tenant(cell.tenant)},
                           {"model", model(cell.model)},
                           {"reason", name_of(cell.failed)},
                           {"requests", cell.requests},
                           {"served_share", share(cell.served, cell.requests)},
                           {"slo_share", share(cell.slo_met, cell.served)},
                           {"judged_by_day", cell.judged_by_day},
                           {"disallowed_usd", usd(cell.disallowed.sum())}});
    }
    Json reasons = Json::array();
    for (std::size_t r = 1; r < kReasons; ++r)
      if (s.disallowed_by_reason[r] != Usd{} || s.requests_by_reason[r] > 0)
        reasons.push_back({{"reason", name_of(static_cast<Reason>(r))},
                           {"requests", s.requests_by_reason[r]},
                           {"disallowed_usd", usd(s.disallowed_by_reason[r])}});
    return {{"cells", s.cells.size()}, {"failed_cells", failed}, {"by_reason", reasons}, {"failing", failing}};
  }

  [[nodiscard]] Json fixed_cost() const {
    Json lines = Json::array();
    for (const FixedLine& line : s.fixed_lines)
      lines.push_back({{"destination", line.destination.valid() ? destination(line.destination) : "ACE hosts"},
                       {"kind", name_of(line.kind)},
                       {"used_usd", usd(line.used)},
                       {"idle_usd", usd(line.idle)}});
    return lines;
  }

  [[nodiscard]] Json destinations() const {
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
                     {"requests", sums[d].requests},
                     {"tokens", sums[d].tokens},
                     {"marginal_usd", usd(sums[d].marginal)},
                     {"fixed_usd", usd(sums[d].fixed)}});
    }
    return all;
  }

  [[nodiscard]] Json series() const {
    Json requests = Json::array(), tokens = Json::array(), cost = Json::array();
    for (std::size_t d = 0; d < fleet.destinations.size(); ++d) {
      Json r = Json::array(), t = Json::array(), c = Json::array();
      for (const SeriesBucket& b : a.series.buckets()) {
        r.push_back(b.requests[d]);
        t.push_back(b.tokens[d]);
        c.push_back(usd(b.cost_nano[d]));
      }
      requests.push_back(std::move(r));
      tokens.push_back(std::move(t));
      cost.push_back(std::move(c));
    }
    Json arrived = Json::array(), arrived_tokens = Json::array(), served = Json::array(), met = Json::array(),
         lost = Json::array();
    for (const SeriesBucket& b : a.series.buckets()) {
      arrived.push_back(b.arrived);
      arrived_tokens.push_back(b.arrived_tokens);
      served.push_back(b.served);
      met.push_back(b.slo_met);
      lost.push_back(b.not_served);
    }
    Json names = Json::array(), tiers = Json::array();
    for (const Destination& d : fleet.destinations) {
      names.push_back(d.name);
      tiers.push_back(name_of(d.tier));
    }
    return {{"start", to_rfc3339(a.series.start())},
            {"bucket_seconds", nanos(a.series.width()) / nanos(kSecond)},
            {"destinations", names},
            {"tiers", tiers},
            {"requests", requests},
            {"tokens", tokens},
            {"marginal_usd", cost},
            {"arrived", arrived},
            {"arrived_tokens", arrived_tokens},
            {"served", served},
            {"slo_met", met},
            {"not_served", lost}};
  }

  /// Lines of the same tenant, team, model and destination over all hours.
  [[nodiscard]] Json chargeback() const {
    std::vector<UsageLine> lines = s.usage;
    const auto rank = [&](const UsageLine& l) {
      return std::tuple(s.tenant_rank[l.tenant], team(l.team), l.model.value, l.destination.value);
    };
    std::stable_sort(lines.begin(), lines.end(),
                     [&](const UsageLine& x, const UsageLine& y) { return rank(x) < rank(y); });
    Json all = Json::array();
    for (std::size_t i = 0; i < lines.size();) {
      UsageLine sum = lines[i];
      std::size_t j = i + 1;
      for (; j < lines.size() && rank(lines[j]) == rank(lines[i]); ++j) {
        sum.requests += lines[j].requests;
        sum.input += lines[j].input;
        sum.cached += lines[j].cached;
        sum.output += lines[j].output;
        sum.marginal += lines[j].marginal;
        sum.baseline += lines[j].baseline;
        sum.charged += lines[j].charged;
        sum.fixed += lines[j].fixed;
        sum.idle += lines[j].idle;
      }
      all.push_back({{"tenant", tenant(sum.tenant)},
                     {"team", team(sum.team)},
                     {"model", model(sum.model)},
                     {"destination", destination(sum.destination)},
                     {"requests", sum.requests},
                     {"input_tokens", sum.input},
                     {"cached_tokens", sum.cached},
                     {"output_tokens", sum.output},
                     {"baseline_usd", usd(sum.baseline)},
                     {"marginal_usd", usd(sum.marginal)},
                     {"charged_usd", usd(sum.charged)},
                     {"fixed_usd", usd(sum.fixed)},
                     {"idle_usd", usd(sum.idle)},
                     {"total_usd", usd(sum.total())}});
      i = j;
    }
    return all;
  }

  [[nodiscard]] Json settlement() const {
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

  [[nodiscard]] Json sensitivity() const {
    Json rows = Json::array();
    for (const SensitivityRow& r : a.sensitivity)
      rows.push_back({{"what", r.what},
                      {"baseline_usd", usd(r.baseline)},
                      {"counted_saving_usd", usd(r.counted)},
                      {"fixed_usd", usd(r.fixed)},
                      {"saving_share", r.saving_share},
                      {"change", r.change}});
    return {{"sample_share", a.sensitivity_sample}, {"rows", rows}};
  }

  [[nodiscard]] Json bounds() const {
    if (!a.bound) return nullptr;
    const auto ratio = [](std::optional<double> value) { return value ? Json(*value) : Json(nullptr); };
    return {{"dispatch_bound_usd", usd(a.bound->dispatch_bound)},
            {"dispatch_share_of_possible", ratio(a.bound->dispatch_share)},
            {"plan_bound_usd", usd(a.bound->plan_bound)},
            {"plan_share_of_possible", ratio(a.bound->plan_share)}};
  }

  [[nodiscard]] Json slo_classes() const {
    const auto milliseconds = [](const std::optional<Duration>& limit) {
      return limit ? Json(static_cast<double>(nanos(*limit)) / 1e6) : Json(nullptr);
    };
    Json all = Json::array();
    for (const SloClass& slo : fleet.slo_classes)
      all.push_back({{"slo", slo.name},
                     {"target_share", slo.target},
                     {"ttft_ms", milliseconds(slo.ttft)},
                     {"tpot_ms", milliseconds(slo.tpot)},
                     {"deadline_ms", milliseconds(slo.deadline)}});
    return all;
  }

  /// Merit order where the trace's load meets it; an unlimited quota has no width of its own and is null.
  [[nodiscard]] Json supply_curves() const {
    const auto width = [](double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); };
    Json all = Json::array();
    for (const LoadCurve& c : a.curves) {
      Json steps = Json::array();
      for (const SupplyStep& step : c.curve.steps)
        steps.push_back({{"destination", destination(step.destination)},
                         {"model", model(step.model)},
                         {"tier", name_of(step.tier)},
                         {"beyond_knee", step.beyond_knee},
                         {"usd_per_mtok", step.usd_per_mtok},
                         {"tokens_per_s", width(step.tokens_per_s)},
                         {"knee_tokens_per_s", width(step.knee_tokens_per_s)},
                         {"cap_tokens_per_s", width(step.cap_tokens_per_s)},
                         {"cumulative_tokens_per_s", width(step.cumulative_tokens_per_s)}});
      const SupplyStep* marginal = marginal_step(c.curve, c.load_tokens_per_s);
      all.push_back({{"model", model(c.curve.model)},
                     {"at", c.at},
                     {"load_tokens_per_s", c.load_tokens_per_s},
                     {"price_usd_per_mtok", marginal != nullptr ? Json(marginal->usd_per_mtok) : Json(nullptr)},
                     {"prompt_tokens", c.curve.prompt},
                     {"output_tokens", c.curve.output},
                     {"steps", steps}});
    }
    return all;
  }

  [[nodiscard]] Json knees() const {
    Json all = Json::array();
    for (const KneePoint& k : a.knees) {
      const Offer& offer = snapshot[k.offer];
      all.push_back({{"destination", destination(offer.destination)},
                     {"model", model(offer.model)},
                     {"slo", slo(k.slo)},
                     {"prior_share_of_cap", k.prior},
                     {"fitted_share_of_cap", k.fitted}});
    }
    return all;
  }
};

}  // namespace

std::string to_json(const ReportInput& input) {
  const Analysis& a = *input.analysis;
  const Statement& s = a.statement;
  const Fleet& fleet = input.fleet->fleet();
  const Writer w{fleet, *input.fleet, a, s};
  Json j;
  j["schema"] = "ace.report/1";
  j["source"] = {{"trace", input.trace_name},
                 {"format", a.source_format},
                 {"fleet", input.fleet_name},
                 {"fleet_digest", fmt::format("{:016x}", fleet.digest)},
                 {"seed", a.seed},
                 {"islands", a.islands},
                 {"sensitivity", name_of(input.options.sensitivity)},
                 {"settlement", name_of(input.options.settlement)},
                 {"idle", name_of(input.options.idle)}};
  j["window"] = {{"from", to_rfc3339(s.from)},
                 {"to", to_rfc3339(s.to)},
                 {"seconds", static_cast<double>(nanos(s.to - s.from)) / 1e9},
                 {"shorter_than_7_days", s.to - s.from < 7 * kDay}};
  j["coverage"] = w.coverage();
  j["headline"] = w.headline();
  j["baselines"] = w.baselines();
  j["waterfall"] = w.waterfall_bars();
  j["levers"] = w.levers();
  j["unattributed"] = {{"claimed_usd", usd(s.claimed.unattributed)}, {"counted_usd", usd(s.counted.unattributed)}};
  j["service"] = w.service();
  j["goodput"] = w.goodput();
  j["gates"] = w.gates();
  j["fixed_cost"] = w.fixed_cost();
  j["destinations"] = w.destinations();
  j["bounds"] = w.bounds();
  j["sensitivity"] = w.sensitivity();
  j["supply_curves"] = w.supply_curves();
  j["knees"] = w.knees();
  j["slo_classes"] = w.slo_classes();
  j["chargeback"] = w.chargeback();
  j["settlement"] = w.settlement();
  j["series"] = w.series();
  j["assumptions"] = a.assumptions;
  return j.dump(1, ' ', true) + "\n";
}

}  // namespace ace
