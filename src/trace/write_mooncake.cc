#include "trace/write_mooncake.h"

#include <iterator>
#include <vector>

#include <fmt/format.h>

namespace ace {

Result<std::uint64_t> write_mooncake(RequestSource& source, const ByteSink& sink) {
  std::vector<Arrival> batch(1024);
  fmt::memory_buffer out;
  std::uint64_t rows = 0;
  Instant first{};
  for (;;) {
    const Result<std::size_t> got = source.next(batch);
    if (!got) return got.error();
    if (*got == 0) return rows;
    out.clear();
    for (const Arrival& row : std::span(batch).first(*got)) {
      if (rows++ == 0) first = row.at;
      fmt::format_to(std::back_inserter(out),
                     "{{\"timestamp\": {}, \"input_length\": {}, \"output_length\": {}, \"hash_ids\": [",
                     nanos(row.at - first) / 1'000'000, row.prompt, row.output);
      for (std::size_t i = 0; i < row.blocks.size(); ++i) {
        fmt::format_to(std::back_inserter(out), "{}{}", i == 0 ? "" : ", ", row.blocks[i]);
      }
      fmt::format_to(std::back_inserter(out), "]}}\n");
    }
    if (Result<void> sent = sink({out.data(), out.size()}); !sent) return sent.error();
  }
}

}  // namespace ace
