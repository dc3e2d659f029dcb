#include <algorithm>
#include <array>
#include <limits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "trace/binary.h"
#include "trace/binary_frame.h"
#include "trace/parts.h"
#include "trace/rows.h"

namespace ace {
namespace {

using namespace binary;

class BinarySource final : public RequestSource {
 public:
  BinarySource(Window window, const ReadOptions& options) : window_(std::move(window)), symbols_(options) {
    window_.set_record_max(kFrameMax + 8);
    forget_names();
  }

  /// Magic and head.
  Result<void> open() {
    if (auto there = need(kBinaryMagic.size()); !there) return there;
    if (!window_.view().starts_with(kBinaryMagic)) return corrupt("expected the magic bytes \"ACEtrc1\"");
    window_.consume(kBinaryMagic.size());
    const auto kind = frame();
    if (!kind) return kind.error();
    if (*kind != kHead || payload_.size() < 4) return corrupt("expected a head frame first");
    block_tokens_ = get<std::uint32_t>(payload_, 0);
    if (block_tokens_ == 0 || block_tokens_ > (1U << 20)) return corrupt("expected 1 to 2^20 tokens per block");
    format_ = std::string(payload_.substr(4));
    done();
    return {};
  }

  Result<std::size_t> next(std::span<Arrival> batch) override {
    if (batch.empty()) return std::size_t{0};
    while (row_ == rows_in_frame_ && !ended_) {
      if (auto fine = step(); !fine) return std::move(fine).error();
    }
    if (ended_) return std::size_t{0};
    blocks_.clear();
    ends_.clear();
    const std::size_t n = std::min<std::size_t>(batch.size(), rows_in_frame_ - row_);
    for (std::size_t i = 0; i < n; ++i)
      if (auto fine = read_row(batch[i]); !fine) return std::move(fine).error();
    std::size_t begin = 0;
    if (!blocks_.empty())
      for (std::size_t i = 0; i < n; ++i) {
        batch[i].blocks = std::span(blocks_).subspan(begin, ends_[i] - begin);
        begin = ends_[i];
      }
    if (row_ == rows_in_frame_ && extra_at_ != payload_.size()) return corrupt("extras longer than their rows say");
    return n;
  }

  Result<void> rewind() override {
    if (auto back = window_.rewind(); !back) return back;
    payload_ = {};
    frame_bytes_ = 0;
    rows_in_frame_ = row_ = 0;
    count_ = checksum_ = 0;
    ended_ = false;
    last_at_ = std::numeric_limits<std::int64_t>::min();
    forget_names();
    classes_.clear();
    return open();
  }

  [[nodiscard]] const Interner& models() const override { return symbols_.models(); }
  [[nodiscard]] const Interner& tenants() const override { return symbols_.tenants(); }
  [[nodiscard]] const Interner& teams() const override { return symbols_.teams(); }
  [[nodiscard]] const Interner& projects() const override { return symbols_.projects(); }
  [[nodiscard]] const Interner& keys() const override { return symbols_.keys(); }
  [[nodiscard]] Tokens block_tokens() const override { return Tokens{block_tokens_}; }
  [[nodiscard]] std::string format() const override { return format_; }
  [[nodiscard]] double progress() const override { return window_.progress(); }

 private:
  [[nodiscard]] Error corrupt(std::string_view what) const {
    return Error{Errc::corrupt, fmt::format("ACE trace after row {}: {}", count_, what)};
  }

  Result<void> need(std::size_t bytes) {
    while (window_.view().size() < bytes) {
      const auto more = window_.more();
      if (!more) return more.error();
      if (!*more)
        return Error{Errc::truncated, fmt::format("ACE trace after row {}: it ends before its end frame", count_)};
    }
    return {};
  }

  /// Makes the next frame current. @return its kind
  Result<std::uint32_t> frame() {
    if (auto there = need(8); !there) return std::move(there).error();
    const auto kind = get<std::uint32_t>(window_.view(), 0);
    const std::size_t bytes = get<std::uint32_t>(window_.view(), 4);
    if (kind < kHead || kind > kEnd || bytes > kFrameMax) return corrupt("no frame of this format");
    if (auto there = need(8 + bytes); !there) return std::move(there).error();
    frame_bytes_ = 8 + bytes;
    payload_ = window_.view().substr(8, bytes);
    if (kind != kEnd) checksum_ = check(checksum_, window_.view().substr(0, frame_bytes_));
    return kind;
  }
  void forget_names() {
    names_ = {};
    names_[3] = names_[4] = {0};  // the stream does not say ""
  }
  void done() {
    window_.consume(frame_bytes_);
    frame_bytes_ = 0;
    payload_ = {};
  }

  /// Reads one frame; leaves a rows frame current.
  Result<void> step() {
    if (frame_bytes_ != 0) done();
    const auto kind = frame();
    if (!kind) return kind.error();
    switch (*kind) {
      case kName: {
        if (payload_.size() < 4) return corrupt("short name frame");
        const auto table = get<std::uint32_t>(payload_, 0);
        if (table >= kTables) return corrupt("name of no table");
        const std::string_view raw = payload_.substr(4);
        const auto symbol = table == 0   ? symbols_.model(raw)
                            : table == 1 ? symbols_.tenant(raw)
                            : table == 2 ? symbols_.team(raw)
                            : table == 3 ? symbols_.project(raw)
                                         : symbols_.key(raw);
        if (!symbol) return symbol.error();
        names_[table].push_back(*symbol);
        break;
      }
      case kClass: {
        if (payload_.size() != 20 && payload_.size() != 28) return corrupt("class frame of another length");
        const auto part = [this](std::size_t i) {
          return 4 * i < payload_.size() ? get<std::uint32_t>(payload_, 4 * i) : 0U;
        };
        for (std::size_t table = 0; table < 3; ++table)
          if (part(table) >= names_[table].size()) return corrupt("a class refers to a name that is not there");
        if (part(5) >= names_[3].size() || part(6) >= names_[4].size())
          return corrupt("a class refers to a project or key that is not there");
        if (part(4) > (kBatch | kFailed | kCacheHit)) return corrupt("flags of no meaning");
        classes_.push_back({names_[0][part(0)], names_[1][part(1)], names_[2][part(2)], part(3), part(4),
                            names_[3][part(5)], names_[4][part(6)]});
        break;
      }
      case kRows: {
        if (payload_.size() < 16) return corrupt("short rows frame");
        first_row_ = get<std::int64_t>(payload_, 0);
        rows_in_frame_ = get<std::uint32_t>(payload_, 8);
        row_ = 0;
        if (first_row_ < 0 || rows_in_frame_ > (payload_.size() - 16) / kRowBytes)
          return corrupt("a rows frame shorter than its rows");
        extra_at_ = 16 + rows_in_frame_ * kRowBytes;
        return {};  // stays current
      }
      case kEnd: {
        if (payload_.size() != 16 || get<std::uint64_t>(payload_, 0) != count_)
          return corrupt("another number of rows");
        if (get<std::uint64_t>(payload_, 8) != checksum_) return corrupt("the checksum differs");
        done();
        const auto more = window_.view().empty() ? window_.more() : Result<bool>{true};
        if (!more) return more.error();
        if (*more) return corrupt("bytes after the end frame");
        ended_ = true;
        return {};
      }
      default:
        return corrupt("a second head frame");
    }
    done();
    return {};
  }

  template <class T>
  bool take(T& into) {
    if (payload_.size() - extra_at_ < sizeof(T)) return false;
    into = get<T>(payload_, extra_at_);
    extra_at_ += sizeof(T);
    return true;
  }

  Result<void> read_row(Arrival& a) {
    const std::size_t at = 16 + row_ * kRowBytes;
    a = Arrival{};
    const auto when = get<std::int64_t>(payload_, at);
    a.at = instant(when);
    a.prompt = get<std::int32_t>(payload_, at + 8);
    a.output = get<std::int32_t>(payload_, at + 12);
    const auto kind = get<std::uint32_t>(payload_, at + 16);
    const auto limit = get<std::uint32_t>(payload_, at + 20);
    if (kind >= classes_.size()) return corrupt("a row of no class");
    if (when < last_at_) return corrupt("time goes backwards");
    if (a.prompt < 0 || a.output < 0) return corrupt("a negative number of tokens");
    last_at_ = when;
    const Class& entry = classes_[kind];
    a.model = entry.model;
    a.tenant = entry.tenant;
    a.team = entry.team;
    a.project = entry.project;
    a.key = entry.key;
    a.needs = entry.needs;
    a.batch = (entry.flags & kBatch) != 0;
    a.failed = (entry.flags & kFailed) != 0;
    a.cache_hit = (entry.flags & kCacheHit) != 0;
    a.max_output = static_cast<std::int32_t>(limit & ~kHasExtras);
    a.row = first_row_ + static_cast<std::int64_t>(row_);
    if ((limit & kHasExtras) != 0 && !read_extras(a)) return corrupt("extras that do not fit");
    ends_.push_back(blocks_.size());
    ++row_;
    ++count_;
    return {};
  }

  bool read_extras(Arrival& a) {
    std::uint32_t mask = 0;
    if (!take(mask) || mask > kExtraMax) return false;
    if ((mask & kRowNumber) && !take(a.row)) return false;
    if ((mask & kReasoningTokens) && !take(a.reasoning)) return false;
    if ((mask & kCachedTokens) && !take(a.cached)) return false;
    if ((mask & kCacheWriteTokens) && !take(a.cache_write)) return false;
    if ((mask & kCost) && !take(a.cost_nano)) return false;
    if ((mask & kTtft) && !take(a.ttft_us)) return false;
    if ((mask & kDuration) && !take(a.duration_us)) return false;
    if (a.row < 0 || a.reasoning < 0 || a.cached < -1 || a.cache_write < 0) return false;
    if (mask & kBlocks) {
      std::uint32_t n = 0;
      if (!take(n) || n > (payload_.size() - extra_at_) / 4) return false;
      const std::size_t begin = blocks_.size();
      blocks_.resize(begin + n);
      if (n > 0) std::memcpy(blocks_.data() + begin, payload_.data() + extra_at_, std::size_t{n} * 4);
      extra_at_ += std::size_t{n} * 4;
    }
    if (mask & kParts)
      for (const Part& part : kRareParts)
        if (!take(a.*part.member) || a.*part.member < 0) return false;
    return parts_fault(a) == nullptr;
  }

  Window window_;
  std::string_view payload_;     ///< of the current frame
  std::size_t frame_bytes_ = 0;  ///< of the current frame, 0 = none
  std::int64_t first_row_ = 0;
  std::size_t rows_in_frame_ = 0, row_ = 0, extra_at_ = 0;
  std::uint64_t count_ = 0, checksum_ = 0;
  std::int64_t last_at_ = std::numeric_limits<std::int64_t>::min();
  bool ended_ = false;
  std::uint32_t block_tokens_ = 512;
  std::string format_;
  Symbols symbols_;
  std::array<std::vector<std::uint32_t>, kTables> names_;  ///< the stream's numbers to symbols
  std::vector<Class> classes_;
  std::vector<std::uint32_t> blocks_;
  std::vector<std::size_t> ends_;
};

}  // namespace

Result<std::unique_ptr<RequestSource>> open_binary(Window window, const ReadOptions& options) {
  auto source = std::make_unique<BinarySource>(std::move(window), options);
  if (auto fine = source->open(); !fine) return std::move(fine).error();
  return std::unique_ptr<RequestSource>(std::move(source));
}

}  // namespace ace
