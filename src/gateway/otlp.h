#pragma once
/// What one request was, in the words of OpenTelemetry's conventions for generative AI, as OTLP/HTTP in JSON. Pure.
/// Source: open-telemetry/semantic-conventions-genai (status: development) and opentelemetry-proto 1.5, 2026-11.
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/rng.h"
#include "core/time.h"
#include "wire/dialect.h"

namespace ace::gateway {

/// W3C Trace Context: where a span belongs.
struct TraceContext {
  std::array<std::uint64_t, 2> trace{};
  std::uint64_t parent = 0;  ///< 0: none
  bool sampled = true;
  friend bool operator==(const TraceContext&, const TraceContext&) = default;
};
/// Reads a `traceparent`. @return null for anything that is not one, as the recommendation has it
std::optional<TraceContext> parse_traceparent(std::string_view value);
/// A trace of its own.
TraceContext new_trace(Rng& rng);

/// One request, ended. Nothing in it is text of a prompt or an answer, or names a person.
struct SpanRecord {
  TraceContext context;
  std::uint64_t span = 0;
  Instant start{}, end{};
  std::optional<Duration> first_chunk{};  ///< of a stream, since the start
  wire::Operation operation = wire::Operation::chat;
  std::string provider{};  ///< gen_ai.provider.name: openai, azure.ai.openai, anthropic, aws.bedrock, gcp.vertex_ai...
  std::string server{};    ///< host of the destination
  std::uint16_t port = 0;
  std::string request_model{}, response_model{}, response_id{}, finish{};
  std::optional<std::int64_t> input_tokens{}, cached_tokens{}, output_tokens{};
  std::string error{};  ///< ACE's code; empty: it went well
  int status = 200;
  std::string request_id{}, destination{};  ///< ours
  std::string cost_usd{};                   ///< decimal
};

/// The body of POST /v1/traces. @param version of ACE
std::string otlp_spans(std::span<const SpanRecord> spans, std::string_view version);

/// gen_ai.client.operation.duration, .token.usage and .time_to_first_chunk, added up since `start` by operation,
/// provider and model. Holds at most kSeries combinations; what comes after them is counted in one called "other".
class GenAiMetrics {
 public:
  static constexpr std::size_t kSeries = 200;
  explicit GenAiMetrics(Instant start);
  ~GenAiMetrics();
  void add(const SpanRecord& span);
  /// The body of POST /v1/metrics.
  [[nodiscard]] std::string otlp(Instant now, std::string_view version) const;

 private:
  struct Series;
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ace::gateway
