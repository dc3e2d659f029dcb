#include <algorithm>
#include <numeric>

#include "trace/spool.h"

namespace ace {
namespace {

/// Everything but the rows comes from the source itself.
class Wrapped : public RequestSource {
 public:
  Wrapped(std::unique_ptr<RequestSource> source, std::unique_ptr<Spool> spool)
      : source_(std::move(source)), spool_(std::move(spool)) {}
  [[nodiscard]] const Interner& models() const final { return source_->models(); }
  [[nodiscard]] const Interner& tenants() const final { return source_->tenants(); }
  [[nodiscard]] const Interner& teams() const final { return source_->teams(); }
  [[nodiscard]] const Interner& providers() const final { return source_->providers(); }
  [[nodiscard]] const Interner& projects() const final { return source_->projects(); }
  [[nodiscard]] const Interner& keys() const final { return source_->keys(); }
  [[nodiscard]] Tokens block_tokens() const final { return source_->block_tokens(); }
  [[nodiscard]] std::string format() const final { return source_->format(); }
  [[nodiscard]] std::vector<SkippedRows> skipped() const final { return source_->skipped(); }
  [[nodiscard]] std::vector<std::string> notes() const final { return source_->notes(); }

 protected:
  std::unique_ptr<RequestSource> source_;
  std::unique_ptr<Spool> spool_;
};

class Spooled : public Wrapped {
 public:
  using Wrapped::Wrapped;

  Result<std::size_t> next(std::span<Arrival> batch) override {
    if (cursor_) return next_stored(batch);
    Result<std::size_t> got = source_->next(batch);
    if (!got) return got;
    if (*got == 0) {
      // The first pass stays at its end until rewind().
      if (Result<void> flushed = spool_->flush(); !flushed) return flushed.error();
      return got;
    }
    if (Result<void> kept = spool_->append(batch.first(*got)); !kept) return kept.error();
    return got;
  }

  Result<void> rewind() override {
    std::vector<Arrival> rest(cursor_ ? 0 : 1024);
    while (!cursor_) {
      const Result<std::size_t> got = next(rest);
      if (!got) return got.error();
      if (*got == 0) cursor_.emplace(*spool_, 0, spool_->block_count());
    }
    cursor_->rewind();
    done_ = 0;
    return {};
  }

  [[nodiscard]] double progress() const override {
    if (!cursor_) return source_->progress();
    return spool_->rows() == 0 ? 1.0 : static_cast<double>(done_) / static_cast<double>(spool_->rows());
  }

 private:
  Result<std::size_t> next_stored(std::span<Arrival> batch) {
    Result<std::size_t> got = cursor_->next(batch);
    if (got) done_ += *got;
    return got;
  }
  std::optional<Spool::Cursor> cursor_;
  std::uint64_t done_ = 0;
};

class Sorted : public Wrapped {
  /// One sorted run on disk, a few rows of it in memory.
  class Run {
   public:
    Run(const Spool& spool, std::size_t first, std::size_t last) : cursor_(spool, first, last), rows_(128) {}
    [[nodiscard]] const Arrival& front() const { return rows_[at_]; }
    Result<bool> advance() {
      if (++at_ < count_) return true;
      Result<std::size_t> got = cursor_.next(rows_);
      if (!got) return std::move(got).error();
      count_ = *got;
      at_ = 0;
      return count_ > 0;
    }
    Result<bool> start() {
      cursor_.rewind();
      at_ = count_ = 0;
      return advance();
    }

   private:
    Spool::Cursor cursor_;
    std::vector<Arrival> rows_;
    std::size_t at_ = 0, count_ = 0;
  };

  /// Runs are in the order of the file, so a tie in time goes to the smaller run.
  [[nodiscard]] auto later() const {
    return [this](std::size_t a, std::size_t b) {
      return std::pair(runs_[a]->front().at, a) > std::pair(runs_[b]->front().at, b);
    };
  }

 public:
  using Wrapped::Wrapped;

  Result<std::size_t> next(std::span<Arrival> batch) override {
    if (!runs_written_) {
      if (Result<void> written = write_runs(); !written) return written.error();
    }
    blocks_.clear();
    ends_.clear();
    std::size_t count = 0;
    while (count < batch.size() && !heap_.empty()) {
      std::pop_heap(heap_.begin(), heap_.end(), later());
      Run& run = *runs_[heap_.back()];
      batch[count] = run.front();
      blocks_.insert(blocks_.end(), run.front().blocks.begin(), run.front().blocks.end());
      ends_.push_back(blocks_.size());
      ++count;
      Result<bool> more = run.advance();
      if (!more) return std::move(more).error();
      if (*more) {
        std::push_heap(heap_.begin(), heap_.end(), later());
      } else {
        heap_.pop_back();
      }
    }
    std::size_t begin = 0;
    for (std::size_t i = 0; i < count; ++i) {
      batch[i].blocks = std::span<const std::uint32_t>(blocks_).subspan(begin, ends_[i] - begin);
      begin = ends_[i];
    }
    done_ += count;
    return count;
  }

  Result<void> rewind() override {
    if (!runs_written_) return write_runs();
    return start();
  }

  [[nodiscard]] double progress() const override {
    if (!runs_written_) return source_->progress() / 2;  // the other half is the merge
    return spool_->rows() == 0 ? 1.0 : 0.5 + 0.5 * static_cast<double>(done_) / static_cast<double>(spool_->rows());
  }

 private:
  static constexpr std::size_t kRunRows = 1U << 18, kRunBlocks = 1U << 24;

  Result<void> start() {
    heap_.clear();
    done_ = 0;
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      Result<bool> any = runs_[i]->start();
      if (!any) return std::move(any).error();
      if (*any) heap_.push_back(i);
    }
    std::make_heap(heap_.begin(), heap_.end(), later());
    return {};
  }

  Result<void> write_runs() {
    std::vector<Arrival> rows, batch(1024);
    std::vector<std::uint32_t> blocks;
    std::vector<std::size_t> ends;
    bool ended = false;
    while (!ended) {
      rows.clear();
      blocks.clear();
      ends.clear();
      while (rows.size() < kRunRows && blocks.size() < kRunBlocks) {
        Result<std::size_t> got = source_->next(batch);
        if (!got) return std::move(got).error();
        ended = *got == 0;
        if (ended) break;
        for (const Arrival& row : std::span(batch).first(*got)) {
          rows.push_back(row);
          blocks.insert(blocks.end(), row.blocks.begin(), row.blocks.end());
          ends.push_back(blocks.size());
        }
      }
      if (Result<void> written = write_run(rows, blocks, ends); !written) return written;
    }
    runs_written_ = true;
    return start();
  }

  Result<void> write_run(std::vector<Arrival>& rows, const std::vector<std::uint32_t>& blocks,
                         const std::vector<std::size_t>& ends) {
    if (rows.empty()) return {};
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::size_t begin = i == 0 ? 0 : ends[i - 1];
      rows[i].blocks = std::span<const std::uint32_t>(blocks).subspan(begin, ends[i] - begin);
    }
    std::stable_sort(rows.begin(), rows.end(), [](const Arrival& a, const Arrival& b) { return a.at < b.at; });
    const std::size_t first = spool_->block_count();
    if (Result<void> kept = spool_->append(rows); !kept) return kept;
    if (Result<void> flushed = spool_->flush(); !flushed) return flushed;
    runs_.push_back(std::make_unique<Run>(*spool_, first, spool_->block_count()));
    return {};
  }

  std::vector<std::unique_ptr<Run>> runs_;
  std::vector<std::size_t> heap_;
  std::vector<std::uint32_t> blocks_;
  std::vector<std::size_t> ends_;
  bool runs_written_ = false;
  std::uint64_t done_ = 0;
};

template <class Wrapper>
Result<std::unique_ptr<RequestSource>> wrapped(std::unique_ptr<RequestSource> source) {
  Result<std::unique_ptr<Spool>> spool = Spool::create();
  if (!spool) return std::move(spool).error();
  return std::unique_ptr<RequestSource>(std::make_unique<Wrapper>(std::move(source), std::move(*spool)));
}

}  // namespace

Result<std::unique_ptr<RequestSource>> spooled(std::unique_ptr<RequestSource> source) {
  return wrapped<Spooled>(std::move(source));
}

Result<std::unique_ptr<RequestSource>> sorted(std::unique_ptr<RequestSource> source) {
  return wrapped<Sorted>(std::move(source));
}

}  // namespace ace
