#pragma once
/// What the simulated provider keeps: of the script in force, and of each request at hand.
#include "simulated/provider.h"
#include "simulated/speech.h"

namespace ace::simulated {

struct Provider::InForce : Script {
  explicit InForce(Script s) : Script(std::move(s)), free_at(static_cast<std::size_t>(slots)) {
    if (rpm > 0) requests.emplace(rpm);
    if (tpm > 0) tokens_per_minute.emplace(tpm);
  }
  std::optional<net::Steady> started;
  std::optional<RateBucket> requests, tokens_per_minute;
  std::vector<net::Steady> free_at;  ///< when each slot has done what it was given
  std::int64_t running = 0;

  /// Lines of a head that say what is left of the limits.
  [[nodiscard]] std::string windows(wire::Dialect dialect, Instant now) const;
};

/// One request to an API, from its head on.
struct Provider::Serving {
  std::shared_ptr<InForce> script;
  std::int64_t number = 0;
  wire::Operation operation = wire::Operation::chat;
  wire::Dialect dialect = wire::Dialect::openai;
  Rng rng{0, ""};
  Plan plan{};
  std::string body{}, windows{};
  wire::Request request{};
  Speech speech{};
  Duration retry_after{0};
  std::optional<std::size_t> slot{};
  net::Steady first{}, free_at{};  ///< when the first token comes, when the slot is free again
  Duration pace{0};
  Request::Outcome outcome = Request::Outcome::going;
  int status = 0;
  std::int64_t tokens_sent = 0;
};

}  // namespace ace::simulated
