#pragma once
/// How a simulated provider behaves: what it serves, how fast, within which limits, and what goes wrong when.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "core/rng.h"
#include "core/time.h"

namespace ace::simulated {

/// Where in an exchange something goes wrong, in order.
enum class Place : std::uint8_t {
  before_body,   ///< the request's head has come, its body is not read
  before_head,   ///< the request has come, nothing is sent
  inside_head,   ///< half of the answer's head is sent
  after_head,    ///< its head, and nothing of its body
  inside_event,  ///< half of the event that Fault::event names; of a whole answer, half of its body
  after_event,   ///< that event; the body of a whole answer but its last byte
  before_end,    ///< all but what ends the answer: the last event of a stream, the last byte of a whole answer
};

/// One thing that goes wrong. Which requests it meets: those that `at` lists, each `every`th, a `share` of all, those
/// that arrive between `from` and `from + length`; where several are given all must hold, where none is all requests.
struct Fault {
  enum class Kind : std::uint8_t {
    status,         ///< an error: `status`, `retry_after`, `retry_after_ms`, and `text` for its body if not empty
    close,          ///< the connection ends at `place`
    stall,          ///< nothing more for `pause` from `place` on, then as if nothing had been
    trickle,        ///< the body byte by byte, `pause` between
    slow,           ///< everything takes `factor` times as long
    raw,            ///< `text`, `count` times, as bytes of the connection at `place`, which then ends
    event,          ///< `text`, `count` times, in front of event `event`; in place of the body of a whole answer
    error_event,    ///< the stream says after event `event` that it failed, and ends
    no_terminator,  ///< the stream ends as if it were complete, without its last event
    html,           ///< 200 with a page
    empty,          ///< 200 without a body
    redirect,       ///< 307 to `text`
    no_usage,
    usage_twice,       ///< the second report is larger
    usage_negative,    ///<
    usage_absurd,      ///< beyond every model
    usage_decreasing,  ///< two reports, the second smaller
    model,             ///< says that `text` answered
    fields,            ///< `count` more fields in the head, each with `text`
    refuse,            ///< no connection is accepted between `from` and `from + length`
  };
  Kind kind = Kind::status;
  std::vector<std::int64_t> at{};  ///< numbers of requests, from 1
  std::int64_t every = 0;
  double share = 1.0;
  std::optional<Duration> from{}, length{};  ///< since the provider started

  int status = 500;
  std::optional<std::string> retry_after{}, retry_after_ms{};  ///< as they stand in the field
  Place place = Place::before_head;
  std::int64_t event = 1;  ///< number of an event that carries content, from 1; the last if there are fewer
  Duration pause = kSecond;
  double factor = 10.0;
  std::string text{};
  std::int64_t count = 1;
};

struct Script {
  std::uint64_t seed = 1;
  std::vector<std::string> models{};  ///< what is served; empty: whatever is asked for
  std::vector<std::string> keys{};    ///< what is accepted as Bearer, x-api-key or api-key; empty: anything
  std::string fields{};               ///< lines added to the head of each answer, "Name: value\r\n" each

  Duration ttft{0};               ///< mean wait for the first token, at no load
  Duration prefill{0};            ///< added for each thousand tokens of the prompt
  Duration tpot{0};               ///< from token to token
  double jitter = 0.0;            ///< share of ttft that is exponential, in [0, 1]
  std::int64_t tokens = 16;       ///< mean length of an answer
  bool spread = false;            ///< geometric about that mean, else exactly so many
  double cached = 0.0;            ///< share of the prompt that is reported as cached, in [0, 1]
  std::int64_t slots = 0;         ///< answers at a time, the others wait; 0: no bound
  double slowdown = 1.0;          ///< of tpot when all slots are taken, rising evenly from 1
  std::int64_t rpm = 0, tpm = 0;  ///< past them comes a 429 that says when to come again; 0: no limit

  std::vector<Fault> faults{};
};

/// What goes wrong with one request. Pointers are into the script; null: nothing of the kind.
struct Plan {
  const Fault *status = nullptr, *close = nullptr, *stall = nullptr, *trickle = nullptr, *raw = nullptr,
              *event = nullptr, *error_event = nullptr, *redirect = nullptr, *model = nullptr, *fields = nullptr;
  bool no_terminator = false, html = false, empty = false;
  double factor = 1.0;
  std::optional<Fault::Kind> usage{};  ///< one of the five about it
  std::string names{};                 ///< of the kinds, for the log: "close,slow"
};
/// @param number  of the request, from 1  @param since_start  of the provider  @param rng  of this request
Plan plan_of(const Script& script, std::int64_t number, Duration since_start, Rng& rng);

/// Reads a script in YAML or JSON (docs/SIMULATED_PROVIDER.md).
/// @param file  to name in messages  @return bad_input telling every mistake with its place
Result<Script> read_script(std::string_view yaml, const std::string& file);

}  // namespace ace::simulated
