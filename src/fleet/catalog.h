#pragma once
/// What GPUs rent for: SkyPilot's catalogs, the history of a cloud's list prices, tables of many clouds.
///
/// Start with `parse_catalog`; what it cannot trust it names and never passes on as a price.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/money.h"
#include "core/result.h"

namespace ace {

/// One machine at one place (and, in a history, on one day) with what it costs by the hour.
struct RentalOffer {
  std::size_t line = 0;  ///< in the file
  std::string date;      ///< YYYY-MM-DD in a history, else empty
  std::string cloud, instance, region, zone;
  std::string accelerator;                  ///< canonical ("h100-80g"); empty where the file does not say
  std::int64_t gpu_thousandths = 0;         ///< 8 GPUs = 8000, an eighth of one = 125; 0 where the file does not say
  std::optional<Usd> on_demand, spot;       ///< USD per hour of the whole machine
  std::optional<Usd> commit_1y, commit_3y;  ///< USD per month
  bool plausible = true;                    ///< false: far from the other prices of this machine; named in the findings
  friend bool operator==(const RentalOffer&, const RentalOffer&) = default;
};

/// Why a price of a catalog was not taken as it stands.
enum class CatalogTrap : std::uint8_t {
  sentinel,              ///< 700.0 and the like: the catalog's word for "unknown"
  host_only,             ///< a GPU machine's row without its accelerator, whose price is nowhere else in the file
  accelerator_only,      ///< a row without a machine, of accelerators that no host in its region takes
  spot_above_on_demand,  ///< the spot price is no spot price
  not_positive,
  unreadable,
  no_price,       ///< neither an on-demand nor a spot price is left
  alias,          ///< the accelerator goes by another name here; told once for each name
  implausible,    ///< below half or above twice the median of this machine over the whole file
  unequal_zones,  ///< one region, two on-demand prices
  no_gpu,         ///< a machine without accelerators
  summed,         ///< host and accelerators on rows of their own: their sum is the machine's price
};
inline constexpr std::size_t kCatalogTraps = 12;
std::string_view name_of(CatalogTrap trap);

struct CatalogFinding {
  CatalogTrap trap;
  std::size_t line = 0;
  std::string instance, region, what;
  friend bool operator==(const CatalogFinding&, const CatalogFinding&) = default;
};

struct CatalogReading {
  std::size_t rows = 0;             ///< of data in the file; each one is in `offers` or in `findings` or both
  std::vector<RentalOffer> offers;  ///< in the order of the file
  std::vector<CatalogFinding> findings;
  [[nodiscard]] std::size_t count(CatalogTrap trap) const;
};

/// Reads a catalog; its header says which of the layouts it is:
///   SkyPilot       InstanceType, AcceleratorName, AcceleratorCount, Region, [AvailabilityZone], Price, SpotPrice
///   price history  date, instance, region, ondemand_usd_per_h, spot_usd_per_h, commit1y_usd_per_month, commit3y_...
///   many clouds    Cloud, GPU Type, GPUs, On-demand, Spot, Name   (Vendor and Per-Hour for serverless offers)
/// Hourly rates are rounded half away from zero to a nano-dollar (histories divide them from monthly ones). A machine
/// with at least eight on-demand prices in the file is checked against their median: the accelerator part of a GPU
/// machine is most of its price, so a row that forgot it is far below half.
/// @return bad_input if the header is none of these, corrupt if the file is no CSV.
Result<CatalogReading> parse_catalog(std::string_view csv);

/// The name the hardware table uses for a GPU, from any of the clouds' names: "H100-SXM", "H100 (80 GB)", "A100-80GB".
/// An unknown name comes back in lower case with dashes for blanks.
std::string canonical_accelerator(std::string_view name);

/// Hourly prices from the hour `first_hour` since the epoch.
struct HourlyPrices {
  std::int64_t first_hour = 0;
  std::vector<Usd> prices;
  std::size_t changes = 0;  ///< steps at which the price moved
  std::size_t bridged = 0;  ///< hours of more than 8 days after the last plausible price: held, not known
  friend bool operator==(const HourlyPrices&, const HourlyPrices&) = default;
};
/// On which terms a machine is rented.
enum class RentalMarket : std::uint8_t { on_demand, spot };
std::string_view name_of(RentalMarket market);
/// The price of a machine in a region as an hourly series for a `Rental`: each dated price holds until the next one,
/// the last for a day; implausible rows and days without such a price are passed over.
/// @return not_found if the history has no plausible dated price of it, with what was found instead.
Result<HourlyPrices> price_series(const CatalogReading& history, std::string_view instance, std::string_view region,
                                  RentalMarket market);
/// The price of a machine in a region from a catalog without dates; of several zones the dearest plausible one, since
/// nobody can promise the cheapest.
/// @return not_found if it has no plausible undated price of it, with what was found instead.
Result<Usd> list_price(const CatalogReading& catalog, std::string_view instance, std::string_view region,
                       RentalMarket market);

}  // namespace ace
