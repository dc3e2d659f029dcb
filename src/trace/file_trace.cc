#include "trace/file_trace.h"

#include <algorithm>

#include <fmt/core.h>

namespace ace {

Result<std::size_t> FileTrace::next(std::span<Arrival> batch) {
  Result<std::size_t> filled = fill(batch);
  if (!filled) return std::move(filled).error().with(name_);
  for (const Arrival& row : batch.first(*filled)) {
    if (any_ && row.at < last_) [[unlikely]] {
      const Duration step = last_ - row.at;
      if (!sort_) {
        return Error(Errc::bad_input,
                     fmt::format("{}: row {}: time goes back by {:.6f} s, from {} to {}; --sort accepts this", name_,
                                 row.row, to_seconds(step), to_rfc3339(last_), to_rfc3339(row.at)));
      }
      ++backward_;
      backward_max_ = std::max(backward_max_, step);
    }
    any_ = true;
    last_ = row.at;
  }
  return *filled;
}

Result<void> FileTrace::rewind() {
  if (Result<void> back = window_->rewind(); !back) return std::move(back).error().with(name_);
  builder_.restart();
  bad_.restart();
  duplicates_.restart();
  row_ = 0;
  any_ = false;
  backward_ = 0;
  backward_max_ = {};
  restart();
  return {};
}

Result<bool> FileTrace::finish_row(std::int64_t line, std::string_view content, Arrival& into) {
  Result<Arrival> row = builder_.finish();
  if (!row) {
    if (Result<void> rejected = bad_.reject(line, row.error().what(), row.error().code(), row.error().what());
        !rejected) {
      return rejected.error();
    }
    return false;
  }
  if (!builder_.id().empty()) {
    const Duplicates::Answer answer = duplicates_.see(builder_.id(), content, line);
    if (answer.verdict == Duplicates::Verdict::duplicate) {
      bad_.count(line, "exact duplicate of an earlier row with the same id");
      return false;
    }
    if (answer.verdict == Duplicates::Verdict::conflict) {
      const std::string what = fmt::format("the id of line {} with other content", answer.line);
      if (Result<void> rejected = bad_.reject(line, "same id, other content", Errc::conflict, what); !rejected) {
        return rejected.error();
      }
      return false;
    }
  }
  into = *row;
  into.row = row_;
  return true;
}

void FileTrace::set_blocks(std::span<Arrival> rows, std::span<const std::size_t> ends) {
  const std::span<const std::uint32_t> all = builder_.blocks();
  std::size_t begin = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].blocks = all.subspan(begin, ends[i] - begin);
    begin = ends[i];
  }
}

std::vector<std::string> FileTrace::notes() const {
  std::vector<std::string> notes = builder_.notes();
  add_notes(notes);
  if (backward_ > 0) {
    notes.push_back(
        fmt::format("{} rows went back in time, at most by {:.6f} s; sorted", backward_, to_seconds(backward_max_)));
  }
  if (duplicates_.dropped() > 0 || duplicates_.filtered()) {
    notes.push_back(fmt::format("{} exact duplicates dropped ({})", duplicates_.dropped(),
                                duplicates_.forgot()
                                    ? "compared with the last million ids, and by digest with the four "
                                      "million before them"
                                : duplicates_.filtered() ? "exact within a million ids, by digest beyond"
                                                         : "compared with every id"));
  }
  return notes;
}

}  // namespace ace
