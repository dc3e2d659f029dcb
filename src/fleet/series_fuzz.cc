/// A table of hours cut after any line is a prefix of the whole; a capacity log's changes ascend and stay between its
/// least and its most units, and so does every step made of it.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/check.h"
#include "fleet/series.h"

namespace {

void electricity(std::string_view csv) {
  const ace::ElectricityLayout layout{.booked = "b", .believed = "f", .fx_nano = 1'085'000'000};
  const auto whole = ace::parse_electricity(csv, layout);
  if (!whole) return;
  ACE_CHECK(whole->hourly.size() == whole->day_ahead.size(), "an hour without its forecast");
  const std::size_t cut = csv.substr(0, csv.size() / 2).rfind('\n');
  if (cut == std::string_view::npos) return;
  const auto part = ace::parse_electricity(csv.substr(0, cut + 1), layout);
  if (!part) return;  // the cut left no hours, or fell inside a quoted field
  ACE_CHECK(part->first_hour == whole->first_hour && part->hourly.size() <= whole->hourly.size(),
            "a part begins elsewhere");
  ACE_CHECK(std::equal(part->hourly.begin(), part->hourly.end(), whole->hourly.begin()), "a part has other prices");
}

void capacity(std::string_view csv) {
  const auto log = ace::parse_capacity(csv);
  if (!log) return;
  ACE_CHECK(!log->changes.empty() && log->units_min >= 0, "a log without a change");
  for (std::size_t i = 0; i < log->changes.size(); ++i) {
    ACE_CHECK(i == 0 || log->changes[i - 1].at < log->changes[i].at, "changes do not ascend");
    ACE_CHECK(log->changes[i].units >= log->units_min && log->changes[i].units <= log->units_max, "units out of range");
  }
  const double hazard = log->hazard_per_hour();
  ACE_CHECK(hazard >= 0.0 && hazard <= 1.0, "a hazard that is no chance");
  if (log->span() > 1000 * ace::kDay) return;
  const ace::StepSeries steps = log->availability(7 * ace::kHour);
  for (const double units : steps.values)
    ACE_CHECK(units >= 0.0 && units <= static_cast<double>(log->units_max), "more units than there were");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const std::string_view csv(reinterpret_cast<const char*>(data + 1), size - 1);
  data[0] % 2 == 0 ? electricity(csv) : capacity(csv);
  return 0;
}
