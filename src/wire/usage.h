#pragma once
/// What a provider says that it counted, made disjoint: a token is in exactly one class. Providers differ in what
/// includes what; this is the one place that knows.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "fleet/fleet.h"
#include "wire/dialect.h"
#include "wire/json.h"

namespace ace::wire {

/// What of a report could not be taken as it stood. Bits.
enum UsageFlag : std::uint8_t {
  kUsageNegative = 1,   ///< a count below zero, taken as zero
  kUsageAbsurd = 2,     ///< beyond 1e9, a fraction or no number: taken as absent
  kUsageConflict = 4,   ///< parts larger than their whole: cut to it
  kUsageDecreased = 8,  ///< a later report of the same stream counted less; the larger one stands
};

struct Reported {
  Usage usage;
  std::uint8_t flags = 0;
  friend bool operator==(const Reported&, const Reported&) = default;
};

/// Reads a usage object: OpenAI's of chat, completions and embeddings (prompt_tokens...), of Responses (input_tokens
/// with input_tokens_details), or Anthropic's (input_tokens beside cache counts).
///
///   OpenAI     prompt_tokens includes cached, audio and image tokens; completion_tokens includes reasoning and audio
///   Anthropic  input_tokens, cache_read_input_tokens and cache_creation_input_tokens stand beside each other
///
/// Source: the OpenAPI descriptions of both, 2026-09.
Reported read_usage(Dialect dialect, JsonValue usage);

/// A whole response, as far as the books need it.
struct ResponseFacts {
  std::optional<Reported> reported;  ///< null: no usage
  std::string model;                 ///< as the provider says; may differ from what was asked for
  std::string id;
  std::string finish;  ///< finish_reason, stop_reason or status
  ServiceTier service = ServiceTier::standard;
  bool error = false;           ///< a body that says it is an error, whatever its status
  std::int64_t text_bytes = 0;  ///< of what the model wrote, for an estimate where no usage is
};
/// @return null if this is no JSON object
std::optional<ResponseFacts> read_response(Operation operation, std::string_view body, Json& json);

/// Follows a stream event by event.
class StreamReader {
 public:
  explicit StreamReader(Operation operation) : operation_(operation) {}

  enum class Kind : std::uint8_t {
    content,     ///< pass it on
    usage_only,  ///< the chunk that only include_usage brings: not for a client that did not ask
    end,         ///< the stream is complete: [DONE], message_stop, response.completed
    error,       ///< the upstream says that it failed
    broken,      ///< not JSON: end the stream with an error
  };
  /// @param type, data of one event
  Kind take(std::string_view type, std::string_view data, Json& json);

  /// Sums of what was seen so far; the usage is complete when ended() holds.
  [[nodiscard]] const ResponseFacts& facts() const { return facts_; }
  [[nodiscard]] bool ended() const { return ended_; }
  [[nodiscard]] std::int64_t content_events() const { return content_events_; }

 private:
  Kind take_openai(JsonValue root);
  Kind take_responses(std::string_view type, JsonValue root);
  Kind take_anthropic(JsonValue root);
  void report(const Reported& reported);

  Operation operation_;
  ResponseFacts facts_;
  bool ended_ = false;
  std::int64_t content_events_ = 0;
};

}  // namespace ace::wire
