#pragma once
/// What the admin API shows and moves, as the gateway offers it: names instead of ids, so that a picture taken before a
/// reload means the same after it.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/money.h"
#include "core/result.h"
#include "core/time.h"
#include "gateway/trial.h"

namespace ace::gateway {

/// A destination as it is declared, and as it fares.
struct DestinationView {
  std::string name{}, tier{}, provider{};
  std::vector<std::string> models{};
  bool callable = false;  ///< the fleet file says how it is called
  std::int64_t in_flight = 0;
  double utilization = 0.0, knee = 0.0;  ///< shares of the cap: the fullest of its resources, and where it stutters
  double price_factor = 1.0;             ///< 1: not derated
  double fail_probability = 0.0;
  std::optional<Instant> throttled_until{}, tripped_until{};  ///< none: neither
};

/// A block of the supply curve of a model, cheapest first.
struct StepView {
  std::string destination{}, model{}, tier{};
  bool beyond_knee = false;
  double usd_per_mtok = 0.0, input_usd_per_mtok = 0.0, output_usd_per_mtok = 0.0;
  std::optional<double> tokens_per_s{}, cumulative_tokens_per_s{};  ///< none: without bound
};
struct CurveView {
  std::string model{};
  Instant at{};
  double prompt_tokens = 0.0, output_tokens = 0.0;
  std::vector<StepView> steps{};
  std::vector<std::pair<std::string, std::string>> excluded{};  ///< destination, why
};

/// A request that has ended.
struct DecisionView {
  std::string request_id{};
  Instant at{};  ///< of its end
  std::string tenant{}, model{}, verdict{}, destination{};
  bool acted = false;  ///< ACE decided, rather than the static route
  std::size_t attempts = 0;
  bool served = false, slo_met = false;
  Usd cost{}, baseline{};
};

struct BudgetView {
  std::string name{}, window{}, tenant{}, team{}, project{}, key{}, model{};
  bool hard = true;
  Usd limit{}, spent{}, held{}, left{};
  Instant until{};
};

struct ModeView {
  std::string mode{};
  double canary_share = 0.0;
  std::size_t clean_windows = 0, clean_windows_needed = 0, in_flight = 0, waiting = 0;
  std::string demoted{};  ///< why it stepped down by itself; empty: it did not
  bool spine_writable = true, draining = false;
};

/// What the trial ladder has seen of both arms, and what it asks for.
struct TrialView {
  TrialGates gates{};
  std::size_t clean = 0;                          ///< windows in a row
  std::array<TrialArm, 2> total{};                ///< since the start: control, ACE
  std::optional<Trial::Difference> difference{};  ///< between the arms; none: there is nothing to compare yet
  std::vector<TrialWindow> windows{};             ///< that have ended, the newest first
  std::string demoted{};                          ///< as of a ModeView
};

class Steering {
 public:
  virtual ~Steering() = default;
  // Pictures of now. From any thread.
  [[nodiscard]] virtual std::vector<DestinationView> destinations() = 0;
  /// @return not_found for a model that nobody serves
  [[nodiscard]] virtual Result<CurveView> supply_curve(std::string_view model, double prompt_tokens,
                                                       double output_tokens) = 0;
  /// The last ones, newest first.
  [[nodiscard]] virtual std::vector<DecisionView> decisions(std::size_t most) = 0;
  [[nodiscard]] virtual std::vector<BudgetView> budgets() = 0;
  [[nodiscard]] virtual ModeView mode() = 0;
  [[nodiscard]] virtual TrialView trial(std::size_t most) = 0;

  /// @param forced  the operator takes a step up upon himself @return check_failed, saying what it lacks; bad_input
  virtual Result<void> set_mode(std::string_view mode, double canary_share, bool forced) = 0;
  /// Begins to drain, as SIGTERM does.
  virtual void drain() = 0;

  /// The configuration in force, as it was written.
  [[nodiscard]] virtual std::string config() = 0;
  /// What would be wrong with this one. @return bad_input telling every mistake
  virtual Result<void> validate(std::string_view config) = 0;
  /// Puts it in force. @return notes; conflict for what a person must acknowledge first
  virtual Result<std::vector<std::string>> apply(std::string_view config, bool acknowledged) = 0;
  /// Back to the one before. @return not_found if there is none
  virtual Result<std::vector<std::string>> rollback() = 0;
};

}  // namespace ace::gateway
