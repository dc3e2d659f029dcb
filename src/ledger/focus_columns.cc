/// The specification's columns, and what a value of each type looks like.
#include <algorithm>
#include <array>
#include <set>

#include "core/time.h"
#include "ledger/focus.h"

namespace ace::focus {
namespace {

using enum Type;
using enum Level;

constexpr bool kNull = true;
constexpr bool kNoNull = false;

constexpr std::array<std::string_view, 5> kChargeCategory = {"Usage", "Purchase", "Tax", "Credit", "Adjustment"};
constexpr std::array<std::string_view, 1> kChargeClass = {"Correction"};
constexpr std::array<std::string_view, 3> kChargeFrequency = {"One-Time", "Recurring", "Usage-Based"};
constexpr std::array<std::string_view, 4> kPricingCategory = {"Standard", "Dynamic", "Committed", "Other"};
constexpr std::array<std::string_view, 2> kSpendOrUsage = {"Spend", "Usage"};
constexpr std::array<std::string_view, 2> kUsed = {"Used", "Unused"};
constexpr std::array<std::string_view, 19> kServiceCategory = {"AI and Machine Learning",
                                                               "Analytics",
                                                               "Business Applications",
                                                               "Compute",
                                                               "Databases",
                                                               "Developer Tools",
                                                               "Multicloud",
                                                               "Identity",
                                                               "Integration",
                                                               "Internet of Things",
                                                               "Management and Governance",
                                                               "Media",
                                                               "Migration",
                                                               "Mobile",
                                                               "Networking",
                                                               "Security",
                                                               "Storage",
                                                               "Web",
                                                               "Other"};

constexpr std::array<Column, 62> kColumns = {{
    {"AllocatedMethodDetails", json, conditional, kNull, {}, Version::v1_3},
    {"AllocatedMethodId", string, conditional, kNull, {}, Version::v1_3},
    {"AllocatedResourceId", string, conditional, kNull, {}, Version::v1_3},
    {"AllocatedResourceName", string, conditional, kNull, {}, Version::v1_3},
    {"AllocatedTags", json, conditional, kNull, {}, Version::v1_3},
    {"AvailabilityZone", string, recommended, kNull},
    {"BilledCost", decimal, mandatory, kNoNull},
    {"BillingAccountId", string, mandatory, kNoNull},
    {"BillingAccountName", string, mandatory, kNull},
    {"BillingAccountType", string, conditional, kNoNull},
    {"BillingCurrency", string, mandatory, kNoNull},
    {"BillingPeriodEnd", datetime, mandatory, kNoNull},
    {"BillingPeriodStart", datetime, mandatory, kNoNull},
    {"CapacityReservationId", string, conditional, kNull},
    {"CapacityReservationStatus", string, conditional, kNull, kUsed},
    {"ChargeCategory", string, mandatory, kNoNull, kChargeCategory},
    {"ChargeClass", string, mandatory, kNull, kChargeClass},
    {"ChargeDescription", string, mandatory, kNull},
    {"ChargeFrequency", string, recommended, kNoNull, kChargeFrequency},
    {"ChargePeriodEnd", datetime, mandatory, kNoNull},
    {"ChargePeriodStart", datetime, mandatory, kNoNull},
    {"CommitmentDiscountCategory", string, conditional, kNull, kSpendOrUsage},
    {"CommitmentDiscountId", string, conditional, kNull},
    {"CommitmentDiscountName", string, conditional, kNull},
    {"CommitmentDiscountQuantity", decimal, conditional, kNull},
    {"CommitmentDiscountStatus", string, conditional, kNull, kUsed},
    {"CommitmentDiscountType", string, conditional, kNull},
    {"CommitmentDiscountUnit", string, conditional, kNull},
    {"ConsumedQuantity", decimal, conditional, kNull},
    {"ConsumedUnit", string, conditional, kNull},
    {"ContractedCost", decimal, mandatory, kNoNull},
    {"ContractedUnitPrice", decimal, conditional, kNull},
    {"EffectiveCost", decimal, mandatory, kNoNull},
    {"InvoiceId", string, recommended, kNull},
    {"InvoiceIssuerName", string, mandatory, kNoNull},
    {"ListCost", decimal, mandatory, kNoNull},
    {"ListUnitPrice", decimal, conditional, kNull},
    {"PricingCategory", string, conditional, kNull, kPricingCategory},
    {"PricingCurrency", string, conditional, kNull},
    {"PricingCurrencyContractedUnitPrice", decimal, conditional, kNull},
    {"PricingCurrencyEffectiveCost", decimal, conditional, kNull},
    {"PricingCurrencyListUnitPrice", decimal, conditional, kNull},
    {"PricingQuantity", decimal, mandatory, kNull},
    {"PricingUnit", string, mandatory, kNull},
    {"ProviderName", string, mandatory, kNoNull},
    {"PublisherName", string, mandatory, kNoNull},
    {"RegionId", string, conditional, kNull},
    {"RegionName", string, conditional, kNull},
    {"ResourceId", string, conditional, kNull},
    {"ResourceName", string, conditional, kNull},
    {"ResourceType", string, conditional, kNull},
    {"ServiceCategory", string, mandatory, kNoNull, kServiceCategory},
    {"ServiceName", string, mandatory, kNoNull},
    {"ServiceSubcategory", string, recommended, kNoNull},
    {"SkuId", string, conditional, kNull},
    {"SkuMeter", string, conditional, kNull},
    {"SkuPriceDetails", json, conditional, kNull},
    {"SkuPriceId", string, conditional, kNull},
    {"SubAccountId", string, conditional, kNull},
    {"SubAccountName", string, conditional, kNull},
    {"SubAccountType", string, conditional, kNull},
    {"Tags", json, conditional, kNull},
}};

/// Reads one flat JSON object; every method leaves `at` behind what it read, or says no.
class FlatJson {
 public:
  explicit FlatJson(std::string_view text) : text_(text) {}
  bool object() {
    blanks();
    if (!take('{')) return false;
    blanks();
    if (take('}')) return end();
    while (true) {
      std::string key;
      blanks();
      if (!quoted(key) || !keys_.insert(key).second) return false;
      blanks();
      if (!take(':')) return false;
      blanks();
      if (!scalar()) return false;
      blanks();
      if (take('}')) return end();
      if (!take(',')) return false;
    }
  }

 private:
  bool end() {
    blanks();
    return at_ == text_.size();
  }
  void blanks() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) ++at_;
  }
  bool take(char c) { return at_ < text_.size() && text_[at_] == c && (++at_, true); }
  bool word(std::string_view w) { return text_.substr(at_, w.size()) == w && (at_ += w.size(), true); }
  bool quoted(std::string& out) {
    if (!take('"')) return false;
    while (at_ < text_.size() && text_[at_] != '"') {
      const char c = text_[at_++];
      if (static_cast<unsigned char>(c) < 0x20) return false;
      out += c;
      if (c != '\\') continue;
      if (at_ == text_.size()) return false;
      const char escaped = text_[at_++];
      out += escaped;
      if (escaped == 'u') {
        for (int i = 0; i < 4; ++i, ++at_)
          if (at_ >= text_.size() ||
              std::string_view("0123456789abcdefABCDEF").find(text_[at_]) == std::string_view::npos)
            return false;
          else
            out += text_[at_];
      } else if (std::string_view("\"\\/bfnrt").find(escaped) == std::string_view::npos) {
        return false;
      }
    }
    return take('"');
  }
  bool digits() {
    const std::size_t from = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
    return at_ > from;
  }
  bool scalar() {
    std::string ignored;
    if (at_ < text_.size() && text_[at_] == '"') return quoted(ignored);
    if (word("true") || word("false") || word("null")) return true;
    take('-');
    if (!take('0') && !digits()) return false;
    if (take('.') && !digits()) return false;
    if (take('e') || take('E')) {
      if (!take('-')) take('+');
      return digits();
    }
    return true;
  }
  std::string_view text_;
  std::size_t at_ = 0;
  std::set<std::string> keys_;
};

}  // namespace

std::span<const Column> columns() { return kColumns; }

const Column* column(std::string_view name) {
  const auto at = std::lower_bound(kColumns.begin(), kColumns.end(), name,
                                   [](const Column& c, std::string_view n) { return c.name < n; });
  return at != kColumns.end() && at->name == name ? &*at : nullptr;
}

bool valid_decimal(std::string_view text) {
  const auto digits = [&] {
    const std::size_t n = std::min(text.find_first_not_of("0123456789"), text.size());
    text.remove_prefix(n);
    return n;
  };
  if (text.starts_with('-')) text.remove_prefix(1);
  std::size_t mantissa = digits();
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    const std::size_t fraction = digits();
    if (fraction == 0) return false;
    mantissa += fraction;
  }
  if (mantissa == 0) return false;
  if (text.starts_with('E') || text.starts_with('e')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) text.remove_prefix(1);
    if (digits() == 0) return false;
  }
  return text.empty();
}

bool valid_datetime(std::string_view text) {
  constexpr std::string_view kForm = "0000-00-00T00:00:00Z";
  if (text.size() != kForm.size()) return false;
  for (std::size_t i = 0; i < kForm.size(); ++i)
    if (kForm[i] == '0' ? text[i] < '0' || text[i] > '9' : text[i] != kForm[i]) return false;
  return parse_rfc3339(text).has_value();
}

bool valid_flat_json(std::string_view text) { return FlatJson(text).object(); }

}  // namespace ace::focus
