#pragma once
/// A whole gateway from its configuration: the fleet, the spine with its budgets, the desk, the loops.
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "adapters/wall_clock.h"
#include "gateway/admin.h"
#include "gateway/gateway.h"
#include "gateway/key_callers.h"
#include "gateway/recording_port.h"
#include "gateway/side_loop.h"

namespace ace::gateway {

/// Reads the fleet file, with every file that it reads.
using LoadFleet = std::function<Result<FleetReading>(const Config& config, std::vector<FleetText>* files)>;

class Service final : public Steering {
 public:
  struct Options {
    Config config;
    LoadFleet load;
    ReadSecret secrets;
    spine::StoreOptions store;  ///< its signer outlives the service
    std::uint64_t seed = 1;     ///< of request ids
    std::string text;           ///< of the configuration, as it was written
    /// Reads another text as the same file, paths and all.
    std::function<Result<Config>(const std::string& text)> parse;
    std::function<void()> on_drain;  ///< somebody asked for it over the admin API; stop() is then to be called
    std::string version;             ///< of ACE, for the admin API
    std::string salt{};              ///< random bytes, for what tenants must not share at providers
  };
  /// Serves when this returns. @return as the parts: bad_input for the fleet, conflict if another process has the spine
  static Result<std::unique_ptr<Service>> start(Options options);
  ~Service() override;

  [[nodiscard]] std::uint16_t port() const { return gateway_->port(); }
  [[nodiscard]] std::uint16_t admin_port() const { return side_->admin_port(); }
  [[nodiscard]] Desk& desk() { return *desk_; }
  [[nodiscard]] const spine::Recovery& recovery() const { return recording_->recovery(); }
  /// Puts the fleet and the mode of this configuration in force; requests under way end as they began. What is wrong or
  /// must be acknowledged leaves everything as it is.
  /// @param acknowledged a person has seen what hold_reload() holds back, or takes a step up the ladder upon himself
  /// @return notes, one for each setting that only another start changes; conflict if it is held, check_failed for a
  /// mode that is not earned, else as start()
  Result<std::vector<std::string>> reload(const Config& config, bool acknowledged);
  // What the admin API asks.
  std::vector<DestinationView> destinations() override;
  Result<CurveView> supply_curve(std::string_view model, double prompt_tokens, double output_tokens) override;
  std::vector<DecisionView> decisions(std::size_t most) override;
  std::vector<BudgetView> budgets() override;
  ModeView mode() override;
  TrialView trial(std::size_t most) override;
  Result<void> set_mode(std::string_view mode, double canary_share, bool forced) override;
  void drain() override;
  std::string config() override;
  Result<void> validate(std::string_view config) override;
  Result<std::vector<std::string>> apply(std::string_view config, bool acknowledged) override;
  Result<std::vector<std::string>> rollback() override;

  /// Takes over what others made of the file of keys. @return whether it had changed
  Result<bool> refresh_keys() { return keys_ ? keys_->refresh() : Result<bool>(false); }
  /// Lets what is under way end, then closes the spine. @return what became of the events
  Result<Recording::Counts> stop();

 private:
  explicit Service(Options options) : options_(std::move(options)) {}
  Instant now();
  void watch();
  Result<std::shared_ptr<const World>> read_world(const Config& config) const;
  [[nodiscard]] Result<BudgetBook> counted(std::vector<Budget> budgets) const;

  Options options_;
  WallClock clock_;           ///< of the writer
  std::mutex steering_;       ///< one operator at a time
  WallClock steering_clock_;  ///< under it
  std::string text_before_;   ///< of the configuration before the one in force; empty = none
  MetricRegistry metrics_;
  Meter meter_{metrics_};
  Limits limits_;
  std::unique_ptr<KeyBook> keys_;
  std::unique_ptr<AnswerCache> cache_;
  std::unique_ptr<Recording> recording_;
  std::unique_ptr<RecordingPort> spine_;
  std::unique_ptr<BudgetGate> budgets_;
  std::unique_ptr<Desk> desk_;
  std::unique_ptr<Callers> callers_;
  std::unique_ptr<Admin> admin_;
  std::unique_ptr<SideLoop> side_;
  std::unique_ptr<Gateway> gateway_;
  std::atomic<bool> draining_ = false;
};

}  // namespace ace::gateway
