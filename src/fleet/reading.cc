#include "fleet/reading.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/hash.h"
#include "core/int128.h"

namespace ace::fleet_file {

void Reading::unknown(const Place& at, const std::string& name, const NameTable& names, std::string_view what) {
  if (findings.full()) return;
  findings.mistake(at, fmt::format("there is no {} \"{}\"", what, name), suggestion(name, names.all()));
}

ModelId Reading::refer_model(const Place& at) {
  const std::optional<std::string> name = findings.name(at);
  if (!name) return {};
  if (const auto found = model_names.find(*name)) return ModelId{*found};
  if (const auto alias = aliases.find(*name); alias != aliases.end())
    if (const auto found = model_names.find(alias->second)) return ModelId{*found};
  unknown(at, *name, model_names, "model");
  return {};
}

std::optional<std::int64_t> Reading::rate_of(const std::string& currency) const {
  if (currency == "USD") return 1'000'000'000;
  const auto found = fx_.find(currency);
  if (found == fx_.end()) return std::nullopt;
  return found->second;
}

std::optional<Amount> Reading::amount(const Place& at, std::string_view like) {
  auto got =
      findings.value<Amount>(at, [&](std::string_view text, Misread& why) { return parse_amount(text, like, why); });
  if (!got) return std::nullopt;
  const std::optional<std::int64_t> rate = rate_of(got->currency);
  if (!rate) {
    findings.mistake(
        at, fmt::format("no exchange rate for {} is known", got->currency),
        fmt::format("add fx: {{rate: \"1.08 USD/{}\", source: ..., as_of: YYYY-MM-DD}} or write USD", got->currency));
    return std::nullopt;
  }
  const int128 usd = divide_half_away(int128{got->nano} * *rate, 1'000'000'000);
  if (usd > INT64_MAX || usd < INT64_MIN) {
    findings.mistake(at, fmt::format("\"{}\" is too large", at.text()));
    return std::nullopt;
  }
  got->nano = static_cast<std::int64_t>(usd);
  return got;
}

std::optional<UsdPerMtok> Reading::per_mtok(const Place& at, bool negative) {
  const auto got = amount(at, negative ? "-0.05 USD/Mtok" : "0.60 USD/Mtok");
  if (!got) return std::nullopt;
  if (got->per != std::vector<std::string>{"Mtok"}) {
    std::string mend = "write a price per million tokens, e.g. \"0.60 USD/Mtok\"";
    if (got->per.size() == 1 && (got->per[0] == "tok" || got->per[0] == "ktok")) {
      const int128 nano = int128{got->nano} * (got->per[0] == "tok" ? 1'000'000 : 1'000);
      if (nano < INT64_MAX && nano > INT64_MIN)
        mend = fmt::format("write \"{} USD/Mtok\"", to_decimal(UsdPerMtok{static_cast<std::int64_t>(nano)}));
    }
    findings.mistake(at, fmt::format("expected a price per Mtok, got \"{}\"", at.text()), mend);
    return std::nullopt;
  }
  if (got->nano < 0 && !negative) {
    findings.mistake(at, fmt::format("a price cannot be negative, got \"{}\"", at.text()));
    return std::nullopt;
  }
  return UsdPerMtok{got->nano};
}

std::optional<Usd> Reading::per_hour(const Place& at, std::string_view like,
                                     const std::vector<std::pair<std::string, std::int64_t>>& counts) {
  const auto got = amount(at, like);
  if (!got) return std::nullopt;
  std::int64_t hours = 0, times = 0;
  if (!got->per.empty())
    hours = got->per[0] == "h"       ? 1
            : got->per[0] == "month" ? kHoursPerMonth
            : got->per[0] == "year"  ? kHoursPerYear
                                     : 0;
  if (got->per.size() == 1)
    for (const auto& [unit, count] : counts) times = unit.empty() ? count : times;
  else if (got->per.size() == 2)
    for (const auto& [unit, count] : counts) times = unit == got->per[1] ? count : times;
  if (hours == 0 || times == 0) {
    std::string expected;
    for (const auto& [unit, count] : counts)
      expected += fmt::format("{}USD/h{}{}", expected.empty() ? "" : " or ", unit.empty() ? "" : "/", unit);
    findings.mistake(at, fmt::format("expected {} (or /month, /year), got \"{}\"", expected, at.text()),
                     fmt::format("write e.g. \"{}\"", like));
    return std::nullopt;
  }
  if (got->nano < 0) {
    findings.mistake(at, fmt::format("a price cannot be negative, got \"{}\"", at.text()));
    return std::nullopt;
  }
  const int128 nano = divide_half_away(int128{got->nano} * times, hours);
  // 1e15 nano-USD are a million dollars an hour, beyond any fleet; sums over years must stay inside int64.
  if (nano > 1'000'000'000'000'000) {
    findings.mistake(at, fmt::format("\"{}\" is more than a million USD per hour", at.text()), "check the unit");
    return std::nullopt;
  }
  return Usd{static_cast<std::int64_t>(nano)};
}

std::optional<UsdPerKwh> Reading::per_kwh(const Place& at) {
  const auto got = amount(at, "0.12 USD/kWh");
  if (!got) return std::nullopt;
  if (got->per == std::vector<std::string>{"kWh"}) return UsdPerKwh{got->nano};
  if (got->per == std::vector<std::string>{"MWh"})
    return UsdPerKwh{static_cast<std::int64_t>(divide_half_away(got->nano, 1000))};
  findings.mistake(at, fmt::format("expected a price per kWh or MWh, got \"{}\"", at.text()),
                   "write e.g. \"0.12 USD/kWh\"");
  return std::nullopt;
}

std::optional<Usd> Reading::per(const Place& at, std::string_view like, std::string_view unit) {
  const auto got = amount(at, like);
  if (!got) return std::nullopt;
  if (got->per.size() == 1 && got->per[0] == unit && got->nano >= 0) return Usd{got->nano};
  findings.mistake(at, fmt::format("expected an amount per {} that is not negative, got \"{}\"", unit, at.text()),
                   fmt::format("write e.g. \"{}\"", like));
  return std::nullopt;
}

void Reading::read_fx(const Place& at) {
  if (!at) return;
  const auto read_one = [&](const Place& place) {
    Map map(findings, place);
    if (!map.readable()) return;
    const Place rate = map.need("rate", "write e.g. rate: \"1.08 USD/EUR\"");
    const auto got = findings.value<Amount>(rate, [](std::string_view text, Misread& why) -> std::optional<Amount> {
      auto amount = parse_amount(text, "1.08 USD/EUR", why);
      why.expected = "an exchange rate, e.g. \"1.08 USD/EUR\"";
      if (!amount || amount->currency != "USD" || amount->per.size() != 1 || amount->per[0].size() != 3 ||
          amount->nano <= 0)
        return std::nullopt;
      return amount;
    });
    findings.text(map.need("source", "say where the rate was published"));
    findings.value<std::string>(map.need("as_of", "say of which day the rate is"), parse_date);
    map.done();
    if (!got) return;
    if (got->per[0] == "USD" || !fx_.emplace(got->per[0], got->nano).second)
      findings.mistake(rate, fmt::format("a second rate for {}", got->per[0]), "keep one of them");
  };
  if (at.is_list())
    for (const Place& entry : findings.list(at, "exchange rates")) read_one(entry);
  else
    read_one(at);
}

std::optional<std::string> Reading::include(const Place& at) {
  const std::optional<std::string> path = findings.text(at);
  if (!path) return std::nullopt;
  if (!read_) {
    findings.mistake(at, fmt::format("cannot read \"{}\": no files can be read here", *path));
    return std::nullopt;
  }
  Result<std::string> text = read_(*path);
  if (!text) {
    findings.mistake(at, fmt::format("cannot read \"{}\": {}", *path, text.error().what()),
                     "the path is relative to the fleet file");
    return std::nullopt;
  }
  digest(*text);
  return std::move(*text);
}

std::uint64_t Reading::mix_digest(std::uint64_t digest, std::string_view bytes) { return mix(digest, hash_of(bytes)); }

}  // namespace ace::fleet_file
