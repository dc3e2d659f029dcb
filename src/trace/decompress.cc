#include <algorithm>
#include <cstring>
#include <vector>

#include <fmt/core.h>
#include <zlib.h>
#include <zstd.h>

#include "trace/io.h"

namespace ace {
namespace {

/// Looks at the first bytes once, then unpacks. The buffer of stored bytes is small enough to stay in a core's cache.
class Unpacker : public ByteInput {
 public:
  explicit Unpacker(std::unique_ptr<ByteInput> stored) : stored_(std::move(stored)), buffer_(128U << 10) {}
  Unpacker(const Unpacker&) = delete;
  Unpacker& operator=(const Unpacker&) = delete;
  ~Unpacker() override { release(); }

  Result<std::size_t> read(std::span<char> into) override {
    if (kind_ == Kind::unknown) {
      if (const Result<void> looked = look(); !looked) return looked.error();
    }
    switch (kind_) {
      case Kind::gzip:
        return read_gzip(into);
      case Kind::zstd:
        return read_zstd(into);
      default:
        break;
    }
    if (begin_ == end_) return stored_->read(into);
    const std::size_t n = std::min(into.size(), end_ - begin_);
    std::memcpy(into.data(), buffer_.data() + begin_, n);
    begin_ += n;
    return n;
  }

  Result<void> rewind() override {
    if (Result<void> back = stored_->rewind(); !back) return back;
    release();
    kind_ = Kind::unknown;
    begin_ = end_ = 0;
    stored_ended_ = finished_ = inside_ = false;
    return {};
  }

  [[nodiscard]] double progress() const override { return stored_->progress(); }

 private:
  enum class Kind { unknown, plain, gzip, zstd };

  void release() {
    if (kind_ == Kind::gzip) inflateEnd(&gzip_);
    if (zstd_ != nullptr) ZSTD_freeDStream(zstd_);
    zstd_ = nullptr;
  }

  /// At least one unread stored byte, unless they have ended.
  Result<void> fill() {
    if (begin_ < end_ || stored_ended_) return {};
    begin_ = end_ = 0;
    const Result<std::size_t> got = stored_->read(buffer_);
    if (!got) return got.error();
    end_ = *got;
    stored_ended_ = end_ == 0;
    return {};
  }

  Result<void> look() {
    while (end_ < 4) {
      const Result<std::size_t> got = stored_->read(std::span(buffer_).subspan(end_));
      if (!got) return got.error();
      if (*got == 0) break;
      end_ += *got;
    }
    const auto magic = [&](std::string_view bytes) {
      return std::string_view(buffer_.data(), end_).starts_with(bytes);
    };
    if (magic("\x1f\x8b")) {
      gzip_ = {};
      ACE_CHECK(inflateInit2(&gzip_, 15 + 16) == Z_OK, "zlib could not start");
      kind_ = Kind::gzip;
      inside_ = true;
    } else if (magic("\x28\xb5\x2f\xfd")) {
      zstd_ = ZSTD_createDStream();
      ACE_CHECK(zstd_ != nullptr, "zstd could not start");
      kind_ = Kind::zstd;
      inside_ = true;
    } else {
      kind_ = Kind::plain;
    }
    return {};
  }

  Result<std::size_t> read_gzip(std::span<char> into) {
    gzip_.next_out = reinterpret_cast<Bytef*>(into.data());
    gzip_.avail_out = static_cast<uInt>(std::min<std::size_t>(into.size(), 1U << 30));
    const uInt room = gzip_.avail_out;
    while (gzip_.avail_out == room && !finished_) {
      if (const Result<void> filled = fill(); !filled) return filled.error();
      if (!inside_) {
        if (const Result<void> next = between_members(); !next) return next.error();
        continue;
      }
      if (begin_ == end_) return Error(Errc::truncated, "truncated: the gzip data end inside a member");
      gzip_.next_in = reinterpret_cast<Bytef*>(buffer_.data() + begin_);
      gzip_.avail_in = static_cast<uInt>(end_ - begin_);
      const int status = inflate(&gzip_, Z_NO_FLUSH);
      begin_ = end_ - gzip_.avail_in;
      if (status == Z_STREAM_END) {
        inside_ = false;
      } else if (status != Z_OK && status != Z_BUF_ERROR) {
        return Error(Errc::corrupt,
                     fmt::format("corrupt: gzip says {}", gzip_.msg == nullptr ? "data error" : gzip_.msg));
      }
    }
    return static_cast<std::size_t>(room - gzip_.avail_out);
  }

  /// After a member: another one, zeros to the end (tape padding), or the end. @pre fill() has run
  Result<void> between_members() {
    if (begin_ == end_) {
      finished_ = true;
      return {};
    }
    if (buffer_[begin_] == '\0') {
      padded_ = true;
      ++begin_;
      return {};
    }
    if (padded_ || buffer_[begin_] != '\x1f') return Error(Errc::corrupt, "corrupt: garbage after the gzip data");
    inflateReset(&gzip_);
    inside_ = true;
    return {};
  }

  Result<std::size_t> read_zstd(std::span<char> into) {
    ZSTD_outBuffer out{into.data(), into.size(), 0};
    while (out.pos == 0 && !finished_) {
      if (const Result<void> filled = fill(); !filled) return filled.error();
      if (begin_ == end_ && !inside_) {
        finished_ = true;
        break;
      }
      if (begin_ == end_) return Error(Errc::truncated, "truncated: the zstd data end inside a frame");
      ZSTD_inBuffer in{buffer_.data() + begin_, end_ - begin_, 0};
      const std::size_t status = ZSTD_decompressStream(zstd_, &out, &in);
      if (ZSTD_isError(status) != 0) {
        return Error(Errc::corrupt, fmt::format("corrupt: zstd says {}", ZSTD_getErrorName(status)));
      }
      begin_ += in.pos;
      inside_ = status != 0;
    }
    return out.pos;
  }

  std::unique_ptr<ByteInput> stored_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0;
  Kind kind_ = Kind::unknown;
  bool stored_ended_ = false;
  bool finished_ = false;
  bool inside_ = false;  ///< of a gzip member or a zstd frame
  bool padded_ = false;
  z_stream gzip_{};
  ZSTD_DStream* zstd_ = nullptr;
};

}  // namespace

std::unique_ptr<ByteInput> decompressed(std::unique_ptr<ByteInput> stored) {
  return std::make_unique<Unpacker>(std::move(stored));
}

}  // namespace ace
