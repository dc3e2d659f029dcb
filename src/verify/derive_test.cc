#include "verify/derive.h"

#include <gtest/gtest.h>

#include <set>

#include "core/testing.h"
#include "ledger/spine_testing.h"
#include "replay/recorded_testing.h"

namespace ace::verify {
namespace {

using event::Record;

class OneFleet : public Fleets {
 public:
  explicit OneFleet(const Snapshot& snapshot) : snapshot_(&snapshot) {}
  void hear(const Record&) override {}
  Result<const Snapshot*> at(std::uint64_t) override { return snapshot_; }

 private:
  const Snapshot* snapshot_;
};

struct Recorded {
  std::unique_ptr<Fleet> fleet = replay_testing::world();
  Snapshot snapshot{*fleet};
  std::vector<Record> records;
  explicit Recorded(std::size_t requests, std::uint64_t seed = 11) {
    replay_testing::MemorySource source = replay_testing::requests(requests, seed);
    Record fleet_record;
    fleet_record.id = {5, 1};
    fleet_record.snapshot = fleet->number;
    fleet_record.event = ledger_testing::in_force(*fleet, event::FleetChanged::Source::simulated);
    records.push_back(fleet_record);
    for (const Record& record : replay_testing::recorded(snapshot, source))
      records.push_back(*event::decode(*event::encode(record)));
  }
  struct Found {
    std::size_t at = ~std::size_t{0};  ///< of the first record that does not follow
    Mismatch mismatch;
    Derived derived;
  };
  [[nodiscard]] Found derive(std::size_t changed, const std::optional<Record>& instead) const {
    OneFleet fleets(snapshot);
    Derivation derivation(fleets);
    Found found;
    for (std::size_t i = 0; i < records.size(); ++i) {
      const Record& record = i == changed && instead ? *instead : records[i];
      const auto mismatch = derivation.hear(i, *event::encode(record));
      ACE_CHECK(mismatch.has_value(), "the fleet of a test is always there");
      if (!*mismatch) continue;
      found.at = i;
      found.mismatch = **mismatch;
      break;
    }
    found.derived = *derivation.derived();
    return found;
  }
};

TEST(Derivation, of_a_run_that_was_recorded_finds_every_decision_as_it_was) {
  for (const std::uint64_t seed : {11U, 12U, 13U}) {
    const Recorded run(600, seed);
    const Recorded::Found found = run.derive(0, std::nullopt);
    ASSERT_EQ(found.at, ~std::size_t{0}) << found.mismatch.expected << " / " << found.mismatch.got;
    EXPECT_EQ(found.derived.requests, 600U);
    EXPECT_EQ(found.derived.open, 0U);
    EXPECT_GE(found.derived.decisions, 500U);
  }
}

/// Nothing of a request shows fixed cost, so only deriving it does.
TEST(Derivation, of_fixed_cost_finds_another_amount_and_bookings_that_were_cut_short) {
  const Recorded run(600);
  std::set<event::FixedCost::Kind> kinds;
  std::size_t bookings = 0;
  for (std::size_t i = 0; i < run.records.size(); ++i) {
    Record forged = run.records[i];
    if (auto* const cost = std::get_if<event::FixedCost>(&forged.event)) {
      kinds.insert(cost->kind);
      // A booking holds milliseconds, so power and rent are known to what a unit costs in two of them.
      using Kind = event::FixedCost::Kind;
      const bool of_units = cost->kind == Kind::rental || cost->kind == Kind::idle_power;
      for (const std::int64_t off : {1'000'000LL, -1'000'000LL, of_units ? 1'000'000LL : 1LL}) {
        cost->amount += Usd{off};
        const Recorded::Found found = run.derive(i, forged);
        EXPECT_EQ(found.at, i) << name_of(cost->kind) << " off by " << off;
        cost->amount -= Usd{off};
      }
      ++cost->units;
      EXPECT_EQ(run.derive(i, forged).at, i) << name_of(cost->kind) << ", a unit more";
    } else if (auto* const booking = std::get_if<event::GpuBooking>(&forged.event)) {
      if (!booking->device.ends_with("/0")) continue;
      ++bookings;
      booking->end_ms = booking->start_ms + (booking->end_ms - booking->start_ms) / 2;
      const Recorded::Found found = run.derive(i, forged);
      ASSERT_LT(found.at, run.records.size()) << booking->device;
      EXPECT_TRUE(std::holds_alternative<event::FixedCost>(run.records[found.at].event));
    }
  }
  EXPECT_EQ(kinds.size(), 4U) << "amortization, power, rent, hosts";
  EXPECT_GE(bookings, 3U);
  const Recorded::Found sound = run.derive(0, std::nullopt);
  EXPECT_GE(sound.derived.fixed_costs, 4U);
  EXPECT_GT(sound.derived.fixed, Usd{});
}

/// A record that an insider wrote anew, everything that protects its bytes made right again.
struct Forgery {
  const char* what;
  bool (*make)(Record&);  ///< false where it does not apply
  const char* says;
};

event::Decided* dispatched(Record& r) {
  auto* const d = std::get_if<event::Decided>(&r.event);
  return d != nullptr && d->decision.verdict == Verdict::dispatched ? d : nullptr;
}
event::Completed* served(Record& r) {
  auto* const c = std::get_if<event::Completed>(&r.event);
  return c != nullptr && c->outcome == event::Outcome::served ? c : nullptr;
}

const Forgery kForgeries[] = {
    {"another choice",
     [](Record& r) {
       auto* const d = dispatched(r);
       if (d == nullptr || r.evidence.live.size() < 2) return false;
       const event::LiveColumn& other = r.evidence.live[r.evidence.live[0].offer == d->decision.chosen.value ? 1 : 0];
       d->decision.chosen = OfferId{other.offer};
       d->cached_predicted = Tokens{other.cached};
       return true;
     },
     "decided again from its evidence"},
    {"a refusal",
     [](Record& r) {
       auto* const d = dispatched(r);
       if (d != nullptr) d->decision.verdict = Verdict::no_capacity;
       return d != nullptr;
     },
     "verdict dispatched"},
    {"a candidate less",
     [](Record& r) {
       auto* const d = dispatched(r);
       if (d == nullptr || r.evidence.live.size() < 2) return false;
       const std::size_t last = r.evidence.live.size() - 1;
       if (r.evidence.live[last].offer == d->decision.chosen.value) return false;
       r.evidence.live.pop_back();
       d->decision.feasible = static_cast<std::uint32_t>(last);
       return true;
     },
     "candidates"},
    {"a candidate ruled out that was not",
     [](Record& r) {
       auto* const d = dispatched(r);
       if (d != nullptr) ++d->decision.excluded[static_cast<std::size_t>(Exclusion::jurisdiction)];
       return d != nullptr;
     },
     "excluded for"},
    {"a choice that was full",
     [](Record& r) {
       auto* const d = dispatched(r);
       if (d == nullptr || r.evidence.live.size() < 2) return false;
       for (event::LiveColumn& column : r.evidence.live)
         if (column.offer == d->decision.chosen.value) column.use[0] = column.use[1] = event::kUseMax;
       return true;
     },
     "decided again from its evidence"},
    {"a cheaper API to be measured against",
     [](Record& r) {
       auto* const d = dispatched(r);
       if (d != nullptr) d->cheapest_payg = OfferId{d->cheapest_payg.value == 0 ? 1U : 0U};
       return d != nullptr;
     },
     "as the cheapest API"},
    {"more tokens that are warm",
     [](Record& r) {
       auto* const d = dispatched(r);
       if (d != nullptr) d->cached_predicted = d->cached_predicted + Tokens{64};
       return d != nullptr;
     },
     "cached tokens"},
    {"an attempt elsewhere",
     [](Record& r) {
       auto* const a = std::get_if<event::Attempted>(&r.event);
       if (a != nullptr) a->offer = OfferId{a->offer.value == 0 ? 1U : 0U};
       return a != nullptr;
     },
     "as decided"},
    {"an answer by another",
     [](Record& r) {
       auto* const c = served(r);
       if (c != nullptr) c->offer = OfferId{c->offer.value == 0 ? 1U : 0U};
       return c != nullptr;
     },
     "served by"},
    {"fewer tokens used",
     [](Record& r) {
       auto* const c = served(r);
       if (c != nullptr) c->usage.set(Unit::output, c->usage[Unit::output] + 1);
       return c != nullptr;
     },
     "the usage"},
    {"a promise kept that was not, or the other way round",
     [](Record& r) {
       auto* const c = served(r);
       if (c != nullptr) c->slo_met = !c->slo_met;
       return c != nullptr;
     },
     "by the limits of its class"},
    {"an earlier first token",
     [](Record& r) {
       auto* const c = served(r);
       if (c != nullptr) c->ttft -= Duration{1};
       return c != nullptr;
     },
     "as its first token came"},
    {"an answer that was none",
     [](Record& r) {
       auto* const c = served(r);
       if (c != nullptr) c->outcome = event::Outcome::not_served;
       return c != nullptr;
     },
     "since its last attempt was answered"},
    {"a fleet that nobody declared",
     [](Record& r) {
       const event::Kind kind = event::kind_of(r.event);
       r.snapshot = 9;
       return kind != event::Kind::fleet_changed && kind != event::Kind::named && kind != event::Kind::lifecycle;
     },
     "declares"},
    {"the end of nobody",
     [](Record& r) {
       auto* const c = std::get_if<event::Completed>(&r.event);
       if (c == nullptr) return false;
       c->id.low ^= 1;
       r.id.low ^= 1;
       return true;
     },
     "a request that is open"},
};

TEST(Derivation, finds_what_does_not_follow_from_its_record) {
  const Recorded run(250);
  for (const Forgery& forgery : kForgeries) {
    int tried = 0, found = 0;
    for (std::size_t i = 0; i < run.records.size() && tried < 40; ++i) {
      Record changed = run.records[i];
      if (!forgery.make(changed)) continue;
      ++tried;
      const Recorded::Found is = run.derive(i, changed);
      // A load that is forged matters only where the choice turns on it.
      found += is.at == i && (is.mismatch.expected + is.mismatch.got).find(forgery.says) != std::string::npos ? 1 : 0;
      if (std::string_view(forgery.what) != "a choice that was full") {
        EXPECT_EQ(is.at, i) << forgery.what << ": " << is.mismatch.expected << " / " << is.mismatch.got;
      }
    }
    EXPECT_GE(tried, 10) << forgery.what;
    EXPECT_GE(found, std::string_view(forgery.what) == "a choice that was full" ? 1 : tried) << forgery.what;
  }
}

TEST(Derivation, asks_for_a_decision_on_what_was_dispatched) {
  Recorded run(50);
  const auto end = std::find_if(run.records.begin(), run.records.end(), [](Record& r) { return served(r) != nullptr; });
  ASSERT_NE(end, run.records.end());
  const RequestId id = served(*end)->id;
  const auto decided = [&](const Record& r) {
    const auto* const d = std::get_if<event::Decided>(&r.event);
    return d != nullptr && d->id == id;
  };
  ASSERT_EQ(std::erase_if(run.records, decided), 1U);
  const Recorded::Found found = run.derive(0, std::nullopt);
  ASSERT_LT(found.at, run.records.size());
  EXPECT_NE(served(run.records[found.at]), nullptr);
  EXPECT_NE(found.mismatch.expected.find("a decision on " + to_string(id)), std::string::npos)
      << found.mismatch.expected;
}

TEST(Derivation, allows_no_more_attempts_than_were_decided) {
  Recorded run(50);
  const auto answer = std::find_if(run.records.begin(), run.records.end(),
                                   [](const Record& r) { return std::holds_alternative<event::Attempted>(r.event); });
  ASSERT_NE(answer, run.records.end());
  Record another = *answer;
  auto& failed = std::get<event::Attempted>(another.event);
  failed.answered = false;
  another.ordinal += 100;
  const auto at = static_cast<std::size_t>(answer - run.records.begin()) + 1;
  run.records.insert(answer, another);
  const Recorded::Found found = run.derive(0, std::nullopt);
  EXPECT_EQ(found.at, at);
  EXPECT_NE(found.mismatch.expected.find("at most 1 attempts"), std::string::npos) << found.mismatch.expected;
}

TEST(Derivation, of_what_a_process_says_after_it_started_begins_with_the_priors_again) {
  const Recorded run(200);
  OneFleet fleets(run.snapshot);
  Derivation derivation(fleets);
  std::uint64_t sequence = 0;
  for (int life = 0; life < 2; ++life) {
    Record started;
    started.id = {1, static_cast<std::uint64_t>(life)};
    started.event = event::Lifecycle{};
    ASSERT_FALSE(*derivation.hear(sequence++, *event::encode(started)));
    for (Record record : run.records) {
      record.id.low += static_cast<std::uint64_t>(life);
      std::visit(
          [&](auto& e) {
            if constexpr (requires { e.id.low; }) e.id.low += static_cast<std::uint64_t>(life);
          },
          record.event);
      const auto mismatch = derivation.hear(sequence++, *event::encode(record));
      ASSERT_FALSE(*mismatch) << life << ": " << (*mismatch)->expected << " / " << (*mismatch)->got;
    }
  }
  EXPECT_EQ(derivation.derived()->requests, 400U);
}

/// The cells of a run as the ledger has them at its end, each as the log would say it.
std::vector<event::SettlementClosed> cells_of(const Recorded& run, const std::vector<Record>& records) {
  SpineLedger::Options options;
  options.fleets = [&](std::uint64_t, const event::FleetChanged&) -> Result<const Snapshot*> { return &run.snapshot; };
  SpineLedger ledger(std::move(options));
  for (std::size_t i = 0; i < records.size(); ++i)
    ACE_CHECK(ledger.add(i, records[i]).has_value(), "a record of the test does not fit");
  const Result<FoldedBooks> books = ledger.close(Grade::modelled, {});
  ACE_CHECK(books.has_value(), "the books of a test do not close");
  std::vector<event::SettlementClosed> cells;
  for (const Cell& cell : books->statement.cells) {
    event::SettlementClosed closed;
    closed.hour = cell.hour;
    closed.tenant = cell.tenant;
    closed.model = cell.model;
    closed.requests = static_cast<std::int64_t>(cell.requests);
    closed.baseline = cell.baseline;
    closed.actual = cell.actual;
    closed.disallowed = cell.disallowed.sum();
    closed.counted = cell.claimed.sum() - closed.disallowed;
    closed.gate = static_cast<std::uint32_t>(cell.failed);
    cells.push_back(closed);
  }
  return cells;
}

TEST(Derivation, holds_closed_cells_and_their_gates_against_the_requests_in_them) {
  Recorded run(200);
  for (std::uint32_t symbol = 1; symbol < 3; ++symbol) {  // accounts are symbols
    Record named;
    named.id = {6, symbol};
    named.event = event::Named{event::Named::Kind::tenant, {}, symbol, std::string(1, static_cast<char>('a' + symbol))};
    run.records.insert(run.records.begin() + symbol, named);
  }
  const std::vector<event::SettlementClosed> cells = cells_of(run, run.records);
  ASSERT_GE(cells.size(), 6U);
  std::set<std::uint32_t> gates;
  for (const event::SettlementClosed& cell : cells) gates.insert(cell.gate);
  EXPECT_GE(gates.size(), 2U) << "some pass and some fail, else the gate is not tried";
  const auto wrong_with = [&](void (*change)(event::SettlementClosed&)) {
    OneFleet fleets(run.snapshot);
    Derivation derivation(fleets);
    std::uint64_t sequence = 0;
    for (const Record& record : run.records)
      ACE_CHECK(!*derivation.hear(sequence++, *event::encode(record)), "the run of a test does not follow");
    std::size_t wrong = 0;
    for (event::SettlementClosed cell : cells) {
      change(cell);
      Record record;
      record.id = {7, sequence};
      record.tenant = cell.tenant;
      record.snapshot = run.fleet->number;
      record.event = cell;
      wrong += *derivation.hear(sequence++, *event::encode(record)) ? 1U : 0U;
    }
    EXPECT_EQ(derivation.derived()->cells + wrong, cells.size());
    return wrong;
  };
  EXPECT_EQ(wrong_with([](event::SettlementClosed&) {}), 0U);
  const struct {
    const char* what;
    void (*change)(event::SettlementClosed&);
  } forgeries[] = {
      {"a request less", [](event::SettlementClosed& c) { --c.requests; }},
      {"a nano-dollar of baseline", [](event::SettlementClosed& c) { c.baseline += Usd{1}; }},
      {"a nano-dollar of cost", [](event::SettlementClosed& c) { c.actual += Usd{1}; }},
      {"a nano-dollar more that counts", [](event::SettlementClosed& c) { c.counted += Usd{1}; }},
      {"a nano-dollar less that does not", [](event::SettlementClosed& c) { c.disallowed -= Usd{1}; }},
      {"another gate", [](event::SettlementClosed& c) { c.gate = c.gate == 0 ? 5 : 0; }},
      {"a gate that does not exist", [](event::SettlementClosed& c) { c.gate = 99; }},
      {"an hour without requests", [](event::SettlementClosed& c) { c.hour += 1000; }},
      {"another tenant", [](event::SettlementClosed& c) { c.tenant += 50; }},
      {"a model that is not there", [](event::SettlementClosed& c) { c.model = ModelId{9}; }},
  };
  for (const auto& forgery : forgeries) EXPECT_EQ(wrong_with(forgery.change), cells.size()) << forgery.what;
}

/// A bill that comes late changes the books, and a cell that is closed after it must hold it; nobody's bill is refused.
TEST(Derivation, books_a_late_fact_about_a_request_that_ended) {
  const Recorded run(100);
  OneFleet fleets(run.snapshot);
  Derivation derivation(fleets);
  std::uint64_t sequence = 0;
  std::optional<Record> last;
  for (const Record& record : run.records) {
    ASSERT_FALSE(*derivation.hear(sequence++, *event::encode(record)));
    if (const auto* c = std::get_if<event::Completed>(&record.event); c && c->outcome == event::Outcome::served)
      last = record;
  }
  const Usd before = derivation.derived()->actual;
  Record late = *last;
  late.ordinal = 7;
  event::Attempted bill;
  bill.id = std::get<event::Completed>(last->event).id;
  bill.offer = std::get<event::Completed>(last->event).offer;
  bill.billed = Usage(Tokens{1'000'000}, Tokens{0}, Tokens{1'000});
  late.event = bill;
  ASSERT_FALSE(*derivation.hear(sequence++, *event::encode(late)));
  EXPECT_EQ(derivation.derived()->corrected, 1U);
  EXPECT_NE(derivation.derived()->actual, before);
  late.id.low ^= 1;
  std::get<event::Attempted>(late.event).id.low ^= 1;
  EXPECT_TRUE(*derivation.hear(sequence++, *event::encode(late))) << "of a request that never was";
}

TEST(Derivation, passes_over_what_a_newer_version_wrote_and_counts_it) {
  const Recorded run(1);
  OneFleet fleets(run.snapshot);
  Derivation derivation(fleets);
  // Field 90 of an event, a message of two bytes: a kind that is not known here.
  const std::string newer = std::string("\x0a\x10") + std::string(16, 'x') + "\xd2\x05\x02\x08\x01";
  ASSERT_FALSE(*derivation.hear(0, newer));
  EXPECT_EQ(derivation.derived()->unknown, 1U);
  EXPECT_TRUE(*derivation.hear(1, "no event at all"));
}

}  // namespace
}  // namespace ace::verify
