#include "replay/engine.h"

#include <algorithm>
#include <utility>

#include "core/per_token.h"

namespace ace {
namespace {

// How often a waiting request looks again: 64 times within its patience, but no oftener and no more seldom than this.
constexpr Duration kRetryLeast{50'000'000}, kRetryMost{kMinute};

/// A fleet that follows another on the same log has ids of its own: the same trace is other requests there.
std::string stream_of(const char* what, const Snapshot& fleet) {
  const std::uint64_t number = fleet.fleet().number;
  return number == 1 ? what : what + ("/" + std::to_string(number));
}

}  // namespace

Engine::Engine(const Snapshot& fleet, const Options& options, Sink sink)
    : fleet_(&fleet),
      settler_(fleet),
      options_(options),
      sink_(std::move(sink)),
      ids_(Rng(options.seed, options.stream).split(stream_of("ids", fleet))),
      event_ids_(Rng(options.seed, options.stream).split(stream_of("events", fleet))),
      belief_(fleet, options.belief),
      scratch_(fleet),
      swaps_(fleet, options.dispatching == Dispatching::merit_order),
      loads_(fleet.fleet().destinations.size()) {
  for (std::uint32_t s = 0; s < fleet.fleet().slo_classes.size(); ++s)
    for (std::uint32_t o = 0; o < fleet.offers().size(); ++o)
      knee_priors_.push_back(belief_.knee(OfferId{o}, SloId{s}));
  for (std::uint32_t m = 0; m < fleet.fleet().models.size(); ++m) orders_.push_back(order_of(ModelId{m}));
  if (sink_.recorded) witness_of_.emplace(fleet);
}

void Engine::begin(Instant now) {
  running_ = true;
  started_ = now_ = last_completion_ = now;
  const Rng rng(options_.seed, options_.stream);
  plant_.emplace(*fleet_, options_.plant, rng, now);
  units_.emplace(*fleet_, rng);
  for (const Destination& d : fleet_->fleet().destinations) {
    const PromptCache& cache = fleet_->fleet().providers[d.provider.value].cache;
    const bool gpu = d.tier != Tier::payg && d.tier != Tier::reserved;
    has_cache_.push_back(gpu || cache.enabled ? 1 : 0);
    PrefixIndex::Rules rules{.block = options_.plant.block_tokens};
    if (!gpu) {
      rules.min_prefix = cache.min_prefix;
      rules.granularity = cache.block;
      rules.ttl = cache.ttl;
    }
    believed_caches_.emplace_back(rules);
  }
  for (const UnitStates::Step& step : units_->start(now)) {
    plant_->set_units(now, step.destination, step.running);
    belief_.units(now, step.destination, step.running);
    told_units({now, step.destination, step.before, step.running, step.cause});
  }
  swaps_.start(now);
}

void Engine::told_units(const event::UnitsChanged& change) {
  if (sink_.units) sink_.units(change);
  if (!recording()) return;
  witness_of_->said(change);
  record(change.at, change);
}

void Engine::arrive(const Demand& demand) {
  if (!running_) begin(demand.arrival.at);
  advance(demand.arrival.at);
  const std::uint32_t number = new_flight();
  Flight& flight = flights_[number];
  flight.demand = demand;
  flight.blocks.assign(demand.arrival.blocks.begin(), demand.arrival.blocks.end());
  flight.demand.arrival.blocks = flight.blocks;
  flight.h0 = shadow_cache(flight, now_);
  flight.decided.id = make_request_id(demand.arrival.at, ids_);
  if (recording()) record(now_, flight, admitted(flight));
  if (demand.arrival.cache_hit) return answer_from_cache(number, now_);
  if (!dispatch(number, now_)) wait(number, now_);
}

void Engine::answer_from_cache(std::uint32_t number, Instant now) {
  event::Decided& decided = flights_[number].decided;
  const RequestId id = decided.id;
  decided = {};
  decided.id = id;
  decided.at = now;
  decided.snapshot = fleet_->fleet().number;
  complete(number, now, event::Outcome::cache_hit, Verdict::dispatched);
}

std::uint32_t Engine::new_flight() {
  if (!free_.empty()) {
    const std::uint32_t number = free_.back();
    free_.pop_back();
    Flight& f = flights_[number];
    f.failures.clear();
    f.attempted.clear();
    f.attempts = 0;
    f.decided_once = f.held_back = false;
    f.told_decisions = f.told_attempts = 0;
    f.told.reset();
    f.offer = f.billed_as = OfferId{};
    f.fetched = Instant{};
    return number;
  }
  flights_.emplace_back();
  return static_cast<std::uint32_t>(flights_.size() - 1);
}

void Engine::advance(Instant to) {
  while (true) {
    const Instant plant = plant_->next();
    const Instant units = next_units();
    const Instant waiting = waiting_.empty() ? Instant::max() : waiting_.top().due;
    const Instant soonest = std::min({plant, units, waiting});
    if (soonest > to) break;
    now_ = std::max(now_, soonest);
    if (soonest == plant) {
      happen(plant_->fire());
      release_drained(now_);
    } else if (soonest == units) {
      tick(now_);
    } else {
      retry(now_);
    }
  }
  now_ = std::max(now_, to);
}

void Engine::finish() {
  if (!running_) return;
  while (true) {
    const Instant soonest = std::min(plant_->next(), waiting_.empty() ? Instant::max() : waiting_.top().due);
    if (soonest == Instant::max()) break;
    advance(soonest);
  }
}

Duration Engine::patience(const Flight& flight) const {
  const SloClass& slo = fleet_->fleet().slo_classes[flight.demand.slo.value];
  if (slo.ttft) return *slo.ttft;
  if (slo.deadline) return *slo.deadline;
  return options_.patience;
}

void Engine::wait(std::uint32_t number, Instant now) {
  Flight& flight = flights_[number];
  const Instant until = std::max(now, flight.demand.arrival.at + patience(flight));
  if (const Instant fetched = std::exchange(flight.fetched, Instant{}); fetched > now) {
    waiting_.push({std::min(fetched, until), until, number, flight.demand.arrival.row});
    return;
  }
  const Duration every = std::clamp(patience(flight) / 64, kRetryLeast, kRetryMost);
  waiting_.push({std::min(now + every, until), until, number, flight.demand.arrival.row});
}

void Engine::retry(Instant now) {
  const Waiting entry = waiting_.top();
  waiting_.pop();
  if (dispatch(entry.flight, now)) return;
  if (now < entry.until) return wait(entry.flight, now);
  complete(entry.flight, now, event::Outcome::not_served, Verdict::no_capacity);
}

Instant Engine::next_units() const {
  const Instant given = given_.empty() ? Instant::max() : given_.front().at;
  return std::min(swaps_.next(), options_.units_given ? given : units_->next());
}

void Engine::tick(Instant now) {
  if (swaps_.next() <= now) {
    swaps_.tick(now);
    return move_models(now);
  }
  if (options_.units_given) {
    const UnitMoves moves = std::move(given_.front());
    given_.pop_front();
    return move_units(moves);
  }
  const Live& live = belief_.live(now);
  std::fill(loads_.begin(), loads_.end(), 0.0);
  const auto offers = fleet_->offers();
  for (std::size_t o = 0; o < offers.size(); ++o) {
    double use = 0.0;
    for (std::size_t r = 0; r < kQueueing; ++r) use = std::max(use, live.use[r][o]);
    double& load = loads_[offers[o].destination.value];
    load = std::max(load, use / std::max(live.knee[o], 1e-9));
  }
  const UnitMoves moves{now, units_->tick(now, loads_)};
  if (sink_.moved && !moves.steps.empty()) sink_.moved(moves);
  move_units(moves);
}

void Engine::move_units(const UnitMoves& moves) {
  const Instant now = moves.at;
  for (const UnitStates::Step& step : moves.steps) {
    if (step.condemned > 0) plant_->condemn(now, step.destination, step.condemned);
    if (step.running != step.before) {
      plant_->set_units(now, step.destination, step.running);
      belief_.units(now, step.destination, step.running);
      told_units({now, step.destination, step.before, step.running, step.cause});
      release_drained(now);
    }
    if (step.gone == 0) continue;
    for (const Plant::Event& lost : plant_->take_away(now, step.destination, step.gone)) happen(lost);
  }
}

void Engine::move_models(Instant now) {
  if (!swaps_.any_moved()) return;
  for (const Belief::Holding& holding : swaps_.take_moved()) {
    if (!holding.loaded) {
      plant_->hold(now, holding.destination, holding.guest);
      believed_caches_[holding.destination.value].clear();
    }
    belief_.holds(now, holding);
  }
}

void Engine::release_drained(Instant now) {
  if (!plant_->any_drained()) return;
  for (const Plant::Drained& unit : plant_->take_drained())
    if (!options_.units_given) units_->drained(now, unit.destination, unit.unit);
}

void Engine::happen(const Plant::Event& event) {
  Flight& flight = flights_[event.flight];
  switch (event.kind) {
    case Plant::Event::Kind::none:
      return;
    case Plant::Event::Kind::first_token:
      flight.first_token = event.at;
      if (recording()) record(event.at, flight, first_token(flight));
      belief_.first_token(event.at, flight.claim, event.at - flight.dispatched);
      return;
    case Plant::Event::Kind::finished: {
      if (event.first_token != Instant{}) {
        flight.first_token = event.first_token;
        if (recording()) record(event.at, flight, first_token(flight));
        belief_.first_token(event.at, flight.claim, event.first_token - flight.dispatched);
      }
      const Duration ttft = flight.first_token - flight.demand.arrival.at;
      const Duration tpot = per_token(event.at - flight.first_token, flight.output);
      const bool good =
          fleet_->fleet().slo_classes[flight.demand.slo.value].kept(ttft, tpot, event.at - flight.demand.arrival.at);
      const Observed seen{Tokens{flight.output}, Tokens{flight.cached}, flight.first_token - flight.dispatched, tpot};
      belief_.completed(event.at, flight.claim, seen, good);
      swaps_.ended(event.at, (*fleet_)[flight.offer].destination);
      move_models(event.at);
      complete(event.flight, event.at, event::Outcome::served, Verdict::dispatched);
      return;
    }
    case Plant::Event::Kind::failed:
      failed_attempt(event.flight, event.at, Rejection::failed, false, 0);
      return;
    case Plant::Event::Kind::lost:
      failed_attempt(event.flight, event.at, Rejection::failed, true, event.produced);
      return;
  }
}

void Engine::failed_attempt(std::uint32_t number, Instant now, Rejection why, bool eviction, std::int64_t produced) {
  Flight& flight = flights_[number];
  belief_.rejected(now, flight.claim, why, Duration{0});
  swaps_.ended(now, (*fleet_)[flight.offer].destination);
  move_models(now);
  // A provider bills nothing for a 5xx; a lost spot unit's tokens are in its unit-hour.
  flight.failures.push_back({flight.decided.id, flight.offer, flight.dispatched, now, false, why, eviction,
                             Usage(Tokens{0}, Tokens{0}, Tokens{eviction ? produced : 0}), flight.dispatched,
                             flight.billed_as});
  record_attempts(flight, now);
  flight.attempted.push_back(flight.offer);
  const Policies& policies = fleet_->fleet().policies;
  const bool allowed = flight.attempts < policies.attempts_max && (eviction || belief_.may_retry(now));
  if (!allowed) {
    complete(number, now, event::Outcome::not_served, Verdict::retries_spent);
    return;
  }
  if (!dispatch(number, now)) wait(number, now);
}

void Engine::predict_cached(const Flight& flight, Live& live, Instant now) {
  if (flight.blocks.empty()) return;
  for (const OfferId id : fleet_->candidates(flight.demand.model)) {
    const DestinationId d = (*fleet_)[id].destination;
    live.cached[id.value] =
        has_cache_[d.value] == 0
            ? 0
            : static_cast<std::int32_t>(
                  believed_caches_[d.value].matched(flight.blocks, Tokens{flight.demand.arrival.prompt}, now).value);
  }
}

/// Wakes pools without a unit that this request could have run on for less than it costs now, or at all: what does not
/// run takes no load, so no load would ever ask for its first unit.
void Engine::wake_cheaper(const Request& request, const Live& live, Instant now, const Decision& decision) {
  if (options_.units_given) return;
  bool any = false;
  for (const OfferId id : fleet_->candidates(request.model)) any = any || units_->asleep((*fleet_)[id].destination);
  if (!any) return;
  const auto price = [&](OfferId id) {
    const Usage usage(request.prompt, Tokens{0}, Tokens{static_cast<std::int64_t>(request.predicted.output_mean)});
    return fleet_->price(id, usage, now).value_or(Usd{INT64_MAX});
  };
  const bool dispatched = decision.verdict == Verdict::dispatched;
  const Usd paid = dispatched ? std::max(price(decision.chosen), Usd{decision.terms.effective()}) : Usd{INT64_MAX};
  for (const Candidate& c : explain(*fleet_, live, request, now, scratch_)) {
    const Offer& offer = (*fleet_)[c.offer];
    if (c.exclusion == Exclusion::not_running && offer.resident && price(c.offer) < paid)
      units_->wake(now, offer.destination);
  }
}

bool Engine::dispatch(std::uint32_t number, Instant now) {
  Flight& flight = flights_[number];
  const Arrival& arrival = flight.demand.arrival;
  const Policies& policies = fleet_->fleet().policies;
  int spills = 0;
  if (!flight.decided_once) swaps_.asked(now, flight.demand.model);
  move_models(now);
  while (true) {
    Live& live = belief_.live(now);
    predict_cached(flight, live, now);
    Request request;
    request.model = flight.demand.model;
    request.tenant = flight.demand.tenant;
    request.slo = flight.demand.slo;
    request.compliance = flight.demand.compliance;
    request.data_class = flight.demand.data_class;
    request.prompt = Tokens{arrival.prompt};
    request.max_output = Tokens{arrival.max_output};
    request.needs = kText | arrival.needs;
    request.batch = arrival.batch;
    request.predicted = belief_.predict(request.model, request.tenant, request.slo, request.max_output);
    request.waited = now - arrival.at;
    for (const event::Attempted& failure : flight.failures)  // a loss with its spot unit is never the request's fault
      if (!failure.answered && failure.rejection == Rejection::failed && !failure.eviction)
        request.failed_at = failure.offer;
    scratch_.attempted.assign(flight.attempted.begin(), flight.attempted.end());
    // Recorded or not, a run decides on what a record can hold: the same trace has one report.
    if (options_.dispatching == Dispatching::merit_order)
      for (const OfferId offer : fleet_->candidates(request.model)) event::quantise(*fleet_, request.slo, offer, live);
    if (witness_.row != 0 && witness_.row == arrival.row && witness_.decided) witness_.decided(request, live, now);
    if (recording()) witness_of_->before(request, now, live, [&](event::Event e) { record(now, std::move(e)); });
    const Decision decision = choose(request, live, now);
    if (recording()) record_decision(flight, request, live, decision, now);
    wake_cheaper(request, live, now, decision);
    if (!flight.decided_once) {
      flight.decided_once = true;
      flight.decided.at = now;
      flight.decided.snapshot = fleet_->fleet().number;
    }
    flight.decided.decision = decision;
    flight.decided.predicted = request.predicted;
    if (decision.verdict != Verdict::dispatched) {
      if (decision.verdict == Verdict::no_capacity) {
        if (decision.feasible > 0 && !std::exchange(flight.held_back, true)) ++held_back_;
        flight.attempted.clear();  // waiting is a new chance everywhere
        return false;
      }
      complete(number, now, event::Outcome::not_served, decision.verdict);
      return true;
    }
    if (live.resident[decision.chosen.value] == 0 && (*fleet_)[decision.chosen].guest()) {
      flight.fetched = swaps_.fetch(now, decision.chosen);
      move_models(now);
      return false;
    }
    flight.decided.cached_predicted = Tokens{live.cached[decision.chosen.value]};
    const Offer& offer = (*fleet_)[decision.chosen];
    flight.offer = decision.chosen;
    flight.output = arrival.output;
    if (offer.model != flight.demand.model)
      for (const Equivalent& e : fleet_->fleet().models[flight.demand.model.value].equivalents)
        if (e.model == offer.model)
          flight.output = static_cast<std::int32_t>(
              std::max<std::int64_t>(1, (arrival.output * e.verbosity_ppm + 500'000) / 1'000'000));
    flight.claim = belief_.dispatched(now, request, decision);
    flight.dispatched = now;
    const Work work{.offer = decision.chosen,
                    .flight = number,
                    .prompt = arrival.prompt,
                    .output = flight.output,
                    .max_output = arrival.max_output,
                    .logged_cached = std::max(arrival.cached, 0),
                    .blocks = flight.blocks};
    const Plant::Answer answer = plant_->offer(now, work);
    if (answer.accepted) {
      ++flight.attempts;
      swaps_.began(now, offer.destination);
      move_models(now);
      flight.cached = answer.cached;
      flight.billed_as = answer.billed_as;
      if (!flight.blocks.empty() && has_cache_[offer.destination.value] != 0)
        believed_caches_[offer.destination.value].insert(flight.blocks, now);
      return true;
    }
    // A fast rejection re-dispatched elsewhere is spill: it costs no retry budget.
    belief_.rejected(now, flight.claim, answer.why, answer.retry_after);
    flight.failures.push_back(
        {flight.decided.id, decision.chosen, now, now, false, answer.why, false, Usage{}, now, decision.chosen});
    record_attempts(flight, now);
    flight.attempted.push_back(decision.chosen);
    if (++spills + flight.attempts >= policies.attempts_max) {
      flight.attempted.clear();
      return false;
    }
  }
}

std::int32_t Engine::shadow_cache(const Flight& flight, Instant now) {
  const Arrival& arrival = flight.demand.arrival;
  const std::optional<Baseline>& baseline = fleet_->fleet().models[flight.demand.model.value].baseline;
  if (!baseline || !options_.learn_h0) return 0;
  const Fleet& fleet = fleet_->fleet();
  const PromptCache& cache = fleet.providers[fleet.destinations[baseline->destination.value].provider.value].cache;
  if (flight.blocks.empty()) return std::clamp(arrival.cached, 0, arrival.prompt);
  if (!cache.enabled) return 0;
  if (arrival.tenant >= h0_caches_.size()) h0_caches_.resize(arrival.tenant + 1);
  std::optional<PrefixIndex>& index = h0_caches_[arrival.tenant];
  if (!index)
    index.emplace(PrefixIndex::Rules{options_.plant.block_tokens, cache.min_prefix, cache.block, cache.ttl, 1 << 18});
  const Tokens hit = index->matched(flight.blocks, Tokens{arrival.prompt}, now);
  index->insert(flight.blocks, now);
  return static_cast<std::int32_t>(hit.value);
}

}  // namespace ace
