#include "ledger/reconcile.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "core/csv.h"
#include "core/int128.h"
#include "core/time.h"

namespace ace {
namespace {

using Key = std::tuple<std::string, std::string, std::int64_t>;
Key key_of(const Billed& b) { return {b.provider, b.model, b.day}; }

constexpr std::array kCounts = {&Billed::requests, &Billed::prompt, &Billed::cached, &Billed::output};
constexpr std::array<std::string_view, 4> kCountNames = {"requests", "prompt_tokens", "cached_tokens", "output_tokens"};

std::map<Key, Billed> summed(const std::vector<Billed>& all) {
  std::map<Key, Billed> sums;
  for (const Billed& b : all) {
    const auto [at, fresh] = sums.emplace(key_of(b), b);
    if (fresh) continue;
    Billed& sum = at->second;
    for (const auto count : kCounts)
      if (sum.*count && b.*count)
        *(sum.*count) += *(b.*count);
      else
        (sum.*count).reset();
    if (sum.cost && b.cost)
      *sum.cost += *b.cost;
    else
      sum.cost.reset();
  }
  return sums;
}

Reconciled::State compared(const Billed& ours, const Billed& theirs) {
  bool common = false, equal = true;
  for (const auto count : kCounts) {
    if (!(ours.*count) || !(theirs.*count)) continue;
    common = true;
    equal = equal && *(ours.*count) == *(theirs.*count);
  }
  if (ours.cost && theirs.cost) {
    common = true;
    equal = equal && *ours.cost == *theirs.cost;
  }
  if (!common) return Reconciled::State::silent;
  return equal ? Reconciled::State::equal : Reconciled::State::differs;
}

std::string day_text(std::int64_t day) { return to_rfc3339(instant(day * nanos(kDay))).substr(0, 10); }

/// Names of the columns, as given or our own.
class Names {
 public:
  static Result<Names> from(std::string_view columns) {
    Names names;
    for (const std::string_view name :
         {"day", "provider", "model", "requests", "prompt_tokens", "cached_tokens", "output_tokens", "cost_usd"})
      names.of_[std::string(name)] = std::string(name);
    while (!columns.empty()) {
      const std::string_view pair = columns.substr(0, columns.find(','));
      columns.remove_prefix(std::min(columns.size(), pair.size() + 1));
      const std::size_t equals = pair.find('=');
      const auto found = names.of_.find(std::string(pair.substr(0, equals)));
      if (equals == std::string_view::npos || found == names.of_.end()) {
        std::string all;
        for (const auto& [name, column] : names.of_) all += (all.empty() ? "" : ", ") + name;
        return Error(Errc::bad_input,
                     "expected NAME=COLUMN with NAME one of " + all + ", got \"" + std::string(pair) + "\"");
      }
      found->second = std::string(pair.substr(equals + 1));
      names.given_.push_back(found->second);
    }
    return names;
  }
  [[nodiscard]] const std::string& operator[](std::string_view name) const { return of_.find(name)->second; }
  [[nodiscard]] const std::vector<std::string>& given() const { return given_; }

 private:
  std::map<std::string, std::string, std::less<>> of_;
  std::vector<std::string> given_;
};

Error at_line(const CsvRow& row, std::string_view column, std::string_view expected, std::string_view text) {
  return Error(Errc::bad_input,
               fmt::format("line {}: {}: expected {}, got \"{}\"", row.line, column, expected, text.substr(0, 64)));
}

Result<std::int64_t> day_from(std::string_view text) {
  const Result<Instant> t = parse_rfc3339(text.size() == 10 ? std::string(text) + "T00:00:00Z" : std::string(text));
  if (!t) return Error(t.error());
  return day_of(*t);
}

}  // namespace

std::string_view name_of(Reconciled::State state) {
  constexpr std::array<std::string_view, 5> names = {"equal", "differs", "only_ours", "only_theirs", "silent"};
  return names[static_cast<std::size_t>(state)];
}

std::vector<Billed> summed_by_key(const std::vector<Billed>& all) {
  std::vector<Billed> sums;
  for (auto& [key, sum] : summed(all)) sums.push_back(std::move(sum));
  return sums;
}

std::vector<Billed> billed_by_ledger(const Statement& s, const Fleet& fleet) {
  std::vector<Billed> all;
  for (const UsageLine& line : s.usage) {
    if (!line.destination.valid()) continue;
    Billed b;
    b.provider = fleet.providers[fleet.destinations[line.destination.value].provider.value].name;
    b.model = fleet.models[line.model.value].name;
    b.day = floor_div(line.hour, 24);
    b.requests = static_cast<std::int64_t>(line.requests);
    b.prompt = line.input + line.cached;
    b.cached = line.cached;
    b.output = line.output;
    b.cost = line.marginal;
    all.push_back(std::move(b));
  }
  return summed_by_key(all);
}

LoggedCosts logged_costs(const Statement& s, const Fleet& fleet) {
  LoggedCosts costs;
  for (const UsageLine& line : s.usage) {
    if (line.logged_requests == 0) continue;
    Billed b;
    if (line.destination.valid())
      b.provider = fleet.providers[fleet.destinations[line.destination.value].provider.value].name;
    b.model = fleet.models[line.model.value].name;
    b.day = floor_div(line.hour, 24);
    b.requests = static_cast<std::int64_t>(line.logged_requests);
    b.cost = line.by_prices;
    costs.by_prices.push_back(b);
    b.cost = line.logged;
    costs.logged.push_back(std::move(b));
  }
  return {summed_by_key(costs.by_prices), summed_by_key(costs.logged)};
}

std::vector<Reconciled> reconcile(const std::vector<Billed>& ours, const std::vector<Billed>& theirs, Instant from,
                                  Instant to) {
  const std::map<Key, Billed> left = summed(ours), right = summed(theirs);
  std::map<Key, Reconciled> lines;
  for (const auto& [key, billed] : left) {
    Reconciled& line = lines[key];
    line.ours = billed;
    line.theirs = Billed{billed.provider, billed.model, billed.day, {}, {}, {}, {}, {}};
    line.state = Reconciled::State::only_ours;
  }
  for (const auto& [key, billed] : right) {
    const auto [at, fresh] = lines.try_emplace(key);
    Reconciled& line = at->second;
    line.theirs = billed;
    if (fresh) line.ours = Billed{billed.provider, billed.model, billed.day, {}, {}, {}, {}, {}};
    line.state = fresh ? Reconciled::State::only_theirs : compared(line.ours, billed);
  }
  std::vector<Reconciled> sorted;
  for (auto& [key, line] : lines) {
    const Instant begin = instant(line.ours.day * nanos(kDay));
    line.whole_day = from <= begin && begin + kDay <= to;
    sorted.push_back(std::move(line));
  }
  return sorted;
}

Result<std::vector<Billed>> parse_bill(std::string_view csv, std::string_view columns, const std::string& provider) {
  const Result<Names> names = Names::from(columns);
  if (!names) return Error(names.error());
  Result<CsvTable> table = CsvTable::open(csv);
  if (!table) return std::move(table).error();
  for (const std::string& name : names->given())
    if (const Result<std::size_t> there = table->require(name); !there) return Error(there.error());
  const Result<std::size_t> day = table->require((*names)["day"]), model = table->require((*names)["model"]);
  if (!day) return Error(day.error());
  if (!model) return Error(model.error());
  const std::optional<std::size_t> seller = table->column((*names)["provider"]);
  if (!seller && provider.empty())
    return Error(Errc::bad_input, "missing column \"" + (*names)["provider"] + "\"; without it say whose bill it is");
  const std::optional<std::size_t> cost = table->column((*names)["cost_usd"]);

  // Every sum and difference of its lines must be an amount: so the bill as a whole is bounded.
  constexpr int128 kTotalMax = int128{1} << 62;
  std::array<int128, kCounts.size() + 1> totals{};
  const auto fits = [&](std::size_t figure, std::int64_t value) {
    totals[figure] += value < 0 ? -int128{value} : int128{value};
    return totals[figure] <= kTotalMax;
  };

  std::vector<Billed> bill;
  CsvRow row;
  while (true) {
    const Result<bool> more = table->next(row);
    if (!more) return Error(more.error());
    if (!*more) return bill;
    Billed b;
    b.provider = seller && !trim(row.fields[*seller]).empty() ? std::string(trim(row.fields[*seller])) : provider;
    if (b.provider.empty()) return at_line(row, (*names)["provider"], "a provider", "");
    b.model = std::string(trim(row.fields[*model]));
    const std::string_view when = trim(row.fields[*day]);
    const Result<std::int64_t> parsed = day_from(when);
    if (!parsed) return at_line(row, (*names)["day"], "YYYY-MM-DD or an RFC 3339 time", when);
    b.day = *parsed;
    for (std::size_t i = 0; i < kCounts.size(); ++i) {
      const std::string& name = (*names)[kCountNames[i]];
      const std::optional<std::size_t> at = table->column(name);
      if (!at || trim(row.fields[*at]).empty()) continue;
      const Result<std::int64_t> count = parse_decimal(trim(row.fields[*at]), 0);
      if (!count || *count < 0) return at_line(row, name, "a whole number of at least 0", row.fields[*at]);
      if (!fits(i, *count)) return at_line(row, name, "numbers that sum to less than 2^62", row.fields[*at]);
      b.*kCounts[i] = *count;
    }
    if (cost && !trim(row.fields[*cost]).empty()) {
      const Result<std::int64_t> nano = parse_decimal(trim(row.fields[*cost]), 9);
      if (!nano)
        return at_line(row, (*names)["cost_usd"], "an amount in USD with at most 9 decimals", row.fields[*cost]);
      if (!fits(kCounts.size(), *nano))
        return at_line(row, (*names)["cost_usd"], "amounts that sum to less than 4.6e9 USD", row.fields[*cost]);
      b.cost = Usd{*nano};
    }
    bill.push_back(std::move(b));
  }
}

std::string reconciled_csv(const std::vector<Reconciled>& lines) {
  std::string out = "provider,model,day,whole_day,state,figure,ours,theirs,difference\n";
  for (const Reconciled& line : lines) {
    const std::string key = csv_text(line.ours.provider) + "," + csv_text(line.ours.model) + "," +
                            day_text(line.ours.day) + "," + (line.whole_day ? "true" : "false") + "," +
                            std::string(name_of(line.state)) + ",";
    for (std::size_t i = 0; i < kCounts.size(); ++i) {
      const auto &ours = line.ours.*kCounts[i], &theirs = line.theirs.*kCounts[i];
      if (!ours && !theirs) continue;
      out += key + std::string(kCountNames[i]) + "," + (ours ? std::to_string(*ours) : "") + "," +
             (theirs ? std::to_string(*theirs) : "") + "," + (ours && theirs ? std::to_string(*ours - *theirs) : "") +
             "\n";
    }
    const auto &ours = line.ours.cost, &theirs = line.theirs.cost;
    if (ours || theirs)
      out += key + "cost_usd," + (ours ? to_decimal(*ours) : "") + "," + (theirs ? to_decimal(*theirs) : "") + "," +
             (ours && theirs ? to_decimal(*ours - *theirs) : "") + "\n";
  }
  return out;
}

}  // namespace ace
