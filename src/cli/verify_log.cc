#include "cli/verify_log.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>

#include "adapters/fleet_files.h"
#include "adapters/ledger_view.h"
#include "cli/derive_aside.h"
#include "cli/files.h"
#include "cli/ledger_report.h"
#include "cli/spine.h"

namespace ace::cli {
namespace {

Result<verify::Pins> pins_of(const LogArguments& arguments) {
  verify::Pins pins;
  if (!arguments.key.empty()) {
    const Result<verify::PublicKey> key = public_key_from(arguments.key);
    if (!key) return Error(key.error());
    pins.key = *key;
  }
  if (!arguments.checkpoints.empty() && !pins.key)
    return Error(Errc::bad_input, "--checkpoint proves nothing without the key that signed it: give --key");
  for (const std::string& path : arguments.checkpoints) {
    Result<std::string> note = read_file(path);
    if (!note) return std::move(note).error().with("loading a checkpoint");
    pins.held.push_back({path, *std::move(note)});
  }
  return pins;
}

/// Fleets compiled again from the files beside the segments.
class SpineFleets : public verify::Fleets {
 public:
  explicit SpineFleets(const std::string& directory) : snapshots_(directory) {}
  void hear(const event::Record& record) override { snapshots_.hear(record); }
  Result<const Snapshot*> at(std::uint64_t number) override { return snapshots_.at(number); }

 private:
  Snapshots snapshots_;
};

}  // namespace

Result<void> refused(const verify::Difference& difference, const std::string& where, bool json, Context& context) {
  if (json)
    *context.out << nlohmann::ordered_json({{"verified", false},
                                            {"file", difference.file},
                                            {"offset_bytes", difference.offset},
                                            {"expected", difference.expected},
                                            {"got", difference.got}})
                        .dump()
                 << "\n";
  if (difference.newer)
    return Error(Errc::bad_input, where + to_text(difference) +
                                      "; it is sound and was written by a newer version: verify it with that one");
  return Error(Errc::check_failed, where + to_text(difference));
}

Result<void> verify_log(const std::string& directory, const LogArguments& arguments, Context& context) {
  Result<verify::Pins> pins = pins_of(arguments);
  if (!pins) return Error(pins.error());
  Result<LogView> log = LogView::open(directory, arguments.archive);
  if (!log) return Error(log.error());
  if (!arguments.archive.empty()) {
    Result<std::string> pruned = spine::read_whole(log->itself(), "pruned");
    if (pruned)
      pins->archived = *std::move(pruned);
    else if (pruned.error().code() != Errc::not_found)
      return Error(pruned.error());
  }
  const Result<std::string> pruned = spine::read_whole(log->disk(), "pruned");
  const bool whole = !pruned && pruned.error().code() == Errc::not_found;
  SpineFleets fleets(directory);
  Result<LogView> to_look_up = LogView::open(directory, arguments.archive);
  if (!to_look_up) return Error(to_look_up.error());
  SpineEvents events(*std::move(to_look_up));
  verify::Derivation derivation(fleets, std::ref(events), [&](Instant from, Instant to, std::uint64_t before) {
    return events.decided_in(from, to, before);
  });
  std::optional<DeriveAside> aside;
  if (whole) aside.emplace(derivation);
  Result<verify::Finding> found = verify::check_log(
      [&] { return log->disk().list(); }, [&](const std::string& name) { return spine::read_whole(log->disk(), name); },
      *pins, whole ? std::ref(*aside) : verify::HearEvent());
  // Every event that was handed over lies before a difference of the bytes.
  const Result<std::optional<verify::Difference>> derived =
      whole ? aside->finish() : Result<std::optional<verify::Difference>>(std::optional<verify::Difference>());
  if (!found || !derived) {  // what is not what was recorded is the answer, not bad input
    const Error& error = found ? derived.error() : found.error();
    return Error(error.code() == Errc::corrupt ? Errc::check_failed : error.code(), error.what())
        .with("verifying " + directory);
  }
  if (*derived) found->difference = **derived;
  if (found->difference) return refused(*found->difference, directory + ": ", arguments.json, context);
  ViewCheck view;
  if (whole) {
    const Result<ViewCheck> checked = check_view(directory, arguments.archive);
    if (!checked) return Error(checked.error()).with("verifying " + directory);
    view = *checked;
    if (!view.equal)
      return refused({kLedgerView, 0, fmt::format("what the first {} records come to", view.records),
                      "other books; remove the file, and the next ledger is folded from the records"},
                     directory + ": ", arguments.json, context);
  }
  std::optional<LedgerReportCheck> report;
  if (!arguments.report.empty()) {
    Result<LedgerReportCheck> checked = check_ledger_report(directory, arguments.archive, arguments.report, context);
    if (!checked) return std::move(checked).error();
    report = *std::move(checked);
  }
  if (report && !report->differences.empty()) {
    if (arguments.json)
      *context.out << nlohmann::ordered_json(
                          {{"verified", false}, {"report", arguments.report}, {"differences", report->differences}})
                          .dump()
                   << "\n";
    std::string what = arguments.report + " does not follow from " + directory + ":";
    for (const std::string& difference : report->differences) what += "\n  " + difference;
    return Error(Errc::check_failed, what);
  }
  const verify::Summary& s = found->summary;
  const Result<verify::Derived> booked = derivation.derived();
  if (!booked) return Error(booked.error()).with("verifying " + directory);
  const verify::Derived& d = *booked;
  if (arguments.json) {
    nlohmann::ordered_json out = {{"verified", true},
                                  {"log", s.origin},
                                  {"records_first", s.first},
                                  {"records_next", s.next},
                                  {"segments", s.segments},
                                  {"segments_pruned", s.pruned_segments},
                                  {"bytes", s.bytes},
                                  {"events", s.events},
                                  {"conflicts", s.conflicts},
                                  {"checkpoints", s.checkpoints},
                                  {"checkpoints_outside", pins->held.size()},
                                  {"signatures", s.signatures},
                                  {"signatures_checked", pins->key.has_value()},
                                  {"root", verify::hex(verify::view(s.root))},
                                  {"chain", verify::hex(verify::view(s.chain))},
                                  {"decisions", nullptr},
                                  {"unfinished", nullptr}};
    if (whole)
      out["decisions"] = {{"derived", d.decisions},
                          {"requests", d.requests},
                          {"requests_undecided", d.undecided},
                          {"requests_open", d.open},
                          {"cells_closed", d.cells},
                          {"requests_unpriced", d.passed},
                          {"corrections", d.corrected},
                          {"baseline_usd", to_decimal(d.baseline)},
                          {"actual_marginal_usd", to_decimal(d.actual)},
                          {"fixed_usd", to_decimal(d.fixed)},
                          {"fixed_costs_derived", d.fixed_costs},
                          {"events_unknown", d.unknown}};
    if (whole) out["ledger_view_records"] = view.records;
    if (report) out["report"] = {{"file", arguments.report}, {"records", report->records}, {"equal", true}};
    if (found->unfinished) out["unfinished"] = to_text(*found->unfinished);
    *context.out << out.dump() << "\n";
    return {};
  }
  *context.out << fmt::format("verified: {} records of {} from {} on, in {} segments and {} bytes\n", s.next - s.first,
                              s.origin, s.first, s.segments, s.bytes);
  *context.out << fmt::format(
      "checkpoints  {} in the log, {} outside; {}\n", s.checkpoints, pins->held.size(),
      pins->key ? fmt::format("{} signatures hold", s.signatures) : "signatures not checked (no --key)");
  *context.out << fmt::format("root         {}\nchain        {}\n", verify::hex(verify::view(s.root)),
                              verify::hex(verify::view(s.chain)));
  if (!whole)
    *context.out << fmt::format("decisions    not derived: records before {} were pruned; give their --archive\n",
                                s.first);
  else
    *context.out << fmt::format(
        "decisions    {} made again from their records and equal, {} requests ended as decided{}{}\n", d.decisions,
        d.requests - d.undecided, d.open == 0 ? "" : fmt::format(", {} open", d.open),
        d.undecided == 0 ? "" : fmt::format("; {} were not decided by ACE", d.undecided));
  if (whole)
    *context.out << fmt::format(
        "dollars      baseline {} USD, marginal cost {} USD, fixed cost {} USD, booked again from the "
        "records{}{}\n",
        to_decimal(d.baseline), to_decimal(d.actual), to_decimal(d.fixed),
        d.corrected == 0 ? "" : fmt::format(", {} of them corrections", d.corrected),
        d.cells == 0 ? "" : fmt::format("; {} closed cells are equal, gates too", d.cells));
  if (d.passed > 0)
    *context.out << fmt::format(
        "             {} requests were handed on unread, each where its rule allows; they have no price and are in no "
        "amount\n",
        d.passed);
  if (d.unknown > 0)
    *context.out << fmt::format(
        "             {} events are of kinds that a newer version wrote; nothing of them is "
        "derived\n",
        d.unknown);
  if (d.open > 0 && whole)
    *context.out << fmt::format(
        "             {} requests have no end; a ledger estimates those whose writer died, and "
        "their cost is in it\n",
        d.open);
  if (view.records > 0)
    *context.out << fmt::format("books        ledger.view is what the first {} records come to\n", view.records);
  if (!whole && std::filesystem::exists(directory + "/" + kLedgerView))
    *context.out << "books        ledger.view is believed, not derived: what it stands for was pruned\n";
  if (report)
    *context.out << fmt::format("report       every field of {} is equal, folded again from record 0 to {}\n",
                                arguments.report, report->records);
  if (found->unfinished)
    *context.out << "unfinished   " << to_text(*found->unfinished) << "; it was not acknowledged\n";
  return {};
}

}  // namespace ace::cli
