/// Closing what was folded: accounts of every fleet under names of their own, then judged and settled as one.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <numeric>
#include <set>

#include "ledger/spine_state.h"

namespace ace {
namespace {

/// Of one grade, the newest last.
using Eras = std::vector<const FleetEra*>;

/// Equal names as one symbol, in order of first appearance.
std::vector<std::string> unified(const std::vector<std::string>& names, std::vector<std::uint32_t>& renaming) {
  std::map<std::string_view, std::uint32_t> known;
  std::vector<std::string> unique;
  for (const std::string& name : names) {
    const auto [at, fresh] = known.try_emplace(name, static_cast<std::uint32_t>(unique.size()));
    if (fresh) unique.push_back(name);
    renaming.push_back(at->second);
  }
  return unique;
}

/// Things of all eras by name, each as the newest era has it.
template <class Thing>
std::vector<Thing> union_of(const Eras& eras, std::vector<Thing> Fleet::*things) {
  std::map<std::string, const Thing*> newest;
  for (const FleetEra* era : eras)
    for (const Thing& thing : era->snapshot->fleet().*things) newest[thing.name] = &thing;
  std::vector<Thing> all;
  for (const auto& [name, thing] : newest) all.push_back(*thing);
  return all;
}

/// Numbers of an era's things among all.
template <class Thing>
std::vector<std::uint32_t> numbers(const std::vector<Thing>& of, const std::vector<Thing>& among) {
  std::vector<std::uint32_t> to;
  for (const Thing& thing : of)
    to.push_back(
        static_cast<std::uint32_t>(std::lower_bound(among.begin(), among.end(), thing,
                                                    [](const Thing& a, const Thing& b) { return a.name < b.name; }) -
                                   among.begin()));
  return to;
}

/// Every name that stands in an account. Indices inside a thing are of its own fleet; those that are read here are put
/// right, the others go.
Fleet names_of(const Eras& eras) {
  const Fleet& newest = eras.back()->snapshot->fleet();
  if (eras.size() == 1) return newest;
  Fleet all;
  all.number = newest.number;
  all.digest = newest.digest;
  all.providers = union_of(eras, &Fleet::providers);
  all.models = union_of(eras, &Fleet::models);
  all.slo_classes = union_of(eras, &Fleet::slo_classes);
  all.destinations = union_of(eras, &Fleet::destinations);
  for (Model& model : all.models) {
    model.baseline.reset();
    model.equivalents.clear();
  }
  for (Destination& destination : all.destinations) {
    destination.serving.clear();
    destination.native_spill.reset();
  }
  for (const FleetEra* era : eras) {  // the newest last, so that its word holds
    const Fleet& fleet = era->snapshot->fleet();
    for (const Destination& d : fleet.destinations)
      all.destinations[all.destination(d.name)->value].provider = *all.provider(fleet.providers[d.provider.value].name);
  }
  for (std::uint32_t s = 0; s < all.slo_classes.size(); ++s)
    if (all.slo_classes[s].name == newest.slo_classes[newest.default_slo.value].name) all.default_slo = SloId{s};
  return all;
}

/// A model's yardstick is that of its newest fleet. A class is judged by the strictest target it ever had here, so that
/// no later fleet file makes an earlier cell pass.
fold::Measures measures_of(const Eras& eras, const Fleet& all) {
  fold::Measures measures{std::vector<Settler::Weights>(all.models.size()), all.slo_classes, all.default_slo};
  for (const FleetEra* era : eras) {
    const Fleet& fleet = era->snapshot->fleet();
    const std::vector<std::uint32_t> models = numbers(fleet.models, all.models);
    for (std::uint32_t m = 0; m < models.size(); ++m) measures.weights[models[m]] = era->settler->weights(ModelId{m});
    const std::vector<std::uint32_t> classes = numbers(fleet.slo_classes, all.slo_classes);
    for (std::uint32_t s = 0; s < classes.size(); ++s) {
      double& target = measures.slo_classes[classes[s]].target;
      target = std::max(target, fleet.slo_classes[s].target);
    }
  }
  return measures;
}

/// Whether a report on an era has anything to show: amounts, or requests that nobody could price.
bool says_anything(const FleetEra& era) {
  return !era.accounts.days.entries().empty() || !era.accounts.fixed.empty() ||
         std::any_of(era.facts.begin(), era.facts.end(), [](const auto& of_day) { return of_day.second.passed > 0; });
}

}  // namespace

std::vector<Grade> SpineLedger::grades() const {
  std::set<Grade> found;
  for (const FleetEra& era : state_->eras)
    if (says_anything(era)) found.insert(era.grade());
  return {found.begin(), found.end()};
}

std::vector<std::uint64_t> SpineLedger::snapshots(Grade grade) const {
  std::vector<std::uint64_t> numbers;
  for (const FleetEra& era : state_->eras)
    if (era.grade() == grade && says_anything(era)) numbers.push_back(era.number);
  return numbers;
}

namespace {

bool is_asked(const FleetEra& era, Grade grade, std::optional<std::uint64_t> snapshot) {
  return era.grade() == grade && snapshot.value_or(era.number) == era.number;
}

/// Whether part_of() a cost in a period is said of it.
bool falls_into(const event::FixedCost& cost, const Period& period) {
  return period.holds(cost.from) || (cost.from < period.from && cost.to > period.from);
}

}  // namespace

bool SpineLedger::State::anything_in(const FleetEra& era, const Period& period) const {
  const auto day_held = [&](std::int64_t day) { return period.holds(instant(day * nanos(kDay))); };
  for (const auto& [key, day] : era.accounts.days.entries())
    if (day_held(key.day)) return true;
  for (const auto& [day, facts] : era.facts)
    if (day_held(day) && facts != FoldedFacts{}) return true;
  for (const auto& [whose, standing] : stretches)
    for (const Stretch& s : standing)
      if (&eras[s.era] == &era && falls_into(s.cost, period)) return true;
  return false;
}

fold::Accounts SpineLedger::State::of_period(const FleetEra& era, const Period& period) const {
  fold::Accounts part = era.accounts.within(period);
  for (const auto& [whose, standing] : stretches)
    for (const Stretch& s : standing)
      if (&eras[s.era] == &era && falls_into(s.cost, period))
        part.fixed[{s.cost.destination, s.cost.kind}] += s.within(period);
  return part;
}

Result<std::vector<const FleetEra*>> SpineLedger::State::eras_of(Grade grade, std::optional<std::uint64_t> snapshot,
                                                                 const Period& period) {
  Eras of_grade;
  for (FleetEra& era : eras) {
    if (!is_asked(era, grade, snapshot)) continue;
    if (!anything_in(era, period)) continue;
    if (Result<void> loaded = load(era); !loaded) return std::move(loaded).error();
    of_grade.push_back(&era);
  }
  return of_grade;
}

Result<std::vector<const FleetEra*>> SpineLedger::State::eras_in(std::uint32_t world) {
  Eras inside;
  for (FleetEra& era : eras) {
    if (world_of(era) != world || era.accounts.days.entries().empty()) continue;
    if (Result<void> loaded = load(era); !loaded) return std::move(loaded).error();
    inside.push_back(&era);
  }
  return inside;
}

Result<Cell> SpineLedger::cell(std::uint64_t snapshot, std::int64_t hour, std::uint32_t tenant, ModelId model) const {
  State& s = *state_;
  const auto number = s.era_of_number.find(snapshot);
  if (number == s.era_of_number.end() || model.value >= s.eras[number->second].declared.models.size())
    return Error(Errc::corrupt, "a model that the fleet of this event does not have");
  const FleetEra& own = s.eras[number->second];
  const std::string& name = own.declared.models[model.value];
  const Result<Eras> eras = s.eras_in(s.world_of(own));
  if (!eras) return Error(eras.error());
  Cell cell;
  if (eras->empty()) return cell;
  // A name may have several accounts, where events came before it; closing adds them up.
  const std::optional<std::uint32_t> account_of = s.tenants.find(tenant);
  if (!account_of) return cell;
  std::vector<std::uint32_t> accounts = {*account_of};
  const std::string& who = s.tenants.names()[accounts.front()];
  for (std::uint32_t account = 0; account < s.tenants.names().size(); ++account)
    if (account != accounts.front() && s.tenants.names()[account] == who) accounts.push_back(account);
  const Fleet all = names_of(*eras);
  const std::int64_t day = floor_div(hour, 24) * 24;
  Table<fold::SlotKey, fold::Slot> slots;
  for (const FleetEra* era : *eras) {
    const Fleet& fleet = era->snapshot->fleet();
    const std::vector<std::string>& models = era->declared.models;
    const auto there = std::find(models.begin(), models.end(), name);
    if (there == models.end()) continue;
    const ModelId requested{static_cast<std::uint32_t>(there - models.begin())};
    const std::vector<std::uint32_t> classes = numbers(fleet.slo_classes, all.slo_classes);
    for (std::int64_t h = day; h < day + 24; ++h)
      for (const std::uint32_t account : accounts)
        for (std::uint32_t slo = 0; slo <= classes.size(); ++slo) {
          const SloId id = slo < classes.size() ? SloId{slo} : SloId{};
          const fold::Slot* const slot = era->accounts.slots.find({h, account, requested, id});
          if (slot != nullptr) slots[{h, 0, ModelId{0}, id.valid() ? SloId{classes[slo]} : id}] += *slot;
        }
  }
  Ledger::Options options;
  options.gates = s.options.gates;
  const std::vector<std::string> one = {""};
  for (const Cell& judged : fold::judge(slots, measures_of(*eras, all), options, one))
    if (judged.hour == hour) cell = judged;
  return cell;
}

Result<std::vector<event::Record>> SpineLedger::to_close(Grade grade, Instant now) const {
  std::vector<event::Record> records;
  std::set<std::uint32_t> worlds;
  for (const FleetEra& era : state_->eras)
    if (era.grade() == grade) worlds.insert(state_->world_of(era));
  for (const std::uint32_t world : worlds)
    if (Result<void> done = state_->to_close(world, now, records); !done) return std::move(done).error();
  return records;
}

Result<void> SpineLedger::State::to_close(std::uint32_t world, Instant now, std::vector<event::Record>& records) {
  const Result<Eras> inside = eras_in(world);
  if (!inside) return Error(inside.error());
  if (inside->empty()) return {};
  const Grade grade = inside->front()->grade();
  const bool alone = world < eras.size();  // what-ifs have the same cells side by side
  const Result<FoldedBooks> books = close(*inside, grade, {});
  if (!books) return Error(books.error());
  const std::vector<std::string>& names = tenants.names();
  for (const Cell& cell : books->statement.cells) {
    const Instant settled = settles_at(floor_div(cell.hour, 24) * 24 + 23, options.gates);
    if (settled > now) continue;
    const std::string& who = books->tenants[cell.tenant];
    const std::string model = event::label_of(books->fleet.models[cell.model.value].name);
    // As the log numbers them: the tenant by its first symbol, the model in the newest fleet that has it.
    event::SettlementClosed word{settled,
                                 cell.hour,
                                 0,
                                 {},
                                 static_cast<std::int64_t>(cell.requests),
                                 cell.baseline,
                                 cell.actual,
                                 {},
                                 cell.disallowed.sum(),
                                 static_cast<std::uint32_t>(cell.failed)};
    word.counted = cell.claimed.sum() - word.disallowed;
    bool known = false;
    for (const auto& [symbol, account] : tenants.assigned()) {
      if (names[account] != who) continue;
      word.tenant = symbol;
      known = closed.contains({cell.hour, account, model, world});
      break;
    }
    event::Record record;
    for (const FleetEra* era : *inside) {
      const auto at = std::find(era->declared.models.begin(), era->declared.models.end(), model);
      if (at == era->declared.models.end()) continue;
      record.snapshot = era->number;
      word.model = ModelId{static_cast<std::uint32_t>(at - era->declared.models.begin())};
    }
    if (known) continue;
    record.id = event::id_from(settled, "cell/" + std::to_string(cell.hour) + "/" + std::string(name_of(grade)) +
                                            (alone ? std::to_string(record.snapshot) : "") + "/" + model + "/" + who);
    record.tenant = word.tenant;
    record.event = word;
    records.push_back(std::move(record));
  }
  return {};
}

namespace {

/// Simulated fleets that the same time was lived under side by side: their sum means nothing.
Result<void> one_world(const Eras& eras, const Period& period) {
  for (const FleetEra* a : eras)
    for (const FleetEra* b : eras) {
      const fold::Totals x = a->accounts.totals(period), y = b->accounts.totals(period);
      const bool simulated = a->declared.source == event::FleetChanged::Source::simulated;
      if (a == b || !simulated || !x.any || !y.any || x.first >= y.last || y.first >= x.last) continue;
      const auto [first, second] = std::minmax(a->number, b->number);
      return Error(Errc::bad_input,
                   fmt::format("fleet snapshots {} and {} are worlds of the same time, whose amounts do not add up: "
                               "choose one, --snapshot {} or --snapshot {}",
                               first, second, first, second));
    }
  return {};
}

}  // namespace

Result<FoldedBooks> SpineLedger::close(Grade grade, const ClosingPolicies& policies) const {
  const Result<Eras> found = state_->eras_of(grade, policies.snapshot, policies.period);
  if (!found) return Error(found.error());
  const Eras& eras = *found;
  const std::vector<std::uint64_t> there = snapshots(grade);
  if (policies.snapshot && std::find(there.begin(), there.end(), *policies.snapshot) == there.end())
    return Error(Errc::bad_input, fmt::format("nothing {} was recorded under fleet snapshot {}; there is {}",
                                              name_of(grade), *policies.snapshot, fmt::join(there, ", ")));
  if (grade == Grade::modelled)
    if (Result<void> one = one_world(eras, policies.period); !one) return std::move(one).error();
  Result<FoldedBooks> books = state_->close(eras, grade, policies);
  if (!books) return books;
  if (Result<void> timed = state_->fixed_time(grade, policies, *books); !timed) return std::move(timed).error();
  return books;
}

namespace {

/// What overlaps counts once.
Duration length_of(std::vector<Period> stretches) {
  std::sort(stretches.begin(), stretches.end(),
            [](const Period& a, const Period& b) { return std::pair(a.from, a.to) < std::pair(b.from, b.to); });
  Duration sum{0};
  Instant until = Instant::min();
  for (const auto& [from, to] : stretches) {
    if (to <= until) continue;
    sum += to - std::max(from, until);
    until = to;
  }
  return sum;
}

}  // namespace

Result<void> SpineLedger::State::fixed_time(Grade grade, const ClosingPolicies& policies, FoldedBooks& books) {
  std::vector<Period> due, said;
  for (FleetEra& era : eras) {
    if (!is_asked(era, grade, policies.snapshot)) continue;
    const fold::Totals t = era.accounts.totals();
    const Period run = common({t.first, t.last}, policies.period);
    if (!t.any || run.from == run.to) continue;
    if (Result<void> loaded = load(era); !loaded) return loaded;
    if (has_fixed_cost(*era.snapshot, t.first)) due.push_back(run);
  }
  for (const auto& [key, standing] : stretches)
    for (const Stretch& s : standing)
      if (is_asked(eras[s.era], grade, policies.snapshot))
        said.push_back(common({s.cost.from, s.cost.to}, policies.period));
  books.fixed_due = length_of(due);
  const Duration recorded = length_of(said);
  said.insert(said.end(), due.begin(), due.end());
  const Duration missing = length_of(std::move(said)) - recorded;
  // A world or mode that came and went within a millisecond has no booking, so no cost either.
  books.fixed_missing = missing < std::chrono::milliseconds{1} ? Duration{0} : missing;
  return {};
}

Period SpineLedger::State::window_of(Grade grade, const ClosingPolicies& policies) const {
  fold::Totals whole;
  for (const FleetEra& era : eras)
    if (is_asked(era, grade, policies.snapshot)) whole += era.accounts.totals();
  const Period& asked = policies.period;
  return {std::clamp(whole.first, asked.from, asked.to), std::clamp(whole.last, asked.from, asked.to)};
}

Result<FoldedBooks> SpineLedger::State::close(const Eras& of, Grade grade, const ClosingPolicies& policies) const {
  const Period& period = policies.period;
  FoldedBooks books;
  books.grade = grade;
  fold::Renaming names;
  books.tenants = unified(tenants.names(), names.tenants);
  books.teams = unified(teams.names(), names.teams);
  books.projects = unified(projects.names(), names.projects);
  fold::Accounts accounts;
  fold::Measures measures;
  if (!of.empty()) {
    books.fleet = names_of(of);
    measures = measures_of(of, books.fleet);
    for (const FleetEra* era : of) {
      const Fleet& fleet = era->snapshot->fleet();
      names.models = numbers(fleet.models, books.fleet.models);
      names.destinations = numbers(fleet.destinations, books.fleet.destinations);
      names.slo_classes = numbers(fleet.slo_classes, books.fleet.slo_classes);
      if (period.all())
        accounts.merge(era->accounts, names);
      else
        accounts.merge(of_period(*era, period), names);
      for (const auto& [day, facts] : era->facts)
        if (period.holds(instant(day * nanos(kDay)))) books.facts += facts;
    }
  } else {
    measures.slo_classes.resize(1);
    measures.default_slo = SloId{0};
  }
  Ledger::Options how;
  how.settlement = policies.settlement;
  how.idle = policies.idle;
  if (!of.empty()) {  // what tenants hold is what the newest fleet says
    const Fleet& newest = of.back()->snapshot->fleet();
    const std::vector<std::uint32_t> among = numbers(newest.destinations, books.fleet.destinations);
    how.reservations = reservations_of(newest, books.tenants);
    for (Reservation& r : how.reservations) r.destination = DestinationId{among[r.destination.value]};
  }
  how.gates = options.gates;
  how.shapley = options.shapley;
  Bookings bookings;
  std::set<std::uint32_t> worlds;
  for (const FleetEra* era : of) worlds.insert(world_of(*era));
  for (const std::uint32_t world : worlds)
    if (const auto time = gpu_time.find(world); time != gpu_time.end())
      if (Result<void> merged = bookings.merge(time->second.bookings); !merged) return std::move(merged).error();
  if (!period.all()) {
    const Period window = window_of(grade, policies);
    how.from = window.from;
    how.to = window.to;
  }
  books.statement = fold::close(accounts, bookings, measures, how, {books.tenants, books.teams, books.projects});
  books.statement.gpu_time = bookings.by_use(period);
  if (books.statement.grade != Grade::assumed) books.statement.grade = grade;
  return books;
}

}  // namespace ace
