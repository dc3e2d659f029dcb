/// A statement as rows of the specification. docs/FOCUS.md has the same as a table.
#include <algorithm>

#include <fmt/format.h>

#include "core/csv.h"
#include "core/time.h"
#include "ledger/chargeback.h"
#include "ledger/focus.h"

namespace ace::focus {
namespace {

constexpr std::string_view kColumnsWritten[] = {
    "BilledCost",
    "BillingAccountId",
    "BillingAccountName",
    "BillingCurrency",
    "BillingPeriodEnd",
    "BillingPeriodStart",
    "ChargeCategory",
    "ChargeClass",
    "ChargeDescription",
    "ChargeFrequency",
    "ChargePeriodEnd",
    "ChargePeriodStart",
    "CommitmentDiscountCategory",
    "CommitmentDiscountId",
    "CommitmentDiscountName",
    "CommitmentDiscountQuantity",
    "CommitmentDiscountStatus",
    "CommitmentDiscountType",
    "CommitmentDiscountUnit",
    "ConsumedQuantity",
    "ConsumedUnit",
    "ContractedCost",
    "EffectiveCost",
    "InvoiceId",
    "InvoiceIssuerName",
    "ListCost",
    "PricingCategory",
    "PricingQuantity",
    "PricingUnit",
    "ProviderName",
    "PublisherName",
    "RegionId",
    "RegionName",
    "ResourceId",
    "ResourceName",
    "ResourceType",
    "ServiceCategory",
    "ServiceName",
    "ServiceSubcategory",
    "SubAccountId",
    "SubAccountName",
    "Tags",
};
constexpr std::string_view kAllocation[] = {"AllocatedMethodDetails", "AllocatedMethodId", "AllocatedResourceId",
                                            "AllocatedResourceName", "AllocatedTags"};
constexpr std::string_view kOwn[] = {
    "x_Component",   "x_Team",         "x_Project",          "x_Model",        "x_Requests",
    "x_InputTokens", "x_CachedTokens", "x_CacheWriteTokens", "x_OutputTokens", "x_ReasoningTokens",
    "x_AudioTokens", "x_ImageTokens",  "x_VideoTokens",      "x_MarginalCost", "x_BaselineCost"};

std::string json_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20)
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      out += c;
  }
  return out + '"';
}

/// A count as a decimal: readers that infer types take a column of whole numbers for integers, which the rules refuse.
std::string quantity(std::int64_t count) { return std::to_string(count) + ".0"; }

Instant hours_since_epoch(std::int64_t hour) { return instant(hour * nanos(kHour)); }

/// The first instant of the month of `t`, or of the one after it.
Instant month(Instant t, int after) {
  Civil c = civil_of(t);
  const int months = c.year * 12 + static_cast<int>(c.month) - 1 + after;
  Civil first;
  first.year = months / 12;
  first.month = static_cast<unsigned>(months % 12 + 1);
  return instant_of(first);
}

class Writer {
 public:
  Writer(const Statement& s, const Fleet& fleet, const SymbolNames& names, const Export& options,
         const std::function<void(const Cells&)>& sink)
      : s_(s), fleet_(fleet), names_(names), options_(options), sink_(sink) {
    const std::vector<std::string> columns = header(options.version);
    for (std::size_t i = 0; i < columns.size(); ++i) position_.emplace(columns[i], i);
    cells_.resize(columns.size());
    for (const FixedLine& line : s.fixed_lines) {
      if (!line.destination.valid()) continue;
      Fixed& fixed = fixed_[line.destination];
      fixed.commitment = fixed.commitment && line.kind == event::FixedCost::Kind::commitment;
      fixed.amount += line.used + line.idle;
      fixed.left += line.used + line.idle;
    }
  }

  void write() {
    for (const auto& [destination, fixed] : fixed_)
      if (fixed.commitment) purchase(destination, fixed.amount);
    for (const ChargeLine& line :
         chargeback(s_, {By::hour, By::tenant, By::team, By::project, By::model, By::destination}, names_))
      line.kind == ChargeKind::usage ? usage(line) : beside(line);  // usage comes first, so `left` is known by then
  }

 private:
  struct Fixed {
    bool commitment = true;
    Usd amount{};  ///< of the window
    Usd left{};    ///< not yet in a row
  };

  void set(std::string_view name, std::string text) {
    std::optional<std::string>& cell = cells_[position_.find(name)->second];
    cell = std::move(text);
    if (cell->empty()) cell.reset();
  }

  /// What every row has; all else is null.
  void begin(const ChargeLine& line, std::string_view component, std::string_view what) {
    for (auto& cell : cells_) cell.reset();
    set("BillingAccountId", options_.billing_account);
    set("BillingAccountName", options_.billing_account_name);
    set("InvoiceIssuerName", options_.billing_account_name);
    set("BillingCurrency", "USD");
    // Rows beside usage belong to the window; it counts in whole hours, at least one.
    const std::int64_t from = line.hour ? *line.hour : hour_of(s_.from);
    const std::int64_t to = line.hour ? from + 1 : std::max(from + 1, hour_of(s_.to + kHour - Duration{1}));
    set("ChargePeriodStart", to_rfc3339(hours_since_epoch(from)));
    set("ChargePeriodEnd", to_rfc3339(hours_since_epoch(to)));
    set("BillingPeriodStart", to_rfc3339(month(hours_since_epoch(from), 0)));
    set("BillingPeriodEnd", to_rfc3339(month(hours_since_epoch(to - 1), 1)));
    hours_ = to - from;
    set("ServiceCategory", "AI and Machine Learning");
    set("ServiceSubcategory", "Generative AI");
    set("ServiceName", "Model inference");
    set("ProviderName", options_.billing_account_name);
    set("PublisherName", options_.billing_account_name);
    set("ChargeCategory", "Usage");
    set("ChargeFrequency", "Usage-Based");
    set("ChargeDescription", std::string(what));
    set("x_Component", std::string(component));
    if (line.destination.valid()) {
      const Destination& d = fleet_.destinations[line.destination.value];
      set("PublisherName", fleet_.providers[d.provider.value].name);
      set("ResourceId", fleet_.providers[d.provider.value].name + "/" + d.name);
      set("ResourceName", d.name);
      set("ResourceType", "Model destination");
      set("RegionId", d.region);
      set("RegionName", d.region);
    }
    const std::string tenant = line.tenant ? std::string(names_.tenant(*line.tenant)) : "";
    const std::string team = line.team ? std::string(names_.team(*line.team)) : "";
    const std::string project = line.project ? std::string(names_.project(*line.project)) : "";
    const std::string model = line.model.valid() ? fleet_.models[line.model.value].name : "";
    set("SubAccountId", tenant);
    set("SubAccountName", tenant);
    set("x_Team", team);
    set("x_Project", project);
    set("x_Model", model);
    tags_.clear();
    if (!model.empty()) tags_ = "\"ace/model\":" + json_text(model);
    if (!team.empty()) tags_ += (tags_.empty() ? "" : ",") + ("\"ace/team\":" + json_text(team));
    if (!project.empty()) tags_ += (tags_.empty() ? "" : ",") + ("\"ace/project\":" + json_text(project));
    if (!tags_.empty()) tags_ = "{" + tags_ + "}";
    set("Tags", tags_);
    consumer_ = tenant.empty() ? "unassigned" : tenant;
    for (const std::string& part : {team, model})
      if (!part.empty()) consumer_ += "/" + part;
  }

  /// Nothing is consumed or priced by the row: it is a share of something else.
  void share_only() {
    set("ConsumedQuantity", quantity(0));
    set("ConsumedUnit", "Tokens");
    set("PricingQuantity", quantity(0));
    set("PricingUnit", "Tokens");
  }

  void cost(Usd billed, Usd effective) {
    // No unit price is published for a row that pools token classes, so list and contracted cost are what is billed.
    for (const std::string_view name : {"BilledCost", "ContractedCost", "ListCost"}) set(name, to_decimal(billed));
    set("EffectiveCost", to_decimal(effective));
  }

  [[nodiscard]] std::string category(DestinationId id) const {
    if (!id.valid()) return "Other";
    const Tier tier = fleet_.destinations[id.value].tier;
    if (tier == Tier::spot) return "Dynamic";
    return tier == Tier::owned ? "Other" : "Standard";
  }

  void allocated(std::string_view method, std::string_view policy) {
    if (options_.version < Version::v1_3) return;
    set("AllocatedMethodId", "ace/" + std::string(method));
    set("AllocatedMethodDetails", "{\"policy\":" + json_text(policy) + "}");
    set("AllocatedResourceId", consumer_);
    set("AllocatedTags", tags_);
  }

  /// A share of the fixed cost of a destination: of a commitment it was billed with the purchase.
  void fixed_share(DestinationId id, Usd amount, std::string_view status) {
    const auto found = fixed_.find(id);
    share_only();
    if (found == fixed_.end() || !found->second.commitment) {
      cost(amount, amount);
      set("PricingCategory", category(id));
      return;
    }
    found->second.left -= amount;
    cost(Usd{}, amount);
    set("PricingCategory", "Committed");
    commitment(id, amount, status);
    if (status != "Unused") return;
    set("ConsumedQuantity", "");
    set("ConsumedUnit", "");
  }

  void commitment(DestinationId id, Usd amount, std::string_view status) {
    set("CommitmentDiscountId", fleet_.destinations[id.value].name);
    set("CommitmentDiscountName", fleet_.destinations[id.value].name);
    set("CommitmentDiscountCategory", "Spend");  // an hourly fee: what it covers is counted in money
    set("CommitmentDiscountType", "Provisioned throughput");
    set("CommitmentDiscountQuantity", to_decimal(amount));
    set("CommitmentDiscountUnit", "USD");
    set("CommitmentDiscountStatus", std::string(status));
  }

  void purchase(DestinationId id, Usd amount) {
    ChargeLine line;
    line.destination = id;
    begin(line, "purchase", "Fee of the commitment over the window");
    set("ChargeCategory", "Purchase");
    set("ChargeFrequency", "Recurring");
    set("PricingCategory", "Standard");
    set("PricingQuantity", quantity(hours_));
    set("PricingUnit", "Hours");
    cost(amount, Usd{});
    commitment(id, amount, "");
    sink_(cells_);
  }

  void usage(const ChargeLine& line) {
    begin(line, "usage", "Requests at marginal cost");
    const std::string tokens = quantity(line.input + line.cached + line.output);
    set("ConsumedQuantity", tokens);
    set("ConsumedUnit", "Tokens");
    set("PricingQuantity", tokens);
    set("PricingUnit", "Tokens");
    set("PricingCategory", category(line.destination));
    cost(line.charged, line.charged);
    set("x_Requests", std::to_string(line.requests));
    set("x_InputTokens", std::to_string(line.input));
    set("x_CachedTokens", std::to_string(line.cached));
    set("x_CacheWriteTokens", std::to_string(line.parts.cache_write));
    set("x_OutputTokens", std::to_string(line.output));
    set("x_ReasoningTokens", std::to_string(line.parts.reasoning));
    set("x_AudioTokens", std::to_string(line.parts.audio_input + line.parts.audio_output));
    set("x_ImageTokens", std::to_string(line.parts.image_input + line.parts.image_output));
    set("x_VideoTokens", std::to_string(line.parts.video_input));
    set("x_MarginalCost", to_decimal(line.marginal));
    set("x_BaselineCost", to_decimal(line.baseline));
    if (line.destination.valid() && options_.settlement != SettlementPolicy::as_dispatched)
      allocated("marginal", name_of(options_.settlement));
    sink_(cells_);
    if (line.fixed != Usd{}) {
      begin(line, "used_capacity", "Share of the used part of fixed cost");
      fixed_share(line.destination, line.fixed, "Used");
      allocated("fixed", "by-normalized-tokens");
      sink_(cells_);
    }
    if (line.hosts != Usd{}) {
      begin(line, "hosts", "Share of the hosts of gateway and cache");
      share_only();
      set("PricingCategory", "Other");
      cost(line.hosts, line.hosts);
      allocated("hosts", "by-requests");
      sink_(cells_);
    }
    if (line.idle != Usd{}) {
      begin(line, "idle", "Share of idle capacity");
      fixed_share(line.destination, line.idle, "Unused");
      allocated("idle", name_of(options_.idle));
      sink_(cells_);
    }
  }

  void beside(const ChargeLine& line) {
    const std::string_view component = name_of(line.kind);
    if (line.kind == ChargeKind::surplus) {
      adjustment(line, component, "Surplus of the clearing price, returned to who holds the capacity", line.adjusted);
    } else if (line.kind == ChargeKind::batch_cap) {
      // Of a commitment what no other row has, the rest of the cut is marginal cost.
      const auto found = fixed_.find(line.destination);
      const Usd of_fixed = found != fixed_.end() && found->second.commitment ? found->second.left : Usd{};
      constexpr std::string_view kWhat = "Taken off batch work above its batch baseline; nobody is charged";
      if (of_fixed != Usd{}) {
        begin(line, component, kWhat);
        fixed_share(line.destination, of_fixed, "Used");
        allocated("batch-cap", "unassigned");
        sink_(cells_);
      }
      if (line.adjusted != of_fixed) adjustment(line, component, kWhat, line.adjusted - of_fixed);
    } else {
      begin(line, component,
            line.kind == ChargeKind::reserved_idle ? "Capacity the tenant reserved and did not use"
            : line.kind == ChargeKind::shared_idle ? "Share of idle capacity"
                                                   : "Idle capacity that nobody is charged for");
      fixed_share(line.destination, line.adjusted, "Unused");
      allocated("idle", line.kind == ChargeKind::shared_idle ? name_of(options_.idle) : component);
      sink_(cells_);
    }
  }

  void adjustment(const ChargeLine& line, std::string_view component, std::string_view what, Usd amount) {
    begin(line, component, what);
    set("ChargeCategory", "Adjustment");
    cost(amount, amount);
    allocated(component, name_of(options_.settlement));
    sink_(cells_);
  }

  const Statement& s_;
  const Fleet& fleet_;
  const SymbolNames& names_;
  const Export& options_;
  const std::function<void(const Cells&)>& sink_;
  std::map<std::string, std::size_t, std::less<>> position_;
  std::map<DestinationId, Fixed> fixed_;
  Cells cells_;
  std::string tags_, consumer_;  ///< of the row at hand
  std::int64_t hours_ = 0;       ///< in its charge period
};

}  // namespace

std::vector<std::string> header(Version version) {
  std::vector<std::string> names(std::begin(kColumnsWritten), std::end(kColumnsWritten));
  if (version >= Version::v1_3) names.insert(names.end(), std::begin(kAllocation), std::end(kAllocation));
  names.insert(names.end(), std::begin(kOwn), std::end(kOwn));
  return names;
}

void rows(const Statement& statement, const Fleet& fleet, const SymbolNames& names, const Export& options,
          const std::function<void(const Cells&)>& row) {
  Writer(statement, fleet, names, options, row).write();
}

void append_csv(std::string& out, const std::vector<std::string>& header, const Cells& cells) {
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) out += ',';
    if (!cells[i]) continue;
    const Column* c = column(header[i]);
    const bool plain = c != nullptr ? c->type == Type::decimal || c->type == Type::datetime : valid_decimal(*cells[i]);
    out += plain ? *cells[i] : csv_text(*cells[i]);
  }
  out += '\n';
}

void append_csv_header(std::string& out, const std::vector<std::string>& header) {
  for (std::size_t i = 0; i < header.size(); ++i) out += (i > 0 ? "," : "") + header[i];
  out += '\n';
}

}  // namespace ace::focus
