#include "plan/model.h"

namespace ace {

void SeasonalNaive::predict(std::span<const double> past, ForecastPath& path) {
  const auto origin = static_cast<std::int64_t>(past.size());
  const auto same_time = [&](std::size_t i, std::size_t season) {
    std::size_t back = season;
    while (calendar_->same_time(i, back) >= origin) back += season;
    return calendar_->same_time(i, back);
  };
  for (std::size_t h = 0; h < path.middle.size(); ++h) {
    std::int64_t j = season_ > 1 ? same_time(past.size() + h, season_) : -1;
    if (j < 0 && calendar_->day() > 1 && season_ > 1) j = same_time(past.size() + h, calendar_->day());
    path.middle[h] = past[static_cast<std::size_t>(j < 0 ? origin - 1 : j)];
  }
}

}  // namespace ace
