#pragma once
/// What a simulated model says to a request, before it is put into the words of an API.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/rng.h"
#include "simulated/script.h"
#include "wire/request.h"

namespace ace::simulated {

struct Speech {
  struct Call {
    std::string name;
  };
  std::int64_t number = 0;   ///< of the request; in every id
  std::int64_t created = 0;  ///< seconds since the epoch
  std::string model;
  std::vector<std::string> tokens;  ///< of the text, or of the arguments of the call
  std::optional<Call> call;
  bool cut_short = false;    ///< by the bound on the answer
  std::int64_t choices = 1;  ///< all the same
  std::int64_t prompt_tokens = 0, cached_tokens = 0;
  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::int64_t output_tokens() const { return static_cast<std::int64_t>(tokens.size()) * choices; }
};

/// Words, as many as the script says; JSON of the shape that was asked for; or a call of the first tool, with arguments
/// of its shape, where there are tools and the last message is not a tool's answer.
/// @param body  that `request` was read from
Speech speech_of(const Script& script, const wire::Request& request, std::string_view body, Rng& rng);

}  // namespace ace::simulated
