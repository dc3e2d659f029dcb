#include "simulated/provider.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/text.h"
#include "net/write_head.h"
#include "simulated/answer.h"
#include "simulated/sending.h"
#include "simulated/state.h"

namespace ace::simulated {
namespace {

using Outcome = Request::Outcome;
constexpr std::size_t kRemembered = 1000;

/// The path in the words of operation_of(): below Azure's deployments lies the same API.
std::string canonical_path(std::string_view path) {
  constexpr std::string_view kDeployments = "/openai/deployments/", kOpenAi = "/openai/v1/";
  if (path.starts_with(kDeployments)) {
    const std::size_t end = path.find('/', kDeployments.size());
    if (end != std::string_view::npos) return "/v1" + std::string(path.substr(end));
  }
  if (path.starts_with(kOpenAi)) return "/v1/" + std::string(path.substr(kOpenAi.size()));
  return std::string(path);
}

std::string_view key_of(const net::RequestHead& head) {
  if (const net::Field* f = net::find(head.fields, "authorization")) {
    constexpr std::string_view kBearer = "Bearer ";
    return f->value.starts_with(kBearer) ? f->value.substr(kBearer.size()) : std::string_view();
  }
  for (const char* name : {"x-api-key", "api-key"})
    if (const net::Field* f = net::find(head.fields, name)) return f->value;
  return {};
}

Counted counted_by(const Plan& plan) {
  if (!plan.usage) return Counted::fairly;
  switch (*plan.usage) {
    case Fault::Kind::no_usage:
      return Counted::not_at_all;
    case Fault::Kind::usage_twice:
      return Counted::twice;
    case Fault::Kind::usage_negative:
      return Counted::negative;
    case Fault::Kind::usage_absurd:
      return Counted::absurd;
    default:
      return Counted::decreasing;
  }
}

Duration scaled(Duration d, double factor) { return from_seconds(to_seconds(d) * factor); }

}  // namespace

std::string_view name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::going:
      return "going";
    case Outcome::answered:
      return "answered";
    case Outcome::refused:
      return "refused";
    case Outcome::gone:
      return "gone";
  }
  return "";
}

std::string Provider::InForce::windows(wire::Dialect dialect, Instant now) const {
  std::string out;
  const auto say = [&](std::string_view what, const RateBucket& bucket) {
    const std::string prefix = dialect == wire::Dialect::openai ? "X-Ratelimit-" : "Anthropic-Ratelimit-";
    const auto name = [&](std::string_view which) {
      return dialect == wire::Dialect::openai ? fmt::format("{}{}-{}", prefix, which, what)
                                              : fmt::format("{}{}-{}", prefix, what, which);
    };
    const std::int64_t used = bucket.per_minute() - bucket.left(now);
    const Duration reset = from_seconds(static_cast<double>(used) * 60.0 / static_cast<double>(bucket.per_minute()));
    net::HeadWriter writer(out);
    writer.field(name("Limit"), static_cast<std::uint64_t>(bucket.per_minute()));
    writer.field(name("Remaining"), static_cast<std::uint64_t>(bucket.left(now)));
    writer.field(name("Reset"), dialect == wire::Dialect::openai ? fmt::format("{}ms", nanos(reset) / 1'000'000)
                                                                 : to_rfc3339(now + reset));
  };
  if (requests) say("Requests", *requests);
  if (tokens_per_minute) say("Tokens", *tokens_per_minute);
  return out;
}

Provider::Provider(Script script) : script_(std::make_shared<InForce>(std::move(script))) {}
Provider::~Provider() = default;

void Provider::set_script(Script script) {
  const std::lock_guard lock(mutex_);
  script_ = std::make_shared<InForce>(std::move(script));
  seen_.clear();
  count_ = 0;
}

std::vector<Request> Provider::seen() const {
  const std::lock_guard lock(mutex_);
  return {seen_.begin(), seen_.end()};
}

std::int64_t Provider::count() const {
  const std::lock_guard lock(mutex_);
  return count_;
}

Provider::Serving Provider::begin(net::Exchange& exchange) {
  const net::RequestHead& head = exchange.head();
  Serving s;
  const std::lock_guard lock(mutex_);
  s.script = script_;
  s.number = ++count_;
  s.rng = Rng(s.script->seed, "simulated provider").split(static_cast<std::uint64_t>(s.number));
  if (!s.script->started) s.script->started = exchange.loop().now();
  ++s.script->running;
  s.plan = plan_of(*s.script, s.number, exchange.loop().now() - *s.script->started, s.rng);
  Request seen;
  seen.number = s.number;
  seen.method = head.method;
  seen.target = head.target;
  for (const net::Field& f : head.fields) seen.fields.emplace_back(f.name, f.value);
  seen.faults = s.plan.names;
  seen_.push_back(std::move(seen));
  if (seen_.size() > kRemembered) seen_.pop_front();
  return s;
}

void Provider::end(const Serving& s) {
  const std::lock_guard lock(mutex_);
  --s.script->running;
  if (s.slot && s.outcome == Outcome::gone && s.script->free_at[*s.slot] == s.free_at)
    s.script->free_at[*s.slot] = net::Steady{};  // nobody waits behind it, and it works no more
  if (s.script != script_) return;
  for (auto seen = seen_.rbegin(); seen != seen_.rend(); ++seen) {
    if (seen->number != s.number) continue;
    seen->body = s.body;
    seen->outcome = s.outcome;
    seen->status = s.status;
    seen->tokens_sent = s.tokens_sent;
    break;
  }
}

/// Keys, models and limits. @return what to answer in place of a speech
std::optional<wire::WireError> Provider::check(const Serving& s, const net::RequestHead& head) {
  const InForce& script = *s.script;
  const auto has = [](const std::vector<std::string>& all, std::string_view one) {
    return all.empty() || std::find(all.begin(), all.end(), one) != all.end();
  };
  if (!has(script.keys, key_of(head))) return wire::WireError{401, "invalid_api_key", "Incorrect API key provided."};
  if (s.operation != wire::Operation::models && !has(script.models, s.request.model))
    return wire::WireError{404, "model_not_found", "The model does not exist.", "model"};
  return std::nullopt;
}

net::Task<> Provider::serve(net::Exchange& exchange) {
  const net::RequestHead& head = exchange.head();
  if (head.path().starts_with("/simulated/") || head.path() == "/metrics") {
    co_await serve_control(exchange);
    co_return;
  }
  const std::optional<wire::Operation> operation = wire::operation_of(head.method, canonical_path(head.path()));
  if (!operation) {
    const wire::Dialect dialect = wire::dialect_of(head.path());
    const std::string body = wire::error_body(dialect, {404, "unknown_url", "No such operation."});
    (void)co_await exchange.respond(404, "Content-Type: application/json\r\n", body);
    co_return;
  }
  Serving serving = begin(exchange);
  serving.operation = *operation;
  serving.dialect = wire::dialect_of(*operation);
  co_await serve_operation(exchange, serving);
  if (serving.outcome == Outcome::going) serving.outcome = Outcome::gone;
  end(serving);
}

net::Task<> Provider::serve_operation(net::Exchange& exchange, Serving& s) {
  std::string fields = s.script->fields;
  net::HeadWriter(fields).field(s.dialect == wire::Dialect::openai ? "X-Request-Id" : "Request-Id",
                                fmt::format("simulated-{}", s.number));
  Sending sending(exchange, s.plan, fields);
  const bool ended_early = co_await sending.reach(Place::before_body);
  const net::Steady arrived = exchange.loop().now();
  if (!ended_early) {
    net::Exchange::Body read = co_await exchange.read_body();
    if (read.ok()) {
      s.body = std::move(read.bytes);
      co_await answer(exchange, s, sending, arrived);
    } else if (read.io == net::Io::ok) {
      (void)co_await exchange.refuse(read.fault);
    }
  }
  s.status = sending.status();
  s.tokens_sent = sending.tokens_sent();
  s.outcome = sending.gone() ? Outcome::gone : s.status == 200 || s.status == 0 ? Outcome::answered : Outcome::refused;
}

/// Reads the request, and takes what it needs of the limits and a slot. @return an error to answer with
std::optional<wire::WireError> Provider::admit(Serving& s, const net::RequestHead& head, net::Steady arrived,
                                               Instant now) {
  if (s.operation != wire::Operation::models) {
    wire::RequestLimits limits;
    limits.engine_parameters = true;
    wire::ReadRequest read = wire::read_request(s.operation, s.body, limits, json_);
    if (read.error) return read.error;
    s.request = std::move(read.request);
  }
  if (std::optional<wire::WireError> error = check(s, head)) return error;
  if (s.operation == wire::Operation::models) return std::nullopt;
  s.speech = speech_of(*s.script, s.request, s.body, s.rng);
  s.speech.number = s.number;
  s.speech.created = nanos(now) / nanos(kSecond);
  if (s.plan.model != nullptr) s.speech.model = s.plan.model->text;
  const std::lock_guard lock(mutex_);
  InForce& script = *s.script;
  const std::int64_t tokens = s.speech.prompt_tokens + s.speech.output_tokens();
  std::optional<Duration> wait = Duration{0};
  if (script.requests) wait = script.requests->wait(1, now);
  if (script.tokens_per_minute) {
    const std::optional<Duration> other = script.tokens_per_minute->wait(tokens, now);
    wait = other ? std::max(*wait, *other) : kMinute;
  }
  if (wait > Duration{0}) {
    s.retry_after = *wait;
    s.windows = script.windows(s.dialect, now);
    return wire::WireError{429, "rate_limit_exceeded", "Rate limit reached."};
  }
  if (script.requests) script.requests->take(1, now);
  if (script.tokens_per_minute) script.tokens_per_minute->take(tokens, now);
  s.windows = script.windows(s.dialect, now);
  pace_of(s, arrived);
  return std::nullopt;
}

/// When the answer begins and how fast it goes, from the load as it is now.
void Provider::pace_of(Serving& s, net::Steady arrived) {
  InForce& script = *s.script;
  net::Steady begins = arrived;
  double load = 0.0;
  if (script.slots > 0) {
    const auto free = std::min_element(script.free_at.begin(), script.free_at.end());
    begins = std::max(arrived, *free);
    s.slot = static_cast<std::size_t>(free - script.free_at.begin());
    const auto busy =
        std::count_if(script.free_at.begin(), script.free_at.end(), [&](net::Steady until) { return until > arrived; });
    load = static_cast<double>(busy) / static_cast<double>(script.slots);
  }
  const double mean = to_seconds(script.ttft);
  const double ttft = mean * (1.0 - script.jitter) + s.rng.exponential(1.0) * mean * script.jitter +
                      to_seconds(script.prefill) * static_cast<double>(s.speech.prompt_tokens) / 1000.0;
  s.first = begins + from_seconds(ttft * s.plan.factor);
  s.pace = scaled(script.tpot, s.plan.factor * (1.0 + (script.slowdown - 1.0) * load));
  s.free_at = s.first + static_cast<std::int64_t>(s.speech.tokens.size()) * s.pace;
  if (s.slot) script.free_at[*s.slot] = s.free_at;
}

net::Task<> Provider::answer(net::Exchange& exchange, Serving& s, Sending& sending, net::Steady arrived) {
  constexpr std::string_view kJson = "application/json";
  const std::optional<wire::WireError> error = admit(s, exchange.head(), arrived, exchange.loop().utc());
  sending.add_fields(s.windows);
  if (error) {
    std::string fields;
    if (error->status == 429) {
      const std::int64_t ms = (nanos(s.retry_after) + 999'999) / 1'000'000;
      net::HeadWriter(fields).field("Retry-After-Ms", static_cast<std::uint64_t>(ms));
      net::HeadWriter(fields).field("Retry-After", static_cast<std::uint64_t>((ms + 999) / 1000));
    }
    sending.add_fields(fields);
    const std::string body = wire::error_body(s.dialect, *error);
    co_await sending.whole(error->status, kJson, body, arrived);
    co_return;
  }
  if (s.operation == wire::Operation::models) {
    const bool anthropic = net::find(exchange.head().fields, "anthropic-version") != nullptr;
    const std::string body =
        models_answer(anthropic ? wire::Dialect::anthropic : wire::Dialect::openai, s.script->models);
    co_await sending.whole(200, kJson, body, arrived);
    co_return;
  }
  if (s.plan.status != nullptr) {
    std::string fields;
    if (s.plan.status->retry_after) fields += "Retry-After: " + *s.plan.status->retry_after + "\r\n";
    if (s.plan.status->retry_after_ms) fields += "Retry-After-Ms: " + *s.plan.status->retry_after_ms + "\r\n";
    sending.add_fields(fields);
    const std::string body =
        s.plan.status->text.empty()
            ? wire::error_body(s.dialect, {s.plan.status->status, "simulated", "The script says so."})
            : s.plan.status->text;
    co_await sending.whole(s.plan.status->status, kJson, body, arrived);
    co_return;
  }
  if (s.plan.redirect != nullptr) {
    sending.add_fields("Location: " + s.plan.redirect->text + "\r\n");
    co_await sending.whole(307, "", "", arrived);
    co_return;
  }
  if (s.plan.html || s.plan.empty) {
    const std::string_view body = s.plan.empty ? "" : "<!doctype html><title>502</title><p>Bad gateway\n";
    co_await sending.whole(200, s.plan.empty ? kJson : "text/html", body, arrived);
    co_return;
  }
  const Counted counted = counted_by(s.plan);
  if (s.request.stream) {
    const std::vector<Event> events = stream_answer(s.operation, s.speech, s.request.include_usage, counted);
    co_await sending.stream(events, s.first, s.pace, s.dialect);
  } else {
    const std::string body = whole_answer(s.operation, s.speech, counted, s.body);
    co_await sending.whole(200, kJson, body, s.free_at);
  }
}

}  // namespace ace::simulated
