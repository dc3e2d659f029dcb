#pragma once
/// Inside the readers: what all of them share, from order and duplicates to notes.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trace/duplicates.h"
#include "trace/rows.h"
#include "trace/window.h"

namespace ace {

/// A log read front to back, in order of time.
class FileTrace : public RequestSource {
 public:
  FileTrace(std::unique_ptr<Window> window, std::string name, const ReadOptions& options, TimeColumn times,
            std::string format)
      : window_(std::move(window)),
        name_(std::move(name)),
        format_(std::move(format)),
        sort_(options.sort),
        builder_(options, times),
        bad_(options.on_bad_row) {}

  Result<std::size_t> next(std::span<Arrival> batch) final;
  Result<void> rewind() final;
  [[nodiscard]] const Interner& models() const final { return builder_.symbols().models(); }
  [[nodiscard]] const Interner& tenants() const final { return builder_.symbols().tenants(); }
  [[nodiscard]] const Interner& teams() const final { return builder_.symbols().teams(); }
  [[nodiscard]] const Interner& providers() const final { return builder_.symbols().providers(); }
  [[nodiscard]] const Interner& projects() const final { return builder_.symbols().projects(); }
  [[nodiscard]] const Interner& keys() const final { return builder_.symbols().keys(); }
  [[nodiscard]] std::string format() const final { return format_; }
  [[nodiscard]] std::vector<SkippedRows> skipped() const final { return bad_.all(); }
  [[nodiscard]] std::vector<std::string> notes() const final;
  [[nodiscard]] double progress() const final { return window_->progress(); }

 protected:
  /// Rows in the order of the file, 0 at the end; their blocks stay valid until the next call.
  virtual Result<std::size_t> fill(std::span<Arrival> batch) = 0;
  virtual void restart() = 0;
  virtual void add_notes(std::vector<std::string>& notes) const = 0;

  std::unique_ptr<Window> window_;
  std::string name_, format_;
  bool sort_;
  RowBuilder builder_;
  BadRows bad_;
  Duplicates duplicates_;
  std::int64_t row_ = 0;  ///< data rows met so far

 private:
  Instant last_{};
  bool any_ = false;
  std::uint64_t backward_ = 0;
  Duration backward_max_{};
};

/// A log with one record for each request. A format implements the reading of one record; bad rows, duplicates and
/// blocks are the same for all.
class RecordTrace : public FileTrace {
 public:
  using FileTrace::FileTrace;

 protected:
  /// What is wrong with a record: a stable phrase to count it by, and the whole story.
  struct BadRecord {
    std::string reason;
    Error error;
  };
  Result<std::size_t> fill(std::span<Arrival> batch) final;
  /// What can be read without care before the next record: a header, rows of a fixed layout. @return rows filled in
  virtual Result<std::size_t> fill_ahead(std::span<Arrival> batch) {
    static_cast<void>(batch);
    return std::size_t{0};
  }
  /// Makes the next record current. @return false at the end
  virtual Result<bool> next_record() = 0;
  /// Its fields into builder_.
  virtual std::optional<BadRecord> set_fields() = 0;
  [[nodiscard]] virtual std::int64_t line() const = 0;
  /// The raw record, for its digest; asked for only if it has an id.
  virtual std::string_view content() = 0;

 private:
  /// Whole-row checks and duplicates. @return false if the row was left out and counted
  Result<bool> finish_row(Arrival& into);

  std::vector<std::size_t> block_ends_;  ///< by row of the batch: how many blocks there are up to its own
};

}  // namespace ace
