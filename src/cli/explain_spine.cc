#include "cli/explain_spine.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <vector>

#include "adapters/fleet_files.h"
#include "cli/explain_text.h"
#include "cli/spine.h"
#include "core/ids.h"

namespace ace::cli {
namespace {

/// Everything that a spine says of one request.
class RequestRecords {
 public:
  RequestRecords(RequestId id, const std::string& directory) : id_(id), snapshots_(directory) {}

  /// Events in the order of the log.
  Result<void> hear(const event::Record& record) {
    snapshots_.hear(record);
    using What = event::Lifecycle::What;
    const auto* own = std::get_if<event::Lifecycle>(&record.event);
    if (own != nullptr && (own->what == What::started || own->what == What::recovered)) worlds_.clear();
    if (const auto* closed = std::get_if<event::SettlementClosed>(&record.event))
      closed_.emplace_back(record.snapshot, *closed);
    if (RequestId{record.id.high, record.id.low} == id_) return of_the_request(record);
    if (completed_ || !moves_a_world(record.event)) return {};
    Result<World*> world = world_of(record.snapshot);
    if (!world) return std::move(world).error();
    (*world)->hindsight.hear(record.event);
    return {};
  }

  Result<void> print(std::ostream& out) {
    if (!admitted_) return Error(Errc::not_found, to_string(id_) + " is no request of this spine");
    Result<const Snapshot*> fleet = snapshots_.at(snapshot_);
    if (!fleet) return std::move(fleet).error();
    for (const Moment& moment : moments_) print_decision(**fleet, moment, out);
    if (!completed_) {
      out << fmt::format("\n{}  {}  not ended\n", to_string(id_), to_rfc3339(admitted_->at));
      return {};
    }
    std::stable_sort(attempts_.begin(), attempts_.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<event::Attempted> attempts;
    for (const auto& [ordinal, attempt] : attempts_) attempts.push_back(attempt);
    const Settled settled = settle_recorded(Settler(**fleet), snapshots_.changed(snapshot_)->source, *admitted_,
                                            moments_.empty() ? nullptr : &decided_, attempts, *completed_);
    print_settlement(**fleet, settled, out);
    const auto model_in = [&](std::uint64_t snapshot, ModelId model) {
      const event::FleetChanged* const known = snapshots_.changed(snapshot);
      return known != nullptr && model.value < known->models.size() ? known->models[model.value] : std::string();
    };
    for (const auto& [snapshot, c] : closed_)
      if (c.hour == hour_of(admitted_->at) && c.tenant == admitted_->tenant &&
          model_in(snapshot, c.model) == model_in(snapshot_, admitted_->requested)) {
        print_gate(static_cast<Reason>(c.gate), out);
        return {};
      }
    out << "  cell not settled on this spine\n";
    return {};
  }

 private:
  struct World {
    explicit World(const Snapshot& fleet) : hindsight(fleet) {}
    event::Hindsight hindsight;
  };

  static bool moves_a_world(const event::Event& event) {
    return std::holds_alternative<event::Changed>(event) || std::holds_alternative<event::HealthChanged>(event) ||
           std::holds_alternative<event::PriceChanged>(event) || std::holds_alternative<event::UnitsChanged>(event);
  }
  Result<World*> world_of(std::uint64_t snapshot) {
    std::unique_ptr<World>& world = worlds_[snapshot];
    if (world == nullptr) {
      Result<const Snapshot*> fleet = snapshots_.at(snapshot);
      if (!fleet) return std::move(fleet).error();
      world = std::make_unique<World>(**fleet);
    }
    return world.get();
  }

  Result<void> of_the_request(const event::Record& record) {
    if (const auto* admitted = std::get_if<event::Admitted>(&record.event)) {
      admitted_ = *admitted;
      snapshot_ = record.snapshot;
    } else if (const auto* decided = std::get_if<event::Decided>(&record.event)) {
      return decision(record, *decided);
    } else if (const auto* attempted = std::get_if<event::Attempted>(&record.event)) {
      attempts_.emplace_back(record.ordinal, *attempted);
    } else if (const auto* completed = std::get_if<event::Completed>(&record.event)) {
      if (completed_ && record.ordinal < completed_ordinal_) return {};
      completed_ = *completed;
      completed_ordinal_ = record.ordinal;
    }
    return {};
  }

  Result<void> decision(const event::Record& record, const event::Decided& decided) {
    if (!admitted_) return Error(Errc::corrupt, to_string(id_) + " was decided before it was admitted");
    Result<World*> world = world_of(record.snapshot);
    if (!world) return std::move(world).error();
    const Snapshot& fleet = **snapshots_.at(record.snapshot);
    if (Result<void> within = event::belongs(fleet, *admitted_, record); !within) return within;
    decided_ = decided;
    moments_.push_back({decided.at, event::request_of(fleet, *admitted_, record),
                        (*world)->hindsight.explain_again(*admitted_, record)});
    return {};
  }

  RequestId id_;
  Snapshots snapshots_;
  std::map<std::uint64_t, std::unique_ptr<World>> worlds_;
  std::uint64_t snapshot_ = 0;
  std::optional<event::Admitted> admitted_;
  event::Decided decided_;
  std::vector<Moment> moments_;
  std::vector<std::pair<std::uint32_t, event::Attempted>> attempts_;  ///< by ordinal
  std::optional<event::Completed> completed_;
  std::uint32_t completed_ordinal_ = 0;
  std::vector<std::pair<std::uint64_t, event::SettlementClosed>> closed_;  ///< under a snapshot
};

/// Names of symbols, as the spine gives them.
using Names = std::map<std::pair<event::Named::Kind, std::uint32_t>, std::string>;

std::string name_in(const Names& names, event::Named::Kind kind, std::uint32_t symbol) {
  const auto found = names.find({kind, symbol});
  return found == names.end() ? fmt::format("symbol {}", symbol) : found->second;
}

void print_action(const event::Action& a, const Names& names, std::ostream& out) {
  using Kind = event::Named::Kind;
  out << fmt::format("{}  {} {} ({}): {} units of {} in {}, value {} USD, cost at risk {} USD, rung {}, because {}\n",
                     to_rfc3339(a.at), event::name_of(a.kind), event::name_of(a.stage), event::name_of(a.outcome),
                     a.units, name_in(names, Kind::device, a.target), name_in(names, Kind::cluster, a.cluster),
                     to_decimal(a.value), to_decimal(a.cost_at_risk), a.rung, name_in(names, Kind::reason, a.why));
}

void print_passed(const event::Passed& p, std::uint32_t ordinal, std::ostream& out) {
  if (ordinal == 0)
    out << fmt::format("{}  handed on unread, {} bytes: nothing in it is counted or priced\n", to_rfc3339(p.at),
                       p.sent);
  else
    out << fmt::format("{}  {}, {} bytes came back\n", to_rfc3339(p.at),
                       p.status == 0 ? "no answer" : fmt::format("status {}", p.status), p.received);
}

Result<void> read_all(const SpinePlace& place, const std::function<Result<void>(const event::Record&)>& hear) {
  Result<LogView> log = LogView::open(place.directory, place.archive);
  if (!log) return std::move(log).error();
  const auto read = spine::read_log(log->disk(), {}, [&](const spine::Frame& frame) -> Result<void> {
    if (frame.type != spine::RecordType::event) return {};
    const Result<event::Record> record = event::decode(frame.payload);
    if (!record && record.error().code() == Errc::bad_input) return {};  // of a kind that a newer version wrote
    if (!record) return Error(record.error()).with(spine::to_text(frame.address));
    return hear(*record);
  });
  return read ? Result<void>() : read.error();
}

Result<void> explain_action(event::EventId id, const SpinePlace& place, std::ostream& out) {
  Names names;
  std::vector<event::Action> stages;
  std::vector<event::PlanMade> plans;
  Result<void> read = read_all(place, [&](const event::Record& record) -> Result<void> {
    if (const auto* named = std::get_if<event::Named>(&record.event)) names[{named->kind, named->symbol}] = named->name;
    if (record.id != id) return {};
    if (const auto* action = std::get_if<event::Action>(&record.event)) stages.push_back(*action);
    if (const auto* plan = std::get_if<event::PlanMade>(&record.event)) plans.push_back(*plan);
    return {};
  });
  if (!read) return read;
  if (stages.empty() && plans.empty())
    return Error(Errc::not_found, to_base32(id.high, id.low) + " is no action or plan of this spine");
  for (const event::Action& stage : stages) print_action(stage, names, out);
  for (const event::PlanMade& plan : plans) {
    out << fmt::format("planned at {} for {} to {}: {} USD\n", to_rfc3339(plan.at), to_rfc3339(plan.from),
                       to_rfc3339(plan.to), to_decimal(plan.cost));
    for (const event::PlanMade::Target& target : plan.targets)
      out << fmt::format("  destination {}: {} units\n", target.destination.value, target.units);
  }
  return {};
}

}  // namespace

Result<void> explain_spine(const std::string& id, const SpinePlace& place, Context& context) {
  const Result<event::EventId> event = event_id_from(id);
  if (!event)
    return Error(event.error())
        .with("which request? its id, as `ace analyze --requests` or `ace spine tail` prints it");
  if (id.starts_with("act_") || id.starts_with("plan_")) return explain_action(*event, place, *context.out);
  RequestRecords records({event->high, event->low}, place.directory);
  bool passed = false;
  Result<void> read = read_all(place, [&](const event::Record& record) {
    if (const auto* unread = std::get_if<event::Passed>(&record.event); unread != nullptr && record.id == *event) {
      print_passed(*unread, record.ordinal, *context.out);
      passed = true;
    }
    return records.hear(record);
  });
  if (!read || passed) return read;
  return records.print(*context.out);
}

}  // namespace ace::cli
