#pragma once
/// Money: integers only. Amounts are nano-dollars, prices are nano-dollars per million units.
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/int128.h"
#include "core/result.h"

namespace ace {

/// An amount, in nano-dollars (1e-9 USD). Sums that leave int64 (9.2 billion USD) are a broken invariant.
struct Usd {
  std::int64_t nano = 0;
  friend constexpr auto operator<=>(Usd, Usd) = default;
  friend Usd operator+(Usd a, Usd b) {
    Usd sum;
    ACE_CHECK(!__builtin_add_overflow(a.nano, b.nano, &sum.nano), "an amount left the range of int64 nano-dollars");
    return sum;
  }
  friend Usd operator-(Usd a, Usd b) {
    Usd difference;
    ACE_CHECK(!__builtin_sub_overflow(a.nano, b.nano, &difference.nano),
              "an amount left the range of int64 nano-dollars");
    return difference;
  }
  friend Usd operator-(Usd a) { return Usd{} - a; }
  Usd& operator+=(Usd other) { return *this = *this + other; }
  Usd& operator-=(Usd other) { return *this = *this - other; }
};

/// A price, in nano-dollars per million units (tokens, characters, seconds...): $0.0375/Mtok = 37,500,000.
struct UsdPerMtok {
  std::int64_t nano = 0;
  friend constexpr auto operator<=>(UsdPerMtok, UsdPerMtok) = default;
};

/// One unit times one price: an exact count of femto-dollars (1e-15 USD).
constexpr int128 femto_usd(std::int64_t units, UsdPerMtok price) { return int128{units} * price.nano; }

/// numerator / denominator to the nearest integer, half away from zero. @param denominator positive
constexpr int128 divide_half_away(int128 numerator, int128 denominator) {
  const int128 half = denominator / 2;
  return numerator >= 0 ? (numerator + half) / denominator : -((-numerator + half) / denominator);
}

/// The one rounding of a booked amount: femto-dollars to nano-dollars, half away from zero.
/// @return out_of_range if it does not fit in int64 nano-dollars.
Result<Usd> round_femto(int128 femto);

/// An exact decimal ("0.60", "3e-06", "-1.5E3") times 10^scale, as an integer.
/// @return bad_input if it is not a decimal number (NaN, inf, hex, blanks, comma), out_of_range if digits would be lost
/// or
///         the value does not fit in int64.
Result<std::int64_t> parse_decimal(std::string_view text, int scale);

/// "1204.180000000": the exact amount as a decimal string with the trailing zeros cut, at least two decimals kept.
std::string to_decimal(Usd amount);
std::string to_decimal(UsdPerMtok price);

/// "$1,204.18", for people: two decimals from one dollar up, else as many as show the first three digits.
std::string to_display(Usd amount);

/// A physical quantity (a double: a forecast, watts, a fluid bound) as money, rounded half away from zero.
/// The only door from floating point into money; each caller says in a comment what it converts.
/// @return out_of_range if it is not finite or does not fit.
Result<Usd> usd_from_physics(double dollars);

/// `amount` split over integer weights by largest remainder, ties to the smaller position; the parts sum to it exactly.
/// Zero total weight gives everything to position 0. @param weights not negative @param parts same length
template <class Weights, class Parts>
void allocate(Usd amount, const Weights& weights, Parts& parts);

}  // namespace ace

#include "core/allocate.h"
