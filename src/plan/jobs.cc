#include "plan/jobs.h"

#include <fmt/format.h>

#include <cmath>
#include <set>
#include <string>

#include "core/csv.h"
#include "core/decimal.h"

namespace ace {
namespace {

constexpr double kMillisPerHour = 3.6e6;

Error bad(const CsvRow& row, std::string_view column, std::string_view expected, std::string_view got) {
  return {Errc::bad_input, fmt::format("reading the jobs: line {}: {}: expected {}, got \"{}\"", row.line, column,
                                       expected, got.substr(0, 64))};
}

/// The columns that the file has, by what they mean.
class JobsReader {
 public:
  JobsReader(const CsvTable& table, std::optional<double> rate) : table_(&table), rate_(rate) {}

  Result<void> check_header() const {
    for (const char* name : {"name", "earliest", "deadline"})
      if (const Result<std::size_t> found = table_->require(name); !found) return Error(found.error());
    const bool hours = table_->column("gpu_hours").has_value(), tokens = table_->column("tokens").has_value();
    if (hours == tokens)
      return Error(Errc::bad_input, "reading the jobs: expected one of the columns gpu_hours and tokens");
    if (tokens && !(rate_ && *rate_ > 0.0 && std::isfinite(*rate_)))
      return Error(Errc::bad_input,
                   "reading the jobs: work is in tokens; say how many a unit does in an hour at its knee");
    return {};
  }

  Result<DeferrableJob> job(const CsvRow& row) {
    DeferrableJob job;
    job.name = std::string(cell(row, "name"));
    if (job.name.empty() || !names_.insert(job.name).second)
      return bad(row, "name", "a name that no job above has", job.name);
    if (Result<void> read = work(row, job); !read) return Error(read.error());
    for (const auto& [column, into] : {std::pair{"earliest", &job.earliest}, std::pair{"deadline", &job.deadline}}) {
      const Result<Instant> at = parse_rfc3339(cell(row, column));
      if (!at) return bad(row, column, "a time such as 2026-12-01T00:00:00Z", cell(row, column));
      *into = *at;
    }
    if (job.deadline <= job.earliest) return bad(row, "deadline", "a time after earliest", cell(row, "deadline"));
    for (const auto& [column, into] :
         {std::pair{"units_min", &job.units_min}, std::pair{"units_max", &job.units_max}}) {
      const std::string_view text = cell(row, column);
      if (text.empty()) continue;
      const Result<std::int64_t> units = parse_decimal(text, 0);
      if (!units || *units < 1 || *units > 1'000'000) return bad(row, column, "1 to 1000000 units", text);
      *into = *units;
    }
    if (job.units_min > job.units_max)
      return bad(row, "units_max", fmt::format("at least units_min, {}", job.units_min), cell(row, "units_max"));
    if (const std::string_view text = cell(row, "preemptible"); !text.empty()) {
      if (text != "yes" && text != "no") return bad(row, "preemptible", "yes or no", text);
      job.preemptible = text == "yes";
    }
    if (const std::string_view text = cell(row, "restart_s"); !text.empty()) {
      const Result<std::int64_t> ns = parse_decimal_rounded(text, 9);
      if (!ns || *ns < 0) return bad(row, "restart_s", "seconds from 0 up", text);
      job.restart = Duration{*ns};
    }
    return job;
  }

 private:
  [[nodiscard]] std::string_view cell(const CsvRow& row, std::string_view column) const {
    const std::optional<std::size_t> at = table_->column(column);
    return at ? trim(row.fields[*at]) : std::string_view{};
  }

  Result<void> work(const CsvRow& row, DeferrableJob& job) const {
    const bool hours = table_->column("gpu_hours").has_value();
    const std::string_view column = hours ? "gpu_hours" : "tokens", text = cell(row, column);
    const Result<std::int64_t> millionths = parse_decimal_rounded(text, 6);
    if (!millionths || *millionths <= 0) return bad(row, column, "a number above 0", text);
    const double amount = static_cast<double>(*millionths) * 1e-6;
    const double ms = std::ceil((hours ? amount : amount / *rate_) * kMillisPerHour - 1e-6);
    if (!(ms < 3.5e13)) return bad(row, column, "less than 9 million unit-hours", text);
    job.work = std::max<std::int64_t>(1, static_cast<std::int64_t>(ms));
    return {};
  }

  const CsvTable* table_;
  std::optional<double> rate_;
  std::set<std::string> names_;
};

}  // namespace

Result<std::vector<DeferrableJob>> parse_jobs(std::string_view csv, std::optional<double> tokens_per_unit_hour) {
  Result<CsvTable> table = CsvTable::open(csv);
  if (!table) return std::move(table).error().with("reading the jobs");
  JobsReader reader(*table, tokens_per_unit_hour);
  if (Result<void> fine = reader.check_header(); !fine) return Error(fine.error());
  std::vector<DeferrableJob> jobs;
  CsvRow row;
  for (;;) {
    Result<bool> any = table->next(row);
    if (!any) return std::move(any).error().with("reading the jobs");
    if (!*any) break;
    Result<DeferrableJob> job = reader.job(row);
    if (!job) return Error(job.error());
    jobs.push_back(*std::move(job));
  }
  if (jobs.empty()) return Error(Errc::bad_input, "reading the jobs: the file has no jobs");
  return jobs;
}

}  // namespace ace
