/// Records in, one after the other. What a request comes to is in spine_request.cc.
#include "ledger/spine_ledger.h"

#include <fmt/format.h>

#include "ledger/spine_state.h"

namespace ace {
namespace {

std::string at_record(std::uint64_t sequence) { return fmt::format("folding record {}", sequence); }

template <class Thing>
Result<void> same_names(const std::vector<Thing>& compiled, const std::vector<std::string>& recorded,
                        std::string_view what) {
  bool same = compiled.size() == recorded.size();
  for (std::size_t i = 0; same && i < recorded.size(); ++i) same = event::label_of(compiled[i].name) == recorded[i];
  if (same) return {};
  return Error(Errc::corrupt, fmt::format("the fleet that was recorded names other {} than its files do", what));
}

}  // namespace

SpineLedger::State::State(Options chosen) : options(std::move(chosen)) {
  ledger_options.gates = options.gates;
  ledger_options.shapley = options.shapley;
  for (AccountNames* names : {&tenants, &teams, &projects, &keys, &destinations}) names->name(0, "");
  budgets.change(options.budgets);
}

Result<void> SpineLedger::State::load(FleetEra& era) {
  if (era.snapshot != nullptr) return {};
  const Result<const Snapshot*> snapshot = options.fleets(era.number, era.declared);
  if (!snapshot) return Error(snapshot.error()).with(fmt::format("compiling fleet snapshot {}", era.number));
  const Fleet& fleet = (*snapshot)->fleet();
  for (const Result<void>& same : {same_names(fleet.destinations, era.declared.destinations, "destinations"),
                                   same_names(fleet.models, era.declared.models, "models"),
                                   same_names(fleet.slo_classes, era.declared.slo_classes, "SLO classes"),
                                   same_names(fleet.compliance, era.declared.compliance, "compliance classes"),
                                   same_names(fleet.tenants, era.declared.tenants, "tenants")})
    if (!same) return same;
  era.snapshot = *snapshot;
  era.settler = std::make_unique<Settler>(**snapshot);
  era.holds = std::make_unique<Holds>(**snapshot);
  era.destinations.clear();
  for (const std::string& name : era.declared.destinations)
    era.destinations.push_back(destinations.named(event::text_of(name)));
  return {};
}

Result<std::uint32_t> SpineLedger::State::era_of(const event::Record& record) {
  if (!eras.empty() && eras.back().number == record.snapshot && eras.back().snapshot != nullptr)
    return static_cast<std::uint32_t>(eras.size() - 1);
  const auto found = era_of_number.find(record.snapshot);
  if (found == era_of_number.end())
    return Error(Errc::corrupt, fmt::format("an event of kind {} is of fleet snapshot {}, which no record before it "
                                            "declares",
                                            name_of(event::kind_of(record.event)), record.snapshot));
  if (Result<void> loaded = load(eras[found->second]); !loaded) return std::move(loaded).error();
  return found->second;
}

Result<void> SpineLedger::State::fleet_changed(const event::Record& record, const event::FleetChanged& change) {
  event::FleetChanged declared = change;
  declared.at = Instant{};
  std::uint32_t number = 0;
  while (number < eras.size() && eras[number].declared != declared) ++number;
  if (number == eras.size()) {
    eras.emplace_back();
    for (const std::string& name : declared.destinations) destinations.named(event::text_of(name));
    eras.back().declared = std::move(declared);
  }
  eras[number].number = record.snapshot;
  era_of_number[record.snapshot] = number;
  matching.clear();
  return {};
}

void SpineLedger::State::commit(JournalEntry::What what, std::uint64_t sequence, Instant at, RequestId id) {
  entry.what = what;
  entry.sequence = sequence;
  entry.at = at;
  entry.request = id;
  balances.post(entry);
  if (options.each && !entry.legs.empty()) options.each(entry);
  entry.legs.clear();
}

Result<void> SpineLedger::State::fact(std::uint64_t sequence, const event::Record& record) {
  const Result<std::uint32_t> era = era_of(record);
  if (!era) return Error(era.error());
  const RequestId id{record.id.high, record.id.low};
  if (!std::holds_alternative<event::Admitted>(record.event) && index.find(id) == RequestIndex::kNone)
    if (const Result<bool> recalled = recall(record.tenant, id, sequence); !recalled) return Error(recalled.error());
  const std::uint32_t slot = slot_of(id, sequence);
  FoldedRequest& request = pool[slot];
  const Instant at = event::at_of(record.event);
  const FoldedRequest::State was = request.state;
  if (was != FoldedRequest::State::open) book(request, -1);
  const Result<void> entered = enter(request, record, *era);
  if (!entered) {
    if (was != FoldedRequest::State::open) {
      book(request, 1);
      entry.legs.clear();
    } else if (!request.admitted && !request.decided && !request.completed && request.attempts.empty()) {
      drop(slot);
    }
    return entered;
  }
  if (was == FoldedRequest::State::open) {
    if (std::holds_alternative<event::Admitted>(record.event)) admit(request, sequence);
    if (!request.admitted || !request.completed) return {};
    end(request, FoldedRequest::State::booked, sequence, at);
    remember(slot);
    return {};
  }
  // Booked before: minus what was booked stands in the entry already.
  const bool ended = was == FoldedRequest::State::estimated && request.completed;
  if (ended) request.state = FoldedRequest::State::booked;
  const Usd before = request.booked_cost;
  request.in_gap = in_gap(request);
  book(request, 1);
  budgets.correct(request.ticket, request.booked_cost - before, at);
  FleetEra& admitted_under = eras[request.era];
  FoldedFacts& facts = admitted_under.facts[day_of(request.a.at)];
  ++facts.corrected;
  if (!closed.empty() &&
      closed.contains({hour_of(request.a.at), request.a.tenant,
                       admitted_under.declared.models[request.a.requested.value], world_of(admitted_under)})) {
    ++facts.corrected_closed;
    facts.corrected_closed_cost += request.booked_cost - before;
  }
  commit(JournalEntry::What::correct, sequence, at, id);
  if (ended) remember(slot);
  return {};
}

std::vector<std::uint32_t> SpineLedger::State::in_order(const std::function<bool(const FoldedRequest&)>& which) const {
  std::vector<std::uint32_t> slots;
  for (std::uint32_t slot = 0; slot < pool.size(); ++slot)
    if (which(pool[slot])) slots.push_back(slot);
  std::sort(slots.begin(), slots.end(),
            [&](std::uint32_t a, std::uint32_t b) { return pool[a].sequence < pool[b].sequence; });
  return slots;
}

void SpineLedger::State::writer_opened(std::uint64_t sequence, Instant at) {
  const std::vector<std::uint32_t> lost =
      in_order([](const FoldedRequest& r) { return r.live && r.admitted && r.state == FoldedRequest::State::open; });
  for (const std::uint32_t slot : lost) end(pool[slot], FoldedRequest::State::estimated, sequence, at);
}

Result<void> SpineLedger::State::gap(std::uint64_t sequence, const event::Gap& gap) {
  gaps.push_back(gap);
  const auto take_back = [&](std::uint32_t slot) {
    FoldedRequest& request = pool[slot];
    book(request, -1);
    request.in_gap = true;
    book(request, 1);
    commit(JournalEntry::What::correct, sequence, gap.to, request.id);
  };
  const auto inside = [&](const FoldedRequest& r) {
    return r.live && r.state != FoldedRequest::State::open && !r.in_gap && in_gap(r);
  };
  for (const std::uint32_t slot : in_order(inside)) take_back(slot);
  if (!options.decided_in || !options.recall) return {};
  // Those that are no longer at hand lie in the log.
  const auto decided = options.decided_in(gap.from, gap.to, sequence);
  if (!decided) return Error(decided.error()).with("looking for what was decided in a gap");
  for (const auto& [tenant, id] : *decided) {
    if (index.find(id) != RequestIndex::kNone) continue;
    const Result<bool> recalled = recall(tenant, id, sequence);
    if (!recalled) return Error(recalled.error());
    if (!*recalled) continue;
    const std::uint32_t slot = index.find(id);
    if (inside(pool[slot])) take_back(slot);
  }
  return {};
}

Result<void> SpineLedger::State::fixed_cost(std::uint64_t sequence, const event::Record& record,
                                            const event::FixedCost& cost) {
  const Result<std::uint32_t> number = era_of(record);
  if (!number) return Error(number.error());
  FleetEra& era = eras[*number];
  if (cost.destination.valid() && cost.destination.value >= era.destinations.size())
    return Error(Errc::corrupt, "fixed cost of a destination that the fleet does not have");
  if (cost.to < cost.from) return Error(Errc::corrupt, "fixed cost that ends before it begins");
  const std::uint32_t owner = cost.destination.valid() ? era.destinations[cost.destination.value] : 0;
  std::vector<Stretch>& standing = stretches[{world_of(era), owner, cost.kind}];
  const auto overlaps = [&](const Stretch& s) { return s.cost.from < cost.to && cost.from < s.cost.to; };
  const auto covered = [&](const Stretch& s) { return cost.from <= s.cost.from && s.cost.to <= cost.to; };
  const auto same = [&](const Stretch& s) { return s.cost.from == cost.from && s.cost.to == cost.to; };
  // A stretch that covers what stands says the same time again, further; what says less or crosses it says it twice.
  if (std::any_of(standing.begin(), standing.end(),
                  [&](const Stretch& s) { return same(s) || (overlaps(s) && !covered(s)); })) {
    ++era.facts[day_of(cost.from)].fixed_refused;
    return {};
  }
  for (const Stretch& s : standing)
    if (overlaps(s))
      if (Result<void> loaded = load(eras[s.era]); !loaded) return loaded;
  for (const Stretch& s : standing)
    if (overlaps(s)) book(s, -1);
  Stretch stretch{cost, *number, {}};
  for (const Stretch& s : standing)
    if (overlaps(s) && s.cost.from == cost.from) s.hand_over(stretch);
  std::erase_if(standing, overlaps);
  standing.push_back(std::move(stretch));
  book(standing.back(), 1);
  commit(JournalEntry::What::fixed, sequence, cost.from, {});
  return {};
}

fold::Fixed SpineLedger::State::Stretch::within(const Period& period) const {
  fold::Fixed sum, before;
  Instant since = cost.from;
  for (const auto& [until, said] : grown) {
    sum += fold::part_of(said - before, since, until, period);
    before = said, since = until;
  }
  return sum += fold::part_of(fold::part_of(cost) - before, since, cost.to, period);
}

void SpineLedger::State::Stretch::hand_over(Stretch& longer) const {
  longer.grown = grown;
  if (!grown.empty()) {
    const Instant before = grown.size() > 1 ? grown[grown.size() - 2].first : cost.from;
    if (day_of(before) == day_of(cost.to)) longer.grown.pop_back();  // between two of one day it decides nothing
  }
  longer.grown.emplace_back(cost.to, fold::part_of(cost));
}

void SpineLedger::State::book(const Stretch& stretch, int sign) {
  FleetEra& era = eras[stretch.era];
  const event::FixedCost& cost = stretch.cost;
  era.accounts.book(cost, sign);
  const std::uint32_t owner = cost.destination.valid() ? era.destinations[cost.destination.value] : 0;
  const Usd amount = sign > 0 ? cost.amount : -cost.amount;
  entry.add({Account::Kind::fixed, owner}, amount);
  entry.add({Account::Kind::destination, owner}, -amount);
}

bool SpineLedger::State::GpuTime::take(const event::GpuBooking& booking) {
  if (!bookings.add(booking)) return false;
  const auto [at, fresh] = last.try_emplace(booking.device, all.size());
  if (!fresh && all[at->second].use == booking.use && all[at->second].end_ms == booking.start_ms) {
    all[at->second].end_ms = booking.end_ms;  // a live unit is booked every few minutes
    return true;
  }
  at->second = all.size();
  all.push_back(booking);
  return true;
}

Result<void> SpineLedger::State::booking(const event::Record& record, const event::GpuBooking& booking) {
  const Result<std::uint32_t> number = era_of(record);
  if (!number) return Error(number.error());
  FleetEra& era = eras[*number];
  GpuTime& time = gpu_time[world_of(era)];
  if (time.take(booking)) return {};
  // As with fixed cost: one that covers what stands says the same time again, further.
  const auto before = [&](const event::GpuBooking& b) {
    return b.device == booking.device && b.use == booking.use && booking.start_ms <= b.start_ms &&
           b.end_ms <= booking.end_ms && !(b == booking);
  };
  if (std::any_of(time.all.begin(), time.all.end(), before)) {
    GpuTime again;
    for (const event::GpuBooking& b : time.all)
      if (!before(b)) ACE_CHECK(again.take(b), "some of what fitted together fits together");
    if (again.take(booking)) {
      time = std::move(again);
      return {};
    }
  }
  ++era.facts[floor_div(booking.start_ms, nanos(kDay) / 1'000'000)].bookings_refused;
  return {};
}

void SpineLedger::State::settlement_closed(const event::Record& record, const event::SettlementClosed& e) {
  const auto found = era_of_number.find(record.snapshot);
  if (found == era_of_number.end()) return;
  const std::vector<std::string>& models = eras[found->second].declared.models;
  if (e.model.value >= models.size()) return;
  closed[{e.hour, tenants.number_of(e.tenant), models[e.model.value], world_of(eras[found->second])}] = {
      e.requests, e.baseline, e.actual, e.counted, e.disallowed};
}

FoldedFacts& FoldedFacts::operator+=(const FoldedFacts& o) {
  evictions += o.evictions;
  unit_changes += o.unit_changes;
  bookings_refused += o.bookings_refused;
  fixed_refused += o.fixed_refused;
  estimated += o.estimated;
  estimated_cost += o.estimated_cost;
  corrected += o.corrected;
  corrected_closed += o.corrected_closed;
  corrected_closed_cost += o.corrected_closed_cost;
  passed += o.passed;
  return *this;
}

SpineLedger::SpineLedger(Options options) : state_(std::make_unique<State>(std::move(options))) {}
SpineLedger::~SpineLedger() = default;
SpineLedger::SpineLedger(SpineLedger&&) noexcept = default;
SpineLedger& SpineLedger::operator=(SpineLedger&&) noexcept = default;

Result<void> SpineLedger::add(std::uint64_t sequence, const event::Record& record) {
  State& s = *state_;
  ACE_CHECK(sequence >= s.next, "records are folded in order, each once");
  Result<void> done;
  switch (event::kind_of(record.event)) {
    case event::Kind::admitted:
    case event::Kind::decided:
    case event::Kind::attempted:
    case event::Kind::completed:
    case event::Kind::cache_hit:
      done = s.fact(sequence, record);
      break;
    case event::Kind::fleet_changed:
      done = s.fleet_changed(record, std::get<event::FleetChanged>(record.event));
      break;
    case event::Kind::fixed_cost:
      done = s.fixed_cost(sequence, record, std::get<event::FixedCost>(record.event));
      break;
    case event::Kind::gpu_booking:
      done = s.booking(record, std::get<event::GpuBooking>(record.event));
      break;
    case event::Kind::settlement_closed:
      s.settlement_closed(record, std::get<event::SettlementClosed>(record.event));
      break;
    case event::Kind::gap:
      done = s.gap(sequence, std::get<event::Gap>(record.event));
      break;
    case event::Kind::units_changed: {
      const auto& change = std::get<event::UnitsChanged>(record.event);
      if (const auto found = s.era_of_number.find(record.snapshot); found != s.era_of_number.end()) {
        FoldedFacts& facts = s.eras[found->second].facts[day_of(change.at)];
        if (change.after != change.before) ++facts.unit_changes;  // else it is said anew
        if (change.cause == "eviction" && change.after < change.before) ++facts.evictions;
      }
      break;
    }
    case event::Kind::passed: {
      const auto& passed = std::get<event::Passed>(record.event);
      if (const auto found = s.era_of_number.find(record.snapshot); found != s.era_of_number.end())
        if (record.ordinal == 0) ++s.eras[found->second].facts[day_of(passed.at)].passed;  // not its end, of number 1
      break;
    }
    case event::Kind::named: {
      const auto& named = std::get<event::Named>(record.event);
      using Kind = event::Named::Kind;
      AccountNames* const names = named.kind == Kind::tenant    ? &s.tenants
                                  : named.kind == Kind::team    ? &s.teams
                                  : named.kind == Kind::project ? &s.projects
                                  : named.kind == Kind::key     ? &s.keys
                                                                : nullptr;
      if (names == nullptr) break;
      names->name(named.symbol, event::text_of(named.name));  // as a person and a budget write it
      s.matching.clear();
      break;
    }
    case event::Kind::lifecycle: {
      using What = event::Lifecycle::What;
      const auto& life = std::get<event::Lifecycle>(record.event);
      if (life.what == What::started || life.what == What::recovered) s.writer_opened(sequence, life.at);
      break;
    }
    default:
      break;  // what moves no money
  }
  if (!done) return std::move(done).error().with(at_record(sequence));
  s.next = sequence + 1;
  // Of what happened to requests: when a log was opened, or a cell closed, is no time of what is counted.
  if (const event::Kind kind = event::kind_of(record.event);
      kind >= event::Kind::admitted && kind <= event::Kind::cache_hit)
    s.latest = std::max(s.latest, event::at_of(record.event));
  return {};
}

void SpineLedger::was_acknowledged_early() { ++state_->early; }
std::uint64_t SpineLedger::acknowledged_early() const { return state_->early; }
std::uint64_t SpineLedger::next() const { return state_->next; }
const Balances& SpineLedger::balances() const { return state_->balances; }
const BudgetBook& SpineLedger::budgets() const { return state_->budgets; }
Instant SpineLedger::latest() const { return state_->latest; }
const std::vector<event::Gap>& SpineLedger::gaps() const { return state_->gaps; }
std::uint64_t SpineLedger::corrections() const {
  std::uint64_t sum = 0;
  for (const FleetEra& era : state_->eras)
    for (const auto& [day, facts] : era.facts) sum += facts.corrected;
  return sum;
}
std::size_t SpineLedger::closed_cells() const { return state_->closed.size(); }

std::size_t SpineLedger::fleets() const { return state_->era_of_number.size(); }

const event::FleetChanged* SpineLedger::newest_fleet() const {
  const auto newest = state_->era_of_number.rbegin();
  return newest == state_->era_of_number.rend() ? nullptr : &state_->eras[newest->second].declared;
}

std::string SpineLedger::owner(Account account) const {
  using Kind = Account::Kind;
  switch (account.kind) {
    case Kind::spent:
    case Kind::estimated:
    case Kind::held:
      return state_->tenants.names()[account.owner];
    case Kind::destination:
    case Kind::fixed:
      return state_->destinations.names()[account.owner];
    case Kind::reserve:
    case Kind::elsewhere:
    case Kind::look_ups:
      break;
  }
  return "";
}

std::size_t SpineLedger::pending() const {
  return static_cast<std::size_t>(std::count_if(state_->pool.begin(), state_->pool.end(), [](const FoldedRequest& r) {
    return r.live && r.admitted && r.state == FoldedRequest::State::open;
  }));
}

std::size_t SpineLedger::strays() const {
  return static_cast<std::size_t>(std::count_if(state_->pool.begin(), state_->pool.end(),
                                                [](const FoldedRequest& r) { return r.live && !r.admitted; }));
}

}  // namespace ace
