/// The community's price list, model_prices_and_context_window.json, and our own of the same shape.
#include <simdjson.h>
#include <algorithm>

#include "fleet/price.h"
#include "fleet/price_draft.h"
#include "fleet/price_keys.h"
#include "fleet/price_versions.h"

namespace ace {
namespace {

using simdjson::ondemand::value;

constexpr int kDepthMax = 64;

/// What a value begins with says what it is; On-Demand parsing looks at nothing else until asked.
enum class Shape : std::uint8_t { object, array, string, scalar };

std::string_view raw(value& json) {
  std::string_view text = json.raw_json_token();
  while (!text.empty() && std::string_view(" \t\r\n").find(text.back()) != std::string_view::npos)
    text.remove_suffix(1);
  return text;
}
Shape shape(value& json) {
  const std::string_view text = raw(json);
  if (text.starts_with('{')) return Shape::object;
  if (text.starts_with('[')) return Shape::array;
  return text.starts_with('"') ? Shape::string : Shape::scalar;
}

bool is_json_number(std::string_view text) {
  const auto digits = [&] {
    std::size_t n = 0;
    for (; n < text.size() && text[n] >= '0' && text[n] <= '9'; ++n) {
    }
    text.remove_prefix(n);
    return n;
  };
  if (text.starts_with('-')) text.remove_prefix(1);
  const bool zero = text.starts_with('0');
  const std::size_t whole = digits();
  if (whole == 0 || (zero && whole > 1)) return false;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    if (digits() == 0) return false;
  }
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
    if (digits() == 0) return false;
  }
  return text.empty();
}

/// Reads a whole list; a document that is no JSON ends it, a bad row does not.
class ListReader {
 public:
  ListReader(PriceDialect dialect, std::string_view on, std::string_view known)
      : dialect_(dialect), on_(on), known_(known) {}

  Result<PriceReading> read(std::string_view json) {
    if (json.starts_with("\xef\xbb\xbf")) json.remove_prefix(3);  // simdjson 3.0 does not know byte order marks
    simdjson::ondemand::parser parser;
    const simdjson::padded_string text(json);
    simdjson::ondemand::document document;
    simdjson::ondemand::object list;
    if (auto code = parser.iterate(text).get(document)) return broken(code);
    if (auto code = document.get_object().get(list)) return broken(code);
    auto done = members(list, [&](const std::string& key, value json_value) { return entry(key, json_value); });
    if (!done) return Error(done.error());
    if (document.current_location().error() == simdjson::SUCCESS) return broken("text follows the closing brace");
    finish();
    return std::move(reading_);
  }

 private:
  Error broken(std::string_view why) const {
    std::string what = "the price list is no JSON we can read";
    if (!last_.empty()) what += ", at or after row \"" + last_.substr(0, 64) + "\"";
    return {Errc::bad_input, what + ": " + std::string(why)};
  }
  Error broken(simdjson::error_code code) const { return broken(simdjson::error_message(code)); }

  template <class Use>
  Result<void> members(simdjson::ondemand::object& object, Use use) {
    for (auto member : object) {
      simdjson::ondemand::field field;
      if (auto code = std::move(member).get(field)) return broken(code);
      std::string_view key;
      if (auto code = field.unescaped_key().get(key)) return broken(code);
      const std::string name(key);
      if (auto used = use(name, field.value()); !used) return used;
    }
    return {};
  }
  template <class Use>
  Result<void> elements(value& json, Use use) {
    simdjson::ondemand::array array;
    if (auto code = json.get_array().get(array)) return broken(code);
    for (auto element : array) {
      value item;
      if (auto code = std::move(element).get(item)) return broken(code);
      if (auto used = use(item); !used) return used;
    }
    return {};
  }
  template <class Use>
  Result<void> members_of(value& json, Use use) {
    simdjson::ondemand::object object;
    if (auto code = json.get_object().get(object)) return broken(code);
    return members(object, use);
  }

  /// Passes over a value, but not over what is wrong in it.
  Result<void> skip(value json, int depth) {
    if (depth > kDepthMax) return broken("nested deeper than 64");
    switch (shape(json)) {
      case Shape::object:
        return members_of(json, [&](const std::string&, value item) { return skip(item, depth + 1); });
      case Shape::array:
        return elements(json, [&](value item) { return skip(item, depth + 1); });
      case Shape::string: {
        std::string_view text;
        if (auto code = json.get_string().get(text)) return broken(code);
        return {};
      }
      case Shape::scalar: {
        const std::string_view text = raw(json);
        if (text == "true" || text == "false" || text == "null" || is_json_number(text)) return {};
        return broken("\"" + std::string(text.substr(0, 64)) + "\" is no JSON value");
      }
    }
    return {};
  }

  Result<void> entry(const std::string& key, value json) {
    last_ = key;
    keys_.push_back(key);
    if (key == "sample_spec") return skip(json, 1);  // the list's own documentation
    if (shape(json) == Shape::object) {
      PriceDraft draft(key, dialect_);
      if (auto read = row(draft, json); !read) return read;
      keep(key, {std::move(draft)});
      return {};
    }
    if (shape(json) == Shape::array && dialect_ == PriceDialect::own) {
      std::vector<PriceDraft> versions;
      auto read = elements(json, [&](value item) -> Result<void> {
        PriceDraft& draft = versions.emplace_back(key, dialect_);
        if (shape(item) == Shape::object) return row(draft, item);
        draft.error("", "expected a list of rows, each an object with valid_from and valid_to");
        return skip(item, 2);
      });
      if (!read) return read;
      keep(key, std::move(versions));
      return {};
    }
    reading_.findings.push_back({true, key, "", "expected an object with the row's prices"});
    return skip(json, 1);
  }

  Result<void> row(PriceDraft& draft, value& json) {
    auto read = members_of(json, [&](const std::string& key, value item) -> Result<void> {
      if (!draft.first(key)) return skip(item, 2);
      return field(draft, key, item);
    });
    draft.settle_off_peak();
    return read;
  }

  /// A scalar's text: what a string holds, or the number or word as it stands. Nothing for null (absent).
  Result<std::optional<std::string>> scalar(value& json) {
    if (shape(json) == Shape::string) {
      std::string_view text;
      if (auto code = json.get_string().get(text)) return broken(code);
      return std::optional<std::string>(text);
    }
    const std::string_view text = raw(json);
    if (text == "null") return std::optional<std::string>();
    return std::optional<std::string>(text);
  }

  template <class Use>
  Result<void> with_scalar(PriceDraft& draft, const std::string& key, value& json, Use use) {
    if (shape(json) == Shape::object || shape(json) == Shape::array) {
      draft.error(key, "expected a number, got an object or a list");
      return skip(json, 3);
    }
    Result<std::optional<std::string>> text = scalar(json);
    if (!text) return Error(text.error());
    if (*text)
      use(std::string_view(**text));
    else if (dialect_ == PriceDialect::own)
      draft.error(key, "null is no value; leave the key out");
    return {};
  }

  Result<void> field(PriceDraft& draft, const std::string& key, value json) {
    const Shape is = shape(json);
    if (price_key(key)) return with_scalar(draft, key, json, [&](std::string_view text) { draft.price(key, text, 0); });
    if (key == "tiered_pricing" && is == Shape::array) return tiered(draft, json);
    if (key == "search_context_cost_per_query" && is == Shape::object)
      return members_of(json, [&](const std::string& name, value item) {
        return with_scalar(draft, key, item, [&](std::string_view text) { draft.named_price(key + "." + name, text); });
      });
    if (key == "provider_specific_entry" && is == Shape::object)
      return members_of(json, [&](const std::string& name, value item) {
        return with_scalar(draft, key, item, [&](std::string_view text) { draft.factor(key, name, text); });
      });
    if (key.starts_with("regional_processing_uplift_multiplier_"))
      return with_scalar(draft, key, json, [&](std::string_view text) {
        draft.factor(key, key.substr(std::string_view("regional_processing_uplift_multiplier_").size()), text);
      });
    if (key == "off_peak_pricing") return off_peak(draft, json);
    constexpr std::string_view limits[] = {
        "max_input_tokens", "max_output_tokens", "max_tokens", "prompt_cache_min_tokens", "rpm", "tpm"};
    if (std::find(std::begin(limits), std::end(limits), key) != std::end(limits))
      return with_scalar(draft, key, json, [&](std::string_view text) { draft.limit(key, text); });
    if (is == Shape::string) {
      std::string_view text;
      if (auto code = json.get_string().get(text)) return broken(code);
      draft.text(key, text);
      if (!known_without_price(key)) draft.unknown(key);
      return {};
    }
    if (!known_without_price(key)) draft.unknown(key);
    return skip(json, 2);
  }

  /// {"hours_utc": "16:30-00:30", "input_cost_per_token": ...}, or windows with weekdays: other prices at some hours.
  Result<void> off_peak(PriceDraft& draft, value& json) {
    constexpr std::string_view key = "off_peak_pricing";
    if (shape(json) == Shape::scalar && raw(json) == "null") return {};
    if (shape(json) != Shape::object) {
      draft.error(key, "expected an object with hours_utc and prices");
      return skip(json, 2);
    }
    return members_of(json, [&](const std::string& name, value item) -> Result<void> {
      if (!price_key(name)) {
        constexpr std::string_view windows[] = {"hours_utc", "windows", "weekdays", "weekday_timezone"};
        if (std::find(std::begin(windows), std::end(windows), name) == std::end(windows))
          draft.unknown("off_peak_pricing." + name);
        return skip(item, 3);
      }
      return with_scalar(draft, std::string(key), item, [&](std::string_view text) { draft.off_peak(name, text); });
    });
  }

  /// [{"range": [0, 32000], "input_cost_per_token": ...}, ...]: the tier is chosen on the prompt, above its lower
  /// bound.
  Result<void> tiered(PriceDraft& draft, value& json) {
    std::int64_t expected = 0;
    return elements(json, [&](value item) -> Result<void> {
      constexpr std::string_view key = "tiered_pricing";
      if (shape(item) != Shape::object) {
        draft.error(key, "expected tiers that are objects");
        return skip(item, 3);
      }
      std::vector<std::int64_t> range;
      std::vector<std::pair<std::string, std::string>> prices;  // the range may come last
      auto read = members_of(item, [&](const std::string& name, value price) -> Result<void> {
        if (name == "range" && shape(price) == Shape::array)
          return elements(price, [&](value bound) {
            return with_scalar(draft, "tiered_pricing.range", bound, [&](std::string_view text) {
              const Result<std::int64_t> tokens = parse_decimal(text, 0);
              if (!tokens || *tokens < 0)
                draft.error(key, "expected bounds that are whole numbers of tokens, got \"" +
                                     std::string(text.substr(0, 64)) + "\"");
              else
                range.push_back(*tokens);
            });
          });
        return with_scalar(draft, name, price,
                           [&](std::string_view text) { prices.emplace_back(name, std::string(text)); });
      });
      if (!read) return read;
      if (range.size() != 2 || range[0] != expected || range[1] <= range[0]) {
        draft.error(key, "expected a range [low, high] that begins where the tier before ends, the first at 0");
        return {};
      }
      for (const auto& [name, text] : prices) draft.price(name, text, range[0]);
      expected = range[1];
      return {};
    });
  }

  /// Takes the version that holds, notes what was found on the way.
  void keep(const std::string& key, std::vector<PriceDraft> versions) {
    bool failed = versions.empty();
    if (failed) reading_.findings.push_back({true, key, "", "expected at least one row in the list"});
    for (PriceDraft& version : versions) {
      const PriceRow& row = version.row();
      if (!row.valid_to.empty() && row.valid_to <= row.valid_from)
        version.error("valid_to", "the price ends on " + row.valid_to + " but begins on " + row.valid_from);
      for (PriceFinding& finding : version.findings()) reading_.findings.push_back(std::move(finding));
      failed = failed || version.failed();
    }
    if (failed) return;
    std::vector<PriceRow> rows;
    for (PriceDraft& version : versions) rows.push_back(std::move(version).resolve());
    for (PriceFinding& finding : judge_versions(rows)) {
      failed = failed || finding.error;
      reading_.findings.push_back(std::move(finding));
    }
    if (failed) return;
    if (const PriceRow* chosen = version_on(rows, on_, known_)) {
      reading_.book.rows.push_back(*chosen);
    } else {
      const bool early = on_ < rows.front().valid_from;
      const std::string day = on_.empty() ? "any day" : std::string(on_);
      reading_.findings.push_back({early && known_.empty(), key, "valid_from",
                                   "no version of this price holds on " + day +
                                       (known_.empty() ? "" : " as known on " + std::string(known_)) +
                                       "; it is unpriced"});
    }
    for (PriceRevision& revision : revisions_of(rows)) reading_.revisions.push_back(std::move(revision));
    for (PriceRow& row : rows)
      if (!row.valid_from.empty()) reading_.versions.push_back(std::move(row));
  }

  /// Sorts the book; a key given twice is no price at all, since nobody can know which was meant.
  void finish() {
    auto& rows = reading_.book.rows;
    std::stable_sort(rows.begin(), rows.end(), [](const PriceRow& a, const PriceRow& b) { return a.key < b.key; });
    std::sort(keys_.begin(), keys_.end());
    for (auto at = keys_.begin(); (at = std::adjacent_find(at, keys_.end())) != keys_.end();) {
      const std::string twice = *at;
      reading_.findings.push_back({true, twice, "", "the row is given twice; keep one"});
      std::erase_if(rows, [&](const PriceRow& row) { return row.key == twice; });
      at = std::upper_bound(at, keys_.end(), twice);
    }
    tell_twins();
  }

  /// Keys that differ by case alone: one of them is a slip. In our own list neither is a price.
  void tell_twins() {
    std::vector<std::pair<std::string, std::string>> keys;  // in lower case, as written
    for (const PriceRow& row : reading_.book.rows) {
      std::string lower = row.key;
      for (char& c : lower)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
      keys.emplace_back(std::move(lower), row.key);
    }
    std::sort(keys.begin(), keys.end());
    const bool own = dialect_ == PriceDialect::own;
    for (std::size_t i = 1; i < keys.size(); ++i) {
      if (keys[i].first != keys[i - 1].first) continue;
      for (const auto& [key, other] :
           {std::pair(keys[i - 1].second, keys[i].second), std::pair(keys[i].second, keys[i - 1].second)}) {
        reading_.findings.push_back({own, key, "", "differs from \"" + other + "\" by case alone"});
        if (own) std::erase_if(reading_.book.rows, [&](const PriceRow& row) { return row.key == key; });
      }
    }
  }

  PriceDialect dialect_;
  std::string_view on_, known_;
  PriceReading reading_;
  std::string last_;               ///< the row being read
  std::vector<std::string> keys_;  ///< of all rows, good or bad
};

}  // namespace

Result<PriceReading> parse_prices(std::string_view json, PriceDialect dialect, std::string_view on,
                                  std::string_view known) {
  for (const std::string_view day : {on, known})
    if (!day.empty() && !is_date(day))
      return Error(Errc::bad_input, "expected a day as YYYY-MM-DD, got \"" + std::string(day.substr(0, 64)) + "\"");
  return ListReader(dialect, on, known).read(json);
}

}  // namespace ace
