#include "adapters/resume.h"

#include <algorithm>

namespace ace {
namespace {

/// Tenants have other numbers in a run than on the spine; ids are random enough without.
event::Key key_in_any_tenant(const event::Record& record) {
  event::Key key = event::key_of(record);
  key.tenant = 0;
  return key;
}

}  // namespace

std::optional<Resume::Moved> Resume::moved_by(const event::Event& event) {
  const event::Kind kind = event::kind_of(event);
  if (const auto* e = std::get_if<event::Changed>(&event))
    return Moved{kind, static_cast<std::uint32_t>(e->change.what), e->change.offer.value, e->change.slo.value};
  if (const auto* e = std::get_if<event::HealthChanged>(&event)) return Moved{kind, 0, e->offer.value, 0};
  if (const auto* e = std::get_if<event::UnitsChanged>(&event)) return Moved{kind, 0, e->destination.value, 0};
  if (const auto* e = std::get_if<event::PriceChanged>(&event))
    return Moved{kind, static_cast<std::uint32_t>(e->unit), e->offer.value, 0};
  return std::nullopt;
}

bool Resume::concerns(event::Kind kind) {
  using event::Kind;
  return kind == Kind::decided || kind == Kind::changed || kind == Kind::health_changed ||
         kind == Kind::units_changed || kind == Kind::price_changed || kind == Kind::lifecycle;
}

void Resume::hear(const event::Record& record, std::uint64_t snapshot) {
  using What = event::Lifecycle::What;
  if (const auto* life = std::get_if<event::Lifecycle>(&record.event))
    lives_ += life->what == What::started || life->what == What::recovered ? 1 : 0;
  if (record.snapshot != snapshot) return;
  if (std::holds_alternative<event::Decided>(record.event)) last_ = key_in_any_tenant(record);
  if (moved_by(record.event)) moves_.insert(key_in_any_tenant(record));
}

std::vector<event::Record> Resume::before(const event::Record& record) {
  if (!on_ || !last_) return {};
  const std::optional<Moved> moved = moved_by(record.event);
  const bool decided = std::holds_alternative<event::Decided>(record.event);
  if (!moved && !decided) return {};
  const event::Key key = key_in_any_tenant(record);
  if (moved && moves_.contains(key)) {
    world_.insert_or_assign(*moved, std::pair(said_++, record));
    return {};
  }
  if (decided && !passed_) {
    passed_ = key == *last_;
    return {};
  }
  on_ = false;
  if (!passed_) return {};  // another run: it says its own world
  std::vector<std::pair<std::uint64_t, event::Record>> in_order;
  for (auto& [what, said] : world_) in_order.push_back(std::move(said));
  std::sort(in_order.begin(), in_order.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<event::Record> anew;
  for (auto& [order, again] : in_order) {
    again.ordinal = lives_;
    if (auto* const units = std::get_if<event::UnitsChanged>(&again.event)) units->before = units->after;
    anew.push_back(std::move(again));
  }
  return anew;
}

}  // namespace ace
