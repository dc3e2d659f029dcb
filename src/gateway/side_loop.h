#pragma once
/// The loop beside those that serve clients: the admin listener, what is told to a collector, housekeeping. Nothing
/// that is slow here delays a client.
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "gateway/config.h"
#include "gateway/limits.h"
#include "gateway/metrics.h"
#include "gateway/otlp.h"
#include "net/exchange.h"

namespace ace::gateway {

class SideLoop {
 public:
  struct Parts {
    Config config;
    net::Handler* admin =
        nullptr;               ///< serves the admin listener, if the configuration has one; outlives the loop, as do
    Limits* limits = nullptr;  ///< these
    MetricRegistry* metrics = nullptr;
    Desk* desk = nullptr;   ///< told what engines say of themselves, and every minute that time has passed
    std::string version{};  ///< of ACE
  };
  /// Runs when this returns. @return unavailable if it cannot listen, bad_input for certificates
  static Result<std::unique_ptr<SideLoop>> start(const Parts& parts);
  /// Sends what waits for the collector once more. Nothing may be told any longer.
  ~SideLoop();

  [[nodiscard]] std::uint16_t admin_port() const;  ///< 0: there is no admin listener
  /// Where requests that have ended are told, from any thread; empty if nobody wants to know.
  [[nodiscard]] std::function<void(SpanRecord)> tell() const;

  struct State;
  explicit SideLoop(std::unique_ptr<State> state);

 private:
  std::unique_ptr<State> state_;
};

}  // namespace ace::gateway
