#pragma once
/// Inside the providers: what all that speak Anthropic's messages share.
#include <string>

#include "adapters/provider_parts.h"

namespace ace {

/// The bound on an answer where a client of chat completions sets none and nothing is known of the model: the API asks
/// for one, and all of its models have at least this.
inline constexpr std::int64_t kAnswerMost = 4096;

class MessagesUpstream : public HttpUpstream {
 public:
  using HttpUpstream::HttpUpstream;
  [[nodiscard]] std::variant<Prepared, wire::WireError> prepare(const Ask& ask, wire::Json& json) const final;
  [[nodiscard]] Refusal refusal(int status, std::span<const net::Field> fields, std::string_view body, Instant now,
                                wire::Json& json) const override;

 protected:
  /// Sets target and fields, and whatever is different of body and answer.
  /// @param operation of the body, which is messages or count_tokens by now and empty where it is Ask::body
  virtual void finish(const Ask& ask, wire::Operation operation, wire::Json& json, Prepared& out) const = 0;
};

/// What a client says in `anthropic-beta`, in one line; empty where it says nothing, or what is no list of names.
std::string betas_of(std::span<const net::Field> fields);

}  // namespace ace
