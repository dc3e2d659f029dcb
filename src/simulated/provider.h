#pragma once
/// A provider that exists only here: OpenAI's and Anthropic's APIs, whole and streamed, with the speed, the limits and
/// the faults of a script. What `ace serve --demo` and the tests send their requests to.
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/rate_bucket.h"
#include "net/exchange.h"
#include "simulated/script.h"
#include "wire/json.h"
#include "wire/request.h"

namespace ace::simulated {

class Sending;

/// A request as it came, and what became of it.
struct Request {
  enum class Outcome : std::uint8_t {
    going,
    answered,  ///< to its end, as far as the script wanted one
    refused,   ///< a status other than 200
    gone,      ///< the client left
  };
  std::int64_t number = 0;  ///< from 1
  std::string method, target;
  std::vector<std::pair<std::string, std::string>> fields;
  std::string body;
  std::string faults;  ///< kinds that met it, "" if none
  Outcome outcome = Outcome::going;
  int status = 0;                ///< that was sent, 0 if none was
  std::int64_t tokens_sent = 0;  ///< events with content that were on their way
};
std::string_view name_of(Request::Outcome outcome);

/// Serves on one loop; script() and seen() may be called from any thread. Beside the APIs (also below Azure's
/// /openai/deployments/NAME) it has
///   GET /metrics             running and waiting requests, as vLLM names them
///   GET /simulated/requests  what it has seen, in JSON
///   PUT /simulated/script    another script; numbers and times start anew
class Provider final : public net::Handler {
 public:
  explicit Provider(Script script);
  ~Provider() override;
  net::Task<> serve(net::Exchange& exchange) override;

  void set_script(Script script);
  /// The last thousand requests.
  [[nodiscard]] std::vector<Request> seen() const;
  [[nodiscard]] std::int64_t count() const;  ///< of all requests to an API

 private:
  struct InForce;  ///< the one in force, with what it has counted
  struct Serving;
  net::Task<> serve_control(net::Exchange& exchange);
  net::Task<> serve_operation(net::Exchange& exchange, Serving& serving);
  net::Task<> answer(net::Exchange& exchange, Serving& serving, Sending& sending, net::Steady arrived);
  Serving begin(net::Exchange& exchange);
  void end(const Serving& serving);
  std::optional<wire::WireError> admit(Serving& serving, const net::RequestHead& head, net::Steady arrived,
                                       Instant now);
  static std::optional<wire::WireError> check(const Serving& serving, const net::RequestHead& head);
  static void pace_of(Serving& serving, net::Steady arrived);
  std::string metrics(net::Steady now) const;

  mutable std::mutex mutex_;
  std::shared_ptr<InForce> script_;  ///< shared with the requests that began under it
  std::deque<Request> seen_;         ///< kept in the order of numbers
  std::int64_t count_ = 0;
  wire::Json json_;
};

}  // namespace ace::simulated
