#include <sys/random.h>

#include <algorithm>

#include <fmt/core.h>

#include "fleet/fleet.h"
#include "trace/binary.h"
#include "trace/csv_trace.h"
#include "trace/detect.h"
#include "trace/json_trace.h"
#include "trace/usage_trace.h"

namespace ace {
namespace {

constexpr std::size_t kHead = 64U << 10;  // a header line or a first object; a stream is not read further to be told

Result<std::vector<Column>> columns_of(TraceFormat format, const ReadOptions& options) {
  if (options.columns.empty()) return known_columns(format);
  return parse_columns(options.columns);
}

/// Times without a zone are UTC in the known formats; in generic files the user says so.
Result<std::shared_ptr<const Zone>> zone_for(TraceFormat format, const ReadOptions& options) {
  const bool generic = format == TraceFormat::csv || format == TraceFormat::jsonl;
  const std::string name = generic ? options.tz : "UTC";
  if (name.empty()) return std::shared_ptr<const Zone>();
  return zone_of(name);
}

Result<std::unique_ptr<RequestSource>> open_csv(std::unique_ptr<Window> window, const std::string& name,
                                                const ReadOptions& options, TraceFormat format,
                                                std::vector<Column> columns, std::shared_ptr<const Zone> zone) {
  CsvPlan plan{.format = std::string(title_of(format)), .columns = std::move(columns)};
  plan.utc = format == TraceFormat::azure || options.tz == "UTC";
  plan.zero_output_failed = format == TraceFormat::burstgpt;
  const TimeColumn times(time_kind(plan.columns), std::move(zone));
  auto trace = std::make_unique<CsvTrace>(std::move(window), name, options, times, std::move(plan));
  if (Result<void> header = trace->read_header(); !header) return std::move(header).error().with(name);
  return std::unique_ptr<RequestSource>(std::move(trace));
}

bool looks_like_json(std::string_view head) {
  const std::size_t first = head.find_first_not_of("\xef\xbb\xbf \t\r\n");
  return first != std::string_view::npos && (head[first] == '{' || head[first] == '[');
}

Result<std::unique_ptr<RequestSource>> read_as_is(std::unique_ptr<ByteInput> bytes, const std::string& name,
                                                  const ReadOptions& options) {
  auto window = std::make_unique<Window>(decompressed(std::move(bytes)), options.line_max);
  while (window->view().size() < kHead && !window->ended()) {
    Result<bool> more = window->more();
    if (!more) return std::move(more).error().with(name);
  }
  const std::string_view head = window->view();
  TraceFormat format = TraceFormat::csv;
  if (options.format) {
    format = *options.format;
  } else if (!options.columns.empty()) {
    format = looks_like_json(head) ? TraceFormat::jsonl : TraceFormat::csv;
  } else {
    Result<TraceFormat> found = detect(head, options.delimiter);
    if (!found) return std::move(found).error().with(name);
    format = *found;
  }
  if (format == TraceFormat::servegen) {
    return Error(
        Errc::bad_input,
        fmt::format("{}: this is a ServeGen table (rates or token statistics per client), not a log of requests; "
                    "`ace trace generate --servegen` makes requests of it",
                    name));
  }
  if (format == TraceFormat::ace) return open_binary(std::move(*window), options);
  if (format == TraceFormat::openai_usage) {
    return std::unique_ptr<RequestSource>(std::make_unique<UsageTrace>(std::move(window), name, options));
  }
  Result<std::vector<Column>> columns = columns_of(format, options);
  if (!columns) return std::move(columns).error();
  Result<std::shared_ptr<const Zone>> zone = zone_for(format, options);
  if (!zone) return std::move(zone).error();
  const bool json = format == TraceFormat::mooncake || format == TraceFormat::jsonl ||
                    (format == TraceFormat::litellm && looks_like_json(head));
  if (!json) return open_csv(std::move(window), name, options, format, std::move(*columns), std::move(*zone));
  const TimeColumn times(time_kind(*columns), std::move(*zone));
  return std::unique_ptr<RequestSource>(std::make_unique<JsonTrace>(
      std::move(window), name, options, times, JsonPlan{std::string(title_of(format)), std::move(*columns)}));
}

}  // namespace

Result<std::unique_ptr<RequestSource>> read_trace(std::unique_ptr<ByteInput> bytes, const std::string& name,
                                                  const ReadOptions& options) {
  Result<std::unique_ptr<RequestSource>> source = read_as_is(std::move(bytes), name, options);
  if (!source || !options.sort) return source;
  return sorted(std::move(*source));
}

Result<std::unique_ptr<RequestSource>> open_trace(const std::string& path, const ReadOptions& options) {
  Result<std::unique_ptr<ByteInput>> bytes = open_file(path);
  if (!bytes) return std::move(bytes).error();
  return read_trace(std::move(*bytes), path == "-" ? "stdin" : path, options);
}

Masks masks_with(const MaskKey& key, const std::vector<std::string>& models, const std::vector<std::string>& tenants,
                 const std::vector<std::string>& teams, const std::vector<std::string>& providers,
                 const std::vector<std::string>& projects) {
  const auto mask = [&](const std::vector<std::string>& declared) -> Masks::Mask {
    auto masker = std::make_shared<Masker>(key);  // shared: std::function copies, the secret does not
    for (const std::string& name : declared) masker->declare(name);
    return [masker](std::string_view raw) { return masker->token(raw); };
  };
  return {.model = mask(models),
          .tenant = mask(tenants),
          .team = mask(teams),
          .project = mask(projects),
          .identity = mask({}),
          .provider = mask(providers)};
}

Masks masks_for(const MaskKey& key, const Fleet& fleet, std::vector<std::string> models) {
  std::vector<std::string> tenants, teams, providers, projects;
  for (const Model& model : fleet.models) {
    models.push_back(model.name);
    models.insert(models.end(), model.aliases.begin(), model.aliases.end());
  }
  for (const Tenant& tenant : fleet.tenants) {
    tenants.push_back(tenant.name);
    teams.insert(teams.end(), tenant.teams.begin(), tenant.teams.end());
    projects.insert(projects.end(), tenant.projects.begin(), tenant.projects.end());
  }
  for (const Provider& provider : fleet.providers) {
    providers.push_back(provider.name);
    providers.emplace_back(name_of(provider.api));
  }
  for (const Destination& destination : fleet.destinations) {
    providers.push_back(destination.name);
    for (const Serving& serving : destination.serving)
      if (serving.price) providers.push_back(fleet.prices.rows[serving.price->value].provider);
  }
  return masks_with(key, models, tenants, teams, providers, projects);
}

MaskKey random_mask_key() {
  MaskKey key{};
  ACE_CHECK(::getrandom(key.data(), key.size(), 0) == static_cast<ssize_t>(key.size()), "the system has no randomness");
  return key;
}

}  // namespace ace
