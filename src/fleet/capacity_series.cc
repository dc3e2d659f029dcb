/// Logs of spot capacity: who was added and taken, or how many were held.
#include <algorithm>
#include <set>

#include "core/csv.h"
#include "core/money.h"
#include "core/numeric.h"
#include "fleet/price_draft.h"
#include "fleet/series.h"

namespace ace {
namespace {

constexpr std::int64_t kUnitsMax = 1'000'000'000;
constexpr std::int64_t kNanosMax = std::int64_t{1} << 61;  // 73 years

Error bad(const CsvRow& row, std::string_view what) {
  return {Errc::bad_input, "reading the capacity log: line " + std::to_string(row.line) + ": " + std::string(what)};
}

std::string_view field(const CsvRow& row, std::size_t column) { return trim(row.fields[column]); }

Result<std::int64_t> units_in(const CsvRow& row, std::size_t column) {
  const Result<std::int64_t> units = parse_decimal(field(row, column), 0);
  if (!units || *units < 0 || *units > kUnitsMax)
    return bad(row,
               "expected a number of units from 0 up, got \"" + std::string(field(row, column).substr(0, 64)) + "\"");
  return *units;
}

/// A time since the start, in decimals of `unit`.
Result<Duration> offset_in(const CsvRow& row, Duration unit) {
  const Result<std::int64_t> millionths = parse_decimal(field(row, 0), 6);
  const int128 count = millionths ? int128{*millionths} * nanos(unit) / 1'000'000 : int128{-1};
  if (count < 0 || count > kNanosMax)
    return bad(row, "expected a time since the start, got \"" + std::string(field(row, 0).substr(0, 64)) + "\"");
  return Duration{static_cast<std::int64_t>(count)};
}

Result<Instant> instant_in(const CsvRow& row) {
  const std::string_view day = field(row, 0), time = field(row, 1);
  const auto two = [&](std::string_view text, std::size_t at) {
    const Result<std::int64_t> value = parse_decimal(text.substr(at, 2), 0);
    return value ? static_cast<int>(*value) : -1;
  };
  const bool shape = time.size() == 8 && time[2] == ':' && time[5] == ':' &&
                     std::count_if(time.begin(), time.end(), [](char c) { return c >= '0' && c <= '9'; }) == 6;
  if (!is_date(day) || !shape || two(time, 0) > 23 || two(time, 3) > 59 || two(time, 6) > 59)
    return bad(row, "expected a date and a time such as 2021-12-10, 13:07:45, got \"" + std::string(day.substr(0, 32)) +
                        ", " + std::string(time.substr(0, 32)) + "\"");
  const auto part = [&](std::string_view text, std::size_t at) { return static_cast<unsigned>(two(text, at)); };
  return instant_of(
      {two(day, 0) * 100 + two(day, 2), part(day, 5), part(day, 8), part(time, 0), part(time, 3), part(time, 6)});
}

class CapacityReader {
 public:
  CapacityReader(Instant start, Duration unit) : unit_(unit) { log_.start = start; }

  Result<void> row(const CsvRow& row) {
    if (log_.rows == 0) columns_ = row.fields.size(), events_ = columns_ == 3 && is_event(row);
    if (row.fields.size() != columns_ || columns_ < 2 || columns_ > 3)
      return bad(row,
                 "expected \"ms, add or remove, node\", \"date, time, units\" or \"time, units\" as in the first row");
    Result<Duration> at = columns_ == 3 && !events_ ? sampled(row) : offset_in(row, events_ ? kMillisecond : unit_);
    if (!at) return Error(at.error());
    Result<std::int64_t> units = events_ ? after_event(row) : units_in(row, columns_ - 1);
    if (!units) return Error(units.error());
    ++log_.rows;
    add(*at, *units);
    return {};
  }

  Result<CapacityLog> finish() && {
    if (log_.rows == 0) return Error(Errc::bad_input, "reading the capacity log: the file has no rows");
    return std::move(log_);
  }

 private:
  static constexpr Duration kMillisecond = std::chrono::milliseconds{1};

  static bool is_event(const CsvRow& row) { return field(row, 1) == "add" || field(row, 1) == "remove"; }

  Result<std::int64_t> after_event(const CsvRow& row) {
    if (!is_event(row))
      return bad(row, "expected add or remove, got \"" + std::string(field(row, 1).substr(0, 64)) + "\"");
    const std::string node(field(row, 2));
    const bool add = field(row, 1) == "add";
    const bool changed = add ? held_.insert(node).second : held_.erase(node) == 1;
    if (!changed)
      return bad(row,
                 "\"" + node.substr(0, 64) + (add ? "\" is added but held already" : "\" is removed but not held"));
    return static_cast<std::int64_t>(held_.size());
  }

  Result<Duration> sampled(const CsvRow& row) {
    const Result<Instant> at = instant_in(row);
    if (!at) return Error(at.error());
    if (log_.rows == 0) log_.start = *at;
    return *at - log_.start;
  }

  void add(Duration at, std::int64_t units) {
    if (log_.changes.empty()) {
      log_.units_min = log_.units_max = units;
    } else {
      const CapacityLog::Change& last = log_.changes.back();
      if (at < last.at) {  // a log is written in order; it is the stamp that lags
        ++log_.out_of_order;
        at = last.at;
      }
      if (units < last.units) {
        log_.taken += last.units - units;
        ++log_.decreases;
      }
      log_.units_min = std::min(log_.units_min, units);
      log_.units_max = std::max(log_.units_max, units);
      if (at == last.at) log_.changes.pop_back();
    }
    log_.changes.push_back({at, units});
  }

  Duration unit_;
  CapacityLog log_;
  std::size_t columns_ = 0;
  bool events_ = false;
  std::set<std::string> held_;
};

/// Unit-hours held from the first change to the last.
double unit_hours(const CapacityLog& log) {
  double sum = 0.0;
  for (std::size_t i = 1; i < log.changes.size(); ++i)
    sum += static_cast<double>(log.changes[i - 1].units) * to_seconds(log.changes[i].at - log.changes[i - 1].at);
  return sum / 3600.0;
}

}  // namespace

double CapacityLog::units_mean() const {
  if (changes.size() < 2) return 0.0;
  return unit_hours(*this) * 3600.0 / to_seconds(changes.back().at - changes.front().at);
}

double CapacityLog::hazard_per_hour() const {
  const double held = unit_hours(*this);
  return held > 0.0 ? 1.0 - numeric::exp(-static_cast<double>(taken) / held) : 0.0;
}

StepSeries CapacityLog::availability(Duration step) const {
  ACE_CHECK(step > Duration{}, "a step of a series is positive");
  StepSeries series{start, step, {}};
  if (changes.empty()) return series;
  std::size_t next = 0;
  std::int64_t held = changes.front().at > Duration{} ? 0 : changes.front().units;
  for (Duration from{}; from <= changes.back().at; from += step) {
    std::int64_t least = held;
    for (; next < changes.size() && changes[next].at < from + step; ++next) {
      held = changes[next].units;
      least = changes[next].at == from ? held : std::min(least, held);
    }
    series.values.push_back(static_cast<double>(least));
  }
  return series;
}

Result<CapacityLog> parse_capacity(std::string_view csv, Instant start, Duration unit) {
  ACE_CHECK(unit > Duration{}, "a unit of time is positive");
  CsvReader reader(csv);
  CapacityReader log(start, unit);
  CsvRow row;
  for (;;) {
    Result<bool> any = reader.next(row);
    if (!any) return std::move(any).error().with("reading the capacity log");
    if (!*any) break;
    if (auto taken = log.row(row); !taken) return Error(taken.error());
  }
  return std::move(log).finish();
}

}  // namespace ace
