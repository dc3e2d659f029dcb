#include "ledger/period.h"

#include <algorithm>

namespace ace {
namespace {

/// @param what names the option
Result<Instant> day_from(std::string_view text, std::string_view what) {
  if (text.size() == 10)
    if (const Result<Instant> day = parse_rfc3339(std::string(text) + "T00:00:00Z")) return *day;
  return Error(Errc::bad_input,
               std::string(what) + ": expected a UTC day as 2026-11-30, got \"" + std::string(text) + "\"");
}

}  // namespace

Period month_of(Instant t) {
  const Civil now = civil_of(t);
  Civil first, next;
  first.year = now.year;
  first.month = now.month;
  next.year = now.month == 12 ? now.year + 1 : now.year;
  next.month = now.month % 12 + 1;
  return {instant_of(first), instant_of(next)};
}

Period common(const Period& a, const Period& b) {
  Period both{std::max(a.from, b.from), std::min(a.to, b.to)};
  if (both.to < both.from) both.to = both.from;
  return both;
}

Result<Period> period_from(std::string_view from, std::string_view to, std::string_view month) {
  if (!month.empty()) {
    if (!from.empty() || !to.empty()) return Error(Errc::bad_input, "--month or --from and --to, not both");
    const Result<Instant> first = day_from(std::string(month) + "-01", "");
    if (!first)
      return Error(Errc::bad_input, "--month: expected a month as 2026-11, got \"" + std::string(month) + "\"");
    return month_of(*first);
  }
  Period period;
  if (!from.empty()) {
    const Result<Instant> day = day_from(from, "--from");
    if (!day) return Error(day.error());
    period.from = *day;
  }
  if (!to.empty()) {
    const Result<Instant> day = day_from(to, "--to");
    if (!day) return Error(day.error());
    period.to = *day;
  }
  if (period.to <= period.from)
    return Error(Errc::bad_input, "--to: expected a day after --from (the day itself is not part of it), got " +
                                      std::string(from) + " to " + std::string(to));
  return period;
}

}  // namespace ace
