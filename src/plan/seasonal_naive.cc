#include "plan/model.h"

namespace ace {

void SeasonalNaive::predict(std::span<const double> past, ForecastPath& path) {
  const auto origin = static_cast<std::int64_t>(past.size());
  std::size_t seasons = 1;
  for (std::size_t h = 0; h < path.middle.size(); ++h) {
    std::int64_t j = origin - 1;
    if (season_ > 1) {
      while ((j = calendar_->same_time(past.size() + h, seasons * season_)) >= origin) ++seasons;
      if (j < 0) j = origin - 1;
    }
    path.middle[h] = past[static_cast<std::size_t>(j)];
  }
}

}  // namespace ace
