#pragma once
/// The desk's spine on a real log.
#include "adapters/recording.h"
#include "gateway/spine_port.h"

namespace ace::gateway {

class RecordingPort final : public SpinePort {
 public:
  /// @param recording opened with Behind::refuse; outlives the port
  explicit RecordingPort(Recording& recording) : recording_(recording) {}
  Result<std::uint64_t> declare(const World& world, event::FleetChanged::Source source, Instant at,
                                bool anew) override {
    return recording_.declare(world.snapshot, world.files, source, at, anew);
  }
  Result<std::uint32_t> symbol(event::Named::Kind kind, std::string_view name, Instant at) override {
    return recording_.symbol(kind, name, at);
  }
  Result<void> append(const event::Record& record) override { return recording_.append(record); }
  [[nodiscard]] std::uint64_t position() const override { return recording_.position(); }
  void when_durable(std::uint64_t position, std::function<void()> then) override {
    recording_.when_settled(position, std::move(then));
  }
  event::Gap::Cause cause() override {
    const spine::Health health = recording_.health();
    if (health.full) return event::Gap::Cause::disk_full;
    return health.failure.empty() ? event::Gap::Cause::overload : event::Gap::Cause::disk_error;
  }

 private:
  Recording& recording_;
};

}  // namespace ace::gateway
