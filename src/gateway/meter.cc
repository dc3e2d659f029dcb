#include "gateway/meter.h"

namespace ace::gateway {

std::string_view name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::served:
      return "served";
    case Outcome::from_cache:
      return "from_cache";
    case Outcome::bad_request:
      return "bad_request";
    case Outcome::unauthorized:
      return "unauthorized";
    case Outcome::over_limit:
      return "over_limit";
    case Outcome::no_capacity:
      return "no_capacity";
    case Outcome::upstream:
      return "upstream";
    case Outcome::unrecordable:
      return "unrecordable";
    case Outcome::client_left:
      return "client_left";
  }
  return "";
}

Outcome outcome_of(int status, std::string_view code) {
  if (status < 300) return Outcome::served;
  if (code == "no_capacity" || code == "overloaded") return Outcome::no_capacity;
  if (code == "spine_unavailable") return Outcome::unrecordable;
  if (code == "rate_limited" || code == "budget_exceeded") return Outcome::over_limit;
  if (status == 401 || status == 403) return Outcome::unauthorized;
  return status < 500 && status != 429 ? Outcome::bad_request : Outcome::upstream;
}

Meter::Meter(MetricRegistry& registry)
    : registry_(registry),
      overhead_(registry.histogram("ace_overhead_seconds",
                                   "What ACE adds to a request that was sent on: its time without waits for the "
                                   "destination, the client and capacity.",
                                   Histogram::kOverhead)),
      retries_(registry.counter("ace_retries_total", "Attempts beyond the first of a request.")) {
  for (std::size_t i = 0; i < operations_.size(); ++i) {
    const std::string operation(wire::name_of(static_cast<wire::Operation>(i)));
    for (std::size_t o = 0; o < kOutcomes; ++o)
      operations_[i].requests[o] =
          &registry.counter("ace_requests_total", "Requests that ended.",
                            {{"operation", operation}, {"outcome", std::string(name_of(static_cast<Outcome>(o)))}});
    operations_[i].took =
        &registry.histogram("ace_request_seconds", "From arrival to the last byte, of what was served.",
                            Histogram::kRequest, {{"operation", operation}});
  }
}

const Meter::ByDestination& Meter::at(const std::string& destination) {
  const std::lock_guard lock(mutex_);
  const auto [at, fresh] = destinations_.try_emplace(destination);
  ByDestination& d = at->second;
  if (fresh) {
    const auto of = [&](const char* kind) {
      return MetricRegistry::Labels{{"destination", destination}, {"kind", kind}};
    };
    const MetricRegistry::Labels name{{"destination", destination}};
    constexpr const char* kTokens = "Tokens of the requests that it ended, as the provider counted them.";
    d.requests = &registry_.counter("ace_destination_requests_total", "Requests that ended at it.", name);
    d.input = &registry_.counter("ace_destination_tokens_total", kTokens, of("input"));
    d.output = &registry_.counter("ace_destination_tokens_total", kTokens, of("output"));
    d.cost = &registry_.money("ace_destination_cost_usd_total", "What its requests cost.", name);
    d.baseline = &registry_.money("ace_destination_baseline_usd_total", "What they would have cost without ACE.", name);
    d.first_token = &registry_.histogram("ace_first_token_seconds", "From arrival to the first token, of streams.",
                                         Histogram::kRequest, name);
  }
  return d;
}

void Meter::unread(const std::string& destination, Outcome outcome) {
  registry_
      .counter("ace_unread_requests_total", "Requests handed on unread that ended: no tokens and no price are known.",
               {{"destination", destination}, {"outcome", std::string(name_of(outcome))}})
      .add();
}

void Meter::ended(const Ended& r) {
  const ByOperation& operation = operations_[static_cast<std::size_t>(r.operation)];
  operation.requests[static_cast<std::size_t>(r.outcome)]->add();
  if (r.outcome == Outcome::served || r.outcome == Outcome::from_cache) operation.took->observe(r.took);
  if (r.overhead) overhead_.observe(*r.overhead);
  if (r.attempts > 1) retries_.add(static_cast<std::int64_t>(r.attempts) - 1);
  if (r.destination.empty()) return;
  const ByDestination& d = at(r.destination);
  d.requests->add();
  d.input->add(r.input_tokens);
  d.output->add(r.output_tokens);
  d.cost->add(r.cost.nano);
  d.baseline->add(r.baseline.nano);
  if (r.first_token) d.first_token->observe(*r.first_token);
}

}  // namespace ace::gateway
