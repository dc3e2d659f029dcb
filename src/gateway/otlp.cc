#include "gateway/otlp.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "core/money.h"
#include "core/text.h"

namespace ace::gateway {
namespace {

/// Attributes of OTLP, as they are put together.
class Attributes {
 public:
  Attributes& text(std::string_view key, std::string_view value) {
    if (!value.empty()) add(key, fmt::format(R"({{"stringValue":{}}})", json_text(value)));
    return *this;
  }
  Attributes& texts(std::string_view key, std::string_view only) {
    if (!only.empty())
      add(key, fmt::format(R"({{"arrayValue":{{"values":[{{"stringValue":{}}}]}}}})", json_text(only)));
    return *this;
  }
  /// 64-bit integers are strings in OTLP's JSON.
  Attributes& whole(std::string_view key, std::optional<std::int64_t> value) {
    if (value) add(key, fmt::format(R"({{"intValue":"{}"}})", *value));
    return *this;
  }
  Attributes& number(std::string_view key, std::optional<double> value) {
    if (value) add(key, fmt::format(R"({{"doubleValue":{}}})", *value));
    return *this;
  }
  [[nodiscard]] std::string json() const { return "[" + out_ + "]"; }

 private:
  void add(std::string_view key, std::string_view value) {
    out_ += fmt::format(R"({}{{"key":"{}","value":{}}})", out_.empty() ? "" : ",", key, value);
  }
  std::string out_;
};

std::string resource(std::string_view version) {
  return fmt::format(R"({{"attributes":{}}})",
                     Attributes().text("service.name", "ace").text("service.version", version).json());
}

std::string scope(std::string_view version) {
  return fmt::format(R"({{"name":"ace.gateway","version":"{}"}})", version);
}

/// gen_ai.operation.name.
std::string_view convention_of(wire::Operation operation) {
  switch (operation) {
    case wire::Operation::completions:
      return "text_completion";
    case wire::Operation::embeddings:
      return "embeddings";
    case wire::Operation::models:
      return "list_models";
    case wire::Operation::count_tokens:
      return "count_tokens";
    case wire::Operation::chat:
    case wire::Operation::responses:
    case wire::Operation::messages:
      break;
  }
  return "chat";
}

std::optional<std::uint64_t> parse_hex(std::string_view text) {
  std::uint64_t out = 0;
  for (const char c : text) {
    const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    if (digit < 0) return std::nullopt;
    out = out << 4U | static_cast<std::uint64_t>(digit);
  }
  return out;
}

std::string span_json(const SpanRecord& s) {
  const std::string attributes =
      Attributes()
          .text("gen_ai.operation.name", convention_of(s.operation))
          .text("gen_ai.provider.name", s.provider)
          .text("gen_ai.request.model", s.request_model)
          .text("gen_ai.response.model", s.response_model)
          .text("gen_ai.response.id", s.response_id)
          .texts("gen_ai.response.finish_reasons", s.finish)
          .number("gen_ai.response.time_to_first_chunk",
                  s.first_chunk ? std::optional(to_seconds(*s.first_chunk)) : std::nullopt)
          .whole("gen_ai.usage.input_tokens", s.input_tokens)
          .whole("gen_ai.usage.output_tokens", s.output_tokens)
          .whole("gen_ai.usage.cache_read.input_tokens", s.cached_tokens)
          .text("server.address", s.server)
          .whole("server.port", s.server.empty() ? std::nullopt : std::optional<std::int64_t>(s.port))
          .whole("http.response.status_code", s.status)
          .text("error.type", s.error)
          .text("ace.request.id", s.request_id)
          .text("ace.destination", s.destination)
          .text("ace.cost_usd", s.cost_usd)
          .json();
  const std::string parent = s.context.parent == 0 ? "" : fmt::format(R"("parentSpanId":"{:016x}",)", s.context.parent);
  return fmt::format(
      R"({{"traceId":"{:016x}{:016x}","spanId":"{:016x}",{}"name":{},"kind":3,"startTimeUnixNano":"{}","endTimeUnixNano":"{}","attributes":{},"status":{}}})",
      s.context.trace[0], s.context.trace[1], s.span, parent,
      json_text(fmt::format("{} {}", convention_of(s.operation), s.request_model)), nanos(s.start), nanos(s.end),
      attributes, s.error.empty() ? "{}" : fmt::format(R"({{"code":2,"message":{}}})", json_text(s.error)));
}

/// The buckets that the conventions advise.
constexpr std::array<double, 14> kSeconds = {0.01, 0.02, 0.04, 0.08,  0.16,  0.32,  0.64,
                                             1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92};
constexpr std::array<double, 14> kTokens = {1,     4,     16,     64,      256,     1024,     4096,
                                            16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864};

struct Buckets {
  std::array<std::int64_t, 15> counts{};
  std::int64_t count = 0;
  double sum = 0.0;
  void add(const std::array<double, 14>& bounds, double value) {
    ++counts[static_cast<std::size_t>(std::lower_bound(bounds.begin(), bounds.end(), value) - bounds.begin())];
    ++count;
    sum += value;
  }
  [[nodiscard]] std::string json(const std::array<double, 14>& bounds, const std::string& attributes, Instant start,
                                 Instant now) const {
    std::vector<std::string> shown;
    for (const std::int64_t n : counts) shown.push_back(fmt::format("\"{}\"", n));
    return fmt::format(
        R"({{"attributes":{},"startTimeUnixNano":"{}","timeUnixNano":"{}","count":"{}","sum":{},"bucketCounts":[{}],"explicitBounds":[{}]}})",
        attributes, nanos(start), nanos(now), count, sum, listed(shown), listed(bounds));
  }
};

}  // namespace

std::optional<TraceContext> parse_traceparent(std::string_view value) {
  // version "-" trace-id "-" parent-id "-" flags; a later version may append more after another "-".
  if (value.size() < 55 || value[2] != '-' || value[35] != '-' || value[52] != '-') return std::nullopt;
  const auto version = parse_hex(value.substr(0, 2)), high = parse_hex(value.substr(3, 16)),
             low = parse_hex(value.substr(19, 16)), parent = parse_hex(value.substr(36, 16)),
             flags = parse_hex(value.substr(53, 2));
  if (!version || !high || !low || !parent || !flags || *version == 0xff || (*high == 0 && *low == 0) || *parent == 0)
    return std::nullopt;
  if (value.size() > 55 && (*version == 0 || value[55] != '-')) return std::nullopt;
  return TraceContext{{*high, *low}, *parent, (*flags & 1U) != 0};
}

TraceContext new_trace(Rng& rng) { return {{rng.next(), rng.next() | 1U}, 0, true}; }

std::string otlp_spans(std::span<const SpanRecord> spans, std::string_view version) {
  std::string all;
  for (const SpanRecord& span : spans) all += (all.empty() ? "" : ",") + span_json(span);
  return fmt::format(R"({{"resourceSpans":[{{"resource":{},"scopeSpans":[{{"scope":{},"spans":[{}]}}]}}]}})",
                     resource(version), scope(version), all);
}

struct GenAiMetrics::Series {
  Buckets duration, first_chunk, input, output;
};

struct GenAiMetrics::State {
  using Key =
      std::tuple<std::string_view, std::string, std::string, std::string>;  ///< operation, provider, model, error
  Instant start;
  std::map<Key, Series> series;
};

GenAiMetrics::GenAiMetrics(Instant start) : state_(std::make_unique<State>()) { state_->start = start; }
GenAiMetrics::~GenAiMetrics() = default;

void GenAiMetrics::add(const SpanRecord& s) {
  State::Key key{convention_of(s.operation), s.provider, s.request_model, s.error};
  if (state_->series.size() >= kSeries && !state_->series.contains(key)) key = {"other", "", "", ""};
  Series& series = state_->series[key];
  series.duration.add(kSeconds, to_seconds(s.end - s.start));
  if (s.first_chunk) series.first_chunk.add(kSeconds, to_seconds(*s.first_chunk));
  if (s.input_tokens) series.input.add(kTokens, static_cast<double>(*s.input_tokens));
  if (s.output_tokens) series.output.add(kTokens, static_cast<double>(*s.output_tokens));
}

std::string GenAiMetrics::otlp(Instant now, std::string_view version) const {
  std::string durations, chunks, tokens;
  const auto append = [](std::string& out, const std::string& point) { out += (out.empty() ? "" : ",") + point; };
  for (const auto& [key, series] : state_->series) {
    const auto& [operation, provider, model, error] = key;
    const auto attributes = [&](std::string_view type) {
      return Attributes()
          .text("gen_ai.operation.name", operation)
          .text("gen_ai.provider.name", provider)
          .text("gen_ai.request.model", model)
          .text("gen_ai.token.type", type)
          .text("error.type", error)
          .json();
    };
    const auto points = [&](std::string& out, const Buckets& buckets, const std::array<double, 14>& bounds,
                            std::string_view type) {
      if (buckets.count > 0) append(out, buckets.json(bounds, attributes(type), state_->start, now));
    };
    points(durations, series.duration, kSeconds, "");
    points(chunks, series.first_chunk, kSeconds, "");
    points(tokens, series.input, kTokens, "input");
    points(tokens, series.output, kTokens, "output");
  }
  std::string metrics;
  const auto metric = [&](std::string_view name, std::string_view unit, const std::string& points) {
    if (!points.empty())
      append(metrics,
             fmt::format(R"({{"name":"{}","unit":"{}","histogram":{{"aggregationTemporality":2,"dataPoints":[{}]}}}})",
                         name, unit, points));
  };
  metric("gen_ai.client.operation.duration", "s", durations);
  metric("gen_ai.client.operation.time_to_first_chunk", "s", chunks);
  metric("gen_ai.client.token.usage", "{token}", tokens);
  return fmt::format(R"({{"resourceMetrics":[{{"resource":{},"scopeMetrics":[{{"scope":{},"metrics":[{}]}}]}}]}})",
                     resource(version), scope(version), metrics);
}

}  // namespace ace::gateway
