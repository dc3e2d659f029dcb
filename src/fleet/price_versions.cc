#include "fleet/price_versions.h"

#include <algorithm>
#include <set>

namespace ace {
namespace {

constexpr std::string_view kForever = "9999-12-31";  // behind every day that a list may name

std::string_view end_of(const PriceRow& row) {
  return row.valid_to.empty() ? kForever : std::string_view(row.valid_to);
}
/// A version without a word on it was recorded when it began.
std::string_view recorded_on(const PriceRow& row) {
  return row.recorded.empty() ? std::string_view(row.valid_from) : std::string_view(row.recorded);
}
bool corrects(const PriceRow& row) { return recorded_on(row) > std::string_view(row.valid_from); }
bool holds(const PriceRow& row, std::string_view on) { return row.valid_from <= on && on < end_of(row); }

}  // namespace

std::vector<PriceFinding> judge_versions(std::vector<PriceRow>& versions) {
  std::vector<PriceFinding> findings;
  std::stable_sort(versions.begin(), versions.end(), [](const PriceRow& a, const PriceRow& b) {
    return std::pair(std::string_view(a.valid_from), recorded_on(a)) <
           std::pair(std::string_view(b.valid_from), recorded_on(b));
  });
  std::string_view covered;  // up to here some version holds
  for (std::size_t i = 0; i < versions.size(); ++i) {
    const PriceRow& row = versions[i];
    if (corrects(row) && row.reason.empty())
      findings.push_back({true, row.key, "reason",
                          "recorded on " + row.recorded + " for days from " + row.valid_from +
                              ": a change of past prices says why in reason"});
    for (std::size_t j = 0; j < i; ++j) {
      const PriceRow& other = versions[j];
      if (end_of(other) <= std::string_view(row.valid_from)) continue;
      const PriceRow &later = recorded_on(row) >= recorded_on(other) ? row : other,
                     &earlier = &later == &row ? other : row;
      if (corrects(later) && recorded_on(later) > recorded_on(earlier)) continue;
      findings.push_back({true, row.key, "valid_from",
                          "two versions hold on " + row.valid_from +
                              "; one that corrects the other says so with recorded and reason"});
    }
    if (i > 0 && covered < std::string_view(row.valid_from))
      findings.push_back(
          {false, row.key, "valid_from", "unpriced from " + std::string(covered) + " to " + row.valid_from});
    covered = std::max(covered, end_of(row));
  }
  return findings;
}

const PriceRow* version_on(const std::vector<PriceRow>& versions, std::string_view on, std::string_view known) {
  const PriceRow* best = nullptr;
  for (const PriceRow& row : versions) {
    if (!known.empty() && recorded_on(row) > known) continue;
    if (!on.empty() && !holds(row, on)) continue;
    const auto rank = [&](const PriceRow& r) {  // the last change: what ends last; of these what was recorded last
      return std::tuple(on.empty() ? end_of(r) : std::string_view(), recorded_on(r), std::string_view(r.valid_from));
    };
    if (best == nullptr || rank(*best) < rank(row)) best = &row;
  }
  return best;
}

std::vector<PriceRevision> revisions_of(const std::vector<PriceRow>& versions) {
  std::vector<PriceRevision> revisions;
  for (const PriceRow& row : versions) {
    if (!corrects(row)) continue;
    const std::string_view past = std::min(end_of(row), recorded_on(row));
    std::set<std::string_view> days = {row.valid_from, past};
    for (const PriceRow& other : versions)
      for (const std::string_view day : {std::string_view(other.valid_from), end_of(other)})
        if (day > std::string_view(row.valid_from) && day < past) days.insert(day);
    for (auto day = days.begin(); std::next(day) != days.end(); ++day) {
      const PriceRow* before = nullptr;
      for (const PriceRow& other : versions)
        if (holds(other, *day) && recorded_on(other) < recorded_on(row) &&
            (before == nullptr || recorded_on(*before) < recorded_on(other)))
          before = &other;
      PriceRevision revision{std::string(*day), std::string(*std::next(day)), before ? *before : PriceRow{}, row};
      if (before == nullptr) revision.before.key = row.key;
      revisions.push_back(std::move(revision));
    }
  }
  return revisions;
}

Result<Usd> price_correction(const Usage& usage, const PriceRevision& revision, ServiceTier service,
                             std::int64_t uplift_ppm) {
  const Result<Usd> right = price_of(usage, revision.after, service, uplift_ppm);
  if (!right || revision.before.tiers.empty()) return right;
  const Result<Usd> booked = price_of(usage, revision.before, service, uplift_ppm);
  if (!booked) return booked;
  return *right - *booked;
}

std::vector<PriceFinding> rewritten_history(const PriceReading& before, const PriceReading& after) {
  std::vector<PriceFinding> findings;
  const auto same = [](PriceRow a, const PriceRow& b) {
    if (a.valid_to.empty()) a.valid_to = b.valid_to;  // an open version may end
    a.accept_delta = b.accept_delta;
    a.source = b.source;
    a.as_of = b.as_of;
    a.deprecation_date = b.deprecation_date;
    return a == b;
  };
  for (const PriceRow& was : before.versions) {
    const auto is = std::find_if(after.versions.begin(), after.versions.end(), [&](const PriceRow& row) {
      return row.key == was.key && row.valid_from == was.valid_from && recorded_on(row) == recorded_on(was);
    });
    const std::string when = "the version of " + was.valid_from;
    const std::string cure = "; what was booked at it keeps it: add a version with recorded and reason instead";
    if (is == after.versions.end())
      findings.push_back({true, was.key, "valid_from", when + " is gone" + cure});
    else if (!same(was, *is))
      findings.push_back({true, was.key, "valid_from", when + " was edited in place" + cure});
  }
  return findings;
}

std::vector<PriceFinding> still_to_come(const PriceReading& reading, std::string_view today) {
  std::vector<PriceFinding> findings;
  for (auto row = reading.versions.begin(); row != reading.versions.end();) {
    const auto next = std::find_if(row, reading.versions.end(), [&](const PriceRow& r) { return r.key != row->key; });
    const auto to_come =
        std::find_if(row, next, [&](const PriceRow& version) { return std::string_view(version.valid_from) > today; });
    if (to_come != next && std::none_of(row, next, [&](const PriceRow& version) { return holds(version, today); }))
      findings.push_back(
          {true, row->key, "valid_from",
           "no price of it holds on " + std::string(today) + "; the next begins " + to_come->valid_from});
    row = next;
  }
  return findings;
}

}  // namespace ace
