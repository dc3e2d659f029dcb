#include <fmt/core.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>

#include "cli/cli.h"
#include "cli/files.h"
#include "cli/replay_arguments.h"
#include "cli/verify_log.h"
#include "cli/verify_proof.h"
#include "report/report.h"

namespace ace::cli {
namespace {

struct Arguments {
  ReplayArguments replay;
  std::string report;  ///< or the directory of a spine
  LogArguments log;
  std::string proof;   ///< instead of either
  bool salted = true;  ///< the report's names come out the same in every run
};

/// How it was made is part of the report; what it says it was made from is checked by making it again.
Result<void> read_how(const std::string& report, Arguments& arguments) {
  try {
    const nlohmann::json claimed = nlohmann::json::parse(report);
    const std::string schema = claimed.at("schema");
    if (schema != "ace.report/1")
      return Error(Errc::bad_input,
                   arguments.report + ": schema is \"" + schema + "\", this version verifies ace.report/1");
    const nlohmann::json& made = claimed.at("source");
    ReplayArguments& replay = arguments.replay;
    replay.seed = made.at("seed");
    replay.recorded = made.at("recorded");
    if (!made.at("plant_slowdown").is_null()) replay.plant_slowdown = made.at("plant_slowdown").get<double>();
    replay.bound = !claimed.at("bounds").is_null();
    replay.sensitivity = made.at("sensitivity");
    replay.baseline = claimed.at("headline").at("baseline");
    replay.settlement = made.at("settlement");
    replay.idle = made.at("idle");
    const nlohmann::json& choices = made.at("choices");
    replay.model = choices.at("model");
    replay.model_pairs = choices.at("model_map").get<std::vector<std::pair<std::string, std::string>>>();
    replay.held = choices.at("held");
    const auto time = [&](const char* key) {
      return choices.at(key).is_null() ? std::string() : choices.at(key).get<std::string>();
    };
    replay.window = time("window_from") + "," + time("window_to");
    FormatArguments& format = replay.format;
    format.format = choices.at("format");
    format.columns = choices.at("columns");
    format.tz = choices.at("tz");
    format.delimiter = choices.at("delimiter");
    format.sort = choices.at("sort");
    format.on_bad_row = choices.at("on_bad_row");
    const std::string gaps = choices.at("gaps_digest");
    if (gaps.empty() != replay.gaps.empty())
      return Error(Errc::bad_input, arguments.report + (gaps.empty() ? " was made without --gaps; leave it out"
                                                                     : " was made with --gaps; give the same file"));
    arguments.salted = choices.at("salted");
    if (arguments.salted && format.salt_file.empty() && !is_spine(replay.trace))
      return Error(Errc::bad_input, arguments.report + " was made with --salt-file; give the same file");
    return {};
  } catch (const nlohmann::json::exception&) {
    return Error(Errc::bad_input, arguments.report + " is not a report; make one with ace analyze --json");
  }
}

Result<void> run_verify(Arguments& arguments, Context& context) {
  Result<std::string> expected = read_file(arguments.report);
  if (!expected) return std::move(expected).error().with("loading the report");
  if (arguments.replay.trace.empty() || arguments.replay.fleet.empty())
    return Error(Errc::bad_input, "a report is verified against what it was made from: give --trace and --fleet");
  if (Result<void> read = read_how(*expected, arguments); !read) return read;
  Result<std::unique_ptr<Prepared>> prepared = prepare(arguments.replay, context);
  if (!prepared) return std::move(prepared).error();
  Prepared& p = **prepared;
  Result<Analysis> analysis = analyze(p.snapshot, *p.source, p.options);
  if (!analysis) return std::move(analysis).error();
  p.predicted.add_fixed(analysis->statement.fixed);
  const std::optional<Comparison> comparison = p.comparison();
  const std::string again = to_json(
      {&p.snapshot, &*analysis, p.trace_name, p.fleet_name, p.options, comparison ? &*comparison : nullptr, p.read});
  const std::vector<std::string> differences = compare_reports(*expected, again);
  if (differences.empty()) {
    *context.out << fmt::format("verified: {} requests replayed, every field of {} is equal\n",
                                analysis->statement.requests, arguments.report);
    return {};
  }
  std::string what = arguments.report + " does not follow from this trace and fleet:";
  for (const std::string& difference : differences) what += "\n  " + difference;
  if (!arguments.salted)
    what +=
        "\n  (it was made without --salt-file: names that the fleet does not declare have another mask in each run, "
        "so a report with such names can be verified only if it was made with one)";
  return Error(Errc::check_failed, what);
}

Result<void> verify_any(Arguments& arguments, Context& context) {
  if (arguments.report.empty() == arguments.proof.empty())
    return Error(Errc::bad_input, "verify what? a report, the directory of a spine, or --proof FILE");
  if (!arguments.proof.empty()) return verify_proof(arguments.proof, arguments.log, context);
  std::error_code none;
  if (std::filesystem::is_directory(arguments.report, none))
    return verify_log(arguments.report, arguments.log, context);
  if (!arguments.log.report.empty())
    return Error(Errc::bad_input, "--report is for a spine: ace verify DIR --report FILE");
  if (arguments.log.json) return Error(Errc::bad_input, "--json is for a spine or a proof");
  return run_verify(arguments, context);
}

}  // namespace

void add_verify(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("verify",
                         "Recompute a report from its trace and fleet; it must come out equal, field by "
                         "field. Or a spine: its bytes, every decision, every dollar. Or a proof about one");
  auto arguments = std::make_shared<Arguments>();
  command
      ->add_option("report", arguments->report,
                   "report as ace analyze --json printed it, or the directory of a spine (docs/SPINE.md)")
      ->type_name("REPORT|DIR");
  command->add_option("--trace", arguments->replay.trace, "the request log that the report was made from");
  add_reading_arguments(*command, arguments->replay);
  command->get_option("--fleet")->required(false);  // a spine needs none
  command->add_option("--key", arguments->log.key, "of a spine: public key that must have signed every checkpoint")
      ->type_name("HEX");
  command
      ->add_option("--checkpoint", arguments->log.checkpoints,
                   "of a spine: a checkpoint kept elsewhere, which it must continue; needs --key")
      ->allow_extra_args(false)
      ->type_name("FILE");
  command
      ->add_option("--archive", arguments->log.archive,
                   "of a spine: directory to which ace spine archive copied segments that were pruned since")
      ->type_name("DIR");
  command
      ->add_option(
          "--proof", arguments->proof,
          "a proof as ace spine prove made it; needs --key, and --checkpoint if it is about an older checkpoint")
      ->type_name("FILE");
  command
      ->add_option(
          "--report", arguments->log.report,
          "of a spine: a report that ace ledger report --json printed, every amount of which must follow from it")
      ->type_name("FILE");
  command->add_flag("--json", arguments->log.json, "of a spine or a proof: one JSON object");
  command->callback([arguments, &context] {
    if (Result<void> done = verify_any(*arguments, context); !done) context.fail(done.error());
  });
}

}  // namespace ace::cli
