#pragma once
/// What serves a client: reads its request, asks the desk where it goes, sends it there, and hands back what comes,
/// piece by piece. One for each loop.
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "core/hash.h"
#include "core/rng.h"
#include "gateway/answer_cache.h"
#include "gateway/callers.h"
#include "gateway/config.h"
#include "gateway/desk.h"
#include "gateway/meter.h"
#include "gateway/otlp.h"
#include "gateway/upstreams.h"
#include "net/client.h"
#include "net/exchange.h"
#include "wire/json.h"

namespace ace::gateway {

/// What the proxies of all loops have in common.
struct ProxyShared {
  Desk& desk;
  const Callers& callers;
  Meter& meter;
  AnswerCache* cache;  ///< null = answers are not kept
  bool cache_sampled;
  Config::Timeouts timeouts;
  std::function<void(SpanRecord)> tell;         ///< of requests that have ended; empty: nobody wants to know
  std::string salt;                             ///< random bytes of this process
  bool strict_all = false;                      ///< every answer waits until what was recorded of it is durable
  std::set<std::string, std::less<>> strict{};  ///< or those of these tenants
  std::atomic<bool> draining = false;           ///< /readyz says no
};

class Proxy final : public net::Handler {
 public:
  /// All outlive it. @param clock of this loop's thread
  /// @param number of the loop
  Proxy(ProxyShared& shared, net::Client& client, Clock& clock, std::uint64_t number)
      : shared_(shared), client_(client), clock_(clock), spans_(Rng(hash_of(shared.salt), "spans").split(number)) {}

  net::Task<> serve(net::Exchange& exchange) override;
  std::string error_body(net::Fault fault, std::string_view path) override;

 private:
  struct Serving;  // one request
  struct Attempt;  // one try of it at one destination
  struct Unread;   // one request that is handed on as it is
  enum class Next : std::uint8_t;

  net::Task<> serve_operation(net::Exchange& exchange, wire::Operation operation);
  net::Task<> list_models(net::Exchange& exchange, std::string_view wanted);
  net::Task<> hand_on(net::Exchange& exchange);
  net::Task<> send_unread(Unread& u);
  std::optional<wire::WireError> settle_unread(Unread& u) const;
  net::Task<> fail(Unread& u, const wire::WireError& error, Duration retry_after = Duration{0}, bool again = false);
  std::optional<wire::WireError> stranger(const net::RequestHead& head) const;
  std::optional<wire::WireError> resolve(Serving& s) const;
  bool admit(Serving& s);
  net::Task<> run(Serving& s);
  net::Task<bool> answer_from_cache(Serving& s);
  CacheKey question_of(const Serving& s);
  std::string prompt_key_of(const std::string& tenant);
  [[nodiscard]] bool is_strict(const Caller& caller) const {
    return shared_.strict_all || shared_.strict.contains(caller.tenant);
  }
  /// Whether what was recorded of it so far is durable, for whom that is asked; waits for the spine's next commit.
  template <class Recorded>
  net::Task<bool> durable(net::Loop& loop, const Caller& caller, const Recorded& what);
  net::Task<net::Io> hand_out(Serving& s, std::string_view events);
  void count(const Serving& s);
  void tell(const Serving& s, const Ended& ended);
  net::Task<Next> attempt(Serving& s);
  net::Task<Next> refused(Serving& s, Attempt& a);
  net::Task<Next> whole(Serving& s, Attempt& a);
  net::Task<Next> stream(Serving& s, Attempt& a);
  Next unreachable(Serving& s, const net::Sent& sent);
  Next broken(Serving& s, Attempt& a, net::SendFault fault);
  Next client_left(Serving& s, const Usage& usage, OfferId billed_as);
  net::Task<> fail(Serving& s, const wire::WireError& error, Duration retry_after = Duration{0}, bool again = false);

  ProxyShared& shared_;
  net::Client& client_;
  Clock& clock_;
  std::map<std::string, std::string> prompt_keys_;  ///< by tenant; bounded
  wire::Json json_;
  Rng spans_;  ///< ids of traces and spans
};

}  // namespace ace::gateway
