/// Sections on what was looked at and what happened.
#include <cmath>
#include <optional>

#include "report/json_sections.h"

namespace ace::report {

Json Sections::coverage() const {
  Json excluded = Json::array();
  for (std::size_t r = 1; r < kReasons; ++r)
    if (s.excluded_c0[r] != Usd{} || ((r == 1 || r == 2) && s.requests_by_reason[r] > 0))
      excluded.push_back({{"reason", name_of(static_cast<Reason>(r))},
                          {"requests", s.requests_by_reason[r]},
                          {"cost_usd", usd(s.excluded_c0[r])},
                          {"share_of_baseline", share(s.excluded_c0[r], s.denominator + s.excluded_c0[r])}});
  Json unreplayed = Json::array();
  for (const Unreplayed& u : a.unreplayed)
    unreplayed.push_back(
        {{"reason", u.reason}, {"requests", u.requests}, {"tokens", u.tokens}, {"logged_cost_usd", usd(u.logged)}});
  Json skipped = Json::array();
  for (const SkippedRows& r : a.skipped)
    skipped.push_back({{"reason", r.reason}, {"rows", r.count}, {"first_lines", r.lines}});
  // What was asked for and not replayed is missed, whatever the reason.
  std::uint64_t considered = s.requests;
  for (const Unreplayed& u : a.unreplayed) considered += u.outside_window ? 0 : u.requests;
  return {{"rows", a.rows},
          {"requests_considered", considered},
          {"requests", s.requests},
          {"priced_requests", s.priced_requests},
          {"priced_share", share(s.priced_requests, considered)},
          {"excluded", excluded},
          {"not_replayed", unreplayed},
          {"rows_skipped", skipped}};
}

Json Sections::service() const {
  Json refused = Json::array();
  for (std::size_t v = 1; v < s.not_served_by_verdict.size(); ++v)
    if (s.not_served_by_verdict[v] > 0)
      refused.push_back({{"verdict", name_of(static_cast<Verdict>(v))}, {"requests", s.not_served_by_verdict[v]}});
  Json gpu_time = Json::object();
  for (std::size_t u = 0; u < kUses; ++u)
    gpu_time[std::string(name_of(static_cast<event::GpuBooking::Use>(u)))] = s.gpu_time[u].value;
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
          {"reserve_short_requests", s.reserve_short},
          {"held_back_requests", a.held_back ? Json(*a.held_back) : Json()},
          {"evictions", a.evictions},
          {"unit_changes", a.unit_changes},
          {"input_tokens", s.input},
          {"cached_tokens", s.cached},
          {"output_tokens", s.output},
          {"goodput_tokens", s.goodput},
          {"peak_tokens_per_minute", s.peak_tpm_all_payg},
          {"gpu_time_ms", gpu_time}};
}

Json Sections::goodput() const {
  const auto ratio = [](std::optional<double> value) { return value ? Json(*value) : Json(nullptr); };
  return {{"avoidable_usd", usd(s.avoidable)},
          {"tokens_per_avoidable_usd", ratio(goodput_per_avoidable_dollar(s))},
          {"tokens_per_fully_loaded_usd", ratio(goodput_per_loaded_dollar(s))}};
}

Json Sections::gates() const {
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

Json Sections::series() const {
  Json requests = Json::array(), tokens = Json::array(), cost = Json::array();
  for (std::size_t d = 0; d < fleet.destinations.size(); ++d) {
    Json r = Json::array(), t = Json::array(), c = Json::array();
    for (const SeriesBucket& b : a.series.buckets()) {
      r.push_back(b.requests[d]);
      t.push_back(b.tokens[d]);
      c.push_back(usd(Usd{b.cost_nano[d]}));
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

Json Sections::sensitivity() const {
  Json rows = Json::array();
  for (const SensitivityRow& r : a.sensitivity)
    rows.push_back({{"what", r.what},
                    {"baseline", r.against},
                    {"baseline_usd", usd(r.baseline)},
                    {"claimed_saving_usd", usd(r.claimed)},
                    {"counted_saving_usd", usd(r.counted)},
                    {"counted_marginal_saving_usd", usd(r.counted_marginal)},
                    {"disallowed_usd", usd(r.disallowed)},
                    {"failed_cells", r.failed_cells},
                    {"fixed_usd", usd(r.fixed)},
                    {"claimed_share", r.claimed_share},
                    {"saving_share", r.saving_share},
                    {"change", r.change}});
  return {{"sample_share", a.sensitivity_sample}, {"baseline", name_of(s.baseline)}, {"rows", rows}};
}

Json Sections::bounds() const {
  if (!a.bound) return nullptr;
  const auto ratio = [](std::optional<double> value) { return value ? Json(*value) : Json(nullptr); };
  return {{"dispatch_bound_usd", usd(a.bound->dispatch_bound)},
          {"dispatch_share_of_possible", ratio(a.bound->dispatch_share)},
          {"plan_bound_usd", usd(a.bound->plan_bound)},
          {"plan_share_of_possible", ratio(a.bound->plan_share)}};
}

Json Sections::slo_classes() const {
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

Json Sections::supply_curves() const {
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

Json Sections::knees() const {
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

Json Sections::latency() const {
  Json all = Json::array();
  for (const CurvePoint& c : a.latency) {
    const Offer& offer = snapshot[c.offer];
    const char* fitted = c.fitted == c.prior ? "roofline" : "fitted";
    all.push_back({{"destination", destination(offer.destination)},
                   {"model", model(offer.model)},
                   {"basis", c.prior.measured ? "measured" : fitted},
                   {"prior_prefill_tokens_per_s", c.prior.prefill_tokens_per_s},
                   {"fitted_prefill_tokens_per_s", c.fitted.prefill_tokens_per_s},
                   {"prior_step_ms", c.prior.step_base_s * 1e3},
                   {"fitted_step_ms", c.fitted.step_base_s * 1e3}});
  }
  return all;
}

}  // namespace ace::report
