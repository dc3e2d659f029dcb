#include "cli/prices_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "core/text.h"

namespace ace::cli {
namespace {

using Out = std::back_insert_iterator<std::string>;

std::string money(const std::optional<UsdPerMtok>& price) { return price ? to_decimal(*price) : "-"; }

/// Service tiers that differ from the standard one anywhere in the row; the standard one itself.
std::vector<std::size_t> columns_of(const PriceRow& row) {
  std::vector<std::size_t> columns = {0};
  for (std::size_t s = 1; s < kServiceTiers; ++s)
    if (std::any_of(row.tiers.begin(), row.tiers.end(),
                    [&](const ContextTier& tier) { return tier.by_service[s] != tier.by_service[0]; }))
      columns.push_back(s);
  return columns;
}

bool priced(const PriceRow& row) {
  return std::any_of(row.tiers.begin(), row.tiers.end(), [](const ContextTier& tier) {
    return std::any_of(tier.by_service.begin(), tier.by_service.end(), [](const Rates& r) { return r.mask() != 0; });
  });
}

/// 1,100,000 ppm as "1.10".
std::string factor_text(std::int64_t ppm) { return to_decimal(UsdPerMtok{ppm * 1'000}); }

std::vector<PriceFinding> sorted(const PriceReading& reading, std::span<const PriceFinding> changes) {
  std::vector<PriceFinding> all = reading.findings;
  all.insert(all.end(), changes.begin(), changes.end());
  std::stable_sort(all.begin(), all.end(), [](const PriceFinding& a, const PriceFinding& b) {
    return std::tie(a.row, b.error) < std::tie(b.row, a.error);
  });
  return all;
}

struct Counts {
  std::size_t rows = 0, priced = 0, errors = 0, warnings = 0;
};
Counts counts_of(const PriceReading& reading, const std::vector<PriceFinding>& findings) {
  Counts counts;
  counts.rows = reading.book.rows.size();
  for (const PriceRow& row : reading.book.rows) counts.priced += ace::cli::priced(row) ? 1U : 0U;
  for (const PriceFinding& finding : findings) ++(finding.error ? counts.errors : counts.warnings);
  return counts;
}

std::string_view kind_of(PriceChange::Kind kind) {
  constexpr std::array<std::string_view, 3> names = {"added", "removed", "changed"};
  return names[static_cast<std::size_t>(kind)];
}

void optional_count(std::string& json, std::string_view name, std::optional<std::int64_t> value) {
  if (value) fmt::format_to(Out(json), ",\"{}\":{}", name, *value);
}
std::optional<std::int64_t> count_of(const std::optional<Tokens>& tokens) {
  return tokens ? std::optional(tokens->value) : std::nullopt;
}

}  // namespace

std::string price_table(const PriceRow& row) {
  std::string text = fmt::format("{}\n", row.key);
  const auto fact = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) fmt::format_to(Out(text), "  {:<22}{}\n", name, value);
  };
  const auto tokens = [](const std::optional<Tokens>& count) { return count ? grouped(count->value) : std::string(); };
  fact("provider", row.provider);
  fact("mode", row.mode);
  fact("context tokens", tokens(row.context_max));
  fact("output tokens", tokens(row.output_max));
  fact("cached from tokens", tokens(row.cache_min));
  fact("requests per minute", row.rpm ? grouped(*row.rpm) : "");
  fact("tokens per minute", row.tpm ? grouped(*row.tpm) : "");
  if (row.uplift_ppm_eu != 1'000'000) fact("in the EU, times", factor_text(row.uplift_ppm_eu));
  if (row.uplift_ppm_us != 1'000'000) fact("in the US, times", factor_text(row.uplift_ppm_us));
  for (const NamedFactor& factor : row.factors) fact(factor.name + ", times", factor_text(factor.ppm));
  fact("ends on", row.deprecation_date);
  fact("source", row.source);
  fact("as of", row.as_of);
  if (!priced(row)) return text + "  unpriced: the list has no price for it\n";

  const std::vector<std::size_t> columns = columns_of(row);
  fmt::format_to(Out(text), "\n  {:<38}", "USD per million");
  for (const std::size_t s : columns) fmt::format_to(Out(text), "{:>16}", name_of(static_cast<ServiceTier>(s)));
  text += '\n';
  for (const ContextTier& tier : row.tiers) {
    if (tier.above.value > 0) fmt::format_to(Out(text), "  prompts above {} tokens\n", grouped(tier.above.value));
    for (std::size_t u = 0; u < kUnits; ++u) {
      const auto unit = static_cast<Unit>(u);
      if (std::none_of(columns.begin(), columns.end(), [&](std::size_t s) { return tier.by_service[s][unit]; }))
        continue;
      fmt::format_to(Out(text), "  {:<38}", name_of(unit));
      for (const std::size_t s : columns) fmt::format_to(Out(text), "{:>16}", money(tier.by_service[s][unit]));
      text += '\n';
    }
  }
  if (!row.other.empty()) text += "  not counted in a request's usage\n";
  for (const NamedPrice& other : row.other)
    fmt::format_to(Out(text), "  {:<38}{:>16}\n", other.name, to_decimal(other.price));
  return text;
}

std::string price_json(const PriceRow& row) {
  std::string json = fmt::format("{{\"key\":{},\"provider\":{},\"mode\":{}", json_text(row.key),
                                 json_text(row.provider), json_text(row.mode));
  optional_count(json, "context_max_tokens", count_of(row.context_max));
  optional_count(json, "output_max_tokens", count_of(row.output_max));
  optional_count(json, "cache_min_tokens", count_of(row.cache_min));
  optional_count(json, "requests_per_minute", row.rpm);
  optional_count(json, "tokens_per_minute", row.tpm);
  fmt::format_to(Out(json), ",\"uplift_factor_eu\":\"{}\",\"uplift_factor_us\":\"{}\"", factor_text(row.uplift_ppm_eu),
                 factor_text(row.uplift_ppm_us));
  json += ",\"factors\":{";
  for (const NamedFactor& factor : row.factors)
    fmt::format_to(Out(json), "{}{}:\"{}\"", json.back() == '{' ? "" : ",", json_text(factor.name),
                   factor_text(factor.ppm));
  fmt::format_to(Out(json), "}},\"deprecation_date\":{},\"source\":{},\"as_of\":{},\"priced\":{},\"tiers\":[",
                 json_text(row.deprecation_date), json_text(row.source), json_text(row.as_of), priced(row));
  for (const ContextTier& tier : row.tiers) {
    fmt::format_to(Out(json), "{}{{\"prompt_above_tokens\":{},\"usd_per_million\":{{", json.back() == '[' ? "" : ",",
                   tier.above.value);
    for (std::size_t s = 0; s < kServiceTiers; ++s) {
      fmt::format_to(Out(json), "{}\"{}\":{{", s == 0 ? "" : ",", name_of(static_cast<ServiceTier>(s)));
      for (std::size_t u = 0; u < kUnits; ++u)
        if (const auto price = tier.by_service[s][static_cast<Unit>(u)])
          fmt::format_to(Out(json), "{}\"{}\":\"{}\"", json.back() == '{' ? "" : ",", name_of(static_cast<Unit>(u)),
                         to_decimal(*price));
      json += '}';
    }
    json += "}}";
  }
  json += "],\"other_usd_per_million\":{";
  for (const NamedPrice& other : row.other)
    fmt::format_to(Out(json), "{}{}:\"{}\"", json.back() == '{' ? "" : ",", json_text(other.name),
                   to_decimal(other.price));
  return json + "}}\n";
}

std::string findings_text(const PriceReading& reading, std::span<const PriceFinding> changes) {
  const std::vector<PriceFinding> all = sorted(reading, changes);
  std::string text;
  for (const PriceFinding& f : all)
    fmt::format_to(Out(text), "{:<8} {}{}{}: {}\n", f.error ? "error" : "warning", f.row, f.field.empty() ? "" : ": ",
                   f.field, f.what);
  const Counts counts = counts_of(reading, all);
  fmt::format_to(Out(text), "{} rows, {} priced, {} unpriced; {} errors, {} warnings\n", counts.rows, counts.priced,
                 counts.rows - counts.priced, counts.errors, counts.warnings);
  return text;
}

std::string findings_json(const PriceReading& reading, std::span<const PriceFinding> changes) {
  const std::vector<PriceFinding> all = sorted(reading, changes);
  const Counts counts = counts_of(reading, all);
  std::string json =
      fmt::format("{{\"rows\":{},\"priced\":{},\"unpriced\":{},\"errors\":{},\"warnings\":{},\"findings\":[",
                  counts.rows, counts.priced, counts.rows - counts.priced, counts.errors, counts.warnings);
  for (const PriceFinding& f : all)
    fmt::format_to(Out(json), "{}{{\"severity\":\"{}\",\"row\":{},\"field\":{},\"what\":{}}}",
                   json.back() == '[' ? "" : ",", f.error ? "error" : "warning", json_text(f.row), json_text(f.field),
                   json_text(f.what));
  return json + "]}\n";
}

std::string changes_text(std::span<const PriceChange> changes) {
  std::string text;
  std::array<std::size_t, 3> count{};
  for (const PriceChange& c : changes) {
    ++count[static_cast<std::size_t>(c.kind)];
    if (c.kind != PriceChange::Kind::changed) {
      fmt::format_to(Out(text), "{:<8} {}\n", kind_of(c.kind), c.key);
      continue;
    }
    fmt::format_to(Out(text), "{:<8} {}: {}: {} -> {}", kind_of(c.kind), c.key, c.field,
                   c.before.empty() ? "unpriced" : c.before, c.after.empty() ? "unpriced" : c.after);
    text += c.ratio > 0.0 ? fmt::format(" (x{:.3g})\n", c.ratio) : "\n";
  }
  fmt::format_to(Out(text), "{} added, {} removed, {} prices changed (USD per million)\n", count[0], count[1],
                 count[2]);
  return text;
}

std::string changes_json(std::span<const PriceChange> changes) {
  std::string json = "{\"changes\":[";
  for (const PriceChange& c : changes) {
    fmt::format_to(Out(json), "{}{{\"kind\":\"{}\",\"key\":{}", json.back() == '[' ? "" : ",", kind_of(c.kind),
                   json_text(c.key));
    if (c.kind == PriceChange::Kind::changed) {
      const auto price = [](const std::string& text) { return text.empty() ? std::string("null") : json_text(text); };
      fmt::format_to(Out(json), ",\"field\":{},\"before_usd_per_million\":{},\"after_usd_per_million\":{}",
                     json_text(c.field), price(c.before), price(c.after));
    }
    json += '}';
  }
  return json + "]}\n";
}

namespace {

/// What a revision moves, by unit; a price that was none before has no `before`.
std::vector<PriceChange> moved(const PriceRevision& revision) {
  PriceRow before = revision.before;
  if (before.tiers.empty()) before.tiers.push_back({});
  return diff_prices({{before}}, {{revision.after}});
}

}  // namespace

std::string revisions_text(std::span<const PriceRevision> revisions) {
  std::string text;
  for (const PriceRevision& r : revisions) {
    fmt::format_to(Out(text), "{}  {} to {}, recorded {}: {}\n", r.after.key, r.from, r.to, r.after.recorded,
                   r.after.reason);
    for (const PriceChange& c : moved(r))
      fmt::format_to(Out(text), "  {:<38}{:>16} -> {}\n", c.field, c.before.empty() ? "unpriced" : c.before,
                     c.after.empty() ? "unpriced" : c.after);
  }
  fmt::format_to(Out(text), "{} corrections of past prices (USD per million)\n", revisions.size());
  return text;
}

std::string revisions_json(std::span<const PriceRevision> revisions) {
  std::string json = "{\"corrections\":[";
  for (const PriceRevision& r : revisions) {
    std::string changes = changes_json(moved(r));
    changes.pop_back();  // its line break
    fmt::format_to(Out(json), "{}{{\"key\":{},\"from\":\"{}\",\"to\":\"{}\",\"recorded\":\"{}\",\"reason\":{},{}",
                   json.back() == '[' ? "" : ",", json_text(r.after.key), r.from, r.to, r.after.recorded,
                   json_text(r.after.reason), changes.substr(1));
  }
  return json + "]}\n";
}

std::vector<std::string> keys_like(const PriceBook& book, std::string_view text, std::size_t most) {
  const auto lower = [](std::string_view from) {
    std::string made(from);
    for (char& c : made)
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return made;
  };
  std::vector<std::string> keys;
  for (const PriceRow& row : book.rows)
    if (keys.size() < most && lower(row.key).find(lower(text)) != std::string::npos) keys.push_back(row.key);
  if (!keys.empty()) return keys;
  // None has it inside: the ones a slip of the pen away.
  for (const PriceRow& row : book.rows)
    if (keys.size() < most && edit_distance(lower(row.key), lower(text)) <= std::min<std::size_t>(3, text.size() / 3))
      keys.push_back(row.key);
  return keys;
}

}  // namespace ace::cli
