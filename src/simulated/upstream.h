#pragma once
/// A simulated provider that runs: its own loop and thread, listening on this machine until it is destroyed.
#include <cstdint>
#include <memory>
#include <string>

#include "core/result.h"
#include "simulated/provider.h"
#include "simulated/script.h"

namespace ace::simulated {

class Upstream {
 public:
  /// @param port  0: any free one  @return unavailable if it cannot be bound
  static Result<std::unique_ptr<Upstream>> start(Script script, std::uint16_t port = 0);
  ~Upstream();

  [[nodiscard]] std::uint16_t port() const;
  /// To watch, and to give another script. Its `refuse` faults are those of the script that start() was given.
  [[nodiscard]] Provider& provider();
  /// Accepts connections, or refuses them and cuts those that are open. From any thread; returns when it is so.
  void set_listening(bool listening);

  struct State;
  explicit Upstream(std::unique_ptr<State> state);

 private:
  std::unique_ptr<State> state_;
};

}  // namespace ace::simulated
