#pragma once
/// Series over time that a fleet file names: what power costs by the hour, and how much spot capacity there was.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "core/time.h"
#include "fleet/fleet.h"

namespace ace {

/// How to read a day-ahead table.
struct ElectricityLayout {
  std::string booked = "Real price";  ///< column of the price that was paid
  std::string believed;               ///< column of the forecast the brain plans on; empty = none
  /// Nano-USD for one unit of the table's currency: 10^9 for USD, 1,080,000,000 for EUR at 1.08.
  std::int64_t fx_nano = 1'000'000'000;
};

/// Hourly energy prices from the hour `first_hour` since the epoch, without a gap.
struct ElectricitySeries {
  std::int64_t first_hour = 0;
  std::vector<UsdPerKwh> hourly;
  std::vector<UsdPerKwh> day_ahead;  ///< empty if no forecast was asked for
  friend bool operator==(const ElectricitySeries&, const ElectricitySeries&) = default;
};

/// Reads a table of hours: the first column is the hour ("2016-01-04 00:00:00", "2016-01-04T00:00Z"; UTC), prices are
/// per MWh and may be negative. MWh to kWh and the currency are exact ratios; the price is rounded once, half away from
/// zero, to a nano-dollar per kWh.
/// @return bad_input, naming the line, for a missing column, a missing or repeated hour (a local clock that was set
///         forward or back; give the series in UTC), a time that is no full hour, an empty cell or a table without
///         rows; out_of_range for a price beyond +-25,000 per MWh (no market clears there: is it per MWh?); corrupt if
///         the file is no CSV.
Result<ElectricitySeries> parse_electricity(std::string_view csv, const ElectricityLayout& layout);

/// How many units of a spot pool were held, as a log of changes.
struct CapacityLog {
  struct Change {
    Duration at{};  ///< since the start
    std::int64_t units = 0;
    friend bool operator==(const Change&, const Change&) = default;
  };
  Instant start{};
  std::vector<Change> changes;  ///< ascending times; of several at one time the last holds
  std::size_t rows = 0;
  std::size_t out_of_order = 0;  ///< rows stamped before the row above; they hold from that row's time
  std::int64_t taken = 0;        ///< units lost, over all decreases
  std::size_t decreases = 0;
  std::int64_t units_max = 0, units_min = 0;
  [[nodiscard]] Duration span() const { return changes.empty() ? Duration{} : changes.back().at; }
  /// Time-weighted over the span. @return 0 for an empty span
  [[nodiscard]] double units_mean() const;
  /// Chance that a unit is taken within an hour: 1 - e^-(units taken per unit-hour held). Losses that hit many units at
  /// once count each unit, so the rate is right and their correlation is not in it: replay the availability for that.
  [[nodiscard]] double hazard_per_hour() const;
  /// Units that were there throughout each step. @param step positive
  [[nodiscard]] StepSeries availability(Duration step) const;
  friend bool operator==(const CapacityLog&, const CapacityLog&) = default;
};

/// Reads a capacity log without a header, in the layout its first row shows:
///   events   milliseconds, add or remove, node       an add of a held node, a remove of another: bad_input
///   samples  date, time, units                       UTC; `start` is the first sample
///   counts   time in `unit`s since the start, units
/// @param start of logs that count from zero  @param unit of the counts layout; files do not say it, so it is not
/// guessed
/// @return bad_input naming the line, corrupt if the file is no CSV
Result<CapacityLog> parse_capacity(std::string_view csv, Instant start = {}, Duration unit = kHour);

}  // namespace ace
