#pragma once
/// Where the desk's events go: a port, so that its tests need no disk.
#include <cstdint>
#include <functional>
#include <string_view>

#include "core/result.h"
#include "gateway/world.h"
#include "spine/spine.h"

namespace ace::gateway {

/// None of it waits: what cannot be written at once is refused. Called by one thread at a time.
class SpinePort {
 public:
  virtual ~SpinePort() = default;
  /// The world is in force from now on. @param anew under a number that nothing was recorded under
  /// @return its number on the spine @see Recording::declare
  virtual Result<std::uint64_t> declare(const World& world, event::FleetChanged::Source source, Instant at,
                                        bool anew) = 0;
  virtual Result<std::uint32_t> symbol(event::Named::Kind kind, std::string_view name, Instant at) = 0;
  /// @return unavailable if it cannot be written
  virtual Result<void> append(const event::Record& record) = 0;
  /// Of what was appended last.
  [[nodiscard]] virtual std::uint64_t position() const = 0;
  /// Calls `then` once what was appended up to there is durable: at once or later, from any thread. Never, if it cannot
  /// be made so. From any thread.
  virtual void when_durable(std::uint64_t position, std::function<void()> then) = 0;
  /// Why it could not.
  virtual event::Gap::Cause cause() = 0;
};

}  // namespace ace::gateway
