#include "plan/holt_winters.h"
#include "plan/model.h"
#include "plan/quantile_regression.h"

namespace ace {

std::vector<std::unique_ptr<ForecastModel>> all_models(const Calendar& calendar) {
  std::vector<std::unique_ptr<ForecastModel>> models;
  if (calendar.day() > 1) {
    models.push_back(std::make_unique<SeasonalNaive>("naive, same time last week", calendar, calendar.week()));
    models.push_back(std::make_unique<SeasonalNaive>("naive, same time yesterday", calendar, calendar.day()));
  } else if (calendar.day() == 1) {
    models.push_back(std::make_unique<SeasonalNaive>("naive, same day last week", calendar, calendar.week()));
  } else {
    models.push_back(std::make_unique<SeasonalNaive>("naive, last value", calendar, 0));
  }
  for (const auto kind : {HoltWinters::Kind::additive, HoltWinters::Kind::multiplicative, HoltWinters::Kind::damped})
    models.push_back(std::make_unique<HoltWinters>(kind, calendar));
  models.push_back(std::make_unique<QuantileRegression>(calendar));
  return models;
}

}  // namespace ace
