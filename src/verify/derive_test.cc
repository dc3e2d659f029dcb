#include "verify/derive.h"

#include <gtest/gtest.h>

#include <map>

#include "core/testing.h"
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
      const auto mismatch = derivation.hear(*event::encode(record));
      ACE_CHECK(mismatch.has_value(), "the fleet of a test is always there");
      if (!*mismatch) continue;
      found.at = i;
      found.mismatch = **mismatch;
      break;
    }
    found.derived = derivation.derived();
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

TEST(Derivation, of_what_a_process_says_after_it_started_begins_with_the_priors_again) {
  const Recorded run(200);
  OneFleet fleets(run.snapshot);
  Derivation derivation(fleets);
  for (int life = 0; life < 2; ++life) {
    Record started;
    started.id = {1, static_cast<std::uint64_t>(life)};
    started.event = event::Lifecycle{};
    ASSERT_FALSE(*derivation.hear(*event::encode(started)));
    for (Record record : run.records) {
      record.id.low += static_cast<std::uint64_t>(life);
      std::visit(
          [&](auto& e) {
            if constexpr (requires { e.id.low; }) e.id.low += static_cast<std::uint64_t>(life);
          },
          record.event);
      const auto mismatch = derivation.hear(*event::encode(record));
      ASSERT_FALSE(*mismatch) << life << ": " << (*mismatch)->expected << " / " << (*mismatch)->got;
    }
  }
  EXPECT_EQ(derivation.derived().requests, 400U);
}

TEST(Derivation, holds_closed_cells_against_the_requests_in_them) {
  const Recorded run(200);
  const auto with_closed = [&](Usd actual_off, std::int64_t requests_off) {
    OneFleet fleets(run.snapshot);
    Derivation derivation(fleets);
    const Settler settler(run.snapshot);
    std::map<std::pair<std::int64_t, std::pair<std::uint32_t, std::uint32_t>>, event::SettlementClosed> cells;
    std::map<RequestId, std::pair<event::Admitted, std::vector<event::Attempted>>> open;
    for (const Record& record : run.records) {
      ACE_CHECK(!*derivation.hear(*event::encode(record)), "the run of a test does not follow");
      if (const auto* a = std::get_if<event::Admitted>(&record.event)) open[a->id].first = *a;
      if (const auto* a = std::get_if<event::Attempted>(&record.event)) open[a->id].second.push_back(*a);
      const auto* const end = std::get_if<event::Completed>(&record.event);
      if (end == nullptr) continue;
      const auto& [admitted, attempts] = open[end->id];
      const Settled settled = settler.settle(admitted, {}, attempts, *end);
      event::SettlementClosed& cell = cells[{hour_of(admitted.at), {record.tenant, admitted.requested.value}}];
      cell.hour = hour_of(admitted.at);
      cell.tenant = record.tenant;
      cell.model = admitted.requested;
      ++cell.requests;
      cell.baseline += settled.chain.c[0];
      cell.actual += settled.chain.c[4];
    }
    std::size_t wrong = 0;
    std::uint64_t number = 0;
    for (auto& [key, cell] : cells) {
      cell.actual += actual_off;
      cell.requests += requests_off;
      Record record;
      record.id = {7, ++number};
      record.tenant = cell.tenant;
      record.snapshot = run.fleet->number;
      record.event = cell;
      wrong += *derivation.hear(*event::encode(record)) ? 1U : 0U;
    }
    EXPECT_EQ(derivation.derived().cells + wrong, cells.size());
    return std::pair(wrong, cells.size());
  };
  const auto [right, all] = with_closed(Usd{}, 0);
  EXPECT_EQ(right, 0U);
  EXPECT_GE(all, 6U);
  EXPECT_EQ(with_closed(Usd{1}, 0).first, all) << "a nano-dollar";
  EXPECT_EQ(with_closed(Usd{}, -1).first, all) << "a request less";
}

TEST(Derivation, passes_over_what_a_newer_version_wrote_and_counts_it) {
  const Recorded run(1);
  OneFleet fleets(run.snapshot);
  Derivation derivation(fleets);
  // Field 90 of an event, a message of two bytes: a kind that is not known here.
  const std::string newer = std::string("\x0a\x10") + std::string(16, 'x') + "\xd2\x05\x02\x08\x01";
  ASSERT_FALSE(*derivation.hear(newer));
  EXPECT_EQ(derivation.derived().unknown, 1U);
  EXPECT_TRUE(*derivation.hear("no event at all"));
}

}  // namespace
}  // namespace ace::verify
