/// How fast logs become requests, from memory. Each prints a hash of what it read beside its speed.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "core/hash.h"
#include "core/rng.h"
#include "trace/trace.h"

namespace ace {
namespace {

/// An Azure-shaped CSV of `rows` rows, 37 bytes each on average.
std::string azure_csv(std::int64_t rows) {
  Rng rng(1, "bench");
  std::string text = "TIMESTAMP,ContextTokens,GeneratedTokens\n";
  std::int64_t at = 1'700'000'000'000'000'000;
  for (std::int64_t i = 0; i < rows; ++i) {
    at += rng.between(0, 4'000'000) * 100;
    const Civil c = civil_of(instant(at));
    fmt::format_to(std::back_inserter(text), "{:04}-{:02}-{:02} {:02}:{:02}:{:02}.{:07},{},{}\n", c.year, c.month,
                   c.day, c.hour, c.minute, c.second, c.nano / 100, rng.between(1, 7'500), rng.between(1, 500));
  }
  return text;
}

std::string mooncake_jsonl(std::int64_t rows) {
  Rng rng(1, "bench");
  std::string text;
  for (std::int64_t i = 0; i < rows; ++i) {
    fmt::format_to(std::back_inserter(text),
                   "{{\"timestamp\": {}, \"input_length\": {}, \"output_length\": {}, \"hash_ids\": [0", i * 7,
                   rng.between(1, 9'999), rng.between(1, 500));
    for (int block = 0; block < 12; ++block) fmt::format_to(std::back_inserter(text), ", {}", rng.below(200'000));
    text += "]}\n";
  }
  return text;
}

void read_all(benchmark::State& state, const std::string& text, bool counted) {
  auto opened = read_trace(bytes_of(text), "bench");
  ACE_CHECK(opened, "the benchmark's own trace opens");
  RequestSource& source = **opened;
  std::vector<Arrival> batch(512);
  std::uint64_t hash = 0, rows = 0;
  for (auto _ : state) {
    ACE_CHECK(source.rewind(), "memory can be read again");
    if (counted) {
      const Result<TraceStats> got = stats(source);
      ACE_CHECK(got, "the benchmark's own trace is good");
      hash = mix(static_cast<std::uint64_t>(got->prompt.sum()), static_cast<std::uint64_t>(got->output.sum()));
      rows += got->rows;
      continue;
    }
    std::uint64_t prompt = 0, output = 0;
    for (;;) {
      const Result<std::size_t> got = source.next(batch);
      ACE_CHECK(got, "the benchmark's own trace is good");
      if (*got == 0) break;
      for (std::size_t i = 0; i < *got; ++i) {
        prompt += static_cast<std::uint64_t>(batch[i].prompt);
        output += static_cast<std::uint64_t>(batch[i].output);
      }
      rows += *got;
    }
    hash = mix(prompt, output);
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(text.size()) * static_cast<std::int64_t>(state.iterations()));
  state.SetItemsProcessed(static_cast<std::int64_t>(rows));
  state.SetLabel(fmt::format("hash {:016x}", hash));
}

void azure_parse(benchmark::State& state) { read_all(state, azure_csv(state.range(0)), false); }
void azure_stats(benchmark::State& state) { read_all(state, azure_csv(state.range(0)), true); }
void mooncake_parse(benchmark::State& state) { read_all(state, mooncake_jsonl(state.range(0)), false); }
void careful_csv_parse(benchmark::State& state) {
  std::string text = azure_csv(state.range(0));
  text.replace(0, text.find('\n'), "TIMESTAMP,GeneratedTokens,ContextTokens");  // another order: not the fixed layout
  read_all(state, text, false);
}

BENCHMARK(azure_parse)->Arg(1 << 12)->Arg(1 << 20);
BENCHMARK(azure_stats)->Arg(1 << 12)->Arg(1 << 20);
BENCHMARK(careful_csv_parse)->Arg(1 << 12)->Arg(1 << 20);
BENCHMARK(mooncake_parse)->Arg(1 << 12)->Arg(1 << 17);

}  // namespace
}  // namespace ace
