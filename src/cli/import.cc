/// ace import litellm: a LiteLLM configuration as a fleet file and an ace.yaml.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <ostream>

#include "adapters/litellm_config.h"
#include "adapters/wall_clock.h"
#include "cli/cli.h"
#include "cli/files.h"
#include "core/text.h"

namespace ace::cli {
namespace {

using Kind = LitellmFinding::Kind;

struct Arguments {
  std::string file, out, prices;
  bool force = false, json = false;
};

std::string_view word_of(Kind kind) {
  switch (kind) {
    case Kind::secret:
      return "secret";
    case Kind::changed:
      return "changed";
    case Kind::left_out:
      break;
  }
  return "left_out";
}

void print_json(std::ostream& out, const LitellmImport& made) {
  out << fmt::format(
      "{{\"models\":{},\"destinations\":{},\"providers\":{},\"fleet_yaml\":{},\"ace_yaml\":{},\"findings\":[",
      made.models, made.destinations, made.providers, json_text(made.fleet), json_text(made.gateway));
  bool first = true;
  for (const LitellmFinding& f : made.findings) {
    out << fmt::format("{}{{\"kind\":\"{}\",\"line\":{},\"path\":{},\"what\":{},\"name\":{}}}", first ? "" : ",",
                       word_of(f.kind), f.line, json_text(f.path), json_text(f.what),
                       f.name.empty() ? "null" : json_text(f.name));
    first = false;
  }
  out << "]}\n";
}

void print_section(std::ostream& out, const LitellmImport& made, const std::string& file, Kind kind,
                   std::string_view title) {
  bool any = false;
  for (const LitellmFinding& f : made.findings) {
    if (f.kind != kind) continue;
    if (!any) out << '\n' << title << '\n';
    any = true;
    const std::string at = f.path.empty() ? file : fmt::format("{}:{}: {}", file, f.line, f.path);
    out << (f.name.empty() ? fmt::format("  {}: {}\n", at, f.what)
                           : fmt::format("  {:<24} {}: {}\n", f.name, at, f.what));
  }
}

Result<void> write(const Arguments& arguments, const LitellmImport& made) {
  std::error_code fault;
  std::filesystem::create_directories(arguments.out, fault);
  if (fault) return Error(Errc::unavailable, fmt::format("making {}: {}", arguments.out, fault.message()));
  const std::string fleet = arguments.out + "/fleet.yaml", gateway = arguments.out + "/ace.yaml";
  for (const std::string& path : {fleet, gateway})
    if (!arguments.force && std::filesystem::exists(path, fault))
      return Error(Errc::bad_input, fmt::format("{} is there already; name another directory, or say --force", path));
  if (Result<void> done = write_file(fleet, made.fleet); !done) return done;
  return write_file(gateway, made.gateway);
}

Result<void> run_import(const Arguments& arguments, Context& context) {
  const Result<std::string> text = read_file(arguments.file);
  if (!text) return Error(text.error()).with("loading the configuration");
  LitellmOptions options;
  PriceReading prices;
  if (!arguments.prices.empty()) {
    const Result<std::string> list = read_file(arguments.prices);
    if (!list) return Error(list.error()).with("loading the price map");
    Result<PriceReading> reading = parse_prices(*list, PriceDialect::community);
    if (!reading) return std::move(reading).error().with(arguments.prices);
    prices = *std::move(reading);
    options.prices = &prices.book;
    options.prices_path = std::filesystem::absolute(arguments.prices).lexically_normal().string();
    options.today = to_rfc3339(WallClock().now()).substr(0, 10);
  }
  const LitellmImport made = import_litellm(*text, arguments.file, options);
  if (!made.mistakes.empty()) return Error(Errc::bad_input, describe(made.mistakes));
  if (!arguments.out.empty() && made.destinations > 0)
    if (Result<void> done = write(arguments, made); !done) return done;
  if (arguments.json) {
    print_json(*context.out, made);
  } else {
    std::ostream& out = *context.out;
    out << fmt::format("{}: {} models at {} destinations of {} providers\n", arguments.file, made.models,
                       made.destinations, made.providers);
    print_section(out, made, arguments.file, Kind::secret, "To be set (nothing secret was copied):");
    print_section(out, made, arguments.file, Kind::changed, "Taken over in another form, or assumed:");
    print_section(out, made, arguments.file, Kind::left_out, "Left out:");
    if (!arguments.out.empty() && made.destinations > 0)
      out << fmt::format(
          "\nwrote {0}/fleet.yaml and {0}/ace.yaml; look at them, then: ace fleet check {0}/fleet.yaml\n",
          arguments.out);
    else if (made.destinations > 0)
      out << "\nnothing was written; say --out DIR for fleet.yaml and ace.yaml\n";
  }
  if (made.destinations == 0) return Error(Errc::check_failed, "no deployment of it can be called");
  return {};
}

}  // namespace

void add_import(CLI::App& app, Context& context) {
  CLI::App* root = app.add_subcommand("import", "Turn the configuration of another gateway into ours");
  root->require_subcommand(1);
  CLI::App* litellm = root->add_subcommand(
      "litellm",
      "A LiteLLM config.yaml as fleet.yaml and ace.yaml, with a report of what was taken over and what was not");
  auto arguments = std::make_shared<Arguments>();
  litellm->add_option("file", arguments->file, "LiteLLM's configuration; - reads standard input")->required();
  litellm->add_option("--out", arguments->out, "Directory for fleet.yaml and ace.yaml; without it nothing is written");
  litellm->add_option("--prices", arguments->prices,
                      "LiteLLM's price map (model_prices_and_context_window.json), for context windows and baselines");
  litellm->add_flag("--force", arguments->force, "Write over files that are there");
  litellm->add_flag("--json", arguments->json, "Print one JSON object with both texts and all findings");
  litellm->callback([arguments, &context] {
    if (Result<void> done = run_import(*arguments, context); !done) context.fail(done.error());
  });
}

}  // namespace ace::cli
