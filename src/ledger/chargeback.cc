#include "ledger/chargeback.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "core/check.h"

namespace ace {
namespace {

constexpr std::size_t at(By by) { return static_cast<std::size_t>(by); }
constexpr std::size_t at(Measure measure) { return static_cast<std::size_t>(measure); }

constexpr std::pair<Measure, std::int64_t TokenParts::*> kParts[] = {
    {Measure::cache_write, &TokenParts::cache_write},   {Measure::audio_input, &TokenParts::audio_input},
    {Measure::image_input, &TokenParts::image_input},   {Measure::video_input, &TokenParts::video_input},
    {Measure::reasoning, &TokenParts::reasoning},       {Measure::audio_output, &TokenParts::audio_output},
    {Measure::image_output, &TokenParts::image_output},
};

/// kNone becomes 0, an index 1 + itself.
template <class Id>
std::uint32_t code(Id id) {
  return id.value + 1U;
}
template <class Id>
Id decode(std::uint32_t code) {
  return Id{code - 1U};
}

/// The hour that counts as code 1.
std::int64_t first_hour(const Statement& s) {
  return s.usage.empty() ? 0 : s.usage.front().hour;  // sorted by hour
}

ChargeKind kind_of(Adjustment::Kind kind) { return static_cast<ChargeKind>(static_cast<int>(kind) + 1); }

/// Names of symbols, "" for none.
template <class Name>
std::string_view named(const std::optional<std::uint32_t>& symbol, const SymbolNames& names, Name name) {
  return symbol ? (names.*name)(*symbol) : std::string_view();
}

}  // namespace

std::string_view name_of(ChargeKind kind) {
  return kind == ChargeKind::usage ? "usage" : name_of(static_cast<Adjustment::Kind>(static_cast<int>(kind) - 1));
}

ChargeTable charge_table(const Statement& s) {
  ChargeTable table;
  table.reserve(s.usage.size() + s.adjustments.size());
  const std::int64_t first = first_hour(s);
  for (const UsageLine& line : s.usage) {
    const std::int64_t hour = line.hour - first;
    ACE_CHECK(hour >= 0 && hour < std::numeric_limits<std::uint32_t>::max(), "usage lines are sorted by hour");
    ChargeSums sums{};
    sums[at(Measure::requests)] = static_cast<std::int64_t>(line.requests);
    sums[at(Measure::input)] = line.input;
    sums[at(Measure::cached)] = line.cached;
    sums[at(Measure::output)] = line.output;
    for (const auto& [measure, part] : kParts) sums[at(measure)] = line.parts.*part;
    sums[at(Measure::marginal)] = line.marginal.nano;
    sums[at(Measure::baseline)] = line.baseline.nano;
    sums[at(Measure::charged)] = line.charged.nano;
    sums[at(Measure::fixed)] = line.fixed.nano;
    sums[at(Measure::hosts)] = line.hosts.nano;
    sums[at(Measure::idle)] = line.idle.nano;
    table.add({0U, static_cast<std::uint32_t>(hour) + 1U, line.tenant + 1U, line.team + 1U, line.project + 1U,
               code(line.model), code(line.destination), code(line.slo)},
              sums);
  }
  for (const Adjustment& row : s.adjustments) {
    ChargeSums sums{};
    sums[at(Measure::adjusted)] = row.amount.nano;
    table.add({static_cast<std::uint32_t>(kind_of(row.kind)), 0U, row.tenant ? *row.tenant + 1U : 0U, 0U, 0U, 0U,
               code(row.destination), 0U},
              sums);
  }
  return table;
}

std::vector<ChargeLine> chargeback(const Statement& s, const std::vector<By>& by, const SymbolNames& names) {
  std::vector<ChargeLine> lines;
  Usd total{};
  const std::int64_t first = first_hour(s);
  for (const ChargeGroup& group : grouped(charge_table(s), by)) {
    const auto key = [&](By one) { return group.key[at(one)]; };
    const auto sum = [&](Measure measure) { return group.sums[at(measure)]; };
    ChargeLine line;
    line.kind = static_cast<ChargeKind>(key(By::kind));
    if (key(By::hour) != 0) line.hour = first + key(By::hour) - 1;
    if (key(By::tenant) != 0) line.tenant = key(By::tenant) - 1;
    if (key(By::team) != 0) line.team = key(By::team) - 1;
    if (key(By::project) != 0) line.project = key(By::project) - 1;
    line.model = decode<ModelId>(key(By::model));
    line.destination = decode<DestinationId>(key(By::destination));
    line.slo = decode<SloId>(key(By::slo));
    line.requests = sum(Measure::requests);
    line.input = sum(Measure::input);
    line.cached = sum(Measure::cached);
    line.output = sum(Measure::output);
    for (const auto& [measure, part] : kParts) line.parts.*part = sum(measure);
    line.marginal = Usd{sum(Measure::marginal)};
    line.baseline = Usd{sum(Measure::baseline)};
    line.charged = Usd{sum(Measure::charged)};
    line.fixed = Usd{sum(Measure::fixed)};
    line.hosts = Usd{sum(Measure::hosts)};
    line.idle = Usd{sum(Measure::idle)};
    line.adjusted = Usd{sum(Measure::adjusted)};
    total += line.total();
    lines.push_back(line);
  }
  ACE_CHECK(total == s.c4 + s.fixed, "a chargeback charges the actual cost under every grouping");
  const auto place = [&](const ChargeLine& l) {
    return std::tuple(l.kind, l.hour, l.tenant.has_value(), named(l.tenant, names, &SymbolNames::tenant),
                      l.team.has_value(), named(l.team, names, &SymbolNames::team), l.project.has_value(),
                      named(l.project, names, &SymbolNames::project), l.model, l.destination, l.slo);
  };
  std::stable_sort(lines.begin(), lines.end(),
                   [&](const ChargeLine& a, const ChargeLine& b) { return place(a) < place(b); });
  return lines;
}

}  // namespace ace
