#pragma once
/// A speech in the words of an API: whole, or as the events of a stream.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "simulated/speech.h"
#include "wire/dialect.h"

namespace ace::simulated {

/// How the provider reports what it counted.
enum class Counted : std::uint8_t { fairly, not_at_all, twice, negative, absurd, decreasing };

/// One server-sent event as it goes out.
struct Event {
  std::string bytes;
  bool content = false;  ///< carries a token
};

/// @param operation  other than models
/// @param body       of the request; its inputs are counted for embeddings
std::string whole_answer(wire::Operation operation, const Speech& speech, Counted counted, std::string_view body);

/// The last event is the one that ends the stream. @param operation chat, responses, completions or messages
/// @param usage  whether an OpenAI client asked for it
std::vector<Event> stream_answer(wire::Operation operation, const Speech& speech, bool usage, Counted counted);

/// The list of models, in the words of either API.
std::string models_answer(wire::Dialect dialect, const std::vector<std::string>& models);

}  // namespace ace::simulated
