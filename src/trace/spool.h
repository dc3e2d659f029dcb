#pragma once
/// A temporary file of requests in columns, for what must be read more than once or in another order.
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/result.h"
#include "replay/source.h"

namespace ace {

/// Rows in blocks of columns. A column that is the same in a whole block takes eight bytes per block, so a row of an
/// Azure log takes 16 bytes, one with model and tenant 24, and each prefix block 4. The file has no name: it is
/// unlinked as soon as it is open, so it is gone whatever ends the process.
class Spool {
 public:
  static constexpr std::size_t kBlockRows = 8192;

  /// @param folder for the file; empty = $TMPDIR, else /tmp
  static Result<std::unique_ptr<Spool>> create(const std::string& folder = {});
  Spool(const Spool&) = delete;
  Spool& operator=(const Spool&) = delete;
  ~Spool();

  /// @return unavailable if the disk is full
  Result<void> append(std::span<const Arrival> rows);
  /// Writes what is pending; blocks written so far can be read.
  Result<void> flush();
  [[nodiscard]] std::size_t block_count() const { return offsets_.size(); }
  [[nodiscard]] std::uint64_t bytes() const { return end_; }
  [[nodiscard]] std::uint64_t rows() const { return rows_; }

  /// Reads a range of blocks front to back. Several may read at once, also from several threads.
  class Cursor {
   public:
    Cursor(const Spool& spool, std::size_t first_block, std::size_t last_block)
        : spool_(&spool), first_(first_block), block_(first_block), last_(last_block) {}
    /// Like RequestSource::next().
    Result<std::size_t> next(std::span<Arrival> batch);
    void rewind() {
      block_ = first_;
      row_ = rows_ = 0;
    }

   private:
    Result<void> load();
    const Spool* spool_;
    std::size_t first_, block_, last_;
    std::vector<char> bytes_;
    std::vector<std::uint32_t> blocks_;
    std::vector<std::size_t> columns_;  ///< where each begins in bytes_
    std::uint32_t varying_ = 0;
    std::size_t row_ = 0, rows_ = 0, blocks_done_ = 0;
  };

 private:
  explicit Spool(int fd) : fd_(fd) {}
  Result<void> write_block();

  int fd_;
  std::vector<Arrival> pending_;
  std::vector<std::uint32_t> pending_blocks_;
  std::vector<char> buffer_;
  struct Place {
    std::uint64_t offset = 0;
    std::size_t size = 0;
  };
  std::vector<Place> offsets_;
  std::uint64_t end_ = 0, rows_ = 0;
};

/// `source`, readable again and again: the first pass writes a spool while it hands on the rows.
Result<std::unique_ptr<RequestSource>> spooled(std::unique_ptr<RequestSource> source);

/// `source`, which may go back in time, in order of time; rows of one instant keep their order. Sorted in runs on disk
/// and merged, so memory stays below 200 MB. Can be rewound.
Result<std::unique_ptr<RequestSource>> sorted(std::unique_ptr<RequestSource> source);

}  // namespace ace
