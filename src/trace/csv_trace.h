#pragma once
/// Inside the readers: logs that are tables.
#include "trace/csv.h"
#include "trace/file_trace.h"
#include "trace/own_layout.h"

namespace ace {

/// What a CSV format looks like.
struct CsvPlan {
  std::string format;
  std::vector<Column> columns;
  TimeKind time = TimeKind::unknown;
  bool zero_output_failed = false;  ///< BurstGPT: no response tokens is a failure
  bool utc = false;                 ///< naive times are UTC
};

class CsvTrace : public RecordTrace {
 public:
  CsvTrace(std::unique_ptr<Window> window, std::string name, const ReadOptions& options, TimeColumn times,
           CsvPlan plan);
  /// Reads and checks the header. @return bad_input naming what is missing, doubled or looks like data
  Result<void> read_header();

 protected:
  /// The header, and rows of the fixed layout.
  Result<std::size_t> fill_ahead(std::span<Arrival> batch) override;
  Result<bool> next_record() override { return records_.next(); }
  std::optional<BadRecord> set_fields() override;
  [[nodiscard]] std::int64_t line() const override { return records_.line(); }
  std::string_view content() override;
  void restart() override;
  void add_notes(std::vector<std::string>& notes) const override;

 private:
  Result<void> match(std::span<const std::string_view> header);
  /// Rows of exactly "YYYY-MM-DD hh:mm:ss.fffffff,N,N" straight from the window, until anything else comes.
  std::size_t fill_fixed_layout(std::span<Arrival> batch);
  CsvPlan plan_;
  char delimiter_;
  CsvRecords records_;
  std::vector<Column> by_position_;
  std::vector<std::string> extra_;  ///< columns nobody asked for
  bool header_read_ = false;
  bool fixed_layout_ = false;
  std::optional<OwnLayout> own_layout_;
  Arrival blank_;       ///< of the fixed layout: symbols of no name
  char date_[11] = {};  ///< with the blank behind it
  std::int64_t date_nanos_ = 0;
  std::string content_;
};

}  // namespace ace
