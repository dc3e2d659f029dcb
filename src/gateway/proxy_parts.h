#pragma once
/// Inside the proxy: one request while it is served, and what faults are called.
#include <chrono>
#include <optional>
#include <string>

#include "gateway/bell.h"
#include "gateway/proxy.h"
#include "gateway/stopwatch.h"

namespace ace::gateway {

enum class Proxy::Next : std::uint8_t {
  done,     ///< the client has its answer, or is gone
  again,    ///< another destination may be tried
  give_up,  ///< `error` says why
};

struct Proxy::Serving {
  Serving(net::Exchange& e, wire::Operation o, std::string bytes)
      : exchange(e),
        operation(o),
        body(std::move(bytes)),
        started(e.loop().now()),
        own(std::chrono::steady_clock::now()) {}

  net::Exchange& exchange;
  wire::Operation operation;
  std::string body;
  net::Steady started;
  Stopwatch own;  ///< what we add: waits for the client, a destination or capacity left out
  wire::Request request;
  std::vector<std::uint32_t> blocks;  ///< of its prompt
  std::shared_ptr<const World> world;
  Caller caller;
  std::unique_ptr<Pass> pass;
  ModelId model;
  std::unique_ptr<Flight> flight;
  std::string destination, served_model;   ///< of the last attempt
  wire::WireError error{500, "", "", ""};  ///< why not, so far
  Duration retry_after{0};
  bool again = false;                ///< trying again may help
  bool begun = false;                ///< the client has begun to get an answer
  std::optional<CacheKey> question;  ///< one that may be given the same answer again
  bool keep = false;                 ///< it came before: its answer is kept
  int told = 0;                      ///< status that the client was given; 0 = none
  std::string told_code;             ///< and why, of an error
  bool left = false;                 ///< the client
  bool sent_on = false;              ///< to a destination
  std::optional<net::Steady> first_token;
  Usage used;  ///< by the answer, as far as it came
  std::optional<Desk::Receipt> receipt;
  std::int64_t tokens = 0;  ///< used in all
  std::string last;         ///< of a stream that has begun: what ends it, once that is recorded

  // Others have its time from here, and we from there. What happens within an event of the loop is what is measured, so
  // this looks at the clock itself.
  void wait_begins() { own.stop(std::chrono::steady_clock::now()); }
  void wait_ends() { own.start(std::chrono::steady_clock::now()); }
  void used_up(const Usage& usage) {
    used = usage;
    tokens = usage.prompt().value + usage.completion().value;
  }
  [[nodiscard]] std::string id() const { return flight ? to_string(flight->id) : std::string(); }
  [[nodiscard]] net::Steady deadline(Duration total) const { return started + total; }
  /// As estimated when the request was read: what a destination bills that was given the prompt alone.
  [[nodiscard]] Usage prompt_alone() const;
  /// What the provider says that it counted; else our estimate. @param cut whether the answer ended before its end
  [[nodiscard]] Usage usage_of(const wire::ResponseFacts& facts, bool cut) const;
  /// Fields of an answer: who served it. @param type of the content
  [[nodiscard]] std::string head_fields(std::string_view type) const;
};

struct Proxy::Attempt {
  const Upstream& upstream;
  std::string destination, model;
  Prepared prepared{};
  std::unique_ptr<net::Incoming> incoming{};
  OfferId billed_as{};
};

/// Longest wait for a commit, which a disk that writes makes within some milliseconds.
inline constexpr Duration kCommitMost = 5 * kSecond;

template <class Recorded>
net::Task<bool> Proxy::durable(net::Loop& loop, const Caller& caller, const Recorded& what) {
  if (!is_strict(caller)) co_return true;
  Bell bell(loop);
  const auto done = std::make_shared<std::atomic<bool>>(false);
  std::function<void()> then = [done, ring = bell.ringer()] {
    *done = true;
    ring();
  };
  if (!shared_.desk.when_durable(what, std::move(then))) co_return false;
  const net::Steady deadline = loop.now() + kCommitMost;
  while (!*done && loop.now() < deadline) co_await bell.until(deadline);
  co_return *done;
}

wire::WireError unrecordable();
inline constexpr std::string_view kJsonType = "application/json";
inline constexpr std::size_t kErrorBytes = 64 * 1024;  ///< read of an error's body

/// How a response that did not come is to be taken.
Desk::Failed failure_of(net::SendFault fault);
/// Whether a provider that had the request may charge for it.
bool may_be_billed(net::SendFault fault);
wire::WireError error_of(net::SendFault fault, std::string_view destination);
wire::WireError error_of(Verdict verdict, bool shed);
/// What a tenant's prompts are kept under where engines keep them, so that no other tenant's request meets them there.
std::string salted(std::string_view salt, std::string_view tenant);
void append_cost(std::string& fields, const Desk::Receipt& receipt);
std::string predicted_field(Usd predicted);
void append_retry(std::string& fields, int status, Duration retry_after, bool again);
/// A provider may quote the key that it was sent: it is ours, and no client's. @param head lines that were sent to it
std::string without_keys_of(std::string_view head, std::string text);
/// The offer of a model whose destination calls it so; none if there is none.
OfferId offer_named(const World& world, std::string_view deployment, ModelId model);

}  // namespace ace::gateway
