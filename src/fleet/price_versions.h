#pragma once
/// Inside the reader of price lists: the versions of one price, from the first to the last that was written down.
#include <string>
#include <string_view>
#include <vector>

#include "fleet/price.h"

namespace ace {

/// Judges the versions of one key, which each read without a mistake. Sorts them by first day, then by the day on which
/// they were recorded.
///
/// Two versions hold on one day only where the one recorded later says that it corrects the other: it is recorded after
/// its first day and gives a reason. Days without a version are a warning: they are unpriced, never free.
std::vector<PriceFinding> judge_versions(std::vector<PriceRow>& versions);

/// The version that holds on a day, as it was known on another.
/// @param on YYYY-MM-DD; empty = after the last change @param known YYYY-MM-DD; empty = everything recorded
/// @return null if none holds
const PriceRow* version_on(const std::vector<PriceRow>& versions, std::string_view on, std::string_view known);

/// What corrections among these versions change for days that were past when they were recorded.
std::vector<PriceRevision> revisions_of(const std::vector<PriceRow>& versions);

}  // namespace ace
