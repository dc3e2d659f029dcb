#pragma once
/// A whole gateway from its configuration: the fleet, the spine with its budgets, the desk, the loops.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "adapters/wall_clock.h"
#include "gateway/gateway.h"
#include "gateway/recording_port.h"

namespace ace::gateway {

/// Reads the fleet file, with every file that it reads.
using LoadFleet = std::function<Result<FleetReading>(const Config& config, std::vector<FleetText>* files)>;

class Service {
 public:
  struct Options {
    Config config;
    LoadFleet load;
    ReadSecret secrets;
    spine::StoreOptions store;  ///< its signer outlives the service
    std::uint64_t seed = 1;     ///< of request ids
  };
  /// Serves when this returns. @return as the parts: bad_input for the fleet, conflict if another process has the spine
  static Result<std::unique_ptr<Service>> start(Options options);
  ~Service();

  [[nodiscard]] std::uint16_t port() const { return gateway_->port(); }
  [[nodiscard]] Desk& desk() { return *desk_; }
  [[nodiscard]] const spine::Recovery& recovery() const { return recording_->recovery(); }
  /// Puts the fleet and the mode of this configuration in force; requests under way end as they began. What is wrong or
  /// must be acknowledged leaves everything as it is.
  /// @param acknowledged a person has seen what hold_reload() holds back, or takes a step up the ladder upon himself
  /// @return notes, one for each setting that only another start changes; conflict if it is held, check_failed for a
  /// mode that is not earned, else as start()
  Result<std::vector<std::string>> reload(const Config& config, bool acknowledged);
  /// Lets what is under way end, then closes the spine. @return what became of the events
  Result<Recording::Counts> stop();

 private:
  explicit Service(Options options) : options_(std::move(options)) {}
  Result<std::shared_ptr<const World>> read_world(const Config& config) const;

  Options options_;
  WallClock clock_;         ///< of the writer
  WallClock reload_clock_;  ///< of the thread that reloads
  std::unique_ptr<Recording> recording_;
  std::unique_ptr<RecordingPort> spine_;
  std::unique_ptr<BudgetGate> budgets_;
  std::unique_ptr<Desk> desk_;
  std::unique_ptr<Callers> callers_;
  std::unique_ptr<Gateway> gateway_;
};

}  // namespace ace::gateway
