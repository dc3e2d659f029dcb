#pragma once
/// Rolling origins: what each model would have said, held against what came, in the order in which it came.
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "plan/calibration.h"
#include "plan/conformal.h"
#include "plan/model.h"

namespace ace {

/// How one model did on the values that it had not seen.
struct ModelScore {
  std::string name;
  double pinball = 0.0;   ///< mean over held-out points and quantiles, in units of the series
  double relative = 1.0;  ///< of the better seasonal naive one's; below 1 is better. 1 where both are 0
  bool chosen = false;
};

struct Backtest {
  std::size_t origins = 0, points = 0;    ///< forecasts made, and values they were held against
  std::vector<ModelScore> models;         ///< the ensemble last
  double chosen_pinball = 0.0;            ///< of what would have been published: at each origin the model chosen on the
                                          ///< past before it
  double naive_pinball = 0.0;             ///< of the better seasonal naive one over the same points
  double interval = 0.9, coverage = 0.0;  ///< asked for, and share of values inside
  [[nodiscard]] double relative() const { return naive_pinball > 0.0 ? chosen_pinball / naive_pinball : 1.0; }
};

/// What is said about each step ahead.
struct Fan {
  std::vector<std::vector<double>> quantiles;  ///< by level, then step; no two cross
  std::vector<double> low, high;               ///< of the adaptive interval
};

/// Where the origins lie.
struct Origins {
  std::size_t first = 0;   ///< values known at the first origin; until `scored` they only teach the calibration
  std::size_t scored = 0;  ///< values known at the first origin that counts
  std::size_t stride = 1;  ///< steps between origins
  std::size_t horizon = 1;
};
/// Half of the history teaches, at most eight weeks; the rest is held out, origin by origin. @param steps at least 2
Origins origins_for(std::size_t steps, std::size_t horizon, std::size_t day);

/// Runs the models over a history, and then forecasts from its end. At every origin the past alone decides: which model
/// is published, how models weigh in the ensemble, and how wide the quantiles are.
class Rolling {
 public:
  /// @param observed the series with its gaps: what is scored  @param clean what models see
  /// @param levels ascending, in (0, 1)  @param interval share of values that it should hold, in (0, 1)
  Rolling(std::span<const double> observed, std::span<const double> clean, const Calendar& calendar,
          std::vector<double> levels, double interval, Origins origins);
  void run();
  [[nodiscard]] Backtest result() const;
  /// Quantiles and interval of the steps after the history.
  [[nodiscard]] Fan forecast(std::size_t steps);
  [[nodiscard]] std::string chosen() const { return names_[chosen_]; }

 private:
  /// What was said at one origin; kept until its last lead has come.
  struct Said {
    std::size_t origin = 0;
    std::vector<ForecastPath> paths;  ///< by model, the ensemble last
    std::vector<double> quantiles;    ///< [lead][model][level]; of leads that are scored
    std::vector<double> low, high;    ///< of the interval as published, by lead
    std::size_t model = 0;            ///< that was published
    std::size_t matured = 0;          ///< leads already held against what came
    [[nodiscard]] std::size_t horizon() const { return paths.back().middle.size(); }
  };
  [[nodiscard]] std::size_t best() const;
  [[nodiscard]] std::vector<double> ensemble_weights() const;
  void say(std::size_t origin, std::size_t horizon, Said& said);
  void learn(std::size_t known);
  void hold_against(Said& said, std::size_t h);
  [[nodiscard]] bool scores_lead(const Said& said, std::size_t h) const;
  void quantiles_at(const Said& said, std::size_t model, std::size_t h, std::span<double> out) const;
  [[nodiscard]] std::pair<double, double> interval_at(const Said& said, std::size_t h) const;
  [[nodiscard]] double loss_of(std::span<const double> quantiles, double value) const;

  std::span<const double> observed_, clean_;
  const Calendar* calendar_;
  std::vector<double> levels_;
  double interval_;
  std::vector<AdaptiveMiss> misses_;  ///< by group of leads
  Origins origins_;
  std::vector<std::unique_ptr<ForecastModel>> models_;
  std::vector<std::string> names_;  ///< of models and ensemble
  std::vector<Calibration> calibrations_;
  std::vector<double> losses_;  ///< summed over all scored points, by model
  std::vector<double> recent_;  ///< the same from the first origin on, forgetting
  std::size_t chosen_ = 0;
  double recent_points_ = 0.0;  ///< behind it
  std::vector<Said> open_;
  Backtest result_;
  double floor_ = 0.0;      ///< of what can be, until a value lay below
  std::size_t seen_ = 0;    ///< values that could have lain below
  std::size_t fitted_ = 0;  ///< values known at the last fit
  std::size_t inside_ = 0;
};

}  // namespace ace
