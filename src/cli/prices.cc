/// ace prices show | check | corrections | diff: price lists on their own, before any fleet uses them.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <ostream>

#include "adapters/wall_clock.h"
#include "cli/cli.h"
#include "cli/files.h"
#include "cli/prices_text.h"
#include "fleet/fleet.h"

namespace ace::cli {
namespace {

struct Arguments {
  std::string model, list, previous, before, after, on, known;
  bool own = false, json = false, exit_code = false;
};

struct CatalogArguments {
  std::string file, instance, region;
  bool json = false;
};

Result<PriceReading> load(const std::string& path, const Arguments& arguments) {
  Result<std::string> text = read_file(path);
  if (!text) return std::move(text).error().with("loading the price list");
  const auto dialect = arguments.own ? PriceDialect::own : PriceDialect::community;
  Result<PriceReading> reading = parse_prices(*text, dialect, arguments.on, arguments.known);
  if (!reading) return std::move(reading).error().with(path);
  return reading;
}

Result<void> show(const Arguments& arguments, Context& context) {
  const Result<PriceReading> reading = load(arguments.list, arguments);
  if (!reading) return Error(reading.error());
  const std::optional<PriceId> id = reading->book.find(arguments.model);
  for (const PriceFinding& f : reading->findings)
    if (f.row == arguments.model)
      *context.err << (f.error ? "error: " : "warning: ") << f.field << ": " << f.what << "\n";
  if (!id) {
    std::string what = fmt::format("{} has no price for \"{}\"", arguments.list, arguments.model);
    const std::vector<std::string> keys = keys_like(reading->book, arguments.model, 8);
    for (const std::string& key : keys) what += (&key == keys.data() ? "; did you mean " : ", ") + key;
    return Error(Errc::not_found, what);
  }
  const PriceRow& row = reading->book.rows[id->value];
  *context.out << (arguments.json ? price_json(row) : price_table(row));
  return {};
}

Result<void> check(const Arguments& arguments, Context& context) {
  const Result<PriceReading> reading = load(arguments.list, arguments);
  if (!reading) return Error(reading.error());
  std::vector<PriceFinding> changes;
  if (!arguments.previous.empty()) {
    const Result<PriceReading> before = load(arguments.previous, arguments);
    if (!before) return Error(before.error());
    changes = implausible_changes(before->book, reading->book);
    for (PriceFinding& finding : rewritten_history(*before, *reading)) changes.push_back(std::move(finding));
  }
  if (arguments.own && arguments.on.empty()) {
    const std::string today = to_rfc3339(WallClock().now()).substr(0, 10);
    for (PriceFinding& finding : still_to_come(*reading, today)) changes.push_back(std::move(finding));
  }
  *context.out << (arguments.json ? findings_json(*reading, changes) : findings_text(*reading, changes));
  const auto is_error = [](const PriceFinding& f) { return f.error; };
  if (!changes.empty() || std::any_of(reading->findings.begin(), reading->findings.end(), is_error))
    context.exit_code = 1;
  return {};
}

/// What a catalog of rented machines has that cannot be believed.
Result<void> catalog(const CatalogArguments& arguments, Context& context) {
  Result<std::string> text = read_file(arguments.file);
  if (!text) return std::move(text).error().with("loading the catalog");
  const Result<CatalogReading> reading = parse_catalog(*text);
  if (!reading) return Error(reading.error()).with(arguments.file);
  const auto asked = [&](const std::string& instance, const std::string& region) {
    return (arguments.instance.empty() || arguments.instance == instance) &&
           (arguments.region.empty() || arguments.region == region);
  };
  *context.out << (arguments.json ? catalog_json(*reading, asked) : catalog_text(*reading, asked));
  return {};
}

Result<void> corrections(const Arguments& arguments, Context& context) {
  Arguments own = arguments;
  own.own = true;  // no other list has versions
  const Result<PriceReading> reading = load(arguments.list, own);
  if (!reading) return Error(reading.error());
  for (const PriceFinding& f : reading->findings)
    if (f.error) return Error(Errc::bad_input, fmt::format("{}: {}: {}: {}", arguments.list, f.row, f.field, f.what));
  *context.out << (arguments.json ? revisions_json(reading->revisions) : revisions_text(reading->revisions));
  return {};
}

Result<void> diff(const Arguments& arguments, Context& context) {
  const Result<PriceReading> before = load(arguments.before, arguments);
  if (!before) return Error(before.error());
  const Result<PriceReading> after = load(arguments.after, arguments);
  if (!after) return Error(after.error());
  const std::vector<PriceChange> changes = diff_prices(before->book, after->book);
  *context.out << (arguments.json ? changes_json(changes) : changes_text(changes));
  if (arguments.exit_code && !changes.empty()) context.exit_code = 1;
  return {};
}

}  // namespace

void add_prices(CLI::App& app, Context& context) {
  CLI::App* prices = app.add_subcommand("prices", "What models cost: look at, check and compare price lists");
  prices->require_subcommand(1);
  const auto arguments = std::make_shared<Arguments>();
  const auto command = [&](const char* name, const char* what, Result<void> (*run)(const Arguments&, Context&)) {
    CLI::App* made = prices->add_subcommand(name, what);
    made->add_flag("--own", arguments->own,
                   "the list is ours: unknown keys are errors, rows may have validity intervals");
    made->add_option("--on", arguments->on,
                     "take the version that holds on this day (YYYY-MM-DD); default: the latest");
    made->add_option("--known-on", arguments->known,
                     "as the list stood on this day: versions recorded later are not looked at");
    made->add_flag("--json", arguments->json, "print one JSON object");
    made->callback([arguments, &context, run] {
      if (Result<void> done = run(*arguments, context); !done) context.fail(done.error());
    });
    return made;
  };
  CLI::App* shown = command("show", "One model's prices, tier by tier.", show);
  shown->add_option("MODEL", arguments->model, "the row's key, exactly")->required();
  shown->add_option("--prices", arguments->list, "the price list (JSON, .gz and .zst too)")
      ->type_name("FILE")
      ->required();

  CLI::App* checked = command("check", "Is every row of a price list readable and plausible?", check);
  checked->add_option("FILE", arguments->list, "the price list")->required();
  checked
      ->add_option("--previous", arguments->previous,
                   "the version before: changes above 10x need an accept_delta, past prices stay")
      ->type_name("FILE");

  CLI::App* corrected = command(
      "corrections", "Past days whose prices were corrected, and what each unit booked then differs by.", corrections);
  corrected->add_option("FILE", arguments->list, "the price list, ours")->required();

  const auto catalog_arguments = std::make_shared<CatalogArguments>();
  CLI::App* offered = prices->add_subcommand(
      "catalog", "What a catalog of rented machines offers, and what in it cannot be believed and why.");
  offered->add_option("FILE", catalog_arguments->file, "SkyPilot catalog, price history or table of many clouds (CSV)")
      ->required();
  offered->add_option("--instance", catalog_arguments->instance, "only this machine");
  offered->add_option("--region", catalog_arguments->region, "only this region");
  offered->add_flag("--json", catalog_arguments->json, "print one JSON object");
  offered->callback([catalog_arguments, &context] {
    if (Result<void> done = catalog(*catalog_arguments, context); !done) context.fail(done.error());
  });

  CLI::App* compared = command("diff", "Rows added and removed and prices changed from A to B.", diff);
  compared->add_option("A", arguments->before, "the list before")->required();
  compared->add_option("B", arguments->after, "the list after")->required();
  compared->add_flag("--exit-code", arguments->exit_code, "exit 1 if anything differs");
}

}  // namespace ace::cli
