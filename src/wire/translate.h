#pragma once
/// Between OpenAI's chat completions and Anthropic's messages, both ways, where their feature sets meet. What would
/// change the meaning and has no counterpart is an error that names the field; what is a hint alone (user, metadata,
/// seed, cache hints, thinking) is left out.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/dialect.h"
#include "wire/json.h"
#include "wire/usage.h"

namespace ace::wire {

struct Translated {
  std::string body;
  std::optional<WireError> error;  ///< code "untranslatable" with the field, or what read_request() would say
};

/// A chat completion request as a messages request.
/// @param root  of a body that read_request() accepted
/// @param model  name of the model at the destination
/// @param max_tokens  where the request sets no bound: Anthropic's API asks for one
Translated request_to_anthropic(JsonValue root, std::string_view model, std::int64_t max_tokens);

/// A messages request as a chat completion request. A stream is asked for its usage.
Translated request_to_openai(JsonValue root, std::string_view model);

/// A message as a chat completion. @param created  seconds since the epoch
/// @return an error 502 if it is none
Translated response_to_openai(std::string_view body, std::int64_t created, Json& json);
/// A chat completion as a message.
Translated response_to_anthropic(std::string_view body, Json& json);

/// Names of why an answer ended. Unknown ones end it normally.
std::string_view finish_to_openai(std::string_view stop_reason);
std::string_view finish_to_anthropic(std::string_view finish_reason);
/// A usage object in the words of each dialect.
std::string usage_json(Dialect dialect, const Usage& usage);

/// Turns the events of a stream of messages into chunks of a chat completion.
class StreamToOpenAi {
 public:
  /// @param include_usage  whether the client asked for the usage chunk
  StreamToOpenAi(std::int64_t created, bool include_usage) : created_(created), include_usage_(include_usage) {}
  /// Appends what this event becomes, framed, to `out`. @return false if it is not of such a stream
  bool take(std::string_view data, std::string& out, Json& json);
  [[nodiscard]] bool ended() const { return ended_; }

 private:
  void chunk(std::string_view delta, std::string_view finish, std::string& out) const;
  std::int64_t created_;
  bool include_usage_, ended_ = false;
  std::string id_, model_;
  Usage usage_;
  std::int64_t tool_calls_ = 0;
};

/// Turns the chunks of a chat completion into the events of a stream of messages.
class StreamToAnthropic {
 public:
  bool take(std::string_view data, std::string& out, Json& json);
  [[nodiscard]] bool ended() const { return ended_; }

 private:
  void start(JsonValue root, std::string& out);
  void open(std::string_view block, std::string& out);
  void close(std::string& out);
  void finish(std::string& out);
  bool take_call(JsonValue call, std::string& out);
  bool started_ = false, ended_ = false, open_ = false, in_text_ = false;
  std::int64_t blocks_ = 0;  ///< begun so far
  std::int64_t call_ = -1;   ///< index of the tool call that is open
  std::string finish_;
  Usage usage_;
};

}  // namespace ace::wire
