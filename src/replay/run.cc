#include "replay/run.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <thread>
#include <utility>

#include "core/text.h"
#include "replay/beside.h"
#include "replay/horizon.h"
#include "replay/pairing.h"

namespace ace {
namespace {

constexpr std::size_t kTenantsMax = 10'000;  // undeclared ones with books of their own

// Arrivals handed out at a time. One island: as many as stay in cache beside its engine. Several: enough for starting
// threads to be worth it, and the same for any number of threads, since it shows in the order of settled requests.
constexpr std::size_t kBatchOfOne = 1'024, kBatch = 16'384;

class Island {
 public:
  Island(const Snapshot& fleet, const RunOptions& options, const Islands& map, std::uint32_t number)
      : fleet_(&fleet),
        options_(&options),
        map_(&map),
        number_(number),
        ledger_(fleet, ledger_options(options)),
        series_(fleet.fleet().destinations.size()),
        pairing_(ledger_),
        beside_(options.beside) {
    Engine::Options engine;
    engine.dispatching = options.dispatching;
    engine.plant = options.plant;
    engine.belief = options.belief;
    engine.gaps = options.gaps;
    engine.seed = options.seed;
    engine.stream = "island/" + std::to_string(number);
    engine.note_late_hits = options.facts;
    engine.record_columns = options.record_columns;
    facts_.longest.resize(fleet.fleet().slo_classes.size());
    Engine::Sink sink{[this](const Settled& s) { settled(s); },
                      [this](const event::UnitsChanged& c) { changed(c); },
                      {},
                      [this](const Engine::UnitMoves& moves) {
                        if (theirs_) moves_.push_back(moves);
                      }};
    if (options.record) sink.recorded = [this](Instant now, event::Record record) { recorded(now, std::move(record)); };
    ours_.emplace(fleet, engine, std::move(sink));
    ours_->watch(options.witness);
    if (options.compare_status_quo) {
      engine.dispatching =
          options.baseline == BaselineKind::round_robin ? Dispatching::round_robin : Dispatching::status_quo;
      engine.learn_h0 = false;
      engine.note_late_hits = false;
      engine.units_given = true;  // the same fixed cost stands on both sides, so the same units must run on both
      theirs_.emplace(fleet, engine,
                      Engine::Sink{{}, {}, {}, {}, [this](const Engine::Spent& spent) { spent_.push_back(spent); }});
    }
  }

  void begin(Instant t) {
    ours_->begin(t);
    if (theirs_) theirs_->begin(t);
  }
  void take(const Demand& demand) { batch_.push_back(demand); }
  void work() {
    work_ours();
    hand_moves();
    if (theirs_) work_theirs();
    batch_.clear();
  }
  /// The same on two threads, the other side a batch behind ours: all it has to know of us are our units' moves, which
  /// it is given before their time either way.
  void work_apart() {
    hand_moves();
    {
      const std::jthread other([this] { work_behind(); });
      work_ours();
    }
    meet();
    behind_.clear();
    behind_blocks_.clear();
    for (const Demand& demand : batch_)
      behind_blocks_.insert(behind_blocks_.end(), blocks(demand).begin(), blocks(demand).end());
    std::size_t at = 0;
    for (Demand demand : batch_) {  // the source's blocks do not outlive its next batch
      const std::size_t count = blocks(demand).size();
      demand.arrival.blocks = std::span(behind_blocks_).subspan(at, count);
      at += count;
      behind_.push_back(demand);
    }
    batch_.clear();
  }
  void finish() {
    ours_->finish();
    hand_moves();
    if (!theirs_) return;
    work_behind();
    theirs_->finish();
    meet();
    ACE_CHECK(beside_.open() == 0, "both sides end every request");
  }
  [[nodiscard]] bool two_sided() const { return theirs_.has_value(); }
  /// Books what accrues whether used or not, for the destinations of this island. @param hosts ACE's own hosts as well
  Result<void> close(const Islands& islands, std::uint32_t number, Instant from, Instant to, bool hosts) {
    const auto mine = [&](DestinationId d) { return d.valid() ? islands.of_destination[d.value] == number : hosts; };
    for (const auto& [destination, booking] : ours_->units().bookings(from, to)) {
      if (!mine(destination)) continue;
      if (Result<void> booked = ledger_.add(booking); !booked)
        return std::move(booked).error().with("booking GPU time");
      if (options_->record) ours_->record(to, booking);
    }
    // Behind the bookings, so that a reader of the records knows by then how long each unit was there.
    for (event::FixedCost& cost : ours_->units().fixed_cost(from, to)) {
      if (!mine(cost.destination)) continue;
      if (cost.destination.valid()) cost.used_ppm = used_ppm(cost.destination);
      ledger_.add(cost);
      if (options_->record) ours_->record(to, cost);
    }
    return {};
  }

  /// Lets everything happen up to this moment, so that all there is to record of it is in taken().
  void advance(Instant to) { ours_->advance(to); }
  struct Recorded {
    Instant at;
    event::Record record;
  };
  [[nodiscard]] std::vector<Recorded> taken() { return std::exchange(recorded_, {}); }

  [[nodiscard]] Engine& engine() { return *ours_; }
  [[nodiscard]] Ledger& ledger() { return ledger_; }
  [[nodiscard]] const LoadSeries& series() const { return series_; }
  [[nodiscard]] const RunFacts& facts() const { return facts_; }
  std::uint64_t evictions = 0, unit_changes = 0, status_quo_served = 0, status_quo_slo_met = 0;

 private:
  /// A measured share of capacity: to whole parts per million before it splits an amount.
  std::int64_t used_ppm(DestinationId d) {
    return static_cast<std::int64_t>(std::clamp(ours_->used_share(d), 0.0, 1.0) * 1e6 + 0.5);
  }
  static std::span<const std::uint32_t> blocks(const Demand& demand) { return demand.arrival.blocks; }
  void work_ours() {
    for (const Demand& demand : batch_) {
      SeriesBucket& bucket = series_.at(demand.arrival.at);
      ++bucket.arrived;
      bucket.arrived_tokens += demand.arrival.prompt + demand.arrival.output;
      ours_->arrive(demand);
    }
  }
  void work_theirs() {
    for (const Demand& demand : batch_) theirs_->arrive(demand);
    meet();
  }
  void work_behind() {
    for (const Demand& demand : behind_) theirs_->arrive(demand);
    behind_.clear();
  }
  /// Our units' moves so far, before the other side comes to their time.
  void hand_moves() {
    for (const Engine::UnitMoves& moves : moves_) theirs_->give_units(moves);
    moves_.clear();
  }
  /// Books what the other side has spent beside what we have.
  void meet() {
    for (const Engine::Spent& spent : spent_) {
      status_quo_served += spent.answered ? 1 : 0;
      status_quo_slo_met += spent.slo_met ? 1 : 0;
      if (spent.observed && options_->baseline != BaselineKind::round_robin) continue;
      pairing_.theirs(spent.row, spent.cost);
      if (options_->beside) beside_.theirs(spent.row, spent.cost);
    }
    spent_.clear();
  }
  static Ledger::Options ledger_options(const RunOptions& options) {
    Ledger::Options ledger;
    ledger.baseline = options.baseline;
    ledger.settlement = options.settlement;
    ledger.idle = options.idle;
    ledger.held = options.held;
    ledger.shapley = options.shapley;
    return ledger;
  }
  void settled(const Settled& s) {
    const Ledger::Receipt receipt = ledger_.add(s);
    std::optional<Usd> logged;
    if (s.completed.observed_cost_nano >= 0 && options_->baseline != BaselineKind::round_robin)
      logged = Usd{s.completed.observed_cost_nano};
    if (theirs_ && logged)
      ledger_.compare(receipt, *logged);
    else if (theirs_)
      pairing_.ours(s.admitted.row, receipt);
    if (theirs_ && options_->beside) beside_.ours(s, logged);
    SeriesBucket& bucket = series_.at(s.admitted.at);
    if (s.completed.outcome == event::Outcome::served) {
      const std::size_t d = (*fleet_)[s.billed_offer()].destination.value;
      ++bucket.served;
      bucket.slo_met += s.completed.slo_met ? 1 : 0;
      ++bucket.requests[d];
      bucket.tokens[d] += s.completed.usage.prompt().value + s.completed.usage.completion().value;
      bucket.cost_nano[d] += s.chain.c[4].nano;
    } else if (s.completed.outcome == event::Outcome::not_served) {
      ++bucket.not_served;
    }
    if (options_->facts) note(s);
    if (options_->each) options_->each(s);
  }
  /// Every engine starts all units; what counts is the island that owns the destination.
  void recorded(Instant now, event::Record record) {
    const auto* const units = std::get_if<event::UnitsChanged>(&record.event);
    if (units == nullptr || map_->of_destination[units->destination.value] == number_)
      recorded_.push_back({now, std::move(record)});
  }
  void changed(const event::UnitsChanged& change) {
    ++unit_changes;
    if (change.cause == "eviction" && change.after < change.before) ++evictions;
    if (options_->facts) facts_.units.push_back(change);
  }
  void note(const Settled& s) {
    if (s.completed.outcome == event::Outcome::served) {
      Duration& longest = facts_.longest[s.admitted.slo.value];
      longest = std::max(longest, s.completed.at - s.admitted.at);
    }
    if (s.completed.outcome == event::Outcome::cache_hit) return;  // no model ran: nothing to bound
    if (!s.ran() || s.excluded != Reason::none) {
      facts_.left_out.push_back(s.admitted.row);
      return;
    }
    ++facts_.requests;
    facts_.baseline += s.chain.c[0];
    facts_.uncached += s.uncached_baseline;
    facts_.actual += s.chain.c[4];
  }

  const Snapshot* fleet_;
  const RunOptions* options_;
  const Islands* map_;
  std::uint32_t number_;
  std::vector<Recorded> recorded_;
  Ledger ledger_;
  LoadSeries series_;
  Pairing pairing_;
  Beside beside_;
  RunFacts facts_;
  std::optional<Engine> ours_, theirs_;
  std::vector<Demand> batch_;
  std::vector<Demand> behind_;  ///< our last batch, still to come for the other side
  std::vector<std::uint32_t> behind_blocks_;
  std::vector<Engine::UnitMoves> moves_;  ///< of our units, not yet handed to the other side
  std::vector<Engine::Spent> spent_;      ///< by the other side, not yet booked
};

/// Adds an island's facts; sorted by the caller at the end.
void add(RunFacts& all, const RunFacts& more, const std::vector<Engine::LateHit>& late) {
  all.left_out.insert(all.left_out.end(), more.left_out.begin(), more.left_out.end());
  all.late_hits.insert(all.late_hits.end(), late.begin(), late.end());
  all.units.insert(all.units.end(), more.units.begin(), more.units.end());
  all.longest.resize(more.longest.size());
  for (std::size_t i = 0; i < more.longest.size(); ++i) all.longest[i] = std::max(all.longest[i], more.longest[i]);
  all.baseline += more.baseline;
  all.uncached += more.uncached;
  all.actual += more.actual;
  all.requests += more.requests;
}

void sort(RunFacts& facts) {
  std::sort(facts.left_out.begin(), facts.left_out.end());
  std::sort(facts.late_hits.begin(), facts.late_hits.end());
  std::stable_sort(facts.units.begin(), facts.units.end(), [](const auto& a, const auto& b) {
    return std::pair(a.destination, a.at) < std::pair(b.destination, b.at);
  });
}

/// Lets every island work off its batch, on as many threads as asked; which thread takes which island, or side of one,
/// changes no result.
void work_all(std::vector<std::unique_ptr<Island>>& islands, unsigned threads, void (Island::*step)()) {
  if (threads <= 1 || islands.size() == 1) {
    for (auto& island : islands) ((*island).*step)();
    return;
  }
  std::vector<std::jthread> pool;
  for (unsigned t = 0; t < std::min<std::size_t>(threads, islands.size()); ++t)
    pool.emplace_back([&, t] {
      for (std::size_t i = t; i < islands.size(); i += threads) ((*islands[i]).*step)();
    });
}

/// Hands over what the islands have recorded so far, in order of time, then of islands: none is behind another.
Result<void> hand_over(std::vector<std::unique_ptr<Island>>& islands,
                       const std::function<Result<void>(event::Record)>& record) {
  std::vector<Island::Recorded> all;
  for (auto& island : islands) {
    std::vector<Island::Recorded> some = island->taken();
    all.insert(all.end(), std::make_move_iterator(some.begin()), std::make_move_iterator(some.end()));
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.at < b.at; });
  for (Island::Recorded& one : all)
    if (Result<void> done = record(std::move(one.record)); !done) return done;
  return {};
}

}  // namespace

std::vector<std::string> all_of(const Interner& names) {
  std::vector<std::string> all;
  for (std::uint32_t i = 0; i < names.size(); ++i) all.push_back(names[i]);
  return all;
}

Result<RunResult> run(const Snapshot& fleet, RequestSource& source, const RunOptions& options) {
  const Islands map = find_islands(fleet);
  std::vector<std::unique_ptr<Island>> islands;
  for (std::uint32_t i = 0; i < map.count; ++i) islands.push_back(std::make_unique<Island>(fleet, options, map, i));
  const unsigned threads = options.each || options.beside ? 1 : options.threads;

  const Horizon horizon(fleet.fleet());
  // What is recorded keeps the names that it came under.
  Resolver resolve(fleet, source, options.naming, options.record ? static_cast<std::size_t>(-1) : kTenantsMax);
  RunResult result;
  result.islands = map.count;
  Unreplayed outside{.reason = "outside --window", .outside_window = true};
  Unreplayed failed{.reason = "not served according to the log"};
  Unreplayed unknown{.reason = "model not in the fleet"};
  Unreplayed otherwise{.reason = "billed by images, seconds, pages or calls, not by tokens"};
  std::vector<Arrival> batch(map.count > 1 ? kBatch : kBatchOfOne);
  bool begun = false;
  Instant before = Instant::min(), latest = before;
  while (true) {
    const Result<std::size_t> count = source.next(batch);
    if (!count) return Error(count.error());
    if (*count == 0) break;
    for (std::size_t i = 0; i < *count; ++i) {
      const Arrival& arrival = batch[i];
      ++result.rows;
      const std::int64_t tokens = arrival.prompt + arrival.output;
      const auto skip = [&](Unreplayed& reason) {
        ++reason.requests;
        reason.tokens += tokens;
        if (arrival.cost_nano > 0 && __builtin_add_overflow(reason.logged.nano, arrival.cost_nano, &reason.logged.nano))
          reason.logged.nano = std::numeric_limits<std::int64_t>::max();  // told as "at least"; no amount is booked
      };
      if (arrival.at < before)
        return Error(Errc::bad_input, "row " + std::to_string(arrival.row) +
                                          " is earlier than the row before it; sort the trace (--sort)");
      before = arrival.at;
      if (arrival.at < options.from || arrival.at >= options.to) {
        skip(outside);
        continue;
      }
      if (options.keep && !options.keep(arrival)) continue;
      const std::optional<Demand> demand = resolve(arrival);
      if (!demand) {
        skip(unknown);
        continue;
      }
      if (arrival.failed) {
        skip(failed);
        continue;
      }
      if (arrival.billed_otherwise()) {
        skip(otherwise);
        continue;
      }
      // Copies that a sensitivity run makes come up to a second later than what was looked at already.
      if (arrival.row > 0 && !horizon.holds(arrival.at)) return horizon.error(arrival.at);
      if (!begun) {
        begun = true;
        result.first = arrival.at;
        for (auto& island : islands) island->begin(arrival.at);
      }
      latest = arrival.at;
      ++result.replayed;
      islands[map.of_model[demand->model.value]]->take(*demand);
    }
    const bool apart = threads > 1 && islands.size() == 1 && islands.front()->two_sided() && begun;
    work_all(islands, threads, apart ? &Island::work_apart : &Island::work);
    if (options.record && begun) {
      for (auto& island : islands) island->advance(latest);
      if (Result<void> told = hand_over(islands, options.record); !told) return std::move(told).error();
    }
    if (options.progress) options.progress(source.progress(), result.rows);
  }
  for (const Unreplayed* reason : {&outside, &failed, &unknown, &otherwise})
    if (reason->requests > 0) result.unreplayed.push_back(*reason);
  if (!begun) {
    if (result.rows == 0) return result;  // an empty trace is an empty report
    std::vector<std::string> theirs, ours;
    for (const auto& [name, requests] : resolve.unknown()) theirs.push_back('"' + name + '"');
    for (const Model& model : fleet.fleet().models) ours.push_back('"' + model.name + '"');
    if (!theirs.empty())
      return Error(Errc::bad_input, "no request of the trace asks for a model of the fleet; the trace has " +
                                        listed(theirs, 8) +
                                        " (names the fleet does not declare are masked), the fleet has " +
                                        listed(ours, 8) + "; map them with --model NAME or --model-map FILE");
    return Error(Errc::bad_input,
                 "no request of the trace is left to replay (window, failed rows, rows not billed by tokens)");
  }
  work_all(islands, threads, &Island::finish);

  result.last = result.first;
  for (auto& island : islands) result.last = std::max(result.last, island->engine().last_completion());
  result.used_share.resize(fleet.fleet().destinations.size());
  result.loads.resize(fleet.fleet().destinations.size());
  for (std::uint32_t i = 0; i < map.count; ++i) {
    Island& island = *islands[i];
    if (Result<void> closed = island.close(map, i, result.first, result.last, i == 0); !closed)
      return std::move(closed).error();
    result.status_quo_served += island.status_quo_served;
    result.status_quo_slo_met += island.status_quo_slo_met;
    if (options.facts) {
      // Every engine starts all units; what counts is the island that owns the destination.
      RunFacts facts = island.facts();
      std::erase_if(facts.units, [&](const auto& c) { return map.of_destination[c.destination.value] != i; });
      add(result.facts, facts, island.engine().late_hits());
    }
    result.evictions += island.evictions;
    result.unit_changes += island.unit_changes;
    result.held_back += island.engine().held_back();
    for (std::uint32_t d = 0; d < map.of_destination.size(); ++d)
      if (map.of_destination[d] == i) {
        result.used_share[d] = island.engine().used_share(DestinationId{d});
        result.loads[d] = island.engine().loads(DestinationId{d});
      }
    for (std::uint32_t o = 0; o < fleet.offers().size(); ++o) {
      const Offer& offer = fleet.offers()[o];
      if (map.of_model[offer.model.value] != i || !offer.profile) continue;
      result.latency.push_back({OfferId{o}, *offer.profile, *island.engine().belief().curve(OfferId{o})});
      for (std::uint32_t s = 0; s < fleet.fleet().slo_classes.size(); ++s)
        result.knees.push_back({OfferId{o}, SloId{s}, island.engine().knee_prior(OfferId{o}, SloId{s}),
                                island.engine().belief().knee(OfferId{o}, SloId{s})});
    }
  }
  if (options.record)
    if (Result<void> told = hand_over(islands, options.record); !told) return std::move(told).error();
  sort(result.facts);
  Ledger& first = islands[0]->ledger();
  for (std::uint32_t i = 1; i < map.count; ++i) first.merge(islands[i]->ledger());
  LoadSeries series = islands[0]->series();
  for (std::uint32_t i = 1; i < map.count; ++i) series.merge(islands[i]->series());
  result.series = std::move(series);
  result.tenants = resolve.tenants();
  result.folded_tenants = resolve.folded();
  const std::vector<std::string> teams = all_of(source.teams()), projects = all_of(source.projects());
  first.reserve(reservations_of(fleet.fleet(), result.tenants));
  result.statement = first.close({result.tenants, teams, projects});
  return result;
}

}  // namespace ace
