/// Jobs are read or refused with a line; what is read can be written down and is read the same.
#include <fmt/format.h>

#include <cstdint>
#include <string_view>

#include "core/check.h"
#include "core/csv.h"
#include "plan/jobs.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ace;
  const std::string_view csv(reinterpret_cast<const char*>(data), size);
  const auto jobs = parse_jobs(csv, 1'000'000.0);
  if (!jobs) {
    ACE_CHECK(!jobs.error().what().empty(), "an error without words");
    return 0;
  }
  std::string again = "name,gpu_hours,earliest,deadline,units_min,units_max,preemptible,restart_s\n";
  for (const DeferrableJob& j : *jobs) {
    std::string name = "\"";
    for (const char c : j.name) name += c == '"' ? std::string("\"\"") : std::string(1, c);
    again +=
        fmt::format("{}\",{:.9f},{},{},{},{},{},{}.{:09}\n", name, static_cast<double>(j.work) / 3.6e6,
                    to_rfc3339(j.earliest), to_rfc3339(j.deadline), j.units_min, j.units_max,
                    j.preemptible ? "yes" : "no", nanos(j.restart) / 1'000'000'000, nanos(j.restart) % 1'000'000'000);
  }
  const auto back = parse_jobs(again);
  ACE_CHECK(back.has_value() && back->size() == jobs->size(), "written jobs cannot be read");
  for (std::size_t i = 0; i < jobs->size(); ++i) {
    DeferrableJob a = (*jobs)[i], b = (*back)[i];
    ACE_CHECK(a.work - b.work <= 4 && b.work - a.work <= 4, "work came back different");  // millionths of an hour
    a.work = b.work;
    ACE_CHECK(a == b, "a job came back different");
  }
  return 0;
}
