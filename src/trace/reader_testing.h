#pragma once
/// The law every reader is fuzzed against.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/check.h"
#include "trace/parts.h"
#include "trace/trace.h"

namespace ace {

struct FuzzRead {
  bool good = false;
  std::string rows;  ///< every field of every row
  std::int64_t prompt = 0, output = 0;
  std::uint64_t count = 0;
};

inline FuzzRead fuzz_read(RequestSource& source) {
  FuzzRead read;
  std::vector<Arrival> batch(7);
  for (;;) {
    const Result<std::size_t> got = source.next(batch);
    if (!got) return {};  // rows before an error are no result
    if (*got == 0) break;
    for (std::size_t i = 0; i < *got; ++i) {
      const Arrival& a = batch[i];
      ACE_CHECK(a.prompt >= 0 && a.output >= 0 && parts_fault(a) == nullptr, "counts out of bounds");
      for (const std::int64_t v :
           {nanos(a.at), a.row, std::int64_t{a.prompt}, std::int64_t{a.output}, std::int64_t{a.cached}, a.cost_nano,
            a.duration_us, a.ttft_us, std::int64_t{a.failed}, std::int64_t{a.cache_hit}, std::int64_t{a.cache_write},
            std::int64_t{a.cache_write_1h}, std::int64_t{a.audio_prompt}, std::int64_t{a.image_prompt},
            std::int64_t{a.audio_output}, std::int64_t{a.image_output}}) {
        read.rows += std::to_string(v) + ",";
      }
      read.rows += source.models()[a.model] + "," + source.tenants()[a.tenant];
      for (const std::uint32_t block : a.blocks) read.rows += " " + std::to_string(block);
      read.rows += "\n";
      read.prompt += a.prompt;
      read.output += a.output;
      ++read.count;
    }
    if (read.count > 100'000) return {};  // a usage total may stand for a billion requests
  }
  read.good = true;
  return read;
}

/// Read whole, read in pieces and read again after a rewind give the same rows; the statistics agree with adding them
/// up.
inline void check_reader(TraceFormat format, const std::uint8_t* data, std::size_t size) {
  if (size < 2) return;
  const std::string text(reinterpret_cast<const char*>(data + 2), size - 2);
  ReadOptions options;
  options.format = format;
  options.masks = masks_with(MaskKey{1});
  options.on_bad_row = (data[0] & 1) != 0 ? OnBadRow::skip : OnBadRow::fail;
  // A total of a usage export may stand for a billion requests: nothing to sort on a disk.
  options.sort = (data[0] & 2) != 0 && format != TraceFormat::openai_usage;
  options.tz = "UTC";
  auto whole = read_trace(bytes_of(text), "whole", options);
  auto split = read_trace(bytes_of(text, 1 + data[1]), "split", options);
  ACE_CHECK(whole.has_value() == split.has_value(), "a cut changed whether the trace opens");
  if (!whole) return;
  const FuzzRead want = fuzz_read(**whole), pieces = fuzz_read(**split);
  ACE_CHECK(want.good == pieces.good && want.rows == pieces.rows, "a cut changed the rows");
  if (!want.good) return;
  ACE_CHECK((*whole)->rewind(), "memory can be read again");
  ACE_CHECK(fuzz_read(**whole).rows == want.rows, "reading again gave other rows");
  ACE_CHECK((*whole)->rewind(), "memory can be read again");
  const Result<TraceStats> counted = stats(**whole);
  ACE_CHECK(counted && counted->rows == want.count && counted->prompt.sum() == want.prompt &&
                counted->output.sum() == want.output,
            "the statistics disagree with the sum of the rows");
}

}  // namespace ace
