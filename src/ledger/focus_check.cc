#include <algorithm>
#include <limits>
#include <utility>

#include "core/decimal.h"
#include "ledger/focus.h"

namespace ace::focus {
namespace {

/// `dependent` must be null where `on` is null; with `always`, and only then.
struct Dependence {
  std::string_view dependent, on;
  bool always;
};
constexpr Dependence kDependences[] = {
    {"AllocatedMethodDetails", "AllocatedMethodId", false},
    {"AllocatedResourceId", "AllocatedMethodId", true},
    {"AllocatedResourceName", "AllocatedResourceId", false},
    {"AllocatedTags", "AllocatedMethodId", false},
    {"CapacityReservationStatus", "CapacityReservationId", false},
    {"CommitmentDiscountCategory", "CommitmentDiscountId", true},
    {"CommitmentDiscountName", "CommitmentDiscountId", false},
    {"CommitmentDiscountStatus", "CommitmentDiscountId", false},
    {"CommitmentDiscountType", "CommitmentDiscountId", true},
    {"CommitmentDiscountUnit", "CommitmentDiscountQuantity", true},
    {"ConsumedUnit", "ConsumedQuantity", true},
    {"PricingUnit", "PricingQuantity", true},
    {"RegionName", "RegionId", true},
    {"ResourceName", "ResourceId", false},
    {"ResourceType", "ResourceId", true},
    {"SkuMeter", "SkuId", false},
    {"SkuPriceDetails", "SkuPriceId", false},
    {"SubAccountName", "SubAccountId", true},
    {"SubAccountType", "SubAccountId", true},
};
/// Never null on a Usage or Purchase row that is no correction, null on Tax.
constexpr std::string_view kPriced[] = {"ContractedUnitPrice", "ListUnitPrice", "PricingCategory",
                                        "PricingQuantity",     "SkuId",         "SkuPriceId"};

std::string quoted(std::string_view text) { return '"' + std::string(text.substr(0, 64)) + '"'; }

/// A decimal in nano-dollars; digits beyond are rounded and counted.
Usd amount(std::string_view text, std::uint64_t& inexact) {
  if (const Result<std::int64_t> exact = parse_decimal(text, 9)) return Usd{*exact};
  ++inexact;
  const Result<std::int64_t> rounded = parse_decimal_rounded(text, 9);
  return Usd{rounded ? *rounded : 0};
}

std::string sum_text(int128 nano) {
  constexpr int128 kMost = std::numeric_limits<std::int64_t>::max();
  const std::string text = to_decimal(Usd{static_cast<std::int64_t>(std::clamp(nano, -kMost, kMost))});
  return nano > kMost || nano < -kMost ? "more than " + text : text;
}

}  // namespace

Checker::Checker(std::vector<std::string> header, Version version) : header_(std::move(header)) {
  for (std::size_t i = 0; i < header_.size(); ++i) {
    const std::string& name = header_[i];
    columns_.push_back(column(name));
    if (!position_.emplace(name, i).second) find(name, "the column is there twice");
    if (columns_.back() == nullptr && !name.starts_with("x_"))
      find(name, "no column of the specification; a column of one's own starts with x_");
    if (columns_.back() != nullptr && columns_.back()->since > version)
      find(name, "not in version 1.2 of the specification");
  }
  for (const Column& c : columns())
    if (c.level == Level::mandatory && !position_.contains(c.name)) find(c.name, "a mandatory column is missing");
}

void Checker::find(std::string_view column, std::string what) {
  if (++count_ <= kFindingsMax) findings_.push_back({rows_, std::string(column), std::move(what)});
}

bool Checker::has(std::string_view name) const { return position_.find(name) != position_.end(); }

std::string_view Checker::text(const Cells& cells, std::string_view name) const {
  const auto at = position_.find(name);
  return at == position_.end() || !cells[at->second] ? std::string_view() : std::string_view(*cells[at->second]);
}

void Checker::value(std::size_t at, const std::string& text) {
  const Column& c = *columns_[at];
  if (c.type == Type::decimal && !valid_decimal(text))
    find(c.name, "expected a decimal without +, separators or units, got " + quoted(text));
  if (c.type == Type::datetime && !valid_datetime(text))
    find(c.name, "expected a UTC time as YYYY-MM-DDTHH:mm:ssZ, got " + quoted(text));
  if (c.type == Type::json && !valid_flat_json(text)) find(c.name, "expected a flat JSON object, got " + quoted(text));
  if (c.type == Type::string && text.find_first_not_of(' ') == std::string::npos)
    find(c.name, "expected text or null, got blanks");
  if (!c.allowed.empty() && std::find(c.allowed.begin(), c.allowed.end(), text) == c.allowed.end())
    find(c.name, "expected one of the allowed values, got " + quoted(text));
  if (c.name.ends_with("Currency") &&
      (text.size() != 3 || text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ") != std::string::npos))
    find(c.name, "expected a currency code of three letters, got " + quoted(text));
  if (c.name.ends_with("UnitPrice") && text.starts_with('-')) find(c.name, "expected a price of at least 0");
}

void Checker::row(const Cells& cells) {
  ++rows_;
  if (cells.size() != header_.size()) {
    find("", "expected " + std::to_string(header_.size()) + " fields, got " + std::to_string(cells.size()));
    return;
  }
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (columns_[i] == nullptr) continue;
    if (cells[i])
      value(i, *cells[i]);
    else if (!columns_[i]->nullable)
      find(columns_[i]->name, "null in a column that has no nulls");
  }
  together(cells);
  commitment(cells);
}

void Checker::together(const Cells& cells) {
  const auto is_null = [&](std::string_view name) { return text(cells, name).empty(); };
  for (const Dependence& d : kDependences) {
    if (!has(d.dependent) || !has(d.on)) continue;
    if (is_null(d.on) && !is_null(d.dependent)) find(d.dependent, "must be null where " + std::string(d.on) + " is");
    if (d.always && !is_null(d.on) && is_null(d.dependent))
      find(d.dependent, "must not be null where " + std::string(d.on) + " is not");
  }
  const std::string_view category = text(cells, "ChargeCategory");
  const bool usage = category == "Usage", purchase = category == "Purchase";
  const bool correction = !is_null("ChargeClass");
  for (const std::string_view name : kPriced) {
    if (!has(name)) continue;
    if ((usage || purchase) && !correction && is_null(name)) find(name, "null on a Usage or Purchase row");
    if (category == "Tax" && !is_null(name)) find(name, "not null on a Tax row");
  }
  if (has("ConsumedQuantity")) {
    const bool consumes = usage && text(cells, "CommitmentDiscountStatus") != "Unused";
    if (!consumes && !is_null("ConsumedQuantity")) find("ConsumedQuantity", "nothing is consumed by such a row");
    if (consumes && !correction && is_null("ConsumedQuantity")) find("ConsumedQuantity", "null on a Usage row");
  }
  if (purchase && text(cells, "ChargeFrequency") == "Usage-Based")
    find("ChargeFrequency", "a Purchase is not Usage-Based");
  const bool committed = !is_null("CommitmentDiscountId");
  if (committed && usage && has("CommitmentDiscountStatus") && is_null("CommitmentDiscountStatus"))
    find("CommitmentDiscountStatus", "null on a Usage row of a commitment");
  if (committed && (usage || purchase) && !correction && has("CommitmentDiscountQuantity") &&
      is_null("CommitmentDiscountQuantity"))
    find("CommitmentDiscountQuantity", "null on a row of a commitment");
  if (!is_null("CapacityReservationId") && usage && has("CapacityReservationStatus") &&
      is_null("CapacityReservationStatus"))
    find("CapacityReservationStatus", "null on a Usage row of a reservation");
  for (const std::string_view period : {"Billing", "Charge"}) {
    const std::string start = std::string(period) + "PeriodStart", end = std::string(period) + "PeriodEnd";
    // Of the same form, so the order of the texts is that of the times.
    if (valid_datetime(text(cells, start)) && valid_datetime(text(cells, end)) &&
        text(cells, start) >= text(cells, end))
      find(end, "expected a time after " + start + ", got " + quoted(text(cells, end)));
  }
}

void Checker::commitment(const Cells& cells) {
  const std::string_view id = text(cells, "CommitmentDiscountId"), category = text(cells, "ChargeCategory");
  const std::string_view billed = text(cells, "BilledCost"), effective = text(cells, "EffectiveCost");
  if (id.empty() || !valid_decimal(billed) || !valid_decimal(effective)) return;
  Commitment& sums = commitments_[std::string(id)];
  if (category == "Usage") sums.used += amount(effective, sums.inexact).nano;
  if (category != "Purchase") return;
  sums.purchased += amount(billed, sums.inexact).nano;
  if (amount(effective, sums.inexact) != Usd{})
    find("EffectiveCost", "expected 0 on the purchase of a commitment, got " + quoted(effective));
}

void Checker::finish() {
  const std::uint64_t rows = std::exchange(rows_, 0);  // these are about the file as a whole
  rows_ = 0;
  for (const auto& [id, sums] : commitments_) {
    const int128 difference = sums.used - sums.purchased;
    if (std::max(difference, -difference) > static_cast<int128>(sums.inexact))
      find("EffectiveCost", "commitment " + quoted(id) + ": usage sums to " + sum_text(sums.used) +
                                ", its purchases to " + sum_text(sums.purchased));
  }
  rows_ = rows;
}

}  // namespace ace::focus
