/// How many units of a GPU pool run when, and what a replica was measured to do.
#include <fmt/format.h>

#include <algorithm>

#include "fleet/reading.h"

namespace ace::fleet_file {
namespace {

constexpr std::int64_t kUnitsMax = 100'000;

std::uint8_t read_days(Reading& reading, const Place& at) {
  if (!at) return 0x7f;
  unsigned mask = 0;
  if (at.is_list()) {
    for (const Place& entry : reading.findings.list(at, "days"))
      mask |= reading.findings.value<std::uint8_t>(entry, parse_days).value_or(0);
  } else {
    mask = reading.findings.value<std::uint8_t>(at, parse_days).value_or(0);
  }
  return static_cast<std::uint8_t>(mask);
}

/// Windows are in UTC: time zones belong to the edge, and a deciding core without them has no hour that a clock change
/// skips or repeats.
void refuse_other_zones(Reading& reading, const Place& at) {
  const auto zone = reading.findings.text(at);
  if (!zone || *zone == "UTC" || *zone == "Etc/UTC") return;
  const bool iana = zone->find('/') != std::string::npos;
  reading.findings.mistake(
      at,
      iana ? fmt::format("windows of the fleet file are in UTC, got \"{}\"", *zone)
           : fmt::format("\"{}\" is not an IANA time zone; windows of the fleet file are in UTC", *zone),
      "write the window in UTC and timezone: UTC");
}

std::vector<ScheduleWindow> read_schedule(Reading& reading, const Place& at) {
  Findings& findings = reading.findings;
  std::vector<ScheduleWindow> windows;
  std::vector<int> lines;
  for (const Place& entry : findings.list(at, "windows")) {
    if (windows.size() >= 336) {  // a week of half-hours
      findings.mistake(entry, "more than 336 windows in one schedule", "join neighbours with the same units");
      break;
    }
    Map map(findings, entry);
    if (!map.readable()) continue;
    ScheduleWindow window;
    const Place hours = map.need("window", "write window: \"08:00-20:00\" (UTC)");
    const auto range = findings.value<MinuteRange>(hours, parse_minutes);
    const auto units = findings.count(map.need("units", "write how many units run: units: 2"), 0, kUnitsMax);
    window.days = read_days(reading, map.get("days"));
    refuse_other_zones(reading, map.get("timezone"));
    map.done();
    if (!range || !units) continue;
    window.from_minute = range->from;
    window.to_minute = range->to;
    window.units = *units;
    for (std::size_t i = 0; i < windows.size(); ++i)
      if ((windows[i].days & window.days) != 0 && windows[i].from_minute < window.to_minute &&
          window.from_minute < windows[i].to_minute)
        findings.mistake(hours, fmt::format("this window overlaps the one on line {}", lines[i]),
                         "an hour has one number of units");
    windows.push_back(window);
    lines.push_back(entry.node->line);
  }
  return windows;
}

std::optional<ReactivePolicy> read_policy(Reading& reading, const Place& at) {
  if (!at) return std::nullopt;
  Findings& findings = reading.findings;
  if (at.is_scalar()) {
    if (at.text() == "reactive") return ReactivePolicy{};
    findings.mistake(at, fmt::format("expected reactive, got \"{}\"", at.text()), "write policy: {reactive: {...}}");
    return std::nullopt;
  }
  Map outer(findings, at);
  const Place inner = outer.need("reactive", "write policy: {reactive: {up_at: 80%, down_at: 30%}}");
  outer.done();
  Map map(findings, inner);
  if (!map.readable()) return std::nullopt;
  ReactivePolicy policy;
  const Place up = map.get("up_at"), least = map.get("units_min"), most = map.get("units_max");
  if (const auto share = findings.ratio(up, 0.01, 1.0)) policy.up_at = *share;
  if (const auto share = findings.ratio(map.get("down_at"), 0.0, 1.0)) policy.down_at = *share;
  if (const auto delay = findings.duration(map.get("start_delay"), Duration{0}, kDay)) policy.start_delay = *delay;
  if (const auto time = findings.duration(map.get("min_up"), Duration{0}, 30 * kDay)) policy.min_up = *time;
  if (const auto time = findings.duration(map.get("min_down"), Duration{0}, 30 * kDay)) policy.min_down = *time;
  if (const auto units = findings.count(least, 0, kUnitsMax)) policy.units_min = *units;
  policy.units_max = std::max<std::int64_t>(policy.units_min, 1);
  if (const auto units = findings.count(most, 1, kUnitsMax)) policy.units_max = *units;
  map.done();
  if (policy.down_at >= policy.up_at)
    findings.mistake(inner, "down_at must be below up_at, or units would flap", "write e.g. up_at: 80%, down_at: 30%");
  if (policy.units_max < policy.units_min) findings.mistake(most, "units_max is below units_min", "exchange them");
  return policy;
}

}  // namespace

UnitPlan read_units(Reading& reading, Map& map) {
  Findings& findings = reading.findings;
  UnitPlan plan;
  const Place units = map.get("units"), schedule = map.get("schedule"), policy = map.get("policy");
  if (schedule && policy)
    findings.mistake({policy.parent, nullptr, policy.path}, "a schedule and a policy contradict each other",
                     "keep one of them");
  plan.schedule = read_schedule(reading, schedule);
  plan.reactive = read_policy(reading, policy);
  // Beside a schedule `units` is what runs outside its windows; beside a policy it is where the policy starts.
  if (schedule) plan.units = 0;
  if (plan.reactive) plan.units = plan.reactive->units_min;
  if (const auto count = findings.count(units, 0, kUnitsMax)) plan.units = *count;
  if (plan.reactive && (plan.units < plan.reactive->units_min || plan.units > plan.reactive->units_max))
    findings.mistake(units, fmt::format("units is outside the policy's {} to {}", plan.reactive->units_min,
                                        plan.reactive->units_max));
  return plan;
}

std::optional<ServerProfile> read_measured(Reading& reading, const Place& at) {
  if (!at) return std::nullopt;
  Findings& findings = reading.findings;
  Map map(findings, at);
  if (!map.readable()) return std::nullopt;
  ServerProfile profile;
  profile.measured = true;
  const auto count = [&](const Place& place, std::int64_t high, std::int64_t otherwise) {
    return findings.count(place, 1, high).value_or(otherwise);
  };
  const auto seconds = [&](const Place& place) { return findings.value<double>(place, parse_seconds).value_or(0.0); };
  const auto watts = [&](const Place& place) { return findings.value<double>(place, parse_watts).value_or(0.0); };
  profile.prefill_tokens_per_s = static_cast<double>(
      count(map.need("prefill_tokens_per_s", "write the prompt tokens a replica reads per second"), 1'000'000'000, 1));
  const Place base = map.need("step_base", "write the time of a decode step, e.g. step_base: 12ms");
  profile.step_base_s = seconds(base);
  profile.step_per_sequence_s = seconds(map.get("step_per_sequence"));
  profile.step_per_kv_token_s = seconds(map.get("step_per_kv_token"));
  profile.batch_max = count(map.get("batch_max"), 100'000, profile.batch_max);
  profile.kv_tokens_max =
      count(map.need("kv_tokens_max", "write the tokens that fit in the KV cache of a replica"), 1'000'000'000'000, 1);
  profile.prefill_chunk = count(map.get("prefill_chunk"), 10'000'000, profile.prefill_chunk);
  const Place idle = map.get("watts_idle"), busy = map.get("watts_busy");
  profile.watts_idle = watts(idle);
  profile.watts_busy = watts(busy);
  map.done();
  if (base.is_scalar() && profile.step_base_s + profile.step_per_sequence_s <= 0.0)
    findings.mistake(base, "a step takes some time", "write e.g. step_base: 12ms");
  if (busy && idle && profile.watts_busy < profile.watts_idle)
    findings.mistake(busy, "watts_busy is below watts_idle", "exchange them");
  return profile;
}

}  // namespace ace::fleet_file
