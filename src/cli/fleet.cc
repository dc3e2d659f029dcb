#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <ostream>

#include "adapters/fleet_files.h"
#include "cli/cli.h"
#include "cli/files.h"
#include "cli/trace_arguments.h"
#include "core/text.h"
#include "dispatch/dispatch.h"
#include "replay/replay.h"
#include "report/report.h"

namespace ace::cli {
namespace {

struct CheckArguments {
  std::string file, prices;
  bool json = false;
};

struct CurveArguments {
  std::string file, prices, model, tenant, at, svg;
  std::optional<double> load;
  std::int64_t prompt = 1000, output = 250;
  bool json = false;
};

/// A JSON number, or null where there is none (no quota).
std::string number(double v) { return std::isfinite(v) ? fmt::format("{}", v) : "null"; }

// --- check
// ------------------------------------------------------------------------------------------------------------

std::string count_of(std::size_t n, std::string_view noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

void print_summary(std::ostream& out, const std::string& file, const FleetReading& reading) {
  const Fleet& f = reading.fleet;
  const Snapshot snapshot(f);
  out << fmt::format("{}: no mistakes\n\n", file);
  for (std::size_t t = 0; t < kTiers; ++t) {
    std::string names;
    std::size_t count = 0;
    for (const Destination& d : f.destinations) {
      if (d.tier != static_cast<Tier>(t)) continue;
      names += (count++ == 0 ? "" : ", ") + d.name;
    }
    if (count > 0) out << fmt::format("{:<10} {:>3}   {}\n", name_of(static_cast<Tier>(t)), count, names);
  }
  out << fmt::format("\n{}, {}, {}, {}, {}\n", count_of(f.models.size(), "model"),
                     count_of(f.providers.size(), "provider"), count_of(f.tenants.size(), "tenant"),
                     count_of(f.compliance.size(), "compliance rule"), count_of(f.prices.rows.size(), "price row"));
  for (std::uint32_t m = 0; m < f.models.size(); ++m)
    if (snapshot.ranges(ModelId{m}).empty()) out << fmt::format("note: nobody serves {}\n", f.models[m].name);
  for (std::uint32_t i = 0; i < snapshot.offers().size(); ++i) {
    const Offer& offer = snapshot[OfferId{i}];
    const std::string pair = f.models[offer.model.value].name + " at " + f.destinations[offer.destination.value].name;
    if (snapshot.fixed_exclusions(ComplianceId{})[i] == static_cast<std::uint8_t>(Exclusion::unpriced))
      out << fmt::format("note: {} has no price, so it is never used\n", pair);
    if (!offer.resident)
      out << fmt::format("note: {} cannot be loaded: its weights do not fit, or its hardware or shape is not known\n",
                         pair);
  }
  for (const std::string& beyond : beyond_data_sheet(snapshot)) out << "note: " << beyond << '\n';
}

void check(const CheckArguments& args, Context& context) {
  Result<FleetReading> reading = load_fleet(args.file, args.prices);
  if (reading)
    if (const std::string wrong = names_not_kept(reading->fleet); !wrong.empty())
      reading = Error(Errc::bad_input, args.file + ":\n" + wrong);
  if (!reading && reading.error().code() != Errc::bad_input) return context.fail(reading.error());
  if (args.json) {
    *context.out << fmt::format("{{\"file\":{},\"ok\":{},\"mistakes\":{},\"warnings\":[", json_text(args.file),
                                reading.has_value(), reading ? std::string("null") : json_text(reading.error().what()));
    if (reading)
      for (std::size_t i = 0; i < reading->warnings.size(); ++i)
        *context.out << (i == 0 ? "" : ",") << json_text(reading->warnings[i]);
    *context.out << "]}\n";
  } else if (reading) {
    for (const std::string& warning : reading->warnings) *context.err << "warning: " << warning << '\n';
    print_summary(*context.out, args.file, *reading);
  } else {
    context.fail(reading.error());
  }
  context.exit_code = reading ? 0 : 1;
}

// --- curve
// ------------------------------------------------------------------------------------------------------------

Result<Request> representative(const Fleet& fleet, const CurveArguments& args) {
  const auto model = fleet.model(args.model);
  if (!model) {
    std::string known;
    for (const Model& m : fleet.models) known += (known.empty() ? "" : ", ") + m.name;
    return Error(Errc::bad_input, fmt::format("--model: the fleet has no model \"{}\"; it has {}", args.model, known));
  }
  Request request;
  request.model = *model;
  request.slo = fleet.default_slo;
  if (!args.tenant.empty()) {
    const auto tenant = fleet.tenant(args.tenant);
    if (!tenant) return Error(Errc::bad_input, fmt::format("--tenant: the fleet has no tenant \"{}\"", args.tenant));
    const Tenant& t = fleet.tenants[tenant->value];
    request.tenant = *tenant;
    if (t.slo.valid()) request.slo = t.slo;
    request.compliance = t.compliance;
    request.data_class = t.data_class;
  }
  request.prompt = Tokens{args.prompt};
  request.predicted = {static_cast<double>(args.output), static_cast<double>(args.output)};
  return request;
}

std::string rate(double tokens_per_s) {
  return std::isfinite(tokens_per_s) ? fmt::format("{:.0f}", tokens_per_s) : "no quota";
}

void print_table(std::ostream& out, const Fleet& fleet, const SupplyCurve& curve, std::optional<double> load) {
  out << fmt::format("{} at {}, {} prompt and {:g} output tokens; V = {:.4f} USD/Mtok\n\n",
                     fleet.models[curve.model.value].name, to_rfc3339(curve.at),
                     static_cast<std::int64_t>(curve.prompt), curve.output, curve.reference_usd_per_mtok);
  out << fmt::format("{:<24} {:<10} {:<12} {:>10} {:>10} {:>10} {:>12} {:>12} {:>12} {:>12}\n", "destination", "tier",
                     "part", "USD/Mtok", "in", "out", "tokens/s", "cumulative", "at knee", "at cap");
  const SupplyStep* marginal = load ? marginal_step(curve, *load) : nullptr;
  for (const SupplyStep& s : curve.steps) {
    out << fmt::format("{:<24} {:<10} {:<12} {:>10.4f} {:>10.4f} {:>10.4f} {:>12} {:>12} {:>12} {:>12}{}\n",
                       fleet.destinations[s.destination.value].name, name_of(s.tier),
                       s.beyond_knee ? "knee to cap" : "to the knee", s.usd_per_mtok, s.input_usd_per_mtok,
                       s.output_usd_per_mtok, rate(s.tokens_per_s), rate(s.cumulative_tokens_per_s),
                       rate(s.knee_tokens_per_s), rate(s.cap_tokens_per_s), &s == marginal ? "  <- load" : "");
  }
  if (load && marginal != nullptr)
    out << fmt::format("\nprice at {:.0f} tokens/s: {:.4f} USD/Mtok ({})\n", *load, marginal->usd_per_mtok,
                       fleet.destinations[marginal->destination.value].name);
  if (load && marginal == nullptr)
    out << fmt::format("\n{:.0f} tokens/s is more than there is: {} tokens/s\n", *load,
                       curve.steps.empty() ? "0" : rate(curve.steps.back().cumulative_tokens_per_s));
}

void print_excluded(std::ostream& out, const Snapshot& snapshot, const SupplyCurve& curve) {
  for (const SupplyCurve::Out& o : curve.excluded)
    out << fmt::format("out: {} ({})\n", snapshot.fleet().destinations[snapshot[o.offer].destination.value].name,
                       name_of(o.why));
}

void print_json(std::ostream& out, const Snapshot& snapshot, const SupplyCurve& curve, std::optional<double> load) {
  const Fleet& fleet = snapshot.fleet();
  out << fmt::format(
      "{{\"model\":{},\"at\":\"{}\",\"prompt_tokens\":{},\"output_tokens\":{},\"reference_usd_per_mtok\":{},\"steps\":"
      "[",
      json_text(fleet.models[curve.model.value].name), to_rfc3339(curve.at), number(curve.prompt), number(curve.output),
      number(curve.reference_usd_per_mtok));
  const char* comma = "";
  for (const SupplyStep& s : curve.steps) {
    out << fmt::format(
        "{}\n{{\"destination\":{},\"model\":{},\"tier\":\"{}\",\"part\":\"{}\",\"usd_per_mtok\":{},\"input_usd_per_"
        "mtok\":{},"
        "\"output_usd_per_mtok\":{},\"tokens_per_s\":{},\"cumulative_tokens_per_s\":{},\"knee_tokens_per_s\":{},"
        "\"cap_tokens_per_s\":{}}}",
        comma, json_text(fleet.destinations[s.destination.value].name), json_text(fleet.models[s.model.value].name),
        name_of(s.tier), s.beyond_knee ? "knee_to_cap" : "to_knee", number(s.usd_per_mtok),
        number(s.input_usd_per_mtok), number(s.output_usd_per_mtok), number(s.tokens_per_s),
        number(s.cumulative_tokens_per_s), number(s.knee_tokens_per_s), number(s.cap_tokens_per_s));
    comma = ",";
  }
  out << "],\"excluded\":[";
  comma = "";
  for (const SupplyCurve::Out& o : curve.excluded) {
    out << fmt::format("{}{{\"destination\":{},\"why\":\"{}\"}}", comma,
                       json_text(fleet.destinations[snapshot[o.offer].destination.value].name), name_of(o.why));
    comma = ",";
  }
  out << "]";
  if (load) {
    const SupplyStep* step = marginal_step(curve, *load);
    out << fmt::format(",\"load_tokens_per_s\":{},\"price_usd_per_mtok\":{}", number(*load),
                       step != nullptr ? number(step->usd_per_mtok) : "null");
  }
  out << "}\n";
}

void curve(const CurveArguments& args, Context& context) {
  if (const Result<void> spared = apart("--svg", args.svg, {args.file, args.prices}); !spared)
    return context.fail(spared.error());
  const Result<FleetReading> reading = load_fleet(args.file, args.prices);
  if (!reading) return context.fail(reading.error());
  for (const std::string& warning : reading->warnings) *context.err << "warning: " << warning << '\n';
  const Result<Request> request = representative(reading->fleet, args);
  if (!request) return context.fail(request.error());
  Instant at{};
  if (!args.at.empty()) {
    const Result<Instant> parsed = parse_rfc3339(args.at);
    if (!parsed) return context.fail(Error(parsed.error()).with("--at"));
    at = *parsed;
  }
  if (const Horizon known(reading->fleet); !known.holds(at))
    return context.fail(
        args.at.empty() ? Error(Errc::bad_input, "in this fleet prices depend on the time: say which with --at TIME")
                        : known.error(at).with("--at"));
  const Snapshot snapshot(reading->fleet);
  Live live(snapshot);
  live.price_energy(snapshot, at);
  for (std::uint32_t d = 0; d < reading->fleet.destinations.size(); ++d)
    if (!reading->fleet.destinations[d].units.schedule.empty())
      live.size_to(snapshot, DestinationId{d}, reading->fleet.destinations[d].units.scheduled(at));
  const SupplyCurve supply = supply_curve(snapshot, live, *request, at);
  if (args.json) {
    print_json(*context.out, snapshot, supply, args.load);
  } else {
    print_table(*context.out, reading->fleet, supply, args.load);
    print_excluded(*context.out, snapshot, supply);
  }
  if (args.svg.empty()) return;
  if (const Result<void> written = write_file(args.svg, step_chart_svg(snapshot, supply, args.load)); !written)
    context.fail(written.error());
}

}  // namespace

void add_fleet(CLI::App& app, Context& context) {
  CLI::App* fleet = app.add_subcommand("fleet", "Check a fleet file; draw its supply curve");
  fleet->require_subcommand(1);

  auto check_args = std::make_shared<CheckArguments>();
  CLI::App* check_command =
      fleet->add_subcommand("check", "Every mistake at once, or a summary; exit 1 if there are any");
  check_command->add_option("FILE", check_args->file, "the fleet file")->required();
  check_command->add_option("--prices", check_args->prices, "an additional price map (community JSON)");
  check_command->add_flag("--json", check_args->json, "one JSON object");
  check_command->callback([check_args, &context] { check(*check_args, context); });

  auto args = std::make_shared<CurveArguments>();
  CLI::App* curve_command =
      fleet->add_subcommand("curve", "Merit order of a model: what the next tokens cost, by step");
  curve_command->add_option("FILE", args->file, "the fleet file")->required();
  curve_command->add_option("--model", args->model, "model name or alias")->required();
  curve_command->add_option("--prices", args->prices, "an additional price map (community JSON)");
  curve_command->add_option("--tenant", args->tenant, "under this tenant's compliance and SLO class");
  curve_command->add_option("--load", args->load, "tokens per second, prompt and output: marks the price there")
      ->check(number_from_zero());
  curve_command->add_option("--at", args->at,
                            "time for electricity prices and unit schedules, e.g. 2026-11-30T18:00:00Z");
  curve_command->add_option("--prompt", args->prompt, "prompt tokens of the request it is drawn for (1000)")
      ->check(CLI::Range(1, 10'000'000));
  curve_command->add_option("--output", args->output, "output tokens of that request (250)")
      ->check(CLI::Range(1, 10'000'000));
  curve_command->add_flag("--json", args->json, "one JSON object");
  curve_command->add_option("--svg", args->svg, "also write the step chart to this file");
  curve_command->callback([args, &context] { curve(*args, context); });
}

}  // namespace ace::cli
