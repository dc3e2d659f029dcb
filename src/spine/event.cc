#include "spine/event.h"

namespace ace::event {

std::string_view name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::served:
      return "served";
    case Outcome::cache_hit:
      return "cache_hit";
    case Outcome::not_served:
      return "not_served";
    case Outcome::client_abort:
      return "client_abort";
  }
  return "unknown";
}

std::string_view name_of(FixedCost::Kind kind) {
  switch (kind) {
    case FixedCost::Kind::amortization:
      return "amortization";
    case FixedCost::Kind::idle_power:
      return "idle_power";
    case FixedCost::Kind::commitment:
      return "commitment";
    case FixedCost::Kind::rental:
      return "rental";
    case FixedCost::Kind::hosts:
      return "hosts";
  }
  return "unknown";
}

std::string_view name_of(CacheHit::Kind kind) {
  switch (kind) {
    case CacheHit::Kind::exact:
      return "exact";
    case CacheHit::Kind::coalesced:
      return "coalesced";
    case CacheHit::Kind::semantic:
      return "semantic";
  }
  return "unknown";
}

std::string_view name_of(HealthChanged::State state) {
  switch (state) {
    case HealthChanged::State::healthy:
      return "healthy";
    case HealthChanged::State::derated:
      return "derated";
    case HealthChanged::State::throttled:
      return "throttled";
    case HealthChanged::State::tripped:
      return "tripped";
    case HealthChanged::State::unreachable:
      return "unreachable";
  }
  return "unknown";
}

std::string_view name_of(CapacityObserved::Source source) {
  switch (source) {
    case CapacityObserved::Source::gateway:
      return "gateway";
    case CapacityObserved::Source::slurm:
      return "slurm";
    case CapacityObserved::Source::kubernetes:
      return "kubernetes";
    case CapacityObserved::Source::prometheus:
      return "prometheus";
    case CapacityObserved::Source::provider:
      return "provider";
  }
  return "unknown";
}

std::string_view name_of(Action::Stage stage) {
  switch (stage) {
    case Action::Stage::intended:
      return "intended";
    case Action::Stage::notified:
      return "notified";
    case Action::Stage::executed:
      return "executed";
    case Action::Stage::vetoed:
      return "vetoed";
    case Action::Stage::undone:
      return "undone";
  }
  return "unknown";
}

std::string_view name_of(Action::Kind kind) {
  switch (kind) {
    case Action::Kind::scale_to_zero:
      return "scale_to_zero";
    case Action::Kind::evict_workspace:
      return "evict_workspace";
    case Action::Kind::cordon:
      return "cordon";
    case Action::Kind::right_size:
      return "right_size";
    case Action::Kind::defragment:
      return "defragment";
    case Action::Kind::migrate_hardware:
      return "migrate_hardware";
    case Action::Kind::reduce_models:
      return "reduce_models";
    case Action::Kind::migrate_routing:
      return "migrate_routing";
    case Action::Kind::lower_precision:
      return "lower_precision";
    case Action::Kind::resize:
      return "resize";
  }
  return "unknown";
}

std::string_view name_of(Action::Outcome outcome) {
  switch (outcome) {
    case Action::Outcome::pending:
      return "pending";
    case Action::Outcome::done:
      return "done";
    case Action::Outcome::failed:
      return "failed";
    case Action::Outcome::unknown:
      return "unknown";
  }
  return "unknown";
}

std::string_view name_of(Gap::Cause cause) {
  switch (cause) {
    case Gap::Cause::disk_full:
      return "disk_full";
    case Gap::Cause::disk_error:
      return "disk_error";
    case Gap::Cause::overload:
      return "overload";
    case Gap::Cause::crash:
      return "crash";
    case Gap::Cause::clock:
      return "clock";
  }
  return "unknown";
}

std::string_view name_of(FleetChanged::Source source) {
  switch (source) {
    case FleetChanged::Source::simulated:
      return "simulated";
    case FleetChanged::Source::live:
      return "live";
    case FleetChanged::Source::shadow:
      return "shadow";
    case FleetChanged::Source::observed:
      return "observed";
  }
  return "";
}

std::string_view name_of(Named::Kind kind) {
  switch (kind) {
    case Named::Kind::tenant:
      return "tenant";
    case Named::Kind::team:
      return "team";
    case Named::Kind::project:
      return "project";
    case Named::Kind::cluster:
      return "cluster";
    case Named::Kind::device:
      return "device";
    case Named::Kind::reason:
      return "reason";
    case Named::Kind::key:
      return "key";
  }
  return "unknown";
}

std::string_view name_of(Lifecycle::What what) {
  switch (what) {
    case Lifecycle::What::started:
      return "started";
    case Lifecycle::What::recovered:
      return "recovered";
    case Lifecycle::What::stopped:
      return "stopped";
    case Lifecycle::What::disk_full:
      return "disk_full";
  }
  return "unknown";
}

}  // namespace ace::event
