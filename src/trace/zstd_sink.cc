#include "trace/zstd_sink.h"

#include <zstd.h>

#include <memory>
#include <string>
#include <vector>

#include "core/check.h"

namespace ace {
namespace {

constexpr int kLevel = 12;

struct Free {
  void operator()(ZSTD_CStream* stream) const { ZSTD_freeCStream(stream); }
};

}  // namespace

Result<std::uint64_t> through_zstd(const ByteSink& sink,
                                   const std::function<Result<std::uint64_t>(const ByteSink&)>& write) {
  const std::unique_ptr<ZSTD_CStream, Free> stream(ZSTD_createCStream());
  ACE_CHECK(stream != nullptr, "no memory for zstd");
  ACE_CHECK(ZSTD_isError(ZSTD_CCtx_setParameter(stream.get(), ZSTD_c_compressionLevel, kLevel)) == 0, "a valid level");
  std::vector<char> room(ZSTD_CStreamOutSize());
  const auto push = [&](std::string_view bytes, ZSTD_EndDirective how) -> Result<void> {
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    while (true) {
      ZSTD_outBuffer out{room.data(), room.size(), 0};
      const std::size_t left = ZSTD_compressStream2(stream.get(), &out, &in, how);
      if (ZSTD_isError(left) != 0) return Error{Errc::unavailable, std::string("zstd: ") + ZSTD_getErrorName(left)};
      if (out.pos > 0)
        if (auto sent = sink({room.data(), out.pos}); !sent) return sent;
      if (how == ZSTD_e_end ? left == 0 : in.pos == in.size) return {};
    }
  };
  auto written = write([&](std::string_view bytes) { return push(bytes, ZSTD_e_continue); });
  if (!written) return written;
  if (auto ended = push({}, ZSTD_e_end); !ended) return std::move(ended).error();
  return written;
}

}  // namespace ace
