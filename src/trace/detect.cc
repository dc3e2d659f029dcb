#include "trace/detect.h"

#include <algorithm>

#include <fmt/core.h>

#include "trace/binary.h"

namespace ace {
namespace {

constexpr std::pair<TraceFormat, std::string_view> kNames[] = {{TraceFormat::azure, "azure"},
                                                               {TraceFormat::burstgpt, "burstgpt"},
                                                               {TraceFormat::mooncake, "mooncake"},
                                                               {TraceFormat::servegen, "servegen"},
                                                               {TraceFormat::litellm, "litellm"},
                                                               {TraceFormat::openai_usage, "openai-usage"},
                                                               {TraceFormat::csv, "csv"},
                                                               {TraceFormat::jsonl, "jsonl"},
                                                               {TraceFormat::ace, "ace"}};

std::string lower(std::string_view text) {
  std::string low(text);
  std::transform(low.begin(), low.end(), low.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return low;
}

bool has_key(std::string_view json, std::string_view key) {
  return json.find(fmt::format("\"{}\"", key)) != std::string_view::npos;
}

/// The header as lower-case names between delimiters: ",timestamp,contexttokens,".
std::string header_names(std::string_view head, char delimiter) {
  std::string_view line = head.substr(0, head.find('\n'));
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  std::string names = ",", name;
  for (const char c : line) {
    if (c == delimiter) {
      names += name + ",";
      name.clear();
    } else if (c != '"' && (c != ' ' || !name.empty())) {
      name += c;
    }
    while (c == delimiter && names.size() > 1 && names[names.size() - 2] == ' ') names.erase(names.size() - 2, 1);
  }
  while (!name.empty() && name.back() == ' ') name.pop_back();
  return lower(names + name + ",");
}

/// Columns that tell the formats with a header apart, as header_names() has them.
struct Telling {
  TraceFormat format;
  std::vector<std::string_view> columns;
};
const std::vector<Telling>& telling_columns() {
  static const std::vector<Telling> all = {{TraceFormat::azure, {"timestamp", "contexttokens", "generatedtokens"}},
                                           {TraceFormat::burstgpt, {"timestamp", "request tokens", "response tokens"}},
                                           {TraceFormat::servegen, {"client", "t_s", "rate_per_s"}},
                                           {TraceFormat::servegen, {"client", "window_start_s", "in_mean"}},
                                           {TraceFormat::litellm, {"starttime", "prompt_tokens", "completion_tokens"}},
                                           {TraceFormat::csv, {"at", "prompt", "output"}}};
  return all;
}

Result<TraceFormat> detect_json(std::string_view head) {
  const std::string_view first = head.substr(0, 64U << 10);
  if (has_key(first, "organization.usage.completions.result") || has_key(first, "num_model_requests") ||
      (has_key(first, "bucket") && has_key(first, "start_time"))) {
    return TraceFormat::openai_usage;
  }
  if (has_key(first, "startTime") && has_key(first, "prompt_tokens")) return TraceFormat::litellm;
  if (has_key(first, "input_length") && has_key(first, "output_length") && has_key(first, "timestamp")) {
    return TraceFormat::mooncake;
  }
  if (has_key(first, "at") && has_key(first, "prompt") && has_key(first, "output")) return TraceFormat::jsonl;
  return Error(Errc::bad_input,
               "JSON of no known trace format; map its members with --columns at=NAME,prompt=NAME,output=NAME, or name "
               "the format with --format");
}

}  // namespace

std::string_view name_of(TraceFormat format) {
  for (const auto& [known, name] : kNames) {
    if (known == format) return name;
  }
  return "unknown";
}

std::optional<TraceFormat> trace_format_from(std::string_view name) {
  for (const auto& [format, known] : kNames) {
    if (known == name) return format;
  }
  return std::nullopt;
}

std::string_view title_of(TraceFormat format) {
  switch (format) {
    case TraceFormat::azure:
      return "Azure LLM inference CSV";
    case TraceFormat::burstgpt:
      return "BurstGPT CSV";
    case TraceFormat::mooncake:
      return "Mooncake JSONL";
    case TraceFormat::servegen:
      return "ServeGen table";
    case TraceFormat::litellm:
      return "LiteLLM spend log";
    case TraceFormat::openai_usage:
      return "OpenAI usage export (aggregated)";
    case TraceFormat::csv:
      return "CSV";
    case TraceFormat::jsonl:
      return "JSONL";
    case TraceFormat::ace:
      return "ACE trace";
  }
  return "";
}

Result<TraceFormat> detect(std::string_view head, char delimiter) {
  if (head.starts_with(kBinaryMagic)) return TraceFormat::ace;
  if (head.starts_with("\xef\xbb\xbf")) head.remove_prefix(3);
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return Error(Errc::bad_input, "the file is empty, expected a trace");
  if (head[first] == '{' || head[first] == '[') return detect_json(head.substr(first));
  const std::string names = header_names(head.substr(first), delimiter);
  const auto lacks = [&](std::string_view name) { return names.find(fmt::format(",{},", name)) == std::string::npos; };
  const Telling* nearest = nullptr;  // all but one of its columns are there
  for (const Telling& t : telling_columns()) {
    const auto lacking = std::count_if(t.columns.begin(), t.columns.end(), lacks);
    if (lacking == 0) return t.format;
    if (lacking == 1 && nearest == nullptr) nearest = &t;
  }
  if (names.find('\r') != std::string::npos) return TraceFormat::csv;  // whose reader names the line
  for (const char other : {';', '\t', ',', '|'}) {
    if (other != delimiter && std::count(names.begin(), names.end(), other) > (other == ',' ? 2 : 1)) {
      return Error(Errc::bad_input,
                   fmt::format("no known header; is this separated by \"{0}\"? Say --delimiter \"{0}\"",
                               other == '\t' ? "\\t" : std::string(1, other)));
    }
  }
  if (nearest != nullptr)
    return Error(
        Errc::bad_input,
        fmt::format("line 1: the header has no column {}, else this would be: {}; add it, or map "
                    "the columns with --columns at=NAME,prompt=NAME,output=NAME",
                    *std::find_if(nearest->columns.begin(), nearest->columns.end(), lacks), title_of(nearest->format)));
  return Error(Errc::bad_input,
               "line 1: a CSV whose header is of no known trace format; map its columns with --columns "
               "at=NAME,prompt=NAME,output=NAME, or name the format with --format");
}

std::vector<Column> known_columns(TraceFormat format) {
  switch (format) {
    case TraceFormat::azure:
      return {{Field::at, "TIMESTAMP", 0, true},
              {Field::prompt, "ContextTokens", 0, true},
              {Field::output, "GeneratedTokens", 0, true}};
    case TraceFormat::burstgpt:
      // Columns as described in the README of github.com/HPMLL/BurstGPT (release 1.1): Timestamp in seconds from the
      // first midnight, Model, Request tokens, Response tokens, Total tokens, Log Type; later files add Session ID and
      // Elapsed time (seconds). A failure has 0 response tokens.
      return {{Field::at, "Timestamp", 1'000'000'000, true},
              {Field::model, "Model", 0, false},
              {Field::prompt, "Request tokens", 0, true},
              {Field::output, "Response tokens", 0, true},
              {Field::duration, "Elapsed time", 1'000'000'000, false}};
    case TraceFormat::litellm:
      return {{Field::at, "startTime", 0, true},
              {Field::end, "endTime", 0, false},
              {Field::first_token_at, "completionStartTime", 0, false},
              {Field::id, "request_id", 0, false},
              {Field::provider, "custom_llm_provider", 0, false},
              {Field::model, "model", 0, false},
              {Field::team, "team_id", 0, false},
              {Field::organization, "organization_id", 0, false},
              {Field::api_key, "api_key", 0, false},
              {Field::user, "user", 0, false},
              {Field::prompt, "prompt_tokens", 0, true},
              {Field::output, "completion_tokens", 0, true},
              {Field::cost, "spend", 0, false},
              {Field::status, "status", 0, false},
              {Field::cache_hit, "cache_hit", 0, false},
              {Field::call_type, "call_type", 0, false},
              {Field::usage_metadata, "metadata", 0, false}};
    case TraceFormat::mooncake:
      // github.com/kvcache-ai/Mooncake, FAST25-release: times in milliseconds since the start, blocks of 512 tokens.
      return {{Field::at, "timestamp", 1'000'000, true},
              {Field::prompt, "input_length", 0, true},
              {Field::output, "output_length", 0, true},
              {Field::blocks, "hash_ids", 0, false}};
    default:
      return own_columns();
  }
}

}  // namespace ace
