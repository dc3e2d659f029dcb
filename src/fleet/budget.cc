#include "fleet/budget.h"

#include <array>

namespace ace {

std::string_view name_of(Budget::Window window) {
  constexpr std::array<std::string_view, 4> names = {"hour", "day", "month", "total"};
  return names[static_cast<std::size_t>(window)];
}

Instant start_of(Budget::Window window, Instant t) {
  switch (window) {
    case Budget::Window::hour:
      return instant(hour_of(t) * nanos(kHour));
    case Budget::Window::day:
      return instant(day_of(t) * nanos(kDay));
    case Budget::Window::month: {
      const Civil date = civil_of(t);
      return instant_of({.year = date.year, .month = date.month});
    }
    case Budget::Window::total:
      break;
  }
  return Instant{};
}

Instant end_of(Budget::Window window, Instant t) {
  switch (window) {
    case Budget::Window::hour:
      return start_of(window, t) + kHour;
    case Budget::Window::day:
      return start_of(window, t) + kDay;
    case Budget::Window::month: {
      const Civil date = civil_of(t);
      const bool last = date.month == 12;
      return instant_of({.year = date.year + (last ? 1 : 0), .month = last ? 1 : date.month + 1});
    }
    case Budget::Window::total:
      break;
  }
  return Instant::max();
}

}  // namespace ace
