#pragma once
/// A simulated provider that runs: its own loop and thread, listening on this machine until it is destroyed.
#include <cstdint>
#include <memory>
#include <string>

#include "core/result.h"
#include "gateway/simulated_provider.h"
#include "gateway/simulated_script.h"

namespace ace::gateway {

class SimulatedUpstream {
 public:
  /// @param port  0: any free one  @return unavailable if it cannot be bound
  static Result<std::unique_ptr<SimulatedUpstream>> start(SimulatedScript script, std::uint16_t port = 0);
  ~SimulatedUpstream();

  [[nodiscard]] std::uint16_t port() const;
  /// To watch, and to give another script. Its `refuse` faults are those of the script that start() was given.
  [[nodiscard]] SimulatedProvider& provider();
  /// Accepts connections, or refuses them and cuts those that are open. From any thread; returns when it is so.
  void set_listening(bool listening);

  struct State;
  explicit SimulatedUpstream(std::unique_ptr<State> state);

 private:
  std::unique_ptr<State> state_;
};

}  // namespace ace::gateway
