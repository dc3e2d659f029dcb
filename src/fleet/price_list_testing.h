#pragma once
/// Price lists from text, for tests.
#include <string>

#include <gtest/gtest.h>

#include "fleet/price.h"

namespace ace::fixture {

inline PriceReading read(std::string_view json, PriceDialect dialect = PriceDialect::community,
                         std::string_view on = {}) {
  Result<PriceReading> reading = parse_prices(json, dialect, on);
  EXPECT_TRUE(reading) << reading.error().what();
  return reading ? *reading : PriceReading{};
}

/// {"m": {<fields>}}
inline PriceReading read_row(const std::string& fields, PriceDialect dialect = PriceDialect::community) {
  return read("{\"m\": {" + fields + "}}", dialect);
}

/// USD per million units, or "-".
inline std::string rate(const PriceReading& reading, Unit unit, std::int64_t context = 0,
                        ServiceTier service = ServiceTier::standard) {
  if (reading.book.rows.empty()) return "no row";
  const auto price = rates_for(reading.book.rows[0], Tokens{context}, service)[unit];
  return price ? to_decimal(*price) : "-";
}

inline std::string findings(const PriceReading& reading) {
  std::string all;
  for (const PriceFinding& f : reading.findings)
    all += (f.error ? "error " : "warning ") + f.row + "." + f.field + ": " + f.what + "\n";
  return all;
}

}  // namespace ace::fixture
