/// Folding a spine: five events per request, as a gateway writes them. From values, and from bytes as they lie.
#include <benchmark/benchmark.h>

#include "ledger/spine_testing.h"

namespace ace {
namespace {

using namespace ledger_testing;

struct Stretch {
  World world;
  Fleets fleets;
  std::vector<event::Record> records;
  std::vector<std::string> bytes;
  Stretch() {
    Rng rng(7, "spine_ledger_bench");
    records = preamble(fleets, world);
    for (std::int64_t i = 0; i < 20'000; ++i) {
      Events e = any_spine_events(world, rng);
      e.at(490'000 + i / 2000, i % 3600);
      e.admitted.id = make_request_id(e.admitted.at, rng);
      std::vector<event::Record> facts = records_of(e, 1);
      facts.insert(facts.end() - 1,
                   record_of(e.admitted.id, 1, event::FirstToken{e.admitted.id, e.admitted.at, {}, {}}));
      for (event::Record& r : facts) {
        r.tenant = e.admitted.tenant;
        records.push_back(std::move(r));
      }
    }
    for (const event::Record& r : records) bytes.push_back(event::encode(r).value());
  }
};

const Stretch& stretch() {
  static const Stretch made;
  return made;
}

void told(benchmark::State& state, const SpineLedger& ledger) {
  state.counters["events/s"] =
      benchmark::Counter(static_cast<double>(stretch().records.size()), benchmark::Counter::kIsIterationInvariantRate);
  const Result<FoldedBooks> books = ledger.close(Grade::modelled, {});
  state.SetLabel("c4 " + to_decimal(books->statement.c4));
}

void FoldValues(benchmark::State& state) {
  const Stretch& s = stretch();
  std::optional<SpineLedger> ledger;
  for (auto _ : state) {
    SpineLedger::Options options = s.fleets.options();
    options.shapley = state.range(0) != 0;
    ledger.emplace(std::move(options));
    for (std::size_t i = 0; i < s.records.size(); ++i)
      ACE_CHECK(ledger->add(i, s.records[i]).has_value(), "a record of the benchmark folds");
  }
  told(state, *ledger);
}
BENCHMARK(FoldValues)->ArgName("shapley")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

void FoldBytes(benchmark::State& state) {
  const Stretch& s = stretch();
  std::optional<SpineLedger> ledger;
  for (auto _ : state) {
    ledger.emplace(s.fleets.options());
    for (std::size_t i = 0; i < s.bytes.size(); ++i)
      ACE_CHECK(ledger->add(i, event::decode(s.bytes[i]).value()).has_value(), "a record of the benchmark folds");
  }
  told(state, *ledger);
}
BENCHMARK(FoldBytes)->Unit(benchmark::kMillisecond);

void DecodeBytes(benchmark::State& state) {
  const Stretch& s = stretch();
  std::uint64_t sum = 0;
  for (auto _ : state)
    for (const std::string& bytes : s.bytes) sum += event::decode(bytes)->id.low;
  state.SetLabel("ids " + std::to_string(sum / static_cast<std::uint64_t>(state.iterations())));
  state.counters["events/s"] =
      benchmark::Counter(static_cast<double>(s.bytes.size()), benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(DecodeBytes)->Unit(benchmark::kMillisecond);

void SaveAndRestore(benchmark::State& state) {
  const Stretch& s = stretch();
  const SpineLedger ledger = folded(s.fleets, s.records);
  std::size_t size = 0;
  for (auto _ : state) {
    const std::string bytes = ledger.state();
    size = bytes.size();
    ACE_CHECK(SpineLedger::restored(bytes, s.fleets.options()).has_value(), "a state is restored");
  }
  state.SetLabel(std::to_string(size) + " bytes");
}
BENCHMARK(SaveAndRestore)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ace
