#include "gateway/key_callers.h"

#include <fmt/format.h>

#include <algorithm>

namespace ace::gateway {
namespace {

/// What a limit was charged for a request, given back if the request never came to use it.
class KeyPass final : public Pass {
 public:
  KeyPass(Limits& limits, std::string id, std::int64_t foreseen, Instant at)
      : limits_(limits), id_(std::move(id)), foreseen_(foreseen), at_(at) {}
  KeyPass(const KeyPass&) = delete;
  KeyPass& operator=(const KeyPass&) = delete;
  ~KeyPass() override {
    if (!ended_) limits_.finish(id_, foreseen_, 0, at_);
  }
  void used(std::int64_t tokens, Instant now) override {
    ended_ = true;
    limits_.finish(id_, foreseen_, tokens, now);
  }

 private:
  Limits& limits_;
  std::string id_;
  std::int64_t foreseen_;
  Instant at_;
  bool ended_ = false;
};

/// The key as it stands in the head; nothing if there is none, or two that differ.
std::string_view presented(std::span<const net::Field> fields) {
  std::string_view key = bearer_of(fields);
  if (const net::Field* own = net::find(fields, "x-api-key")) {
    if (!key.empty() && own->value != key) return {};
    key = own->value;
  }
  return key;
}

Callers::Refused refused(int status, const char* code, std::string what, std::string param = {}) {
  return {wire::WireError{status, code, std::move(what), std::move(param)}};
}

}  // namespace

std::string_view bearer_of(std::span<const net::Field> fields) {
  constexpr std::string_view kBearer = "bearer ";
  const net::Field* const field = net::find(fields, "authorization");
  if (field == nullptr || !net::equals_ignoring_case(field->value.substr(0, kBearer.size()), kBearer)) return {};
  return field->value.substr(kBearer.size());
}

/// The caller as its key says, with nothing held yet.
std::variant<KeyCallers::Known, Callers::Refused> KeyCallers::known(std::span<const net::Field> fields,
                                                                    const Fleet& fleet, Instant now) const {
  Known out{.ring = keys_.ring()};
  const auto found = out.ring->find(presented(fields), Role::client, now);
  if (const auto* why = std::get_if<KeyRefusal>(&found)) {
    metrics_
        .counter("ace_key_refusals_total", "Requests whose key opens nothing, by the reason, which they are not told.",
                 {{"reason", std::string(name_of(*why))}})
        .add();
    return refused(401, "invalid_key", "no key was given that opens: Authorization: Bearer ace_sk_...");
  }
  const Key& key = *(out.key = std::get<const Key*>(found));
  Caller& caller = out.caller = caller_of(fleet, key.tenant);
  caller.team = key.team;
  caller.project = key.project;
  caller.key = key.id;
  if (!key.slo.empty()) {
    SloId slo;
    for (std::uint32_t i = 0; i < fleet.slo_classes.size(); ++i)
      if (fleet.slo_classes[i].name == key.slo) slo = SloId{i};
    if (!slo.valid())
      return refused(403, "key_misconfigured", fmt::format("key {} names an SLO class that is not declared", key.id));
    caller.slo = slo;
  }
  if (!key.compliance.empty())
    if (Result<void> held = tighten(fleet, caller, key.compliance); !held)
      return refused(403, "key_misconfigured", fmt::format("key {}: {}", key.id, held.error().what()));
  return out;
}

/// Holds the limits of its key. @param foreseen tokens
std::variant<Callers::Admitted, Callers::Refused> KeyCallers::within_limits(Known known, std::int64_t foreseen,
                                                                            Instant now) const {
  const Key& key = *known.key;
  if (const auto over = limits_.admit(key, foreseen, now)) {
    Refused refusal =
        refused(429, "rate_limited", fmt::format("key {} is at its limit of {}", key.id, name_of(over->limit)));
    refusal.retry_after = std::max(over->retry_after, Duration{1'000'000});
    return refusal;
  }
  return Admitted{std::move(known.caller), std::make_unique<KeyPass>(limits_, key.id, foreseen, now)};
}

std::variant<Callers::Admitted, Callers::Refused> KeyCallers::admit(std::span<const net::Field> fields,
                                                                    const Fleet& fleet, const wire::Request* request,
                                                                    Instant now) const {
  std::variant<Known, Refused> who = known(fields, fleet, now);
  if (auto* refusal = std::get_if<Refused>(&who)) return std::move(*refusal);
  Known& caller = std::get<Known>(who);
  if (request == nullptr) return Admitted{std::move(caller.caller)};
  const Key& key = *caller.key;
  if (!key.may(request->operation))
    return refused(403, "operation_not_allowed",
                   fmt::format("key {} may not use {}", key.id, wire::name_of(request->operation)));
  const auto model = fleet.model(request->model);
  if (model && !key.may_ask(fleet.models[model->value].name))
    return refused(403, "model_not_allowed", fmt::format("key {} may not ask this model", key.id), "model");
  return within_limits(std::move(caller), request->prompt_tokens + request->max_tokens.value_or(0), now);
}

std::variant<Callers::Admitted, Callers::Refused> KeyCallers::admit_unread(std::span<const net::Field> fields,
                                                                           const Fleet& fleet, Instant now) const {
  std::variant<Known, Refused> who = known(fields, fleet, now);
  if (auto* refusal = std::get_if<Refused>(&who)) return std::move(*refusal);
  Known& caller = std::get<Known>(who);
  const Key& key = *caller.key;
  if (!key.models.empty() || !key.operations.empty())
    return refused(
        403, "operation_not_allowed",
        fmt::format("key {} is for certain models or operations, and this path is handed on unread", key.id));
  return within_limits(std::move(caller), 0, now);
}

}  // namespace ace::gateway
