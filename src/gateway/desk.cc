#include "gateway/desk.h"

#include <algorithm>

#include "core/hash.h"
#include "gateway/era.h"
#include "ledger/decided.h"

namespace ace::gateway {
namespace {

/// The answer as predicted, none of it from a cache.
Usage predicted_usage(const Request& request) {
  return {request.prompt, Tokens{0}, Tokens{static_cast<std::int64_t>(request.predicted.output_mean + 0.5)}};
}

}  // namespace

std::string_view name_of(Mode mode) {
  switch (mode) {
    case Mode::observe:
      return "observe";
    case Mode::shadow:
      return "shadow";
    case Mode::canary:
      return "canary";
    case Mode::act:
      return "inline";
  }
  return "observe";
}

bool Desk::Order::operator()(const Flight* a, const Flight* b) const {
  const auto place = [](const Flight* f) {
    const int priority = f->era->world->fleet.slo_classes[f->admitted.slo.value].priority;
    return std::tuple(-priority, f->admitted.at, f->id);
  };
  return place(a) < place(b);
}

Desk::Desk(std::shared_ptr<const World> world, const DeskOptions& options, SpinePort& spine, BudgetGate* budgets)
    : options_(options),
      spine_(spine),
      budgets_(budgets),
      ids_(options.seed, "gateway"),
      trial_(options.trial, Instant::min()) {
  eras_.push_back(std::make_shared<Era>(world, options.belief));
  eras_.back()->prefixes = prefixes_.of(*world);
  world_.store(std::move(world));
}

Desk::~Desk() = default;

Instant Desk::tick(Instant now) {
  if (now_ == Instant::min()) {
    trial_.restart(now);
    begin_accrual(now);
  }
  now_ = std::max(now_, now);
  for (const auto& era : eras_) release_virtual(*era, now_);
  return now_;
}

std::shared_ptr<Era> Desk::era_of(const std::shared_ptr<const World>& world) const {
  for (const auto& era : eras_)
    if (era->world == world) return era;
  return nullptr;
}

/// Whether it is of ACE's arm.
bool Desk::acts_on(const Arriving& arriving) const {
  if (options_.mode == Mode::act) return true;
  if (options_.mode != Mode::canary) return false;
  const std::string& model = arriving.world->fleet.models[arriving.model.value].name;
  return hash_of(arriving.caller.tenant + "/" + model) % 1'000'000 < static_cast<std::uint64_t>(options_.canary_ppm);
}

std::shared_ptr<Telling> Desk::telling_of(Era& era, bool acts, Instant now) {
  std::shared_ptr<Telling>& telling = era.tellings[acts ? 1 : 0];
  if (telling) return telling;
  using Source = event::FleetChanged::Source;
  const Result<std::uint64_t> number = spine_.declare(*era.world, acts ? Source::live : Source::shadow, now, era.anew);
  if (!number) return nullptr;
  telling = std::make_shared<Telling>(era.world->snapshot, *number);
  return telling;
}

std::optional<Desk::Symbols> Desk::symbols_of(const Caller& caller, Instant now) {
  using Kind = event::Named::Kind;
  Symbols names;
  for (const auto& [kind, text, symbol] : {std::tuple{Kind::tenant, &caller.tenant, &names.tenant},
                                           {Kind::team, &caller.team, &names.team},
                                           {Kind::project, &caller.project, &names.project},
                                           {Kind::key, &caller.key, &names.key}}) {
    const Result<std::uint32_t> known = spine_.symbol(kind, *text, now);
    if (!known) return std::nullopt;
    *symbol = *known;
  }
  return names;
}

std::variant<std::unique_ptr<Flight>, Desk::Refusal> Desk::admit(Instant at, const Arriving& arriving) {
  const std::scoped_lock lock(mutex_);
  const Instant now = tick(at);
  const std::shared_ptr<Era> era = era_of(arriving.world);
  if (!era) return Refusal{.why = Refused::outdated};
  if (spine_down_ && !recover(now) && !options_.serve_unledgered) return Refusal{.why = Refused::spine};
  const Fleet& fleet = era->world->fleet;
  const Caller& caller = arriving.caller;

  auto flight = std::make_unique<Flight>();
  Flight& f = *flight;
  f.id = make_request_id(now, ids_);
  f.era = era;
  f.tenant = caller.tenant;
  f.arm = acts_on(arriving);
  f.acts = f.arm && !(options_.mode == Mode::canary && options_.alike);
  f.fixed = arriving.fixed;
  f.blocks.assign(arriving.blocks.begin(), arriving.blocks.end());
  f.unable.assign(arriving.unable.begin(), arriving.unable.end());
  if (caller.declared.valid()) f.data_class = fleet.tenants[caller.declared.value].data_class;
  const SloClass& slo = fleet.slo_classes[caller.slo.value];
  f.until = now + std::min(slo.ttft.value_or(options_.patience), slo.deadline.value_or(options_.patience));
  event::Admitted& a = f.admitted;
  a.id = f.id;
  a.at = now;
  a.declared_tenant = caller.declared;
  a.requested = arriving.model;
  a.slo = caller.slo;
  a.compliance = caller.compliance;
  a.prompt = arriving.prompt;
  a.max_output = arriving.max_output;
  a.needs = kText | arriving.needs;
  a.batch = arriving.batch;
  if (PrefixIndex* const cache = era->prefixes.baseline[arriving.model.value]; cache != nullptr && !f.blocks.empty()) {
    const std::uint64_t scope = hash_of(caller.tenant);
    a.h0 = cache->matched(f.blocks, a.prompt, now, scope);
    cache->insert(f.blocks, now, scope);
  }

  if (budgets_ != nullptr) {
    const BudgetSubject subject{caller.tenant, caller.team, caller.project, caller.key,
                                fleet.models[arriving.model.value].name};
    if (const auto matching = budgets_->matching(subject); !matching.empty()) {
      auto reserved = budgets_->reserve(matching, era->holds.worst_case(a).amount, now);
      if (const auto* refusal = std::get_if<BudgetRefusal>(&reserved))
        return Refusal{Refused::budget, *refusal, budgets_->book().budgets()[refusal->budget].name};
      f.ticket = std::get<BudgetTicket>(std::move(reserved));
    }
  }

  if (!spine_down_) f.telling = telling_of(*era, f.acts, now);
  if (f.telling) {
    if (const std::optional<Symbols> names = symbols_of(caller, now)) {
      a.tenant = names->tenant;
      a.team = names->team;
      a.project = names->project;
      a.key = names->key;
    } else {
      f.telling = nullptr;
    }
  }
  if (!f.telling && !spine_down_) lose();
  if (f.telling) record(f, a);
  if (f.telling == nullptr) {
    if (!options_.serve_unledgered) {
      if (budgets_ != nullptr) budgets_->release(f.ticket);
      return Refusal{.why = Refused::spine};
    }
    ++unledgered_;
  }
  ++admitted_;
  flights_.emplace(f.id, &f);
  ++era->flights;
  return flight;
}

Request Desk::request_of(const Flight& f, Instant now) {
  const event::Admitted& a = f.admitted;
  Request request;
  request.model = a.requested;
  request.tenant = a.declared_tenant;
  request.slo = a.slo;
  request.compliance = a.compliance;
  request.data_class = f.data_class;
  request.prompt = a.prompt;
  request.max_output = a.max_output;
  request.needs = a.needs;
  request.batch = a.batch;
  request.predicted = f.era->belief.predict(request.model, request.tenant, request.slo, request.max_output);
  request.waited = now - a.at;
  for (const event::Attempted& attempt : f.attempts)
    if (!attempt.answered && attempt.rejection == Rejection::failed) request.failed_at = attempt.offer;
  return request;
}

Desk::Choice Desk::decide(Instant at, Flight& f) {
  const std::scoped_lock lock(mutex_);
  const Instant now = tick(at);
  Era& era = *f.era;
  const Snapshot& snapshot = era.world->snapshot;
  Choice choice;
  choice.until = f.until;
  if (f.shed) {
    choice.shed = true;
    f.verdict = Verdict::no_capacity;
    return choice;
  }
  Live& live = era.belief.live(now);
  predict_cached(era, f, live, now);
  const Request request = request_of(f, now);
  era.scratch.attempted = f.tried;
  era.scratch.attempted.insert(era.scratch.attempted.end(), f.unable.begin(), f.unable.end());
  if (f.telling && f.telling->broken) f.telling = nullptr;
  if (const std::shared_ptr<Telling> telling = f.telling)
    telling->witness.before(request, now, live, [&](event::Event e) {
      if (!f.telling) return;
      event::Record moved;
      const RequestId id = make_request_id(now, ids_);
      moved.id = {id.high, id.low};
      moved.snapshot = telling->number;
      moved.event = std::move(e);
      if (!spine_.append(moved)) lose(), f.telling = nullptr;
    });
  const Decision decision = ace::decide(snapshot, live, request, now, era.scratch);
  f.verdict = decision.verdict;
  const bool dispatched = decision.verdict == Verdict::dispatched;
  if (dispatched || f.told != decision.verdict) {  // of a request that waits, only what becomes of it is an event
    f.told = decision.verdict;
    const std::uint64_t number = f.telling ? f.telling->number : 0;
    const event::Decided decided = decided_event(snapshot, number, f.id, now, request, live, decision);
    if (dispatched) f.decided = decided;
    if (f.telling) record(f, decided, f.decisions, f.telling->witness.evidence(request, now, live, era.scratch));
    ++f.decisions;
  }

  Decision sent = decision;
  if (!f.acts) {
    // Where it goes was settled before; only the law may still stop it.
    const Exclusion illegal =
        snapshot.compliance(request.compliance, request.data_class, snapshot[f.fixed].destination);
    if (illegal != Exclusion::none || !snapshot.data_class_allowed(request.compliance, request.data_class)) {
      choice.verdict = f.verdict = Verdict::no_compliant_destination;
      return choice;
    }
    if (dispatched && decision.chosen != f.fixed) {
      occupy_virtually(era, request, decision, now);
      sent.cheapest_uncongested = OfferId{};  // demand is counted once, where it would go
    }
    sent.chosen = f.fixed;
    sent.verdict = Verdict::dispatched;
  } else if (!dispatched) {
    choice.verdict = decision.verdict;
    if (decision.verdict != Verdict::no_capacity) return choice;
    f.tried.clear();  // waiting is a new chance everywhere
    if (now < f.until) wait(f);
    choice.shed = f.shed;
    return choice;
  }
  leave_queue(f);
  f.offer = sent.chosen;
  f.claim = era.belief.dispatched(now, request, sent);
  f.claimed = true;
  f.sent = now;
  f.first_token = Instant{};
  f.predicted_time = predicted_residence(*era.world, request, f.offer);
  bool after = false;
  for (const auto& era_now : eras_) {
    if (after) claim_in(era_now, f, now);
    after = after || era_now == f.era;
  }
  f.predicted = snapshot.price(f.offer, predicted_usage(request), now).value_or(Usd{});
  choice.verdict = Verdict::dispatched;
  choice.offer = f.offer;
  if (f.acts) wake_next(f.admitted.requested);  // there may be room for one more
  return choice;
}

void Desk::first_token(Instant at, Flight& f) {
  const std::scoped_lock lock(mutex_);
  const Instant now = tick(at);
  if (f.first_token != Instant{}) return;
  f.first_token = now;
  f.era->belief.first_token(now, f.claim, now - f.sent);
  for (Flight::Later& later : f.later) later.era->belief.first_token(now, later.claim, now - f.sent);
  record(f, event::FirstToken{f.id, now, f.offer, now - f.admitted.at});
}

bool Desk::failed(Instant at, Flight& f, const Failed& failure) {
  const std::scoped_lock lock(mutex_);
  const Instant now = tick(at);
  Belief& belief = f.era->belief;
  const auto free = [&](Belief& of, const Claim& claim) {
    if (failure.local)
      of.aborted(now, claim, Observed{});
    else
      of.rejected(now, claim, failure.why, failure.retry_after, failure.limit);
  };
  free(belief, f.claim);
  for (const Flight::Later& later : f.later) free(later.era->belief, later.claim);
  f.later.clear();
  f.claimed = false;
  attempted(f, now, failure.billed).rejection = failure.why;
  record_attempts(f);
  f.tried.push_back(f.offer);
  f.offer = OfferId{};
  wake_all();
  const std::size_t most = static_cast<std::size_t>(f.era->world->fleet.policies.attempts_max);
  if (!f.acts || f.attempts.size() >= most) return false;
  if (f.first_token != Instant{}) return false;  // the client has seen of this answer
  if (failure.local) return true;                // nobody was asked: it says nothing about the next
  if (failure.why == Rejection::request) return false;
  // A fast rejection that goes elsewhere is spill: it costs no retry budget.
  return failure.why != Rejection::failed || belief.may_retry(now);
}

Desk::View Desk::view() const {
  const std::scoped_lock lock(mutex_);
  View view;
  view.mode = options_.mode;
  view.in_flight = flights_.size();
  view.waiting = queue_.size();
  view.spine_down = spine_down_;
  view.admitted = admitted_;
  view.unledgered = unledgered_;
  view.shed = shed_;
  view.demotions = demotions_;
  return view;
}

}  // namespace ace::gateway
