/// Paths that are handed on unread: images, audio, files, batches, and what is not known yet.
#include <fmt/format.h>

#include <algorithm>

#include "adapters/provider_refusal.h"
#include "gateway/proxy_parts.h"
#include "net/write_head.h"

#pragma GCC diagnostic ignored "-Wmismatched-new-delete"  // as in proxy.cc

namespace ace::gateway {
namespace {

/// Fields of an answer that go to the client; what frames it and what names accounts stays here.
constexpr std::string_view kPassed[] = {"content-type", "content-disposition", "content-encoding"};

bool is_method(std::string_view method) {
  return method == "GET" || method == "POST" || method == "PUT" || method == "PATCH" || method == "DELETE";
}

wire::WireError not_recorded(const Desk::Refusal& refusal) {
  if (refusal.why == Desk::Refused::spine) return unrecordable();
  return {403, "unpriced_under_budget",
          fmt::format("budget {} holds for this caller, and what this path costs is not known, so it cannot be held in "
                      "it",
                      refusal.budget_name)};
}

}  // namespace

struct Proxy::Unread {
  explicit Unread(net::Exchange& e) : exchange(e), started(e.loop().now()) {}

  net::Exchange& exchange;
  net::Steady started;
  std::shared_ptr<const World> world;
  Caller caller;
  std::unique_ptr<Pass> pass;
  std::string body;
  DestinationId chosen;
  std::string destination;           ///< its name; empty = it was sent nowhere
  std::optional<HandedOn> recorded;  ///< it may be sent
  int status = 0;                    ///< of the answer; 0 = none came
  std::int64_t received = 0;         ///< bytes of its body
  int told = 0;                      ///< status that the client was given
  std::string told_code;             ///< and why, of an error of ours
  bool left = false;                 ///< the client

  [[nodiscard]] std::string_view path() const { return exchange.head().path(); }
  [[nodiscard]] std::string head_fields() const {
    std::string fields;
    net::HeadWriter head(fields);
    if (recorded) (void)head.field("x-request-id", to_string(recorded->event.id));
    if (!destination.empty()) (void)head.field("x-ace-destination", destination);
    return fields;
  }
};

/// Under which rule it goes, and where: to the first destination of the fleet that has the path and may see it,
/// whatever its health, since files and batches are where they were made.
std::optional<wire::WireError> Proxy::settle_unread(Unread& u) const {
  const Fleet& fleet = u.world->fleet;
  if (const net::Field* rule = net::find(u.exchange.head().fields, "x-ace-compliance"))
    if (Result<void> held = tighten(fleet, u.caller, rule->value); !held)
      return wire::WireError{400, "compliance_not_tightened", "x-ace-compliance: " + held.error().what()};
  const std::string_view data_class =
      u.caller.declared.valid() ? fleet.tenants[u.caller.declared.value].data_class : std::string_view();
  const ComplianceId rule = u.caller.compliance;
  if (u.world->snapshot.data_class_allowed(rule, data_class))
    for (const DestinationId d : u.world->upstreams->passing(u.path()))
      if (u.world->snapshot.compliance(rule, data_class, d) == Exclusion::none) {
        u.chosen = d;
        return std::nullopt;
      }
  return error_of(Verdict::no_compliant_destination, false);
}

net::Task<> Proxy::hand_on(net::Exchange& exchange) {
  const net::RequestHead& head = exchange.head();
  const auto unread = std::make_unique<Unread>(exchange);
  Unread& u = *unread;
  u.world = shared_.desk.world();
  if (u.world->upstreams->passing(u.path()).empty()) {
    const wire::WireError error{404, "unknown_path",
                                fmt::format("nothing is served at {} {}: it is no operation of ACE, and no provider of "
                                            "the fleet file names it in its surfaces",
                                            head.method, wire::echo(u.path()))};
    co_await fail(u, error);
    co_return;  // anybody may ask for what is not there: it is not counted
  }
  const auto count = [&] {
    const Outcome outcome = u.left ? Outcome::client_left : outcome_of(u.told, u.told_code);
    shared_.meter.unread(u.destination, outcome);
  };
  if (!is_method(head.method)) {
    const wire::WireError error{405, "unknown_method", "the method is one of GET POST PUT PATCH DELETE"};
    co_await fail(u, error);
    co_return count();
  }
  if (const auto error = stranger(head)) {  // before its body is taken
    co_await fail(u, *error);
    co_return count();
  }
  net::Exchange::Body body = co_await exchange.read_body();
  if (!body.ok()) {
    if (body.io == net::Io::ok) (void)co_await exchange.refuse(body.fault);
    co_return;
  }
  u.body = std::move(body.bytes);
  while (!u.recorded) {
    u.world = shared_.desk.world();
    u.pass = nullptr;  // of a world that is gone meanwhile
    auto admitted = shared_.callers.admit_unread(head.fields, u.world->fleet, clock_.now());
    if (const auto* refused = std::get_if<Callers::Refused>(&admitted)) {
      co_await fail(u, refused->error, refused->retry_after, refused->retry_after > Duration{0});
      co_return count();
    }
    auto& known = std::get<Callers::Admitted>(admitted);
    u.caller = std::move(known.caller);
    u.pass = std::move(known.pass);
    if (const auto error = settle_unread(u)) {
      co_await fail(u, *error);
      co_return count();
    }
    const Desk::Unread wanted{u.world, u.caller, u.chosen, static_cast<std::int64_t>(u.body.size())};
    auto recorded = shared_.desk.hand_on(clock_.now(), wanted);
    if (const auto* refusal = std::get_if<Desk::Refusal>(&recorded)) {
      if (refusal->why == Desk::Refused::outdated) continue;
      const bool spine = refusal->why == Desk::Refused::spine;
      const wire::WireError error = not_recorded(*refusal);
      co_await fail(u, error, spine ? kSecond : Duration{0}, spine);
      co_return count();
    }
    u.recorded = std::get<HandedOn>(std::move(recorded));
  }
  co_await send_unread(u);
  shared_.desk.handed_on(clock_.now(), *u.recorded, u.status, u.received);
  if (u.pass) u.pass->used(0, clock_.now());
  count();
}

/// Once, to one destination: whether it may be said twice is not known of what nobody reads.
net::Task<> Proxy::send_unread(Unread& u) {
  const Upstream& upstream = *u.world->upstreams->at(u.chosen);
  u.destination = u.world->fleet.destinations[u.chosen.value].name;
  const net::RequestHead& asked = u.exchange.head();
  const std::string id = to_string(u.recorded->event.id);
  const Prepared prepared = upstream.pass({.target = asked.target, .fields = asked.fields, .request_id = id});
  net::Outgoing out;
  out.method = asked.method;
  out.target = prepared.target;
  out.fields = prepared.fields.reveal();
  out.body = u.body;
  net::Patience patience;
  patience.first_byte = shared_.timeouts.total;
  patience.next_byte = shared_.timeouts.next_token;
  patience.total = u.started + shared_.timeouts.total;
  net::Sent sent = co_await client_.send(upstream.origin(), out, patience, u.exchange.gone());
  u.left = sent.fault == net::SendFault::cancelled;
  if (u.left) co_return;
  if (sent.response != nullptr) u.status = sent.response->head().status;
  if (!co_await durable(u.exchange.loop(), u.caller, *u.recorded)) {
    const wire::WireError error = unrecordable();
    co_await fail(u, error, kSecond, true);
    co_return;
  }
  if (sent.response == nullptr) {
    const wire::WireError error = error_of(sent.fault, u.destination);
    co_await fail(u, error);
    co_return;
  }
  net::Incoming& incoming = *sent.response;
  const net::ResponseHead& head = incoming.head();
  // Our call was refused, or sent elsewhere: what the provider says of that may name keys and accounts.
  if (u.status == 401 || u.status == 402 || u.status == 403 || (u.status >= 300 && u.status < 400)) {
    const wire::WireError error = refused_call(u.status);
    co_await fail(u, error);
    co_return;
  }
  u.told = u.status;
  std::string fields = u.head_fields();
  net::HeadWriter writer(fields);
  for (const std::string_view name : kPassed)
    if (const net::Field* field = net::find(head.fields, name)) (void)writer.field(name, field->value);
  if (u.status >= 400) {
    std::string text;
    while (text.size() < kErrorBytes) {
      const net::Incoming::Piece piece = co_await incoming.next();
      u.received += static_cast<std::int64_t>(piece.data.size());
      text += piece.data;
      u.left = piece.fault == net::SendFault::cancelled;
      if (u.left) co_return;
      if (piece.end || piece.fault != net::SendFault::none) break;
    }
    const Refusal refusal = upstream.refusal(u.status, head.fields, text, clock_.now(), json_);
    append_retry(fields, u.status, refusal.retry_after, u.status == 429 || u.status >= 500);
    text = without_keys_of(prepared.fields.reveal(), std::move(text));
    (void)co_await u.exchange.respond(u.status, fields, text);
    co_return;
  }
  bool begun = false;
  for (;;) {
    const net::Incoming::Piece piece = co_await incoming.next();
    if (piece.fault != net::SendFault::none) {
      u.left = piece.fault == net::SendFault::cancelled;
      const wire::WireError error = error_of(piece.fault, u.destination);
      u.told = error.status;
      u.told_code = error.code;
      if (!begun && !u.left) co_await fail(u, error);
      co_return;  // what has begun is cut, so that nobody takes it for the whole
    }
    u.received += static_cast<std::int64_t>(piece.data.size());
    if (piece.end && !begun) {
      (void)co_await u.exchange.respond(u.status, fields, {});
      co_return;
    }
    if (piece.end) break;
    if (piece.data.empty()) continue;
    if (!begun) {
      const bool counted = head.framing == net::Framing::length;
      (void)co_await u.exchange.begin(u.status, fields, counted ? std::optional(head.length) : std::nullopt);
      begun = true;
    }
    if (co_await u.exchange.write(piece.data) != net::Io::ok) {
      u.left = true;
      co_return;
    }
  }
  (void)co_await u.exchange.end();
}

net::Task<> Proxy::fail(Unread& u, const wire::WireError& error, Duration retry_after, bool again) {
  std::string fields = u.head_fields();
  (void)net::HeadWriter(fields).field("Content-Type", kJsonType);
  append_retry(fields, error.status, retry_after, again);
  u.told = error.status;
  u.told_code = error.code;
  const std::string body = wire::error_body(wire::dialect_of(u.path()), error);
  (void)co_await u.exchange.respond(error.status, fields, body);
}

}  // namespace ace::gateway
