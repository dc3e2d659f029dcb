/// How many events a second are checked: their bytes, chain and tree; and with every decision made again. One thread.
#include <benchmark/benchmark.h>

#include "ledger/spine_testing.h"
#include "replay/recorded_testing.h"
#include "spine/spine.h"
#include "verify/verify.h"

namespace ace::verify {
namespace {

constexpr Instant kNow = instant(1'800'000'000'000'000'000);

/// A run of the test world on a log in memory: about seven events a request.
struct Log {
  std::unique_ptr<Fleet> fleet = replay_testing::world();
  Snapshot snapshot{*fleet};
  spine::Signer signer = *spine::Signer::from_seed(std::string(32, 'b'));
  spine::MemoryDisk disk;
  std::uint64_t events = 0, bytes = 0;

  explicit Log(std::size_t requests) {
    spine::LogOptions options;
    options.signer = &signer;
    spine::Recovery recovery;
    spine::Log log = *spine::Log::open(disk, options, kNow, recovery);
    replay_testing::MemorySource source = replay_testing::requests(requests);
    std::vector<event::Record> records = replay_testing::recorded(snapshot, source);
    event::Record fleet_record;
    fleet_record.id = {5, 1};
    fleet_record.snapshot = fleet->number;
    fleet_record.event = ledger_testing::in_force(*fleet, event::FleetChanged::Source::simulated);
    records.insert(records.begin(), std::move(fleet_record));
    for (const event::Record& record : records) {
      const std::string event = *event::encode(record);
      ACE_CHECK(log.append(event::key_of(record), event, kNow).has_value(), "an event was refused");
      bytes += spine::frame_size(event.size());
      if (++events % 1000 == 0) ACE_CHECK(log.commit(kNow).has_value(), "a batch was refused");
    }
    ACE_CHECK(log.checkpoint(kNow).has_value() && log.commit(kNow).has_value(), "the log did not end");
  }
};

Log& log_of(benchmark::State& state) {
  static std::map<std::int64_t, std::unique_ptr<Log>> logs;
  std::unique_ptr<Log>& log = logs[state.range(0)];
  if (log == nullptr) log = std::make_unique<Log>(static_cast<std::size_t>(state.range(0)));
  return *log;
}

class OneFleet : public Fleets {
 public:
  explicit OneFleet(const Snapshot& snapshot) : snapshot_(&snapshot) {}
  void hear(const event::Record&) override {}
  Result<const Snapshot*> at(std::uint64_t) override { return snapshot_; }

 private:
  const Snapshot* snapshot_;
};

void check(benchmark::State& state, bool decisions) {
  Log& log = log_of(state);
  Pins pins;
  pins.key = log.signer.public_key();
  for (auto _ : state) {
    OneFleet fleets(log.snapshot);
    Derivation derivation(fleets);
    const Result<Finding> found = check_log(
        [&] { return log.disk.list(); }, [&](const std::string& name) { return spine::read_whole(log.disk, name); },
        pins,
        decisions ? [&](const Entry& event) { return derivation.hear(event.sequence, event.payload); } : HearEvent());
    if (!found || found->difference) return state.SkipWithError("it does not verify");
    benchmark::DoNotOptimize(found->summary.root);
    if (decisions) state.counters["decisions"] = static_cast<double>(derivation.derived()->decisions);
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(log.events) * state.iterations());
  state.counters["bytes_per_event"] = static_cast<double>(log.bytes) / static_cast<double>(log.events);
}

void check_bytes(benchmark::State& state) { check(state, false); }
void check_bytes_and_decisions(benchmark::State& state) { check(state, true); }
BENCHMARK(check_bytes)->Arg(20'000)->Unit(benchmark::kMillisecond);
BENCHMARK(check_bytes_and_decisions)->Arg(20'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ace::verify
