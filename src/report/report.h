#pragma once
/// An analysis as people and machines read it: a terminal page, one JSON object, one HTML file.
#include <string>
#include <string_view>
#include <vector>

#include "replay/replay.h"
#include "report/step_chart.h"

namespace ace {

/// What a spine says happened beside what this run says would have.
struct Comparison {
  const Realised* realised = nullptr;
  const Experiences* predicted = nullptr;
};

/// How the log was read, as the shell was told; with the options and the two files all that a report follows from.
struct HowRead {
  std::string format, columns, tz, delimiter = ",", on_bad_row = "fail";
  bool sort = false;
  bool salted = false;      ///< undeclared names have the same mask in every run
  std::string gaps_digest;  ///< of the file of gaps; empty = none
};

/// What a report is made of; values are borrowed for the length of the call.
struct ReportInput {
  const Snapshot* fleet = nullptr;
  const Analysis* analysis = nullptr;
  std::string trace_name, fleet_name;      ///< as the person gave them, without folders
  AnalyzeOptions options;                  ///< how it was made
  const Comparison* comparison = nullptr;  ///< null if the requests come from no spine
  HowRead read;
};

/// The whole report as one JSON object: keys carry units, money is decimal strings, times are RFC 3339. docs/REPORT.md
/// has the schema; "schema" names its version. The same input gives the same bytes.
std::string to_json(const ReportInput& input);

/// A page a FinOps lead can read aloud. Everything on it is read from the JSON, so the two cannot differ.
/// @param json as to_json() printed it
std::string to_terminal(std::string_view json);

/// One self-contained HTML file: the page of ui/dist with the JSON as its one data block, `<` escaped.
std::string to_html(std::string_view json);

/// Compares two reports field by field; returns the first differences as "path: the report has ..., recomputed ...".
std::vector<std::string> compare_reports(std::string_view expected_json, std::string_view got_json);

}  // namespace ace
