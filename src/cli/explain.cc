#include <fmt/core.h>

#include <memory>
#include <ostream>

#include "cli/cli.h"
#include "cli/replay_arguments.h"
#include "core/ids.h"
#include "ledger/ledger.h"

namespace ace::cli {
namespace {

struct Arguments {
  ReplayArguments replay;
  std::int64_t row = 0;
  std::string id;
};

/// What was seen of the watched request while the trace was replayed.
struct Witnessed {
  struct Moment {
    Instant at{};
    Request request;
    std::vector<Candidate> candidates;
  };
  std::vector<Moment> moments;  ///< one per decision: spills and waits decide again
  std::optional<Settled> settled;
};

std::string dollars(std::int64_t nano) { return fmt::format("{:.9f}", static_cast<double>(nano) * 1e-9); }

void print_decision(const Snapshot& fleet, const Witnessed::Moment& moment, std::ostream& out) {
  const Fleet& f = fleet.fleet();
  out << fmt::format("\ndecided at {}, {} prompt tokens, output predicted {:.0f} (p90 {:.0f}), waited {:.3f} s\n",
                     to_rfc3339(moment.at), moment.request.prompt.value, moment.request.predicted.output_mean,
                     moment.request.predicted.output_p90, to_seconds(moment.request.waited));
  out << fmt::format("  {:<24}{:<20}{:>13}{:>13}{:>13}{:>13}{:>13}{:>13}{:>8}\n", "destination", "model", "price",
                     "warmth", "congestion", "scarcity", "risk", "effective", "rho");
  for (const Candidate& c : moment.candidates) {
    const Offer& offer = fleet[c.offer];
    const std::string& name = f.destinations[offer.destination.value].name;
    const std::string& model = f.models[offer.model.value].name;
    if (c.exclusion != Exclusion::none) {
      out << fmt::format("  {:<24}{:<20}  out: {}\n", name, model, name_of(c.exclusion));
      continue;
    }
    const Terms& t = c.terms;
    out << fmt::format("  {:<24}{:<20}{:>13}{:>13}{:>13}{:>13}{:>13}{:>13}{:>8.4f}{}\n", name, model, dollars(t.price),
                       dollars(t.warmth), dollars(t.congestion), dollars(t.scarcity), dollars(t.risk),
                       dollars(t.effective()), t.rho, t.bias != 0 ? fmt::format("  bias {}", dollars(t.bias)) : "");
  }
}

void print_settlement(const Snapshot& fleet, const Settled& s, std::ostream& out) {
  const Fleet& f = fleet.fleet();
  const event::Completed& c = s.completed;
  out << fmt::format("\n{}  row {}  {}  {}\n", to_string(s.admitted.id), s.admitted.row, to_rfc3339(s.admitted.at),
                     event::name_of(c.outcome));
  if (c.offer.valid())
    out << fmt::format("served by {} as {} in {} attempt(s): TTFT {:.3f} s, TPOT {:.1f} ms, SLO {}\n",
                       f.destinations[fleet[c.offer].destination.value].name, f.models[s.used.value].name, s.attempts,
                       to_seconds(c.ttft), to_seconds(c.tpot) * 1e3, c.slo_met ? "met" : "missed");
  else if (c.outcome == event::Outcome::cache_hit)
    out << "answered from the response cache of the gateway that wrote the log: no model ran\n";
  else
    out << fmt::format("not served: {}\n", name_of(c.verdict));
  if (s.native_spill)
    out << fmt::format("its provider sent it on: billed by {}\n",
                       f.destinations[fleet[s.billed_offer()].destination.value].name);
  for (std::size_t u = 0; u < kUnits; ++u)
    if (const std::int64_t n = c.usage[static_cast<Unit>(u)]; n != 0)
      out << fmt::format("  {:<16}{:>12}\n", name_of(static_cast<Unit>(u)), n);
  static constexpr const char* kNames[] = {"C0 baseline", "C1 after caching", "C2 after routing", "C3 after arbitrage",
                                           "C4 actual"};
  for (std::size_t i = 0; i < 5; ++i) {
    out << fmt::format("  {:<20}{:>16}", kNames[i], to_decimal(s.chain.c[i]));
    if (i > 0)
      out << fmt::format("   {:<12}{:>16}", name_of(static_cast<Lever>(i - 1)), to_decimal(s.chain.lever[i - 1]));
    out << "\n";
  }
  if (s.chain.unattributed != Usd{})
    out << fmt::format("  {:<20}{:>16}\n", "unattributed", to_decimal(s.chain.unattributed));
  if (s.excluded != Reason::none) out << fmt::format("  outside the headline: {}\n", name_of(s.excluded));
  out << fmt::format("  grade {}{}\n", name_of(s.grade), s.baseline_assumed ? ", default price not contracted" : "");
}

Result<void> run_explain(Arguments& arguments, Context& context) {
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
  for (const Witnessed::Moment& moment : seen.moments) print_decision(p.snapshot, moment, *context.out);
  print_settlement(p.snapshot, *seen.settled, *context.out);
  const Settled& s = *seen.settled;
  const Reason gate = analysis->statement.gate_of(hour_of(s.admitted.at), s.admitted.tenant, s.admitted.requested);
  *context.out << fmt::format("  cell {}\n",
                              gate == Reason::none ? "passed its gates" : fmt::format("failed: {}", name_of(gate)));
  return {};
}

}  // namespace

void add_explain(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("explain", "One request again: every candidate, every term, every exclusion, C0 to C4");
  auto arguments = std::make_shared<Arguments>();
  add_replay_arguments(*command, arguments->replay);
  command->add_option("--row", arguments->row, "data row of the trace, from 1");
  command->add_option("--id", arguments->id, "request id as --requests prints it")->type_name("req_...");
  command->callback([arguments, &context] {
    if (Result<void> done = run_explain(*arguments, context); !done) context.fail(done.error());
  });
}

}  // namespace ace::cli
