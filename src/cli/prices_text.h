#pragma once
/// Price lists as people and as machines read them. Pure: values in, text out.
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/fleet.h"

namespace ace::cli {

/// One row as a table: units down, service tiers across, USD per million units; a service tier that costs what the
/// standard one does has no column.
std::string price_table(const PriceRow& row);
/// The same as one JSON object; money as decimal strings, units in the keys.
std::string price_json(const PriceRow& row);

/// What a reading of a list found, errors first within each row, and how much of it can be priced.
std::string findings_text(const PriceReading& reading, std::span<const PriceFinding> changes);
std::string findings_json(const PriceReading& reading, std::span<const PriceFinding> changes);

std::string changes_text(std::span<const PriceChange> changes);
std::string changes_json(std::span<const PriceChange> changes);

/// Past days whose prices were corrected: what every unit booked in them differs by, and why.
std::string revisions_text(std::span<const PriceRevision> revisions);
std::string revisions_json(std::span<const PriceRevision> revisions);

/// Offers and findings of a catalog of rented machines, of what is asked for by instance and region.
using AskedFor = std::function<bool(const std::string& instance, const std::string& region)>;
std::string catalog_text(const CatalogReading& catalog, const AskedFor& asked);
std::string catalog_json(const CatalogReading& catalog, const AskedFor& asked);

/// Keys that a person may have meant: those that hold the text, whatever its case, else those
/// a slip of the pen away; at most `most`.
std::vector<std::string> keys_like(const PriceBook& book, std::string_view text, std::size_t most);

}  // namespace ace::cli
