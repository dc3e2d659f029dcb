#pragma once
/// A price row while its list is being read: what was given, before fallbacks are resolved.
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/price.h"

namespace ace {

/// Collects one row and every mistake in it.
class PriceDraft {
 public:
  PriceDraft(std::string key, PriceDialect dialect) : dialect_(dialect) { row_.key = std::move(key); }

  /// A price as the list wrote it, USD per single unit. Negative, imprecise, repeated or unreadable: an error finding.
  void price(std::string_view field, std::string_view text, std::int64_t above_at_least);
  /// A price at some hours of the day; settle_off_peak() judges it when all prices of the row are known.
  void off_peak(std::string_view field, std::string_view text) { off_peak_.emplace_back(field, text); }
  /// An error finding if any off-peak price differs from the row's own: then no single price holds all day.
  void settle_off_peak();
  /// A member of a group of prices that no unit counts, named "group.member".
  void named_price(std::string name, std::string_view text);
  /// A factor on prices, as a decimal: 1.1 = +10%.
  void factor(std::string_view field, std::string name, std::string_view text);
  /// A limit: a count of at least zero. Broken ones are errors in our own lists and warnings in the community's.
  void limit(std::string_view field, std::string_view text);
  void text(std::string_view field, std::string_view text);
  /// A key that names no price we know: a finding if it sounds like one, or if the list is ours.
  void unknown(std::string_view field);
  /// @return false, and an error finding, if this row has had the key already
  bool first(const std::string& field);
  void error(std::string_view field, std::string what) { add(true, field, std::move(what)); }
  void warning(std::string_view field, std::string what) { add(false, field, std::move(what)); }

  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] const PriceRow& row() const { return row_; }
  [[nodiscard]] std::vector<PriceFinding>& findings() { return findings_; }
  /// The row with its tiers complete: fallbacks resolved, thresholds ascending, the first at 0.
  PriceRow resolve() &&;

 private:
  void add(bool error, std::string_view field, std::string what);

  PriceDialect dialect_;
  PriceRow row_;
  std::map<std::int64_t, std::array<Rates, kServiceTiers>> given_;  ///< by threshold
  std::optional<Tokens> tokens_max_;                                ///< the list's legacy limit
  std::vector<std::string> seen_;
  std::vector<std::pair<std::string, std::string>> off_peak_;
  std::vector<PriceFinding> findings_;
  std::uint32_t blocked_ = 0;  ///< units with a price that cannot be represented
  bool failed_ = false;
};

/// Does "YYYY-MM-DD" name a day that exists, from 1970 to 2200?
bool is_date(std::string_view text);

}  // namespace ace
