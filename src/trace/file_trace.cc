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

Result<std::size_t> RecordTrace::fill(std::span<Arrival> batch) {
  builder_.start_batch();
  block_ends_.clear();
  std::size_t count = 0;
  while (count < batch.size()) {
    const Result<std::size_t> ahead = fill_ahead(batch.subspan(count));
    if (!ahead) return ahead.error();
    count += *ahead;
    block_ends_.insert(block_ends_.end(), *ahead, builder_.block_count());
    if (count == batch.size()) break;
    const Result<bool> got = next_record();
    if (!got) return got.error();
    if (!*got) break;
    ++row_;
    builder_.begin();
    const std::size_t blocks = builder_.block_count();
    Result<bool> good = true;
    if (const std::optional<BadRecord> bad = set_fields()) {
      if (Result<void> rejected = bad_.reject(line(), bad->reason, bad->error.code(), bad->error.what()); !rejected)
        return rejected.error();
      good = false;
    } else {
      good = finish_row(batch[count]);
    }
    if (!good) return good.error();
    if (!*good) {
      builder_.drop_blocks(blocks);
      continue;
    }
    ++count;
    block_ends_.push_back(builder_.block_count());
  }
  std::size_t begin = 0;
  for (std::size_t i = 0; i < count; begin = block_ends_[i++])
    batch[i].blocks = builder_.blocks().subspan(begin, block_ends_[i] - begin);
  return count;
}

Result<bool> RecordTrace::finish_row(Arrival& into) {
  Result<Arrival> row = builder_.finish();
  if (!row) {
    if (Result<void> rejected = bad_.reject(line(), row.error().what(), row.error().code(), row.error().what());
        !rejected) {
      return rejected.error();
    }
    return false;
  }
  if (!builder_.id().empty()) {
    const Duplicates::Answer answer = duplicates_.see(builder_.id(), content(), line());
    if (answer.verdict == Duplicates::Verdict::duplicate) {
      bad_.count(line(), "exact duplicate of an earlier row with the same id");
      return false;
    }
    if (answer.verdict == Duplicates::Verdict::conflict) {
      const std::string what = fmt::format("the id of line {} with other content", answer.line);
      if (Result<void> rejected = bad_.reject(line(), "same id, other content", Errc::conflict, what); !rejected) {
        return rejected.error();
      }
      return false;
    }
  }
  into = *row;
  into.row = row_;
  return true;
}

}  // namespace ace
