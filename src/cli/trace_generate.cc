#include "cli/trace_generate.h"

#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <fstream>
#include <ostream>

#include <fmt/format.h>

#include "cli/files.h"
#include "cli/trace.h"
#include "trace/trace.h"

namespace ace::cli {
namespace {

struct GenerateArguments {
  std::string profile, rates, tokens, model = "servegen", days, out = "-", to;
  std::uint64_t seed = 1, limit = 0;
  double scale = 1.0;
};

struct FitArguments {
  TraceArguments trace;
  std::string out = "-", name, source;
  std::size_t tenants = 16;
};

/// "8-14" or "3". @return bad_input with what would be right
Result<void> set_days(const std::string& text, GenerateOptions& options) {
  if (text.empty()) return {};
  const std::size_t dash = text.find('-');
  const std::string first = text.substr(0, dash);
  const std::string last = dash == std::string::npos ? first : text.substr(dash + 1);
  const auto day = [](const std::string& from, std::int32_t& into) {
    const auto [end, error] = std::from_chars(from.data(), from.data() + from.size(), into);
    return error == std::errc{} && end == from.data() + from.size() && into >= 1;
  };
  if (day(first, options.first_day) && day(last, options.last_day) && options.first_day <= options.last_day) return {};
  return Error{Errc::bad_input, fmt::format("--days: expected A-B with 1 <= A <= B, got \"{}\"", text)};
}

Result<std::unique_ptr<RequestSource>> make_source(const GenerateArguments& arguments, Context& context) {
  GenerateOptions options;
  options.seed = arguments.seed;
  options.scale = arguments.scale;
  if (arguments.limit > 0) options.limit = arguments.limit;
  if (auto set = set_days(arguments.days, options); !set) return std::move(set).error();
  if (!arguments.profile.empty()) {
    const Result<std::string> text = read_file(arguments.profile);
    if (!text) return text.error();
    const Result<Profile> profile = parse_profile(*text, arguments.profile);
    if (!profile) return profile.error();
    return generate(*profile, options);
  }
  const Result<std::string> rates = read_file(arguments.rates);
  if (!rates) return rates.error();
  const Result<std::string> tokens = read_file(arguments.tokens);
  if (!tokens) return tokens.error();
  Result<Servegen> tables = parse_servegen(*rates, *tokens);
  if (!tables) return std::move(tables).error().with(arguments.rates + ", " + arguments.tokens);
  const auto shared = std::make_shared<const Servegen>(std::move(*tables));
  if (const ServegenPooled pooled = pooled_of(*shared); pooled.clients > 0)
    *context.err << fmt::format(
        "ace: note: {} of {} clients ({:.2f}% of requests) have no token statistics; they get the pooled lengths of "
        "the "
        "others, weighted by requests\n",
        pooled.clients, shared->clients.size(), 100.0 * pooled.request_share);
  ServegenOptions servegen;
  servegen.generate = options;
  servegen.model = arguments.model;
  return generate(shared, servegen);
}

/// What --to would say if it were there: by the file's name, CSV for a terminal, binary for a pipe.
std::string form_of(const GenerateArguments& arguments) {
  if (!arguments.to.empty()) return arguments.to;
  std::string name = arguments.out;
  if (name.ends_with(".zst")) name.resize(name.size() - 4);
  if (name.ends_with(".csv")) return "csv";
  if (name.ends_with(".jsonl")) return "jsonl";
  return name == "-" && ::isatty(STDOUT_FILENO) == 1 ? "csv" : "ace";
}

Result<void> run_generate(const GenerateArguments& arguments, Context& context) {
  if (arguments.profile.empty() == (arguments.rates.empty() && arguments.tokens.empty()))
    return Error{Errc::bad_input, "expected either --profile FILE or --servegen RATES --tokens STATS"};
  if (arguments.profile.empty() && (arguments.rates.empty() || arguments.tokens.empty()))
    return Error{Errc::bad_input,
                 "--servegen and --tokens go together: rates and token statistics of the same clients"};
  if (Result<void> spared = apart("--out", arguments.out, {arguments.profile, arguments.rates, arguments.tokens});
      !spared)
    return spared.error();
  const auto source = make_source(arguments, context);
  if (!source) return source.error();
  const std::string form = form_of(arguments);
  const TextColumns columns{.team = true,
                            .owners = false,
                            .usage = false,
                            .parts = false,
                            .limit = true,
                            .outcome = false,
                            .batch = true,
                            .blocks = true};
  const auto write = [&](const ByteSink& sink) {
    if (form == "csv") return write_csv(**source, sink, columns);
    if (form == "jsonl") return write_jsonl(**source, sink);
    return write_binary(**source, sink);
  };
  const bool to_stdout = arguments.out == "-";
  const std::string partial = arguments.out + ".part";  // renamed when whole
  std::ofstream file;
  if (!to_stdout) file.open(partial, std::ios::binary | std::ios::trunc);
  std::ostream& out = to_stdout ? *context.out : file;
  const auto full = [&] {
    return Error{Errc::unavailable, fmt::format("cannot write {}; is there room?", arguments.out)};
  };
  if (!out.good()) return full();
  const ByteSink sink = [&](std::string_view bytes) -> Result<void> {
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return out.good() ? Result<void>{} : full();
  };
  Result<std::uint64_t> rows = arguments.out.ends_with(".zst") ? through_zstd(sink, write) : write(sink);
  out.flush();
  if (rows && !out.good()) rows = full();
  if (!to_stdout) {
    file.close();
    if (!rows)
      std::remove(partial.c_str());
    else if (std::rename(partial.c_str(), arguments.out.c_str()) != 0)
      return full();
  }
  if (!rows) return std::move(rows).error();
  if (!to_stdout) *context.err << fmt::format("ace: wrote {} requests to {}\n", *rows, arguments.out);
  return {};
}

Result<void> run_fit(const FitArguments& arguments, Context& context) {
  if (Result<void> spared = apart("--out", arguments.out, {arguments.trace.path, arguments.trace.fleet}); !spared)
    return spared;
  const Result<std::unique_ptr<RequestSource>> source = open_trace(arguments.trace);
  if (!source) return source.error();
  FitOptions options;
  options.name = arguments.name.empty() ? arguments.trace.path : arguments.name;
  options.source = arguments.source.empty() ? (*source)->format() : arguments.source;
  options.tenants_max = arguments.tenants;
  const Result<Profile> profile = fit(**source, options);
  if (!profile) return profile.error();
  const std::string text = to_yaml(*profile);
  if (arguments.out != "-") return write_file(arguments.out, text);
  *context.out << text;
  return {};
}

}  // namespace

void add_trace_generate(CLI::App& trace, Context& context) {
  auto make = std::make_shared<GenerateArguments>();
  CLI::App* generate_command = trace.add_subcommand(
      "generate", "Requests from a profile or from ServeGen client tables; the same seed, the same bytes");
  generate_command->add_option("--profile", make->profile, "what the workload looks like; see docs/GENERATE.md")
      ->type_name("FILE");
  generate_command->add_option("--servegen", make->rates, "ServeGen rates by client (CSV, may be compressed)")
      ->type_name("RATES");
  generate_command->add_option("--tokens", make->tokens, "ServeGen token statistics of the same clients")
      ->type_name("STATS");
  generate_command->add_option("--model", make->model, "the model of ServeGen requests")->capture_default_str();
  generate_command->add_option("--seed", make->seed, "which of the possible runs")
      ->check(whole_number())
      ->capture_default_str();
  generate_command->add_option("--days", make->days, "only these days, from 1: A-B")->type_name("A-B");
  generate_command->add_option("--scale", make->scale, "multiplies every rate")->capture_default_str();
  generate_command->add_option("--limit", make->limit, "at most so many requests; 0 is all")->capture_default_str();
  generate_command->add_option("--out", make->out, "file, compressed if it ends in .zst, or - for standard output")
      ->capture_default_str();
  generate_command
      ->add_option("--to", make->to,
                   "csv, jsonl or ace (binary); default by file name, csv for a terminal, ace for a pipe")
      ->check(CLI::IsMember({"csv", "jsonl", "ace"}));
  generate_command->callback([make, &context] {
    if (Result<void> done = run_generate(*make, context); !done) context.fail(done.error());
  });

  auto fitted = std::make_shared<FitArguments>();
  CLI::App* fit_command = trace.add_subcommand("fit", "The profile of a trace, for generate");
  add_trace_arguments(*fit_command, fitted->trace);
  fit_command->add_option("--out", fitted->out, "file, or - for standard output")->capture_default_str();
  fit_command->add_option("--name", fitted->name, "of the profile; else the trace's path");
  fit_command->add_option("--source", fitted->source, "where the trace comes from, for readers of the profile");
  fit_command->add_option("--tenants", fitted->tenants, "largest tenants described alone; the rest together")
      ->capture_default_str();
  fit_command->callback([fitted, &context] {
    if (Result<void> done = run_fit(*fitted, context); !done) context.fail(done.error());
  });
}

}  // namespace ace::cli
