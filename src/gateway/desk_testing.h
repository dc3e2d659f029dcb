#pragma once
/// A desk without a disk: its events in memory, checked by who would read them from one.
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "gateway/desk.h"
#include "ledger/ledger_testing.h"
#include "ledger/spine_ledger.h"
#include "verify/verify.h"

namespace ace::gateway {

/// A spine that keeps records, and fails when told to.
class MemorySpine : public SpinePort {
 public:
  std::vector<event::Record> records;
  std::vector<const World*> worlds;  ///< by number - 1
  bool failing = false;
  std::size_t room = SIZE_MAX;  ///< for so many records more

  Result<std::uint64_t> declare(const World& world, event::FleetChanged::Source source, Instant at,
                                bool anew) override {
    for (const event::Record& r : records)
      if (const auto* e = std::get_if<event::FleetChanged>(&r.event); !anew && e != nullptr)
        if (e->source == source && worlds[r.snapshot - 1] == &world) return r.snapshot;
    event::Record record = fleet_changed(world.snapshot, worlds.size() + 1, world.files, source, at);
    if (Result<void> said = append(record); !said) return std::move(said).error();
    worlds.push_back(&world);
    return worlds.size();
  }
  Result<std::uint32_t> symbol(event::Named::Kind kind, std::string_view name, Instant at) override {
    if (failing) return full();
    return symbols_.symbol(kind, name, at, [&](event::Record named) { records.push_back(std::move(named)); });
  }
  Result<void> append(const event::Record& record) override {
    if (failing || room == 0) return full();
    --room;
    records.push_back(record);
    return {};
  }
  [[nodiscard]] std::uint64_t position() const override { return records.size(); }
  void when_durable(std::uint64_t position, std::function<void()> then) override {
    if (position <= durable)
      then();
    else
      waiting.emplace(position, std::move(then));
  }
  /// The disk has everything up to here.
  void sync(std::uint64_t position) {
    durable = position;
    while (!waiting.empty() && waiting.begin()->first <= durable) {
      const auto then = std::move(waiting.begin()->second);
      waiting.erase(waiting.begin());
      then();
    }
  }
  std::uint64_t durable = 0;
  std::multimap<std::uint64_t, std::function<void()>> waiting;
  event::Gap::Cause cause() override { return event::Gap::Cause::disk_full; }

  /// Every decision made again and every dollar, from the bytes of the records. @return what differs, or nothing
  std::string verified(verify::Derived* derived = nullptr) const {
    struct Fleets : verify::Fleets {
      const MemorySpine* spine = nullptr;
      void hear(const event::Record&) override {}
      Result<const Snapshot*> at(std::uint64_t number) override {
        if (number == 0 || number > spine->worlds.size()) return Error(Errc::not_found, "no such fleet");
        return &spine->worlds[number - 1]->snapshot;
      }
    } fleets;
    fleets.spine = this;
    verify::Derivation derivation(fleets);
    for (std::size_t i = 0; i < records.size(); ++i) {
      const Result<std::string> bytes = event::encode(records[i]);
      if (!bytes) return bytes.error().what();
      const auto heard = derivation.hear(i, *bytes);
      if (!heard) return heard.error().what();
      if (*heard) return "expected " + (*heard)->expected + ", got " + (*heard)->got;
    }
    if (derived != nullptr) *derived = derivation.derived().value();
    return {};
  }
  /// The ledger of the records.
  [[nodiscard]] SpineLedger folded(std::vector<Budget> budgets = {}) const {
    SpineLedger::Options options;
    options.budgets = std::move(budgets);
    options.fleets = [this](std::uint64_t number, const event::FleetChanged&) -> Result<const Snapshot*> {
      return &worlds[number - 1]->snapshot;
    };
    SpineLedger ledger(std::move(options));
    for (std::size_t i = 0; i < records.size(); ++i) {
      const Result<void> added = ledger.add(i, records[i]);
      ACE_CHECK(added.has_value(), "a desk's records fold");
    }
    return ledger;
  }
  template <class E>
  [[nodiscard]] std::vector<E> all() const {
    std::vector<E> found;
    for (const event::Record& record : records)
      if (const auto* e = std::get_if<E>(&record.event)) found.push_back(*e);
    return found;
  }

 private:
  static Error full() { return {Errc::unavailable, "the disk is full"}; }
  event::Symbols symbols_;
};

/// The same small fleet where every kind of fixed cost is paid: two units of two GPUs that are owned, two rented ones
/// by the hour, a commitment, a host of ACE.
inline Fleet paid_fleet() {
  constexpr std::int64_t usd = 1'000'000'000;
  Fleet fleet = ledger_testing::small_fleet();
  Destination& gpu = fleet.destinations[ledger_testing::kGpu.value];
  gpu.units.units = gpu.gpus_per_unit = 2;
  gpu.amortization_hourly = {3 * usd};
  for (Serving& serving : gpu.serving) serving.measured->watts_idle = 700;
  fleet.destinations[ledger_testing::kPtu.value].commitment_hourly = {5 * usd};
  Destination& rent = fleet.destinations[ledger_testing::kRent.value];
  rent.units.units = 2;
  rent.rental.emplace();
  rent.rental->hourly = {2 * usd};
  fleet.policies.gateway_hosts_hourly = Usd{usd / 5};
  return fleet;
}

inline constexpr Duration kMs{1'000'000};

inline Fleet apis_only() {
  Fleet fleet = ledger_testing::small_fleet();
  for (Destination& d : fleet.destinations)
    if (d.tier != Tier::payg) d.serving.clear();
  fleet.models[ledger_testing::kLarge.value].equivalents.clear();
  return fleet;
}

inline Fleet full_api() {
  Fleet fleet = apis_only();
  fleet.slo_classes[ledger_testing::kChat.value].ttft = 5 * kSecond;
  fleet.slo_classes[ledger_testing::kBatch.value].priority = 0;
  fleet.slo_classes[ledger_testing::kChat.value].priority = 1;
  for (const DestinationId d : {ledger_testing::kAlt, ledger_testing::kApi}) fleet.destinations[d.value].rpm = 1;
  return fleet;
}

/// A desk over the ledger tests' small fleet, with a clock that is told the time.
struct DeskWorld {
  explicit DeskWorld(DeskOptions options = acting(), BudgetGate* budgets = nullptr,
                     Fleet fleet = ledger_testing::small_fleet())
      : world(std::make_shared<World>(std::move(fleet))), desk(world, options, spine, budgets) {}
  static DeskOptions acting() {
    DeskOptions options;
    options.mode = Mode::act;
    return options;
  }
  static DeskOptions observing() { return {}; }

  [[nodiscard]] Desk::Arriving arriving(ModelId model = ledger_testing::kLarge) const {
    Desk::Arriving a;
    a.world = world;
    a.caller = caller_of(world->fleet, "acme");
    a.model = model;
    a.prompt = Tokens{1000};
    a.max_output = Tokens{500};
    for (std::uint32_t o = 0; o < world->snapshot.offers().size(); ++o)
      if (world->snapshot[OfferId{o}].model == model && world->snapshot[OfferId{o}].destination == ledger_testing::kApi)
        a.fixed = OfferId{o};
    return a;
  }
  std::unique_ptr<Flight> admit(const Desk::Arriving& a) {
    auto admitted = desk.admit(now, a);
    ACE_CHECK(std::holds_alternative<std::unique_ptr<Flight>>(admitted), "admitted");
    return std::get<std::unique_ptr<Flight>>(std::move(admitted));
  }
  void pass(Duration d) { now += d; }
  [[nodiscard]] std::string destination(OfferId offer) const {
    return world->fleet.destinations[world->snapshot[offer].destination.value].name;
  }
  /// Sends it wherever the desk says, until it is answered.
  Desk::Receipt serve(const Desk::Arriving& a, std::int64_t output = 100) {
    const auto flight = admit(a);
    const Desk::Choice choice = desk.decide(now, *flight);
    ACE_CHECK(choice.verdict == Verdict::dispatched, "dispatched");
    pass(std::chrono::milliseconds{200});
    desk.first_token(now, *flight);
    pass(std::chrono::milliseconds{300});
    return desk.completed(now, *flight, {Usage(a.prompt, Tokens{0}, Tokens{output}), OfferId{}, true});
  }

  Instant now = instant(1'800'000'000'000'000'000);
  MemorySpine spine;
  std::shared_ptr<World> world;
  Desk desk;
};

inline OfferId offer_at(const DeskWorld& w, std::string_view destination, ModelId model = ledger_testing::kLarge) {
  for (std::uint32_t o = 0; o < w.world->snapshot.offers().size(); ++o)
    if (w.world->snapshot[OfferId{o}].model == model && w.destination(OfferId{o}) == destination) return OfferId{o};
  return {};
}

}  // namespace ace::gateway
