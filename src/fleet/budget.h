#pragma once
/// A limit on what requests may cost.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/money.h"
#include "core/time.h"
#include "fleet/fleet.h"

namespace ace {

/// Holds for every request that has all of the names it states; what is empty stands for any.
struct Budget {
  enum class Window : std::uint8_t { hour, day, month, total };  ///< of UTC; `total` never ends
  std::string name;
  std::string tenant, team, project, key, model;  ///< model: the one asked for
  Window window = Window::month;
  Usd limit{};
  bool hard = true;  ///< refuses what could exceed it; a soft one tells when it was exceeded
  friend bool operator==(const Budget&, const Budget&) = default;
};
std::string_view name_of(Budget::Window window);
/// The beginning of the window that `t` is in; the epoch for `total`.
Instant start_of(Budget::Window window, Instant t);
/// Its end; the latest instant for `total`.
Instant end_of(Budget::Window window, Instant t);

struct BudgetReading {
  std::vector<Budget> budgets;    ///< sorted by name
  std::vector<Mistake> mistakes;  ///< not empty = none of them must be used
};
/// The `budgets:` of a fleet file, or of a file with nothing else in it. All mistakes in them at once; what else is
/// wrong with a fleet file is for parse_fleet(), which reads them too.
BudgetReading parse_budgets(std::string_view yaml, const std::string& file);

}  // namespace ace
