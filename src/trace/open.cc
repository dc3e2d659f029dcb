#include <sys/random.h>

#include <algorithm>

#include <fmt/core.h>

#include "trace/csv_trace.h"
#include "trace/detect.h"

namespace ace {
namespace {

constexpr std::size_t kHead = 64U << 10;  // a header line or a first object; a stream is not read further to be told

Result<std::unique_ptr<RequestSource>> open_csv(std::unique_ptr<Window> window, const std::string& name,
                                                const ReadOptions& options, TraceFormat format) {
  CsvPlan plan{.format = std::string(title_of(format)), .columns = csv_columns(format)};
  if (!options.columns.empty()) {
    Result<std::vector<Column>> columns = parse_columns(options.columns);
    if (!columns) return std::move(columns).error();
    plan.columns = std::move(*columns);
  }
  const bool known = format != TraceFormat::csv;
  std::shared_ptr<const Zone> zone;
  const std::string tz = known ? "UTC" : options.tz;
  if (!tz.empty()) {
    Result<std::shared_ptr<const Zone>> found = zone_of(tz);
    if (!found) return std::move(found).error();
    zone = std::move(*found);
  }
  plan.utc = tz == "UTC";
  plan.zero_output_failed = format == TraceFormat::burstgpt;
  auto trace = std::make_unique<CsvTrace>(std::move(window), name, options,
                                          TimeColumn(time_kind(plan.columns), std::move(zone)), std::move(plan));
  if (Result<void> header = trace->read_header(); !header) return std::move(header).error().with(name);
  return std::unique_ptr<RequestSource>(std::move(trace));
}

}  // namespace

Result<std::unique_ptr<RequestSource>> read_trace(std::unique_ptr<ByteInput> bytes, const std::string& name,
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
    const std::size_t first = head.find_first_not_of("\xef\xbb\xbf \t\r\n");
    const bool json = first != std::string_view::npos && (head[first] == '{' || head[first] == '[');
    format = json ? TraceFormat::jsonl : TraceFormat::csv;
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
  return open_csv(std::move(window), name, options, format);
}

Result<std::unique_ptr<RequestSource>> open_trace(const std::string& path, const ReadOptions& options) {
  Result<std::unique_ptr<ByteInput>> bytes = open_file(path);
  if (!bytes) return std::move(bytes).error();
  return read_trace(std::move(*bytes), path == "-" ? "stdin" : path, options);
}

Masks masks_with(const MaskKey& key, const std::vector<std::string>& models, const std::vector<std::string>& tenants,
                 const std::vector<std::string>& teams) {
  const auto mask = [&](const std::vector<std::string>& declared) -> Masks::Mask {
    auto masker = std::make_shared<Masker>(key);  // shared: std::function copies, the secret does not
    for (const std::string& name : declared) masker->declare(name);
    return [masker](std::string_view raw) { return masker->token(raw); };
  };
  return {.model = mask(models), .tenant = mask(tenants), .team = mask(teams), .identity = mask({})};
}

MaskKey random_mask_key() {
  MaskKey key{};
  ACE_CHECK(::getrandom(key.data(), key.size(), 0) == static_cast<ssize_t>(key.size()), "the system has no randomness");
  return key;
}

}  // namespace ace
