#include <fmt/core.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <ostream>

#include "cli/cli.h"
#include "cli/files.h"
#include "cli/progress.h"
#include "cli/record.h"
#include "cli/replay_arguments.h"
#include "cli/spine.h"
#include "ledger/ledger.h"
#include "report/report.h"

namespace ace::cli {
namespace {

struct Arguments {
  ReplayArguments replay;
  bool json = false;
  std::string html, requests, record, checkpoint;
  bool record_full = false;
};

/// Streams one CSV row per settled request. The gate of a cell is known only at the end, so it is a column of the
/// second pass.
class RequestsFile {
 public:
  RequestsFile(const std::string& path, const Snapshot& fleet)
      : file_(path, std::ios::binary | std::ios::trunc), fleet_(&fleet) {}
  [[nodiscard]] bool good() const { return file_.good(); }
  void header() {
    append_csv_header(buffer_);
    flush(true);
  }
  void row(const Settled& settled, Reason gate, Usd other, const RowNames& names) {
    append_csv(buffer_, row_of(*fleet_, settled, gate, other), names);
    flush(false);
  }
  void flush(bool now) {
    if (!now && buffer_.size() < (1U << 20)) return;
    file_.write(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
    buffer_.clear();
  }

 private:
  std::ofstream file_;
  const Snapshot* fleet_;
  std::string buffer_;
};

Result<void> write_requests(const std::string& path, const Prepared& prepared, const Analysis& analysis) {
  RequestsFile file(path, prepared.snapshot);
  if (!file.good()) return Error(Errc::unavailable, "cannot write " + path);
  file.header();
  const RowNames names{&prepared.snapshot.fleet(), &analysis.tenants, &analysis.teams};
  AnalyzeOptions options = prepared.options;
  options.bound = false;
  options.sensitivity = SensitivityMode::off;
  options.each = {};
  options.beside = [&](const Settled& settled, Usd other) {
    // The rows add up to the report, so they start from the baseline that it decomposes.
    const Settled s = options.baseline == BaselineKind::all_payg_uncached ? against_uncached(settled) : settled;
    file.row(s, analysis.statement.gate_of(hour_of(s.admitted.at), s.admitted.tenant, s.admitted.requested), other,
             names);
  };
  if (Result<void> again = prepared.source->rewind(); !again)
    return std::move(again).error().with("reading the trace again for --requests");
  const Result<Analysis> second = analyze(prepared.snapshot, *prepared.source, options);
  if (!second) return Error(second.error());
  file.flush(true);
  if (!file.good()) return Error(Errc::unavailable, "cannot write " + path + ": is the disk full?");
  return {};
}

/// "Read-only": nothing that the report is made from is written over.
Result<void> spare_inputs(const Arguments& arguments, const Prepared& p) {
  const ReplayArguments& a = arguments.replay;
  std::vector<std::string> inputs = {a.trace, a.fleet, a.prices, a.model_map, a.gaps, a.format.salt_file};
  const std::filesystem::path folder = std::filesystem::path(a.fleet).parent_path();
  for (const FleetText& file : p.files)
    if (file.role == event::FleetChanged::File::Role::series) inputs.push_back((folder / file.name).string());
  if (Result<void> fine = apart("--requests", arguments.requests, inputs); !fine) return fine;
  inputs.push_back(arguments.requests);
  if (!arguments.html.empty() && arguments.html == arguments.requests)
    return Error(Errc::bad_input, "--html and --requests name the same file");
  return apart("--html", arguments.html, inputs);
}

Result<void> run_analyze(Arguments& arguments, Context& context) {
  arguments.replay.read_again = !arguments.requests.empty();
  Result<std::unique_ptr<Prepared>> prepared = prepare(arguments.replay, context);
  if (!prepared) return std::move(prepared).error();
  Prepared& p = **prepared;
  if (Result<void> spared = spare_inputs(arguments, p); !spared) return spared;
  std::unique_ptr<OpenRecording> recording;
  if (!arguments.checkpoint.empty() && arguments.record.empty())
    return Error(Errc::bad_input, "--checkpoint is of the spine that --record DIR writes to; give both");
  if (arguments.record_full && arguments.record.empty())
    return Error(Errc::bad_input, "--record-full says how much --record DIR writes; give both");
  if (!arguments.record.empty()) {
    if (arguments.record_full) p.options.record_columns = std::numeric_limits<std::size_t>::max();
    if (p.files.empty()) return Error(Errc::bad_input, "--record keeps the files of the fleet, so it needs --fleet");
    Result<std::unique_ptr<OpenRecording>> open =
        OpenRecording::open(arguments.record, p.files, p.fleet, p.snapshot, event::FleetChanged::Source::simulated,
                            arguments.checkpoint, context);
    if (!open) return std::move(open).error().with("--record");
    recording = *std::move(open);
    (**recording)
        .names({p.source->tenants(), p.source->teams(), p.source->projects(), p.source->keys()}, p.stable_masks);
    p.options.record = [&](event::Record record) { return (**recording)(std::move(record)); };
  }
  Result<Analysis> analysis = [&] {
    Progress progress(context, "replaying");
    p.options.progress = std::ref(progress);
    Result<Analysis> made = analyze(p.snapshot, *p.source, p.options);
    p.options.progress = {};
    return made;
  }();
  if (!analysis) return std::move(analysis).error();
  if (p.options.record)  // what reads the trace again decides as that run did, and writes nothing
    p.options.record = [](const event::Record&) { return Result<void>(); };
  if (recording)
    if (Result<Recording::Counts> closed = recording->close(context); !closed)
      return std::move(closed).error().with("--record");
  if (p.realised && p.realised->snapshots().size() > 1)
    *context.err << fmt::format(
        "ace: note: requests of {} fleet snapshots of this spine were replayed together; --snapshot N takes those of "
        "one\n",
        p.realised->snapshots().size());
  if (analysis->rows == 0) *context.err << "ace: warning: 0 rows\n";
  if (!arguments.requests.empty())
    if (Result<void> written = write_requests(arguments.requests, p, *analysis); !written) return written;

  p.predicted.add_fixed(analysis->statement.fixed);
  const std::optional<Comparison> comparison = p.comparison();
  const std::string json = to_json(
      {&p.snapshot, &*analysis, p.trace_name, p.fleet_name, p.options, comparison ? &*comparison : nullptr, p.read});
  *context.out << (arguments.json ? json : to_terminal(json));
  if (!arguments.html.empty()) {
    if (Result<void> written = write_file(arguments.html, to_html(json)); !written) return written;
    *context.err << "wrote " << arguments.html << "\n";
  }
  return {};
}

}  // namespace

void add_analyze(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "analyze", "What could be saved on this trace with this fleet, lever by lever, and is every dollar checkable?");
  auto arguments = std::make_shared<Arguments>();
  add_replay_arguments(*command, arguments->replay);
  command->add_flag("--json", arguments->json, "print the report as one JSON object");
  command->add_option("--html", arguments->html, "also write a self-contained HTML report")->type_name("FILE");
  command
      ->add_option("--requests", arguments->requests,
                   "also write one CSV row per request, so that anyone can add the report up again")
      ->type_name("FILE");
  command->add_option("--archive", arguments->replay.archive, std::string("of a spine: ") + kArchiveHelp)
      ->type_name("DIR");
  command
      ->add_option(
          "--record", arguments->record,
          "also write every event of the run onto the event spine in this directory (docs/SPINE.md), where each "
          "decision can be made again from its record")
      ->type_name("DIR");
  command->add_option("--checkpoint", arguments->checkpoint, std::string("with --record: ") + kNotOlderHelp)
      ->type_name("FILE");
  command->add_flag(
      "--record-full", arguments->record_full,
      "with --record: every feasible candidate of a decision, not the first 32 and a digest of the others");
  command->callback([arguments, &context] {
    if (Result<void> done = run_analyze(*arguments, context); !done) context.fail(done.error());
  });
}

}  // namespace ace::cli
