/// Whatever a price list holds: reading it twice gives the same, every rate in the book is not negative, tiers ascend
/// from 0, keys are sorted and unique, no row that was named as left out is in it, and a list never differs from
/// itself.
#include <cstddef>
#include <cstdint>

#include "core/check.h"
#include "fleet/price.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const std::string_view json(reinterpret_cast<const char*>(data + 1), size - 1);
  const auto dialect = data[0] % 2 == 0 ? ace::PriceDialect::community : ace::PriceDialect::own;
  const auto reading = ace::parse_prices(json, dialect);
  const auto again = ace::parse_prices(json, dialect);
  ACE_CHECK(reading.has_value() == again.has_value(), "reading twice gave two answers");
  if (!reading) {
    ACE_CHECK(reading.error() == again.error(), "reading twice gave two errors");
    return 0;
  }
  ACE_CHECK(reading->book == again->book && reading->findings == again->findings, "reading twice gave two lists");
  const ace::PriceRow* before = nullptr;
  for (const ace::PriceRow& row : reading->book.rows) {
    ACE_CHECK(before == nullptr || before->key < row.key, "keys are not sorted or not unique");
    before = &row;
    ACE_CHECK(!row.tiers.empty() && row.tiers[0].above.value == 0, "a row without its first tier");
    for (std::size_t i = 1; i < row.tiers.size(); ++i)
      ACE_CHECK(row.tiers[i - 1].above < row.tiers[i].above, "tiers do not ascend");
    for (const ace::ContextTier& tier : row.tiers)
      for (const ace::Rates& rates : tier.by_service)
        for (std::size_t u = 0; u < ace::kUnits; ++u)
          if (const auto price = rates[static_cast<ace::Unit>(u)]) ACE_CHECK(price->nano >= 0, "a negative price");
  }
  for (const ace::PriceFinding& finding : reading->findings)
    if (finding.error && !finding.row_kept)
      ACE_CHECK(!reading->book.find(finding.row), "a row with an error is in the book");
  ACE_CHECK(ace::diff_prices(reading->book, reading->book).empty(), "a list differs from itself");
  ACE_CHECK(ace::implausible_changes(reading->book, reading->book).empty(), "a list is implausible against itself");
  return 0;
}
