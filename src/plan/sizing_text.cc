#include "plan/sizing_text.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "core/text.h"

namespace ace {
namespace {

std::array<const SizedPlan*, 5> plans_of(const Sizing& sizing) {
  return {&sizing.nothing, &sizing.optimum, &sizing.availability, &sizing.today, &sizing.oracle};
}

std::string percent(double share) { return std::isfinite(share) ? fmt::format("{:.1f}%", share * 100.0) : "never"; }
std::string figure(double value) { return fmt::format("{:.4g}", value); }
/// JSON has no infinity; six digits are more than a forecast knows.
std::string number(double value) { return std::isfinite(value) ? fmt::format("{:.9g}", value) : "null"; }
std::string money(Usd amount) { return json_text(to_decimal(amount)); }

double mean_of(const AbsorbedLoad& load) { return load.hours() > 0.0 ? load.total() / load.hours() : 0.0; }

std::string sizes_text(const SizingPage& page, const SizedPlan& plan) {
  std::vector<std::string> parts;
  for (std::size_t k = 0; k < plan.priced.units.size(); ++k)
    if (plan.priced.units[k] > 0)
      parts.push_back(fmt::format("{} {}", plan.priced.units[k], page.judge.supplies[k].name));
  return parts.empty() ? "nothing" : listed(parts);
}

std::string head_text(const SizingPage& page) {
  const AbsorbedLoad& load = page.train.load;
  const auto hours = [](const SizingProblem& p) { return figure(p.load.hours()); };
  std::string out = fmt::format("pool {}\n", page.name);
  if (page.in_sample)
    out += fmt::format("window    {} h from {}: planned and judged on the same, IN-SAMPLE; its saving is no evidence\n",
                       hours(page.train), to_rfc3339(page.planned_on.start));
  else
    out += fmt::format("window    planned on {} h from {}, judged on the {} h after\n", hours(page.train),
                       to_rfc3339(page.planned_on.start), hours(page.judge));
  if (load.hours() < 7 * 24) out += "          under 7 days: fees and the shape of load do not extrapolate from it\n";
  if (!page.limits.empty()) out += fmt::format("limits    the optimum keeps to {}\n", page.limits);
  out += fmt::format("demand    mean {}, p90 {} of 1 {}; its work costs {}/h at PAYG for each\n", figure(mean_of(load)),
                     figure(page.sizing.p90), page.train.supplies.empty() ? "unit" : page.train.supplies[0].name,
                     "$" + figure(page.train.payg));
  out += fmt::format("bursts    capacity at the mean of an interval absorbs {} of it in time, at twice the mean {}\n\n",
                     percent(page.burst.share(1.0)), percent(page.burst.share(2.0)));
  return out;
}

std::string supplies_text(const SizingPage& page) {
  std::string out = fmt::format("{:<20} {:>12} {:>12} {:>10} {:>8} {:>8} {:>8} {:>8} {:>12}\n", "supply", "fee/unit/h",
                                "saves/h", "break-even", "relaxed", "optimum", "p90", "today", "next/h");
  for (std::size_t k = 0; k < page.train.supplies.size(); ++k) {
    const Supply& s = page.train.supplies[k];
    const double full = (page.train.payg - s.variable) * s.capacity;
    out += fmt::format("{:<20} {:>12} {:>12} {:>10} {:>8.2f} {:>8} {:>8} {:>8} {:>12}\n", s.name,
                       to_display(s.fee_hourly), "$" + figure(full), percent(page.sizing.break_even[k]),
                       page.sizing.relaxed[k], page.sizing.optimum.priced.units[k],
                       page.sizing.availability.priced.units[k], s.units_today, to_display(page.sizing.next_saves[k]));
  }
  for (std::size_t k = 0; k < page.train.supplies.size(); ++k)
    if (page.sizing.break_even[k] > 1.0)
      out += fmt::format("{} never pays: full all the time it costs more than the PAYG that it replaces\n",
                         page.train.supplies[k].name);
  return out;
}

std::string costs_text(const SizingPage& page) {
  std::string out = fmt::format("\n{:<10} {:<24} {:>12} {:>12} {:>12} {:>12} {:>9} {:>13}\n", "plan", "holds", "fixed",
                                "at work", "PAYG", "total", "absorbs", "by request");
  const auto plans = plans_of(page.sizing);
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const PricedPlan& p = plans[i]->priced;
    const double all = page.judge.load.total();
    out += fmt::format("{:<10} {:<24} {:>12} {:>12} {:>12} {:>12} {:>9} {:>13}\n", plans[i]->name,
                       sizes_text(page, *plans[i]), to_display(p.fixed), to_display(p.variable), to_display(p.payg),
                       to_display(p.total()), percent(all > 0.0 ? p.absorbed / all : 0.0),
                       page.replayed.empty() ? "-" : to_display(page.replayed[i].total()));
  }
  const Usd regret = page.sizing.regret, oracle = page.sizing.oracle.priced.total();
  const double share = oracle > Usd{} ? static_cast<double>(regret.nano) / static_cast<double>(oracle.nano) : 0.0;
  return out + fmt::format("regret of the optimum against hindsight: {} ({})\n", to_display(regret), percent(share));
}

std::string exposure_text(const SizingPage& page) {
  std::string out = fmt::format("\n{:<14} {:>14} {:>14} {:>14} {:>14}\n", "demand falls", "optimum held", "all PAYG",
                                "best then", "stranded");
  for (const Exposure& e : page.sizing.exposure)
    out += fmt::format("{:<14} {:>14} {:>14} {:>14} {:>14}\n", percent(e.fall), to_display(e.held),
                       to_display(e.nothing), to_display(e.best), to_display(e.held - e.best));
  return out;
}

std::string plan_json(const SizingPage& page, std::size_t i) {
  const SizedPlan& plan = *plans_of(page.sizing)[i];
  std::string units;
  for (std::size_t k = 0; k < plan.priced.units.size(); ++k)
    units += fmt::format("{}{}:{}", k == 0 ? "" : ",", json_text(page.judge.supplies[k].name), plan.priced.units[k]);
  std::string out = fmt::format(
      R"({{"name":{},"units":{{{}}},"fixed_usd":{},"at_work_usd":{},"payg_usd":{},"total_usd":{},"absorbed_unit_h":{})",
      json_text(plan.name), units, money(plan.priced.fixed), money(plan.priced.variable), money(plan.priced.payg),
      money(plan.priced.total()), number(plan.priced.absorbed));
  if (!page.replayed.empty()) {
    const ReplayedCost& r = page.replayed[i];
    out += fmt::format(
        R"(,"replayed":{{"fixed_usd":{},"at_work_usd":{},"payg_usd":{},"total_usd":{},"absorbed_requests":{},"requests":{}}})",
        money(r.fixed), money(r.variable), money(r.payg), money(r.total()), r.absorbed, r.requests);
  }
  return out + "}";
}

}  // namespace

std::string to_text(const SizingPage& page) {
  return head_text(page) + supplies_text(page) + costs_text(page) + exposure_text(page);
}

std::string to_json(const SizingPage& page) {
  const auto stretch = [](const Series& series) {
    return fmt::format(R"({{"from":"{}","to":"{}","step_s":{},"steps":{}}})", to_rfc3339(series.start),
                       to_rfc3339(series.end()), number(to_seconds(series.step)), series.values.size());
  };
  std::string out = fmt::format(
      R"({{"pool":{},"planned_on":{},"judged_on":{},"in_sample":{},"limits":{},"demand_mean_units":{},"demand_p90_units":{},)"
      R"("payg_usd_per_unit_h":{},"absorbed_share_at_mean":{})",
      json_text(page.name), stretch(page.planned_on), stretch(page.judged_on), page.in_sample, json_text(page.limits),
      number(mean_of(page.train.load)), number(page.sizing.p90), number(page.train.payg),
      number(page.burst.share(1.0)));
  out += ",\"supplies\":[";
  for (std::size_t k = 0; k < page.train.supplies.size(); ++k) {
    const Supply& s = page.train.supplies[k];
    out += fmt::format(
        R"({}{{"name":{},"fee_usd_per_unit_h":{},"capacity_units":{},"at_work_usd_per_unit_h":{},"units_min":{},"increment":{},)"
        R"("break_even_utilization":{},"relaxed_units":{},"optimum_units":{},"p90_units":{},"today_units":{},"next_saves_usd_per_h":{}}})",
        k == 0 ? "" : ",", json_text(s.name), money(s.fee_hourly), number(s.capacity), number(s.variable), s.units_min,
        s.increment, number(page.sizing.break_even[k]), number(page.sizing.relaxed[k]),
        page.sizing.optimum.priced.units[k], page.sizing.availability.priced.units[k], s.units_today,
        money(page.sizing.next_saves[k]));
  }
  out += "],\"plans\":[";
  for (std::size_t i = 0; i < 5; ++i) out += (i == 0 ? "" : ",") + plan_json(page, i);
  out += fmt::format(R"(],"regret_usd":{},"exposure":[)", money(page.sizing.regret));
  for (std::size_t i = 0; i < page.sizing.exposure.size(); ++i) {
    const Exposure& e = page.sizing.exposure[i];
    out += fmt::format(R"({}{{"fall":{},"optimum_usd":{},"all_payg_usd":{},"best_usd":{},"stranded_usd":{}}})",
                       i == 0 ? "" : ",", number(e.fall), money(e.held), money(e.nothing), money(e.best),
                       money(e.held - e.best));
  }
  return out + "]}";
}

}  // namespace ace
