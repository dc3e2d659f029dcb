#pragma once
/// Inside the readers: what all of them share, from order and duplicates to notes.
#include <memory>
#include <string>
#include <vector>

#include "trace/duplicates.h"
#include "trace/rows.h"
#include "trace/window.h"

namespace ace {

/// A log read front to back. A format implements fill().
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
  [[nodiscard]] std::string format() const final { return format_; }
  [[nodiscard]] std::vector<SkippedRows> skipped() const final { return bad_.all(); }
  [[nodiscard]] std::vector<std::string> notes() const final;
  [[nodiscard]] double progress() const final { return window_->progress(); }

 protected:
  /// Rows in the order of the file, 0 at the end; blocks are already spans of builder_.blocks().
  virtual Result<std::size_t> fill(std::span<Arrival> batch) = 0;
  virtual void restart() = 0;
  virtual void add_notes(std::vector<std::string>& notes) const = 0;

  /// Finishes the row in builder_: whole-row checks, duplicates. @param content the raw row, for its digest
  /// @return true if `into` holds a row, false if it was left out and counted
  Result<bool> finish_row(std::int64_t line, std::string_view content, Arrival& into);
  /// After a batch: the spans of its rows over the blocks, by how many each row has.
  void set_blocks(std::span<Arrival> rows, std::span<const std::size_t> ends);

  std::unique_ptr<Window> window_;
  std::string name_, format_;
  bool sort_;
  RowBuilder builder_;
  BadRows bad_;
  std::int64_t row_ = 0;  ///< data rows met so far
  std::vector<std::size_t> block_ends_;

 private:
  Duplicates duplicates_;
  Instant last_{};
  bool any_ = false;
  std::uint64_t backward_ = 0;
  Duration backward_max_{};
};

}  // namespace ace
