#include "plan/series_csv.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include "core/csv.h"
#include "core/text.h"

namespace ace {
namespace {

constexpr std::int64_t kStepsMax = 10'000'000;

/// One series as it is read: instants that grow.
struct Points {
  std::string name;
  std::vector<Instant> at;
  std::vector<double> values;
};

bool says_gap(std::string_view cell) {
  return cell.empty() || cell == "NaN" || cell == "nan" || cell == "NA" || cell == "null";
}

std::optional<double> number(std::string_view cell) {
  double value = 0.0;
  if (cell.starts_with('+')) cell.remove_prefix(1);
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc{} || end != cell.data() + cell.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

/// The distance between rows that occurs most often; of two the shorter. 0 if there is none.
Duration commonest_step(const std::vector<Points>& all) {
  std::map<Duration, std::size_t> counts;
  for (const Points& points : all)
    for (std::size_t i = 1; i < points.at.size(); ++i) ++counts[points.at[i] - points.at[i - 1]];
  const auto most =
      std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == counts.end() ? Duration{0} : most->first;
}

Result<Series> on_steps(const Points& points, Duration step) {
  Series series{points.name, points.at.front(), step, {}};
  const std::int64_t steps = (points.at.back() - points.at.front()) / step + 1;
  if (steps > kStepsMax)
    return Error(Errc::out_of_range,
                 fmt::format("series {}: {} steps of {} s; at most {} fit: take a longer step or a shorter time",
                             points.name, steps, to_seconds(step), kStepsMax));
  series.values.assign(static_cast<std::size_t>(steps), kGap);
  for (std::size_t i = 0; i < points.at.size(); ++i) {
    const Duration since = points.at[i] - series.start;
    if (since % step != Duration{0})
      return Error(Errc::bad_input,
                   fmt::format("series {}: {} lies between two steps of {} s from {}; give --step, or "
                               "put the rows on equal steps",
                               points.name, to_rfc3339(points.at[i]), to_seconds(step), to_rfc3339(series.start)));
    series.values[static_cast<std::size_t>(since / step)] = points.values[i];
  }
  return series;
}

class Reader {
 public:
  Reader(CsvTable table, const SeriesFormat& format)
      : table_(std::move(table)), format_(format), times_(TimeKind::unknown, format.zone) {}

  Result<void> columns();
  Result<void> rows();
  std::vector<Points> points() && { return std::move(points_); }

 private:
  Result<void> row(const CsvRow& row);
  Result<void> add(Points& points, Instant at, std::string_view cell, std::size_t line);
  /// A civil time that the clock shows twice is the later instant the second time.
  [[nodiscard]] Instant second_showing(Instant at, Instant before) const;
  Points& named(const std::string& name);

  CsvTable table_;
  const SeriesFormat& format_;
  TimeColumn times_;
  std::size_t time_ = 0;
  std::optional<std::size_t> name_;
  std::vector<std::size_t> values_;
  bool told_ = false;  ///< which columns hold numbers, by the first row
  std::vector<Points> points_;
  std::map<std::string, std::size_t> index_;
};

Result<void> Reader::columns() {
  if (!format_.time.empty()) {
    const Result<std::size_t> at = table_.require(format_.time);
    if (!at) return at.error();
    time_ = *at;
  }
  if (!format_.name.empty()) {
    const Result<std::size_t> at = table_.require(format_.name);
    if (!at) return at.error();
    name_ = *at;
  }
  for (const std::string& column : format_.values) {
    const Result<std::size_t> at = table_.require(column);
    if (!at) return at.error();
    values_.push_back(*at);
  }
  told_ = !values_.empty();
  if (!told_) {
    for (std::size_t i = 0; i < table_.header().size(); ++i)
      if (i != time_ && i != name_) values_.push_back(i);
  }
  if (values_.empty()) return Error(Errc::bad_input, "expected a column of values beside the time, there is none");
  return {};
}

Points& Reader::named(const std::string& name) {
  const auto [found, is_new] = index_.emplace(name, points_.size());
  if (is_new) points_.push_back({name, {}, {}});
  return points_[found->second];
}

Instant Reader::second_showing(Instant at, Instant before) const {
  if (at > before || times_.kind() != TimeKind::naive || !format_.zone) return at;
  const Duration back = format_.zone->offset_at(at) - format_.zone->offset_at(at + 3 * kHour);
  return back > Duration{0} && format_.zone->offset_at(at + back) < format_.zone->offset_at(at) ? at + back : at;
}

Result<void> Reader::add(Points& points, Instant at, std::string_view cell, std::size_t line) {
  if (!points.at.empty()) {
    at = second_showing(at, points.at.back());
    if (at == points.at.back())
      return Error(Errc::bad_input,
                   fmt::format("line {}: series {} has two values for {}", line, points.name, to_rfc3339(at)));
    if (at < points.at.back())
      return Error(Errc::bad_input, fmt::format("line {}: series {} goes back in time, from {} to {}; sort the rows",
                                                line, points.name, to_rfc3339(points.at.back()), to_rfc3339(at)));
  }
  const std::optional<double> value = says_gap(cell) ? kGap : number(cell);
  if (!value)
    return Error(Errc::bad_input,
                 fmt::format("line {}: series {}: expected a finite number or an empty cell, got \"{}\"", line,
                             points.name, shown(cell)));
  points.at.push_back(at);
  points.values.push_back(*value);
  return {};
}

Result<void> Reader::row(const CsvRow& row) {
  const Result<Instant> at = times_.parse(trim(row.fields[time_]));
  if (!at) return Error(at.error()).with(fmt::format("line {}", row.line));
  if (!told_) {
    std::erase_if(values_, [&](std::size_t i) {
      const std::string_view cell = trim(row.fields[i]);
      return !says_gap(cell) && !number(cell);
    });
    told_ = true;
    if (values_.empty())
      return Error(Errc::bad_input, fmt::format("line {}: expected a number beside the time, there is none", row.line));
  }
  for (const std::size_t i : values_) {
    const std::string& column = table_.header()[i];
    std::string name = name_ ? std::string(trim(row.fields[*name_])) : column;
    if (name_ && values_.size() > 1) name += "/" + column;
    if (auto added = add(named(name), *at, trim(row.fields[i]), row.line); !added) return added;
  }
  return {};
}

Result<void> Reader::rows() {
  CsvRow fields;
  for (;;) {
    const Result<bool> more = table_.next(fields);
    if (!more) return more.error();
    if (!*more) return {};
    if (auto read = row(fields); !read) return read;
  }
}

}  // namespace

Result<std::vector<Series>> series_from_csv(std::string_view text, const SeriesFormat& format) {
  Result<CsvTable> table = CsvTable::open(text, format.delimiter);
  if (!table) return std::move(table).error();
  Reader reader(*std::move(table), format);
  if (auto found = reader.columns(); !found) return std::move(found).error();
  if (auto read = reader.rows(); !read) return std::move(read).error();
  const std::vector<Points> all = std::move(reader).points();
  if (all.empty()) return Error(Errc::bad_input, "expected rows of time and value, there are none");

  const Duration step = format.step > Duration{0} ? format.step : commonest_step(all);
  std::vector<Series> series;
  for (const Points& points : all) {
    // A single row has no distance to a next one: any step will do, and an hour is what most have.
    Result<Series> made = on_steps(points, step > Duration{0} ? step : kHour);
    if (!made) return std::move(made).error();
    series.push_back(*std::move(made));
  }
  return series;
}

}  // namespace ace
