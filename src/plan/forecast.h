#pragma once
/// Quantile forecasts of a series: several models, judged on the past that each had not seen, calibrated as they go.
#include <cstdint>
#include <string>
#include <vector>

#include "core/result.h"
#include "plan/backtest.h"
#include "plan/series.h"
#include "plan/series_findings.h"
#include "trace/numbers.h"

namespace ace {

struct ForecastOptions {
  Duration horizon = 7 * kDay;
  std::vector<double> quantiles{0.1, 0.5, 0.9};  ///< in (0, 1)
  const Zone* zone = nullptr;                    ///< of the civil time that people live by; null = UTC
  double interval = 0.9;                         ///< share of values that the adaptive interval holds, in (0, 1)
};

struct Forecast {
  std::string name;
  Instant start{};  ///< of the first step forecast
  Duration step{};
  std::vector<double> quantiles;  ///< ascending
  Fan fan;
  std::string model;  ///< chosen by the backtest
  Backtest backtest;
  Duration tested{0};  ///< how far ahead the backtest could look; beyond it the fan widens as a random walk would
  SeriesFindings findings;
};

/// What the series will be, from what it was. Pure: the same series and options give the same bits.
///
/// @return bad_input for a series without a value, a step or horizon that is not positive, a horizon beyond 366 days or
///         of more than 150,000 steps, a quantile outside (0, 1); never an unbounded or undefined value
Result<Forecast> forecast(const Series& series, const ForecastOptions& options = {});

/// For people, with the fan as a small chart; and as one JSON object.
std::string to_text(const Forecast& forecast);
std::string to_json(const Forecast& forecast);

}  // namespace ace
