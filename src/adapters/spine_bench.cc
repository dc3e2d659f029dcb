/// What the spine takes on this disk. Events are made beforehand; each is durable before its iteration counts as done.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <thread>

#include "adapters/spine_writer.h"
#include "adapters/wall_clock.h"
#include "spine/record_testing.h"

namespace ace {
namespace {

struct Folder {
  std::string path = std::filesystem::current_path() / "spine_bench_log";
  Folder() { std::filesystem::remove_all(path); }
  ~Folder() { std::filesystem::remove_all(path); }
};

/// A lone fdatasync after 4 KiB into allocated space: what every group commit waits for.
void sync_latency(benchmark::State& state) {
  const Folder folder;
  std::filesystem::create_directory(folder.path);
  const int fd = ::open((folder.path + "/file").c_str(), O_RDWR | O_CREAT, 0600);
  if (fd < 0 || ::posix_fallocate(fd, 0, 1 << 24) != 0) return state.SkipWithError("no file");
  const std::string page(4096, 'x');
  off_t at = 0;
  for (auto _ : state) {
    if (::pwrite(fd, page.data(), page.size(), at) < 0 || ::fdatasync(fd) != 0) return state.SkipWithError("no sync");
    at = (at + 4096) % (1 << 24);
  }
  ::close(fd);
}
BENCHMARK(sync_latency)->Unit(benchmark::kMicrosecond)->UseRealTime();

/// Requests of five events and a decision over 16 candidates, through a spool, chained, signed and synced in groups.
void append_durable(benchmark::State& state) {
  const Folder folder;
  WallClock clock;
  const spine::Signer signer = spine::Signer::generate();
  spine::StoreOptions options;
  options.log.signer = &signer;
  options.spool_bytes = 16U << 20;
  auto writer = *SpineWriter::open(folder.path, options, clock);
  writer->on_settled([](std::uint32_t, std::uint64_t, const spine::Appended&) {});
  Rng rng(1, "bench");
  constexpr std::size_t kBatch = 100'000;
  std::uint64_t bytes = 0, events = 0;
  for (auto _ : state) {
    state.PauseTiming();
    std::vector<std::pair<event::Key, std::string>> batch;
    batch.reserve(kBatch);
    while (batch.size() < kBatch) {
      const RequestId id = make_request_id(clock.now(), rng);
      for (const std::size_t kind : {0U, 1U, 2U, 3U, 4U}) {
        event::Record record = event::gen::record_of(kind, rng);
        std::visit(
            [&](auto& e) {
              if constexpr (requires { e.id = id; }) e.id = id;
            },
            record.event);
        if (kind == 1) record.evidence.live.resize(16);
        batch.emplace_back(event::key_of(record), *event::encode(record));
        bytes += spine::frame_size(batch.back().second.size());
      }
    }
    events += batch.size();
    state.ResumeTiming();
    for (const auto& [key, event] : batch)
      while (!writer->append(0, key, event)) std::this_thread::yield();
    if (!writer->flush()) return state.SkipWithError("no flush");
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(events));
  state.counters["bytes_per_event"] = static_cast<double>(bytes) / static_cast<double>(events);
  state.counters["bytes_per_request"] = 5.0 * static_cast<double>(bytes) / static_cast<double>(events);
}
BENCHMARK(append_durable)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace ace
