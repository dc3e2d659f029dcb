#include <fmt/core.h>

#include <memory>
#include <ostream>

#include "cli/cli.h"
#include "cli/explain_spine.h"
#include "cli/explain_text.h"
#include "cli/replay_arguments.h"
#include "cli/spine.h"
#include "core/ids.h"
#include "ledger/ledger.h"

namespace ace::cli {
namespace {

struct Arguments {
  ReplayArguments replay;
  std::int64_t row = 0;
  std::string id, spine, archive;
};

/// What was seen of the watched request while the trace was replayed.
struct Witnessed {
  std::vector<Moment> moments;
  std::optional<Settled> settled;
};

Result<void> run_explain(Arguments& arguments, Context& context) {
  if (!arguments.spine.empty()) {
    if (!arguments.id.empty() || arguments.row != 0)
      return Error(Errc::bad_input, "with --spine the id stands alone: ace explain ID --spine DIR");
    return explain_spine(arguments.replay.trace, {arguments.spine, arguments.archive}, context);
  }
  if (arguments.replay.fleet.empty())
    return Error(Errc::bad_input, "a request of a trace is replayed: give --fleet; one of a spine needs --spine alone");
  arguments.replay.read_again = !arguments.id.empty();
  Result<std::unique_ptr<Prepared>> prepared = prepare(arguments.replay, context);
  if (!prepared) return std::move(prepared).error();
  Prepared& p = **prepared;
  std::optional<RequestId> wanted;
  if (!arguments.id.empty()) {
    Result<RequestId> id = request_id_from(arguments.id);
    if (!id) return std::move(id).error();
    wanted = *id;
  }
  if (!wanted && arguments.row <= 0)
    return Error(Errc::bad_input, "which request? give --row N (data row of the trace) or --id req_...");
  Witnessed seen;
  Scratch scratch(p.snapshot);
  p.options.sensitivity = SensitivityMode::off;
  p.options.bound = false;
  p.options.each = [&](const Settled& s) {
    if (wanted ? s.admitted.id == *wanted : s.admitted.row == arguments.row)
      seen.settled = p.options.baseline == BaselineKind::all_payg_uncached ? against_uncached(s) : s;
  };
  if (wanted) {  // ids are drawn as requests arrive: the first pass finds the row
    Result<Analysis> first = analyze(p.snapshot, *p.source, p.options);
    if (!first) return std::move(first).error();
    if (!seen.settled)
      return Error(Errc::not_found,
                   arguments.id + " is no request of this replay; trace, fleet and seed must be those of the report");
    if (Result<void> again = p.source->rewind(); !again) return again;
  }
  p.options.witness.row = wanted ? seen.settled->admitted.row : arguments.row;
  p.options.witness.decided = [&](const Request& request, Live& live, Instant now) {
    seen.moments.push_back({now, request, explain(p.snapshot, live, request, now, scratch)});
  };
  Result<Analysis> analysis = analyze(p.snapshot, *p.source, p.options);
  if (!analysis) return std::move(analysis).error();
  if (!seen.settled)
    return Error(Errc::not_found,
                 fmt::format("row {} was not replayed; the trace has {} rows", p.options.witness.row, analysis->rows));
  for (const Moment& moment : seen.moments) print_decision(p.snapshot, moment, *context.out);
  print_settlement(p.snapshot, *seen.settled, *context.out);
  const Settled& s = *seen.settled;
  const Reason gate = analysis->statement.gate_of(hour_of(s.admitted.at), s.admitted.tenant, s.admitted.requested);
  print_gate(gate, *context.out);
  return {};
}

}  // namespace

void add_explain(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("explain", "One request again: every candidate, every term, every exclusion, C0 to C4");
  auto arguments = std::make_shared<Arguments>();
  add_replay_arguments(*command, arguments->replay);
  command->get_option("trace")->description(
      "request log: a file (plain, .gz, .zst) or - for standard input; with --spine an id: req_..., act_..., plan_...");
  command->get_option("trace")->type_name("TRACE|ID");
  command->get_option("--fleet")->required(false);              // a spine holds its own
  for (const char* const replayed : {"--spine", "--snapshot"})  // here a spine is read, not replayed
    command->remove_option(command->get_option(replayed));
  command->add_option("--spine", arguments->spine, "explain from the records of this spine alone")->type_name("DIR");
  command->add_option("--archive", arguments->archive, kArchiveHelp)->type_name("DIR");
  command->add_option("--row", arguments->row, "data row of the trace, from 1");
  command->add_option("--id", arguments->id, "request id as --requests prints it")->type_name("req_...");
  command->callback([arguments, &context] {
    if (Result<void> done = run_explain(*arguments, context); !done) context.fail(done.error());
  });
}

}  // namespace ace::cli
