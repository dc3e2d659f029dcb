#include "trace/spool.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fmt/core.h>

namespace ace {
namespace {

/// Calls visit(number, member) for every stored column, always in this order: it is the layout of a block.
template <class Visit>
void for_each_column(Visit visit) {
  visit(0, [](auto& row) -> auto& { return row.at; });
  visit(1, [](auto& row) -> auto& { return row.prompt; });
  visit(2, [](auto& row) -> auto& { return row.output; });
  visit(3, [](auto& row) -> auto& { return row.model; });
  visit(4, [](auto& row) -> auto& { return row.tenant; });
  visit(5, [](auto& row) -> auto& { return row.team; });
  visit(6, [](auto& row) -> auto& { return row.reasoning; });
  visit(7, [](auto& row) -> auto& { return row.cached; });
  visit(8, [](auto& row) -> auto& { return row.cache_write; });
  visit(9, [](auto& row) -> auto& { return row.max_output; });
  visit(10, [](auto& row) -> auto& { return row.needs; });
  visit(11, [](auto& row) -> auto& { return row.batch; });
  visit(12, [](auto& row) -> auto& { return row.failed; });
  visit(13, [](auto& row) -> auto& { return row.cost_nano; });
  visit(14, [](auto& row) -> auto& { return row.ttft_us; });
  visit(15, [](auto& row) -> auto& { return row.duration_us; });
  visit(16, [](auto& row) -> auto& { return row.cache_write_1h; });
  visit(17, [](auto& row) -> auto& { return row.audio_prompt; });
  visit(18, [](auto& row) -> auto& { return row.image_prompt; });
  visit(19, [](auto& row) -> auto& { return row.audio_output; });
  visit(20, [](auto& row) -> auto& { return row.image_output; });
  visit(21, [](auto& row) -> auto& { return row.cache_hit; });
  visit(22, [](auto& row) -> auto& { return row.id; });
  visit(23, [](auto& row) -> auto& { return row.provider; });
  visit(24, [](auto& row) -> auto& { return row.project; });
  visit(25, [](auto& row) -> auto& { return row.key; });
}
// Two more columns have rules of their own: the row number, which is left out where rows follow one another, and how
// many prefix blocks a row has.
constexpr unsigned kRowColumn = 26, kBlocksColumn = 27, kColumns = 28;

struct Head {
  std::uint32_t rows = 0;
  std::uint32_t varying = 0;  ///< bit i: column i has a value per row
  std::uint64_t blocks = 0;
};

template <class T>
void put(std::vector<char>& buffer, const T& value) {
  const std::size_t at = buffer.size();
  buffer.resize(at + sizeof(T));
  std::memcpy(buffer.data() + at, &value, sizeof(T));
}

template <class T>
T get(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

Error disk(const char* doing) {
  return Error(Errc::unavailable,
               fmt::format("{} the spool: {}; TMPDIR may name a folder with more room", doing, std::strerror(errno)));
}

}  // namespace

Result<std::unique_ptr<Spool>> Spool::create(const std::string& folder) {
  const char* const set = std::getenv("TMPDIR");
  const std::string where = !folder.empty() ? folder : set != nullptr && *set != '\0' ? set : "/tmp";
  int fd = ::open(where.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0) {  // a file system without O_TMPFILE
    std::string path = where + "/ace-spool-XXXXXX";
    fd = ::mkostemp(path.data(), O_CLOEXEC);
    if (fd < 0) return disk("opening");
    ::unlink(path.c_str());
  }
  return std::unique_ptr<Spool>(new Spool(fd));
}

Spool::~Spool() { ::close(fd_); }

Result<void> Spool::append(std::span<const Arrival> rows) {
  for (const Arrival& row : rows) {
    pending_.push_back(row);
    pending_blocks_.insert(pending_blocks_.end(), row.blocks.begin(), row.blocks.end());
    // A block is bounded in rows and in bytes.
    if (pending_.size() == kBlockRows || pending_blocks_.size() >= (1U << 20)) {
      if (Result<void> written = write_block(); !written) return written;
    }
  }
  return {};
}

Result<void> Spool::flush() { return pending_.empty() ? Result<void>() : write_block(); }

Result<void> Spool::write_block() {
  buffer_.clear();
  Head head{.rows = static_cast<std::uint32_t>(pending_.size()), .varying = 0, .blocks = pending_blocks_.size()};
  put(buffer_, head);
  const Arrival& first = pending_.front();
  for_each_column([&](unsigned number, auto member) {
    bool same = true;
    for (const Arrival& row : pending_) same = same && member(row) == member(first);
    if (same) {
      put(buffer_, member(first));
      return;
    }
    head.varying |= 1U << number;
    for (const Arrival& row : pending_) put(buffer_, member(row));
  });
  bool consecutive = true, same_blocks = true;
  for (std::size_t i = 0; i < pending_.size(); ++i) {
    consecutive = consecutive && pending_[i].row == first.row + static_cast<std::int64_t>(i);
    same_blocks = same_blocks && pending_[i].blocks.size() == first.blocks.size();
  }
  if (!consecutive) head.varying |= 1U << kRowColumn;
  for (const Arrival& row : std::span(pending_).first(consecutive ? 1 : pending_.size())) put(buffer_, row.row);
  if (!same_blocks) head.varying |= 1U << kBlocksColumn;
  for (const Arrival& row : std::span(pending_).first(same_blocks ? 1 : pending_.size())) {
    put(buffer_, static_cast<std::uint32_t>(row.blocks.size()));
  }
  const std::size_t at = buffer_.size();
  buffer_.resize(at + pending_blocks_.size() * sizeof(std::uint32_t));
  if (!pending_blocks_.empty()) {
    std::memcpy(buffer_.data() + at, pending_blocks_.data(), pending_blocks_.size() * sizeof(std::uint32_t));
  }
  std::memcpy(buffer_.data(), &head, sizeof head);
  for (std::size_t done = 0; done < buffer_.size();) {
    const ssize_t wrote = ::pwrite(fd_, buffer_.data() + done, buffer_.size() - done, static_cast<off_t>(end_ + done));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return disk("writing");
    done += static_cast<std::size_t>(wrote);
  }
  offsets_.push_back({end_, buffer_.size()});
  end_ += buffer_.size();
  rows_ += pending_.size();
  pending_.clear();
  pending_blocks_.clear();
  return {};
}

Result<void> Spool::Cursor::load() {
  const Place place = spool_->offsets_[block_++];
  bytes_.resize(place.size);
  for (std::size_t done = 0; done < place.size;) {
    const ssize_t got =
        ::pread(spool_->fd_, bytes_.data() + done, place.size - done, static_cast<off_t>(place.offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return disk("reading");
    done += static_cast<std::size_t>(got);
  }
  const auto head = get<Head>(bytes_.data());
  rows_ = head.rows;
  row_ = 0;
  varying_ = head.varying;
  std::size_t at = sizeof(Head);
  columns_.assign(kColumns, 0);
  const auto place_column = [&](unsigned number, std::size_t width) {
    columns_[number] = at;
    at += width * ((varying_ >> number & 1U) != 0 ? rows_ : 1);
  };
  for_each_column(
      [&](unsigned number, auto member) { place_column(number, sizeof(member(std::declval<Arrival&>()))); });
  place_column(kRowColumn, sizeof(std::int64_t));
  place_column(kBlocksColumn, sizeof(std::uint32_t));
  blocks_.resize(head.blocks);
  if (head.blocks > 0) std::memcpy(blocks_.data(), bytes_.data() + at, head.blocks * sizeof(std::uint32_t));
  blocks_done_ = 0;
  return {};
}

Result<std::size_t> Spool::Cursor::next(std::span<Arrival> batch) {
  if (row_ == rows_) {
    if (block_ == last_) return std::size_t{0};
    if (Result<void> loaded = load(); !loaded) return loaded.error();
  }
  // Never beyond one stored block, so that the prefix blocks of a batch stay in place.
  const std::span<Arrival> rows = batch.first(std::min(batch.size(), rows_ - row_));
  for_each_column([&](unsigned number, auto member) {
    using T = std::remove_cvref_t<decltype(member(rows.front()))>;
    const char* const column = bytes_.data() + columns_[number];
    if ((varying_ >> number & 1U) == 0) {
      const T value = get<T>(column);
      for (Arrival& row : rows) member(row) = value;
    } else {
      for (std::size_t i = 0; i < rows.size(); ++i) member(rows[i]) = get<T>(column + (row_ + i) * sizeof(T));
    }
  });
  const bool row_stored = (varying_ >> kRowColumn & 1U) != 0, count_stored = (varying_ >> kBlocksColumn & 1U) != 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::size_t at = row_ + i;
    rows[i].row =
        get<std::int64_t>(bytes_.data() + columns_[kRowColumn] + (row_stored ? at * sizeof(std::int64_t) : 0)) +
        (row_stored ? 0 : static_cast<std::int64_t>(at));
    const auto count =
        get<std::uint32_t>(bytes_.data() + columns_[kBlocksColumn] + (count_stored ? at * sizeof(std::uint32_t) : 0));
    rows[i].blocks = std::span<const std::uint32_t>(blocks_).subspan(blocks_done_, count);
    blocks_done_ += count;
  }
  row_ += rows.size();
  return rows.size();
}

}  // namespace ace
