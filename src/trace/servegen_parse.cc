#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "trace/servegen.h"

namespace ace {
namespace {

/// Lines of a CSV without quotes, whose header is known.
template <std::size_t N>
class Table {
 public:
  Table(std::string_view text, std::string_view name) : rest_(text), name_(name) {}

  Result<void> header(std::string_view want) {
    if (rest_.starts_with("\xef\xbb\xbf")) rest_.remove_prefix(3);
    const std::string_view got = line();
    if (got != want) return fault(fmt::format("expected the header {:?}, got {:?}", want, got.substr(0, 80)));
    return {};
  }

  /// @return false at the end
  Result<bool> row(std::array<std::string_view, N>& fields) {
    if (rest_.empty()) return false;
    std::string_view text = line();
    for (std::size_t i = 0; i < N; ++i) {
      const std::size_t comma = text.find(',');
      if ((comma == std::string_view::npos) != (i + 1 == N)) return fault(fmt::format("expected {} fields", N));
      fields[i] = text.substr(0, comma);
      if (comma != std::string_view::npos) text.remove_prefix(comma + 1);
    }
    return true;
  }

  [[nodiscard]] Error fault(std::string_view what) const {
    return Error{Errc::bad_input, fmt::format("ServeGen {}: line {}: {}", name_, line_, what)};
  }

  /// A finite number that is not negative.
  Result<double> number(std::string_view field) const {
    double value = 0.0;
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
    if (error != std::errc{} || end != field.data() + field.size() || !(value >= 0.0) || value > 1e12)
      return fault(fmt::format("expected a number that is not negative, got {:?}", field.substr(0, 40)));
    return value;
  }

 private:
  std::string_view line() {
    ++line_;
    const std::size_t end = rest_.find('\n');
    std::string_view text = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    if (text.ends_with('\r')) text.remove_suffix(1);
    return text;
  }

  std::string_view rest_, name_;
  std::int64_t line_ = 0;
};

constexpr double kClientsMax = 100'000;
constexpr double kSecondsMax = 1e9;

/// The client of that number; clients are few and come in runs.
ServegenClient& client_of(Servegen& tables, std::uint32_t number) {
  auto at = std::lower_bound(tables.clients.begin(), tables.clients.end(), number,
                             [](const ServegenClient& client, std::uint32_t n) { return client.number < n; });
  if (at == tables.clients.end() || at->number != number) {
    at = tables.clients.insert(at, ServegenClient{});
    at->number = number;
  }
  return *at;
}

Result<void> read_rates(std::string_view text, Servegen& tables) {
  Table<7> table(text, "rates");
  if (auto fine = table.header("client,t_s,rate_per_s,cv,pattern,arg1,arg2"); !fine) return fine;
  std::array<std::string_view, 7> fields;
  while (true) {
    const auto more = table.row(fields);
    if (!more) return more.error();
    if (!*more) return {};
    const auto client = table.number(fields[0]);
    const auto second = table.number(fields[1]);
    const auto rate = table.number(fields[2]);
    const auto shape = table.number(fields[5]);
    for (const auto* value : {&client, &second, &rate, &shape})
      if (!*value) return value->error();
    if (*client > kClientsMax || *client != std::floor(*client)) return table.fault("expected a client number");
    if (*second > kSecondsMax || std::fmod(*second, static_cast<double>(kServegenWindowSeconds)) != 0.0)
      return table.fault("expected t_s to be a multiple of 600");
    if (*rate > 1e6) return table.fault("expected a rate up to 1e6 requests/s");
    if (*shape < 1e-3 || *shape > 1e9) return table.fault("expected a shape (arg1) in [0.001, 1e9]");
    if (fields[4] != "Gamma" && fields[4] != "Weibull") return table.fault("expected the pattern Gamma or Weibull");
    ServegenClient& into = client_of(tables, static_cast<std::uint32_t>(*client));
    const auto at = static_cast<std::int64_t>(*second);
    if (!into.rates.empty() && into.rates.back().second >= at)
      return table.fault("expected the windows of a client in ascending order, each once");
    into.rates.push_back({at, *rate, fields[4] == "Gamma" ? GapFamily::gamma : GapFamily::weibull, *shape});
  }
}

Result<void> read_tokens(std::string_view text, Servegen& tables) {
  Table<10> table(text, "token statistics");
  if (auto fine = table.header("client,window_start_s,in_mean,in_p50,in_p90,in_p99,out_mean,out_p50,out_p90,out_p99");
      !fine)
    return fine;
  std::array<std::string_view, 10> fields;
  while (true) {
    const auto more = table.row(fields);
    if (!more) return more.error();
    if (!*more) return {};
    std::array<double, 10> v{};
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const auto value = table.number(fields[i]);
      if (!value) return value.error();
      v[i] = *value;
    }
    if (v[0] > kClientsMax || v[0] != std::floor(v[0])) return table.fault("expected a client number");
    if (v[1] > kSecondsMax) return table.fault("expected a second up to 1e9");
    for (std::size_t i = 2; i < v.size(); ++i)
      if (v[i] > 1e8) return table.fault("expected token counts up to 1e8");
    if (v[3] > v[4] || v[4] > v[5] || v[7] > v[8] || v[8] > v[9])
      return table.fault("expected percentiles that do not fall");
    ServegenClient& into = client_of(tables, static_cast<std::uint32_t>(v[0]));
    const auto at = static_cast<std::int64_t>(v[1]);
    if (!into.tokens.empty() && into.tokens.back().second >= at)
      return table.fault("expected the statistics of a client in ascending order, each once");
    into.tokens.push_back({at, v[2], v[3], v[4], v[5], v[6], v[7], v[8], v[9]});
  }
}

}  // namespace

Result<Servegen> parse_servegen(std::string_view rates, std::string_view tokens) {
  Servegen tables;
  if (auto fine = read_rates(rates, tables); !fine) return std::move(fine).error();
  if (auto fine = read_tokens(tokens, tables); !fine) return std::move(fine).error();
  const auto has_both = [](const ServegenClient& c) { return !c.rates.empty() && !c.tokens.empty(); };
  if (std::none_of(tables.clients.begin(), tables.clients.end(), has_both))
    return Error{Errc::bad_input, "ServeGen: expected token statistics for at least one client that has rates"};
  return tables;
}

}  // namespace ace
