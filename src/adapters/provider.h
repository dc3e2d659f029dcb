#pragma once
/// How the destinations of a fleet are spoken to over HTTP, each in its own dialect, behind one face. Pure but for the
/// reading of secrets: requests in, bytes out, and what came back turned into what the client expects.
///
/// Start with `Upstream`. What providers say and when they said so stands in docs/PROVIDERS.md.
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "core/result.h"
#include "core/time.h"
#include "dispatch/dispatch.h"
#include "fleet/fleet.h"
#include "net/client.h"
#include "perimeter/secret.h"
#include "wire/request.h"
#include "wire/usage.h"

namespace ace {

/// A request of a client on its way to a destination. Borrows for the length of a call.
struct Ask {
  const wire::Request& request;              ///< as read
  std::string_view body;                     ///< the bytes it was read from
  std::string_view model;                    ///< its name at the destination: model_name_at()
  std::string_view cache_key{};              ///< of the tenant, salted; empty = none
  std::optional<std::int64_t> max_tokens{};  ///< a bound of ours in the place of the client's
  std::int64_t output_max = 0;               ///< most that the model can answer; 0 = not known
  std::string_view request_id{};             ///< ours
  std::span<const net::Field> fields{};      ///< the client's; only those of a short list go on
  Instant now{};                             ///< of this attempt
};

/// What comes back of one attempt, turned into the dialect that the client spoke. How the bytes were cut changes
/// neither what the client gets nor the facts.
class Answer {
 public:
  virtual ~Answer() = default;

  /// A whole, unstreamed body of status 200.
  struct Whole {
    std::string body;                      ///< what the client gets
    wire::ResponseFacts facts;             ///< what it counted
    std::optional<wire::WireError> error;  ///< instead of the body: it was no answer
  };
  virtual Whole whole(std::string body, wire::Json& json) = 0;

  enum class State : std::uint8_t {
    going,
    ended,   ///< complete; what follows is dropped
    failed,  ///< the provider said so, or sent what is no such stream; `pass` ends with the event that tells the client
  };
  struct Step {
    std::string_view pass;  ///< what the client gets now: whole events. Holds until the next call
    State state = State::going;
  };
  /// A piece of a stream. Nothing is held back but an event whose end has not come (at most 1 MiB).
  virtual Step feed(std::string_view bytes, wire::Json& json) = 0;
  /// No more bytes come. `failed`, with the event for the client, unless the answer was complete.
  /// @param clean whether the framing of the response says that this is its end
  virtual Step end(bool clean) = 0;
  /// The event that ends a stream which cannot go on for a reason of ours: a deadline, a provider that went silent.
  virtual std::string_view fail(const wire::WireError& error) = 0;

  [[nodiscard]] virtual const wire::ResponseFacts& facts() const = 0;
  [[nodiscard]] virtual std::int64_t content_events() const = 0;  ///< above 0: the first token has come
};

/// What is sent, by POST. The body is Ask::body where `body` is empty.
struct Prepared {
  std::string target;
  Secret fields;  ///< lines of the head, with the key of the provider
  std::string body;
  std::unique_ptr<Answer> answer;
};

/// A request that is handed on unread: images, audio, files, batches, and what is not known yet.
struct Unread {
  std::string_view target;               ///< the client's, path and query, never decoded
  std::span<const net::Field> fields{};  ///< the client's; only those of a short list go on
  std::string_view request_id{};         ///< ours
};

/// How an answer with another status than 200 is to be taken.
struct Refusal {
  Rejection why = Rejection::failed;
  Duration retry_after{0};  ///< as stated; 0 = not
  RateLimit limit = RateLimit::unknown;
  bool billed = false;    ///< the provider charges for the prompt all the same
  wire::WireError error;  ///< for the client, if no other destination answers
};

using Window = RateWindow;
using Windows = RateWindows;

/// What the head of an answer tells besides its status.
struct Told {
  std::string_view served_by;   ///< the deployment that answered, where the provider spilled to another; else empty
  std::string_view request_id;  ///< the provider's own
  Windows windows;
};

/// One destination as it is called. Not changed by any call: one may serve all threads.
class Upstream {
 public:
  virtual ~Upstream() = default;
  [[nodiscard]] virtual const net::Origin& origin() const = 0;
  /// Whether it answers this operation, itself or by translation.
  [[nodiscard]] virtual bool speaks(wire::Operation operation) const = 0;
  /// @param json  scratch
  /// @return an error, which no other destination of this API mends, if the request has no counterpart there
  [[nodiscard]] virtual std::variant<Prepared, wire::WireError> prepare(const Ask& ask, wire::Json& json) const = 0;
  /// Whether the fleet file says that this path goes there unread (`surfaces`). Only plain paths do: letters, digits
  /// and
  /// `. _ ~ -` between single slashes, so that nobody behind us reads another path in it.
  [[nodiscard]] virtual bool passes(std::string_view path) const = 0;
  /// Target and fields alone: method, body and answer are those of the client and of the provider. Nothing in them is
  /// read, so a model is not renamed and nothing is counted. @pre passes() its path
  [[nodiscard]] virtual Prepared pass(const Unread& unread) const = 0;
  [[nodiscard]] virtual Refusal refusal(int status, std::span<const net::Field> fields, std::string_view body,
                                        Instant now, wire::Json& json) const = 0;
  [[nodiscard]] virtual Told told(std::span<const net::Field> fields, Instant now) const = 0;
};

/// What the model is called at this destination. @pre it is served there
std::string_view model_name_at(const Fleet& fleet, DestinationId destination, ModelId model);

/// @return not_found or bad_input, saying which variable or file and why
using ReadSecret = std::function<Result<Secret>(const SecretName&)>;
/// Variables of this process, and files that nobody else may read, relative to `folder`. A line end is cut off.
ReadSecret secrets_of_process(std::string folder);

/// @return bad_input if the fleet file does not say how it is called, or what `read` says
Result<std::unique_ptr<Upstream>> make_upstream(const Fleet& fleet, DestinationId destination, const ReadSecret& read);

}  // namespace ace
