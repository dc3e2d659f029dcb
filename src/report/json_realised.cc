/// What really happened beside what this run says would have.
#include <set>

#include "report/json_sections.h"

namespace ace::report {
namespace {

Json seconds(const Histogram& micros, double quantile) {
  if (micros.count() == 0) return nullptr;
  return static_cast<double>(micros.quantile(quantile)) / 1e6;
}

Json of(const Experience& e) {
  const bool timed = e.ttft_us.count() > 0 || e.tpot_us.count() > 0;  // else nobody knows whether a limit was met
  return {{"requests", e.requests},
          {"served", e.served},
          {"cache_hits", e.cache_hits},
          {"slo_share", timed ? share(e.slo_met, e.served) : Json()},
          {"spilled_share", share(e.spilled, e.served)},
          {"marginal_usd", usd(e.cost)},
          {"unpriced", e.unpriced},
          {"ttft_s_p50", seconds(e.ttft_us, 0.5)},
          {"ttft_s_p95", seconds(e.ttft_us, 0.95)},
          {"tpot_s_p50", seconds(e.tpot_us, 0.5)},
          {"tpot_s_p95", seconds(e.tpot_us, 0.95)}};
}

}  // namespace

Json Sections::realised(const Comparison* comparison) const {
  if (comparison == nullptr) return nullptr;
  const Experiences& then = comparison->realised->seen();
  const Experiences& now = *comparison->predicted;
  Json snapshots = Json::array();
  for (const auto& [number, requests] : comparison->realised->snapshots())
    snapshots.push_back({{"snapshot", number}, {"requests", requests}});
  std::set<std::pair<std::string, std::string>> names;
  for (const Experiences* each : {&then, &now})
    for (const auto& [name, experience] : each->parts()) names.insert(name);
  Json parts = Json::array();
  const auto part = [](const Experiences& all, const std::pair<std::string, std::string>& name) {
    const auto found = all.parts().find(name);
    return of(found == all.parts().end() ? Experience{} : found->second);
  };
  for (const auto& name : names)
    parts.push_back({{"model", name.first},
                     {"destination", name.second},
                     {"realised", part(then, name)},
                     {"predicted", part(now, name)}});
  Json total = {{"realised", of(then.total())}, {"predicted", of(now.total())}};
  total["realised"]["fixed_usd"] = usd(then.total().fixed);
  total["predicted"]["fixed_usd"] = usd(now.total().fixed);
  return {{"fleet_snapshots", snapshots},
          {"requests_decided", comparison->realised->decided()},
          {"total", total},
          {"by_destination", parts}};
}

}  // namespace ace::report
