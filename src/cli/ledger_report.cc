#include "cli/ledger_report.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/files.h"
#include "report/report.h"

namespace ace::cli {
namespace {

using Json = nlohmann::ordered_json;

/// What a log says its requests cost against the prices of the fleet, where both are known.
Json logged_section(const Statement& s, const Fleet& fleet) {
  struct Sum {
    std::uint64_t requests = 0;
    Usd logged{}, by_prices{};
  };
  Sum all;
  std::map<std::pair<std::string, std::string>, Sum> by_model;
  for (const UsageLine& line : s.usage) {
    if (line.logged_requests == 0) continue;
    const std::string provider =
        line.destination.valid() ? fleet.providers[fleet.destinations[line.destination.value].provider.value].name : "";
    for (Sum* sum : {&all, &by_model[{provider, fleet.models[line.model.value].name}]}) {
      sum->requests += line.logged_requests;
      sum->logged += line.logged;
      sum->by_prices += line.by_prices;
    }
  }
  const auto as_json = [](Json of, const Sum& sum) {
    of["requests"] = sum.requests;
    of["logged_usd"] = to_decimal(sum.logged);
    of["by_prices_usd"] = to_decimal(sum.by_prices);
    of["difference_usd"] = to_decimal(sum.logged - sum.by_prices);
    return of;
  };
  Json lines = Json::array();
  for (const auto& [key, sum] : by_model)
    lines.push_back(as_json({{"provider", key.first}, {"model", key.second}}, sum));
  Json section = as_json(Json::object(), all);
  section["by_provider_and_model"] = lines;
  return section;
}

/// The first day and the one after the last, null where it is open; null for all time.
Json period_json(const Period& period) {
  if (period.all()) return nullptr;
  const auto day = [](Instant t) {
    return t == Instant::min() || t == Instant::max() ? Json(nullptr) : Json(to_rfc3339(t).substr(0, 10));
  };
  return {{"from", day(period.from)}, {"to", day(period.to)}};
}

/// What a ledger over a spine knows beside its statement.
Json ledger_section(const Books& books) {
  const LedgerOfSpine& spine = *books.spine;
  const FoldedFacts& f = books.facts;
  Json balances = Json::array();
  for (const Leg& leg : spine.ledger.balances().all())
    balances.push_back({{"account", name_of(leg.account.kind)},
                        {"owner", spine.ledger.owner(leg.account)},
                        {"usd", to_decimal(leg.amount)}});
  return {{"log", spine.log.origin},
          {"records", spine.ledger.next()},
          {"grade", name_of(books.grade)},
          {"snapshot", books.snapshot ? Json(*books.snapshot) : Json(nullptr)},
          {"period", period_json(books.period)},
          {"requests_pending", spine.ledger.pending()},
          {"requests_estimated", f.estimated},
          {"estimated_usd", to_decimal(f.estimated_cost)},
          {"corrections", f.corrected},
          {"corrections_of_closed_cells", f.corrected_closed},
          {"corrections_of_closed_cells_usd", to_decimal(f.corrected_closed_cost)},
          {"cells_closed", spine.ledger.closed_cells()},
          {"requests_without_admission", spine.ledger.strays()},
          {"requests_unpriced", f.passed},
          {"gaps", spine.ledger.gaps().size()},
          {"gpu_bookings_refused", f.bookings_refused},
          {"fixed_costs_refused", f.fixed_refused},
          {"fixed_cost_due_s", to_seconds(books.fixed_due)},
          {"fixed_cost_missing_s", to_seconds(books.fixed_missing)},
          {"fully_loaded", books.fully_loaded},
          {"records_acknowledged_early", spine.ledger.acknowledged_early()},
          {"logged_costs", logged_section(books.folded.statement, books.fleet)},
          {"balances", balances}};
}

}  // namespace

std::string ledger_report(const Books& books, const std::string& directory) {
  ReportInput input;
  const Snapshot names(books.fleet);  // for reading only
  input.fleet = &names;
  input.analysis = &books.folded;
  std::filesystem::path path = std::filesystem::path(directory).lexically_normal();
  if (path.filename().empty()) path = path.parent_path();
  input.trace_name = path.filename().string();
  const std::size_t fleets = books.spine->ledger.fleets();
  input.fleet_name = fleets == 1 ? "the fleet recorded with it" : fmt::format("{} fleets recorded with it", fleets);
  input.options.settlement = books.settlement;
  input.options.idle = books.idle;
  input.options.sensitivity = SensitivityMode::off;
  Json whole = Json::parse(to_json(input));
  whole["ledger"] = ledger_section(books);
  return whole.dump(1, ' ', true) + "\n";
}

Result<LedgerReportCheck> check_ledger_report(const std::string& directory, const std::string& archive,
                                              const std::string& file, Context& context) {
  const Result<std::string> text = read_file(file);
  if (!text) return Error(text.error()).with("loading the report");
  BooksArguments arguments;
  arguments.spine = directory;
  arguments.archive = archive;
  arguments.use_view = false;
  Json claimed;
  try {
    claimed = Json::parse(*text);
    arguments.grade = claimed.at("ledger").at("grade");
    if (const Json& snapshot = claimed.at("ledger").at("snapshot"); !snapshot.is_null())
      arguments.snapshot = snapshot.get<std::uint64_t>();
    if (const Json& period = claimed.at("ledger").at("period"); !period.is_null())
      for (const auto& [key, day] : {std::pair{"from", &arguments.from}, std::pair{"to", &arguments.to}})
        if (const Json& said = period.at(key); !said.is_null()) *day = said.get<std::string>();
    arguments.before = claimed.at("ledger").at("records");
    arguments.replay.settlement = claimed.at("source").at("settlement");
    arguments.replay.idle = claimed.at("source").at("idle");
  } catch (const Json::exception&) {
    return Error(Errc::bad_input,
                 file + " is no report of a ledger; make one with ace ledger report " + directory + " --json");
  }
  const Result<Books> books = books_of(arguments, context);
  if (!books) return Error(books.error());
  LedgerReportCheck check;
  check.records = *arguments.before;
  Json again = Json::parse(ledger_report(*books, directory));
  again["source"]["trace"] = claimed["source"]["trace"];  // what somebody called the directory
  check.differences = compare_reports(claimed.dump(), again.dump());
  return check;
}

}  // namespace ace::cli
