#pragma once
/// A period of the books: whole UTC days, as statements and bills are made for.
#include <string_view>

#include "core/result.h"
#include "core/time.h"

namespace ace {

/// [from, to), both at the beginning of a UTC day; left as it is, all time. Days, because small cells are judged on
/// theirs: what a day comes to does not depend on where the books are cut.
struct Period {
  Instant from = Instant::min(), to = Instant::max();
  [[nodiscard]] bool all() const { return from == Instant::min() && to == Instant::max(); }
  [[nodiscard]] bool holds(Instant t) const { return t >= from && t < to; }
  friend bool operator==(const Period&, const Period&) = default;
};

/// @param from, to days as YYYY-MM-DD, `to` excluded; empty = open @param month YYYY-MM, in the place of both, or empty
/// @return bad_input saying which of them is none, or that nothing lies between
Result<Period> period_from(std::string_view from, std::string_view to, std::string_view month);

/// The calendar month (UTC) that holds `t`.
Period month_of(Instant t);
/// What two periods have in common; an empty period (from = to) where that is nothing.
Period common(const Period& a, const Period& b);

}  // namespace ace
