#include "gateway/proxy_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "net/write_head.h"
#include "perimeter/perimeter.h"
#include "spine/spine.h"

namespace ace::gateway {
namespace {

constexpr std::int64_t kBytesPerToken = 4;

}  // namespace

Usage Proxy::Serving::prompt_alone() const { return {Tokens{request.prompt_tokens}, Tokens{0}, Tokens{0}}; }

Usage Proxy::Serving::usage_of(const wire::ResponseFacts& facts, bool cut) const {
  if (operation == wire::Operation::count_tokens) return {};  // nobody bills for counting
  const std::int64_t written = (facts.text_bytes + kBytesPerToken - 1) / kBytesPerToken;
  if (!facts.reported) return {Tokens{request.prompt_tokens}, Tokens{0}, Tokens{written}};
  Usage usage = facts.reported->usage;
  // A count that could not be taken as it stood must not make an answer free.
  const bool doubtful = (facts.reported->flags & (wire::kUsageNegative | wire::kUsageAbsurd)) != 0;
  if (doubtful && usage.prompt().value < request.prompt_tokens)
    usage.add(Unit::input, request.prompt_tokens - usage.prompt().value);
  // A stream that was cut has often told its prompt alone.
  if ((cut || doubtful) && usage.completion().value < written)
    usage.add(Unit::output, written - usage.completion().value);
  return usage;
}

std::string Proxy::Serving::head_fields(std::string_view type) const {
  std::string fields;
  net::HeadWriter head(fields);
  (void)head.field("Content-Type", type);
  if (!flight) return fields;
  (void)head.field("x-request-id", id());
  if (wire::dialect_of(operation) == wire::Dialect::anthropic)
    (void)head.field("request-id", id());  // as its clients read it
  if (!destination.empty()) (void)head.field("x-ace-destination", destination);
  if (!served_model.empty()) (void)head.field("x-ace-model", served_model);
  const std::size_t under_way = flight->ended || !flight->claimed ? 0 : 1;
  head.field("x-ace-attempts", flight->attempts.size() + under_way);
  return fields;
}

Desk::Failed failure_of(net::SendFault fault) {
  using net::SendFault;
  Desk::Failed failure;
  switch (fault) {
    case SendFault::unresolved:
    case SendFault::forbidden:
    case SendFault::refused:
    case SendFault::connect_timeout:
    case SendFault::tls:
      failure.why = Rejection::refused;
      return failure;
    case SendFault::overloaded:  // our own queue for its connections
      failure.why = Rejection::overloaded;
      failure.local = true;
      return failure;
    default:
      failure.why = Rejection::failed;
      return failure;
  }
}

bool may_be_billed(net::SendFault fault) {
  using net::SendFault;
  return fault == SendFault::reset || fault == SendFault::first_byte_timeout || fault == SendFault::next_byte_timeout ||
         fault == SendFault::deadline;
}

wire::WireError error_of(net::SendFault fault, std::string_view destination) {
  using net::SendFault;
  const auto error = [&](int status, const char* code, const char* what) {
    return wire::WireError{status, code, fmt::format("{} {}", destination, what)};
  };
  switch (fault) {
    case SendFault::connect_timeout:
      return error(504, "upstream_unreachable", "took no connection in time");
    case SendFault::unresolved:
    case SendFault::refused:
      return error(502, "upstream_unreachable", "cannot be reached");
    case SendFault::forbidden:
      return error(502, "upstream_forbidden", "has only addresses that it may not have");
    case SendFault::tls:
      return error(502, "upstream_tls", "could not be trusted");
    case SendFault::overloaded:
      return error(503, "overloaded", "has too many requests waiting for a connection");
    case SendFault::reset:
      return error(502, "upstream_reset", "ended the connection within its answer");
    case SendFault::first_byte_timeout:
    case SendFault::next_byte_timeout:
    case SendFault::deadline:
      return error(504, "upstream_timeout", "did not answer in time");
    default:
      return error(502, "upstream_protocol", "sent what is no HTTP response");
  }
}

wire::WireError unrecordable() {
  return {503, "spine_unavailable", "the request cannot be recorded now, so it is not served"};
}

wire::WireError error_of(Verdict verdict, bool shed) {
  if (shed) return {503, "overloaded", "too many requests wait for capacity, and others are worth more"};
  switch (verdict) {
    case Verdict::no_compliant_destination:
      return {403, "no_compliant_destination",
              "no destination may be given this request by the rules that hold for it"};
    case Verdict::no_capable_destination:
      return {400, "no_capable_destination", "no destination can serve what this request asks for"};
    default:
      return {503, "no_capacity", "no destination had room in time"};
  }
}

std::string salted(std::string_view salt, std::string_view tenant) {
  return to_hex(view(hmac_sha256(salt, tenant)).substr(0, 16));
}

void append_cost(std::string& fields, const Desk::Receipt& receipt) {
  net::HeadWriter head(fields);
  (void)head.field("x-ace-cost-usd", to_decimal(receipt.cost));
  if (receipt.priced) (void)head.field("x-ace-baseline-usd", to_decimal(receipt.baseline));
}

std::string predicted_field(Usd predicted) {
  std::string fields;
  net::HeadWriter head(fields);
  (void)head.field("x-ace-predicted-cost-usd", to_decimal(predicted));
  return fields;
}

void append_retry(std::string& fields, int status, Duration retry_after, bool again) {
  net::HeadWriter head(fields);
  if (again && (status == 429 || status == 503)) {
    const std::int64_t ms = std::clamp<std::int64_t>(nanos(retry_after) / 1'000'000, 0, 60'000);
    if (ms > 0) {
      head.field("retry-after-ms", static_cast<std::uint64_t>(ms));
      head.field("Retry-After", static_cast<std::uint64_t>((ms + 999) / 1000));
    }
  }
  (void)head.field("x-should-retry", again ? "true" : "false");
}

std::string without_keys_of(std::string_view head, std::string text) {
  for (const std::string_view name : {"authorization: Bearer ", "api-key: "}) {
    const std::size_t at = head.find(name);
    if (at == std::string_view::npos) continue;
    const std::string_view key = head.substr(at + name.size(), head.find('\r', at) - at - name.size());
    for (std::size_t found = 0; !key.empty() && (found = text.find(key, found)) != std::string::npos;)
      text.replace(found, key.size(), "[key]");
  }
  return text;
}

OfferId offer_named(const World& world, std::string_view deployment, ModelId model) {
  for (const OfferId id : world.snapshot.candidates(model))
    if (model_name_at(world.fleet, world.snapshot[id].destination, world.snapshot[id].model) == deployment) return id;
  return {};
}

}  // namespace ace::gateway
