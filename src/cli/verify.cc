#include <fmt/core.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>

#include "cli/cli.h"
#include "cli/files.h"
#include "cli/replay_arguments.h"
#include "report/report.h"

namespace ace::cli {
namespace {

struct Arguments {
  ReplayArguments replay;
  std::string report;
};

Result<void> run_verify(Arguments& arguments, Context& context) {
  Result<std::string> expected = read_file(arguments.report);
  if (!expected) return std::move(expected).error().with("loading the report");
  const nlohmann::json claimed = nlohmann::json::parse(*expected, nullptr, false);
  if (claimed.is_discarded() || !claimed.is_object())
    return Error(Errc::bad_input, arguments.report + " is not a JSON report; make one with ace analyze --json");
  if (claimed.value("schema", "") != "ace.report/1")
    return Error(Errc::bad_input, arguments.report + ": schema is \"" + claimed.value("schema", "") +
                                      "\", this version verifies ace.report/1");
  // How it was made is part of the report; what it says it was made from is checked by making it again.
  const nlohmann::json& made = claimed["source"];
  arguments.replay.seed = made.value("seed", std::uint64_t{1});
  arguments.replay.bound = !claimed["bounds"].is_null();
  arguments.replay.sensitivity = made.value("sensitivity", "off");
  arguments.replay.baseline = claimed["headline"].value("baseline", "all-payg");
  arguments.replay.settlement = made.value("settlement", "pooled");
  arguments.replay.idle = made.value("idle", "by-usage");
  Result<std::unique_ptr<Prepared>> prepared = prepare(arguments.replay, context);
  if (!prepared) return std::move(prepared).error();
  Prepared& p = **prepared;
  Result<Analysis> analysis = analyze(p.snapshot, *p.source, p.options);
  if (!analysis) return std::move(analysis).error();
  const std::string again = to_json({&p.snapshot, &*analysis, p.trace_name, p.fleet_name, p.options});
  const std::vector<std::string> differences = compare_reports(*expected, again);
  if (differences.empty()) {
    *context.out << fmt::format("verified: {} requests replayed, every field of {} is equal\n",
                                analysis->statement.requests, arguments.report);
    return {};
  }
  std::string what = arguments.report + " does not follow from this trace and fleet:";
  for (const std::string& difference : differences) what += "\n  " + difference;
  return Error(Errc::check_failed, what);
}

}  // namespace

void add_verify(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "verify", "Recompute a report from its trace and fleet; it must come out equal, field by field");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("report", arguments->report, "report as ace analyze --json printed it")->required();
  command->add_option("--trace", arguments->replay.trace, "the request log it was made from")->required();
  add_reading_arguments(*command, arguments->replay);
  command->callback([arguments, &context] {
    if (Result<void> done = run_verify(*arguments, context); !done) context.fail(done.error());
  });
}

}  // namespace ace::cli
