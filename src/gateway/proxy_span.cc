/// What a collector is told of a request that has ended.
#include "gateway/proxy_parts.h"

namespace ace::gateway {
namespace {

/// gen_ai.provider.name.
std::string_view convention_of(Api api) {
  switch (api) {
    case Api::none:
      return "";
    case Api::openai:
      return "openai";
    case Api::azure_openai:
      return "azure.ai.openai";
    case Api::anthropic:
      return "anthropic";
    case Api::vertex:
      return "gcp.vertex_ai";
    case Api::bedrock:
      return "aws.bedrock";
  }
  return "";
}

}  // namespace

void Proxy::tell(const Serving& s, const Ended& ended) {
  if (!shared_.tell) return;
  SpanRecord span;
  const net::Field* const parent = net::find(s.exchange.head().fields, "traceparent");
  if (const auto given = parent != nullptr ? parse_traceparent(parent->value) : std::nullopt)
    span.context = *given;
  else
    span.context = new_trace(spans_);
  if (!span.context.sampled) return;
  span.span = spans_.next() | 1U;
  span.end = clock_.now();
  span.start = span.end - ended.took;
  span.first_chunk = ended.first_token;
  span.operation = s.operation;
  if (s.world && !s.destination.empty()) {
    const Fleet& fleet = s.world->fleet;
    if (const auto destination = fleet.destination(s.destination)) {
      span.provider = convention_of(fleet.providers[fleet.destinations[destination->value].provider.value].api);
      if (const Upstream* const upstream = s.world->upstreams->at(*destination)) {
        span.server = upstream->origin().host;
        span.port = upstream->origin().port;
      }
    }
  }
  // A model that the fleet does not know is a client's text, and stays out.
  if (s.world && s.model.valid()) span.request_model = s.world->fleet.models[s.model.value].name;
  span.response_model = s.served_model;
  const bool served = ended.outcome == Outcome::served || ended.outcome == Outcome::from_cache;
  if (served) {
    span.input_tokens = ended.input_tokens;
    span.cached_tokens = s.used[Unit::cached_input];
    span.output_tokens = ended.output_tokens;
  }
  span.status = s.begun || s.told == 0 ? 200 : s.told;
  span.error = served                                  ? ""
               : ended.outcome == Outcome::client_left ? "client_left"
               : s.begun                               ? s.error.code
                                                       : s.told_code;
  if (!served && span.error.empty()) span.error = name_of(ended.outcome);
  span.request_id = s.id();
  span.destination = s.destination;
  if (s.receipt) span.cost_usd = to_decimal(s.receipt->cost);
  shared_.tell(std::move(span));
}

}  // namespace ace::gateway
