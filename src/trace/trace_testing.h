#pragma once
/// Test helpers: traces from text, whole or in pieces.
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include "trace/trace.h"

namespace ace {

/// A row as comparable text: every field, names and blocks included.
inline std::string text_of(const Arrival& a, const RequestSource& source) {
  std::string text = std::to_string(nanos(a.at));
  for (const std::int64_t field :
       {a.row, std::int64_t{a.prompt}, std::int64_t{a.output}, std::int64_t{a.reasoning}, std::int64_t{a.cached},
        std::int64_t{a.cache_write}, std::int64_t{a.max_output}, std::int64_t{a.needs}, std::int64_t{a.batch},
        std::int64_t{a.failed}, std::int64_t{a.cache_write_1h}, std::int64_t{a.audio_prompt},
        std::int64_t{a.image_prompt}, std::int64_t{a.audio_output}, std::int64_t{a.image_output},
        std::int64_t{a.cache_hit}, a.cost_nano, a.ttft_us, a.duration_us}) {
    text += " " + std::to_string(field);
  }
  text += " " + source.models()[a.model] + " " + source.tenants()[a.tenant] + " " + source.teams()[a.team];
  text += " " + source.projects()[a.project] + " " + source.keys()[a.key];
  for (const std::uint32_t block : a.blocks) text += " #" + std::to_string(block);
  return text;
}

/// What came of a trace: its rows, or the error.
struct Read {
  std::vector<std::string> rows;
  std::vector<Arrival> arrivals;  ///< without blocks
  std::string error;
  Errc code = Errc::bad_input;
  std::vector<SkippedRows> skipped;
  std::vector<std::string> notes;
  std::string format;
};

/// Options under a fixed key, so that two readings give the same masks.
inline ReadOptions fixed_key(ReadOptions options = {}) {
  options.masks = masks_with(MaskKey{7}, {"gpt-4o"}, {"acme"}, {"search"});
  return options;
}

inline Read read_text(const std::string& text, ReadOptions options = {}, std::size_t piece = ~std::size_t{0}) {
  Read read;
  if (!options.masks.model) options = fixed_key(std::move(options));
  const auto fail = [&](const Error& error) {
    read = {};  // what came before an error is no result
    read.error = error.what();
    read.code = error.code();
    return read;
  };
  auto source = read_trace(bytes_of(text, piece), "t", options);
  if (!source) return fail(source.error());
  std::vector<Arrival> batch(5);  // small and odd, so that its edges fall anywhere
  for (;;) {
    const Result<std::size_t> got = (*source)->next(batch);
    if (!got) return fail(got.error());
    if (*got == 0) break;
    for (std::size_t i = 0; i < *got; ++i) {
      read.rows.push_back(text_of(batch[i], **source));
      read.arrivals.push_back(batch[i]);
      read.arrivals.back().blocks = {};
    }
  }
  read.skipped = (*source)->skipped();
  read.notes = (*source)->notes();
  read.format = (*source)->format();
  return read;
}

inline std::string gzip_of(const std::string& text) {
  z_stream z{};
  EXPECT_EQ(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&z, text.size()) + 64, '\0');
  std::string in = text;
  z.next_in = reinterpret_cast<Bytef*>(in.data());
  z.avail_in = static_cast<uInt>(in.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&z, Z_FINISH), Z_STREAM_END);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

inline constexpr const char* kAzureHeader = "TIMESTAMP,ContextTokens,GeneratedTokens\n";

}  // namespace ace
