/// Whatever a catalog holds: an offer has a positive price and no spot above on-demand, every row is an offer or a
/// finding, and every spot series made of it is hourly and positive.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/check.h"
#include "fleet/catalog.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view csv(reinterpret_cast<const char*>(data), size);
  const auto reading = ace::parse_catalog(csv);
  if (!reading) return 0;
  ACE_CHECK(reading->offers.size() <= reading->rows, "more offers than rows");
  std::size_t told = 0, line = 0;  // rows with a finding
  for (const ace::CatalogFinding& finding : reading->findings) {
    ACE_CHECK(finding.line >= line, "findings are not in the order of the file");
    told += finding.line != line ? 1U : 0U;
    line = finding.line;
  }
  ACE_CHECK(reading->offers.size() + told >= reading->rows, "a row is neither an offer nor a finding");
  for (const ace::RentalOffer& offer : reading->offers) {
    ACE_CHECK(offer.on_demand || offer.spot, "an offer without a price");
    for (const auto& price : {offer.on_demand, offer.spot, offer.commit_1y, offer.commit_3y})
      ACE_CHECK(!price || price->nano > 0, "a price that is not positive");
    ACE_CHECK(!offer.on_demand || !offer.spot || *offer.spot <= *offer.on_demand, "spot above on-demand");
  }
  if (reading->offers.empty()) return 0;
  const auto series =
      ace::price_series(*reading, reading->offers[0].instance, reading->offers[0].region, ace::RentalMarket::spot);
  if (!series) return 0;
  ACE_CHECK(series->prices.size() % 24 == 0 && !series->prices.empty(), "a series that is no whole number of days");
  ACE_CHECK(std::all_of(series->prices.begin(), series->prices.end(), [](ace::Usd p) { return p.nano > 0; }),
            "a spot price that is not positive");
  return 0;
}
