#include "cli/trace.h"

#include <fmt/core.h>

#include <fstream>
#include <ostream>

#include "cli/files.h"
#include "cli/progress.h"
#include "cli/trace_generate.h"

namespace ace::cli {
namespace {

struct StatsArguments {
  TraceArguments trace;
  bool json = false;
};

struct ConvertArguments {
  TraceArguments trace;
  std::string out, to;
};

Result<void> run_stats(const StatsArguments& arguments, Context& context) {
  Result<std::unique_ptr<RequestSource>> source = open_trace(arguments.trace);
  if (!source) return std::move(source).error();
  Progress progress(context, "reading");
  const Result<TraceStats> counted = stats(**source, std::ref(progress));
  if (!counted) return Error(counted.error());
  if (counted->rows == 0) *context.err << "ace: warning: 0 rows\n";
  *context.out << (arguments.json ? to_json(*counted) : to_text(*counted));
  return {};
}

/// Counts on the way through, for the progress line.
class Watched : public RequestSource {
 public:
  Watched(std::unique_ptr<RequestSource> source, Context& context)
      : source_(std::move(source)), progress_(context, "converting") {}
  Result<std::size_t> next(std::span<Arrival> batch) override {
    Result<std::size_t> got = source_->next(batch);
    if (got) progress_(source_->progress(), done_ += *got);
    return got;
  }
  Result<void> rewind() override { return source_->rewind(); }
  [[nodiscard]] const Interner& models() const override { return source_->models(); }
  [[nodiscard]] const Interner& tenants() const override { return source_->tenants(); }
  [[nodiscard]] const Interner& teams() const override { return source_->teams(); }
  [[nodiscard]] const Interner& providers() const override { return source_->providers(); }
  [[nodiscard]] const Interner& projects() const override { return source_->projects(); }
  [[nodiscard]] const Interner& keys() const override { return source_->keys(); }
  [[nodiscard]] Tokens block_tokens() const override { return source_->block_tokens(); }
  [[nodiscard]] std::string format() const override { return source_->format(); }
  [[nodiscard]] std::vector<SkippedRows> skipped() const override { return source_->skipped(); }
  [[nodiscard]] std::vector<std::string> notes() const override { return source_->notes(); }

 private:
  std::unique_ptr<RequestSource> source_;
  Progress progress_;
  std::uint64_t done_ = 0;
};

Result<std::uint64_t> write_as(const std::string& format, RequestSource& source, const ByteSink& sink) {
  if (format == "csv") return write_csv(source, sink);
  if (format == "jsonl") return write_jsonl(source, sink);
  if (format == "mooncake") return write_mooncake(source, sink);
  return write_binary(source, sink);
}

Result<void> run_convert(const ConvertArguments& arguments, Context& context) {
  if (Result<void> spared = apart("out", arguments.out, {arguments.trace.path, arguments.trace.fleet}); !spared)
    return spared;
  Result<std::unique_ptr<RequestSource>> opened = open_trace(arguments.trace);
  if (!opened) return std::move(opened).error();
  Watched source(std::move(*opened), context);
  const bool to_stdout = arguments.out == "-";
  // Beside the target first, so that nobody takes half a trace for a whole one.
  const std::string partial = arguments.out + ".part";
  std::ofstream file;
  if (!to_stdout) file.open(partial, std::ios::binary | std::ios::trunc);
  std::ostream& out = to_stdout ? *context.out : file;
  const auto full = [&] {
    return Error(Errc::unavailable, fmt::format("cannot write {}; is there room?", arguments.out));
  };
  if (!out.good()) return full();
  Result<std::uint64_t> rows = write_as(arguments.to, source, [&](std::string_view bytes) -> Result<void> {
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return out.good() ? Result<void>() : full();
  });
  out.flush();
  if (rows && !out.good()) rows = full();
  if (!to_stdout) {
    file.close();
    if (!rows) {
      std::remove(partial.c_str());
    } else if (std::rename(partial.c_str(), arguments.out.c_str()) != 0) {
      return full();
    }
  }
  if (!rows) return std::move(rows).error();
  say_what_was_left_out(source, context);
  return {};
}

}  // namespace

void add_trace_arguments(CLI::App& command, TraceArguments& a) {
  command
      .add_option("trace", a.path,
                  "request log: a file (plain, gzip or zstd, told by content), - for standard input, or an event spine")
      ->required();
  add_format_arguments(command, a.format);
  command.add_option("--fleet", a.fleet, "fleet file whose model, tenant and team names need no mask")
      ->type_name("FILE");
}

Result<std::unique_ptr<RequestSource>> open_trace(const TraceArguments& a) {
  if (is_spine(a.path)) return open_spine(a.path, "", {});
  std::optional<FleetReading> declared;
  if (!a.fleet.empty()) {
    Result<FleetReading> reading = load_fleet(a.fleet, "");
    if (!reading) return std::move(reading).error();
    declared = std::move(*reading);
  }
  Result<ReadOptions> options = read_options(a.format, declared ? &declared->fleet : nullptr);
  if (!options) return std::move(options).error();
  return ace::open_trace(a.path, *options);
}

void add_trace(CLI::App& app, Context& context) {
  CLI::App* trace = app.add_subcommand("trace", "Look at request logs, convert and generate them");
  trace->require_subcommand(1);

  auto stats_arguments = std::make_shared<StatsArguments>();
  CLI::App* stats_command =
      trace->add_subcommand("stats", "What a trace looks like: sizes, arrivals, prefix reuse, models, tenants");
  add_trace_arguments(*stats_command, stats_arguments->trace);
  stats_command->add_flag("--json", stats_arguments->json, "one JSON object");
  stats_command->callback([stats_arguments, &context] {
    if (Result<void> done = run_stats(*stats_arguments, context); !done) context.fail(done.error());
  });

  auto convert_arguments = std::make_shared<ConvertArguments>();
  CLI::App* convert = trace->add_subcommand("convert", "Write a trace in another format");
  add_trace_arguments(*convert, convert_arguments->trace);
  convert->add_option("out", convert_arguments->out, "file to write, or - for standard output")->required();
  convert->add_option("--to", convert_arguments->to, "csv, jsonl, mooncake, or ace: binary, for pipes and speed")
      ->required()
      ->check(CLI::IsMember({"csv", "jsonl", "mooncake", "ace"}));
  convert->callback([convert_arguments, &context] {
    if (Result<void> done = run_convert(*convert_arguments, context); !done) context.fail(done.error());
  });

  add_trace_generate(*trace, context);
}

}  // namespace ace::cli
