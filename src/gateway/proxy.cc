#include "gateway/proxy.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/text.h"
#include "gateway/bell.h"
#include "gateway/proxy_parts.h"
#include "net/write_head.h"

// Seen where GCC 12 inlines the allocation of a coroutine's frame and not its release: both are FrameStore's.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"

namespace ace::gateway {
namespace {

std::uint32_t needs_of(const wire::Request& r) {
  return kText | (r.tools ? kTools : 0U) | (r.images ? kImage : 0U) | (r.audio ? kAudio : 0U) |
         (r.structured_output ? kJsonSchema : 0U) | (r.reasoning ? kReasoning : 0U);
}

constexpr std::string_view kModels = "/v1/models/";

/// @param name in JSON
std::string model_json(const std::string& name, bool anthropic) {
  if (anthropic)
    return fmt::format(R"({{"type":"model","id":{0},"display_name":{0},"created_at":"1970-01-01T00:00:00Z"}})", name);
  return fmt::format(R"({{"id":{},"object":"model","created":0,"owned_by":"ace"}})", name);
}

/// Whether the client wants an answer made for it alone.
bool past_the_cache(const net::RequestHead& head) {
  const net::Field* const control = net::find(head.fields, "cache-control");
  return control != nullptr && (control->value.find("no-store") != std::string_view::npos ||
                                control->value.find("no-cache") != std::string_view::npos);
}

}  // namespace

std::string Proxy::error_body(net::Fault fault, std::string_view path) {
  const wire::WireError error{net::status_of(fault), std::string(net::name_of(fault)),
                              std::string(net::meaning_of(fault))};
  return wire::error_body(wire::dialect_of(path), error);
}

net::Task<> Proxy::serve(net::Exchange& exchange) {
  const net::RequestHead& head = exchange.head();
  const std::string_view path = head.path();
  if (path == "/healthz" || path == "/readyz") {
    const Desk::View view = shared_.desk.view();
    const bool ready = path == "/healthz" || (!shared_.draining && !view.spine_down);
    const std::string body = ready ? "ok\n" : shared_.draining ? "draining\n" : "the spine cannot be written\n";
    (void)co_await exchange.respond(ready ? 200 : 503, "Content-Type: text/plain\r\n", body);
    co_return;
  }
  const std::optional<wire::Operation> operation = wire::operation_of(head.method, path);
  if (!operation && head.method == "GET" && path.starts_with(kModels) && path.size() > kModels.size())
    co_await list_models(exchange, path.substr(kModels.size()));
  else if (!operation)
    co_await hand_on(exchange);
  else if (*operation == wire::Operation::models)
    co_await list_models(exchange, {});
  else
    co_await serve_operation(exchange, *operation);
}

/// @param wanted name of the one that is asked for, as it stands in the path; empty = all
net::Task<> Proxy::list_models(net::Exchange& exchange, std::string_view wanted) {
  const std::shared_ptr<const World> world = shared_.desk.world();
  const auto admitted = shared_.callers.admit(exchange.head().fields, world->fleet, nullptr, clock_.now());
  const bool anthropic = net::find(exchange.head().fields, "anthropic-version") != nullptr;
  int status = 200;
  std::string body;
  if (const auto* refused = std::get_if<Callers::Refused>(&admitted)) {
    status = refused->error.status;
    body = wire::error_body(anthropic ? wire::Dialect::anthropic : wire::Dialect::openai, refused->error);
  } else if (!wanted.empty()) {
    const auto model = world->fleet.model(wanted);
    if (model && world->routes[model->value].valid()) {
      body = model_json(json_text(wanted), anthropic);
    } else {
      const wire::WireError error{404, "model_not_found",
                                  fmt::format("no destination serves a model named {}", wire::echo(wanted)), "model"};
      status = error.status;
      body = wire::error_body(anthropic ? wire::Dialect::anthropic : wire::Dialect::openai, error);
    }
  } else {
    std::string first, last;  // in JSON
    for (std::size_t m = 0; m < world->fleet.models.size(); ++m) {
      if (!world->routes[m].valid()) continue;
      last = json_text(world->fleet.models[m].name);
      if (first.empty()) first = last;
      if (!body.empty()) body += ',';
      body += model_json(last, anthropic);
    }
    body = anthropic ? fmt::format(R"({{"data":[{}],"has_more":false,"first_id":{},"last_id":{}}})", body,
                                   first.empty() ? "null" : first, last.empty() ? "null" : last)
                     : R"({"object":"list","data":[)" + body + "]}";
  }
  (void)co_await exchange.respond(status, "Content-Type: application/json\r\n", body);
}

/// Why whoever sent this head may not ask at all.
std::optional<wire::WireError> Proxy::stranger(const net::RequestHead& head) const {
  const std::shared_ptr<const World> world = shared_.desk.world();
  const auto admitted = shared_.callers.admit(head.fields, world->fleet, nullptr, clock_.now());
  if (const auto* refused = std::get_if<Callers::Refused>(&admitted)) return refused->error;
  return std::nullopt;
}

/// Whose request it is, which model it asks for, and by what rules.
std::optional<wire::WireError> Proxy::resolve(Serving& s) const {
  const Fleet& fleet = s.world->fleet;
  const std::span<const net::Field> fields = s.exchange.head().fields;
  if (const net::Field* type = net::find(fields, "content-type");
      type != nullptr && type->value.starts_with("multipart/"))
    return wire::WireError{415, "unsupported_media_type", "content-type: expected application/json"};
  if (wire::dialect_of(s.operation) == wire::Dialect::anthropic && net::find(fields, "anthropic-version") == nullptr)
    return wire::WireError{400, "anthropic_version_missing", "anthropic-version: expected a date such as 2023-06-01"};
  const auto model = fleet.model(s.request.model);
  if (!model || !s.world->routes[model->value].valid())
    return wire::WireError{404, "model_not_found",
                           fmt::format("no destination serves a model named {}", wire::echo(s.request.model)), "model"};
  s.model = *model;
  if (!s.world->upstreams->able(s.world->snapshot, s.operation, s.model))
    return wire::WireError{
        400, "unsupported_operation",
        fmt::format("no destination of {} answers {}", fleet.models[model->value].name, wire::name_of(s.operation)),
        "model"};
  if (const net::Field* rule = net::find(s.exchange.head().fields, "x-ace-compliance"))
    if (Result<void> held = tighten(fleet, s.caller, rule->value); !held)
      return wire::WireError{400, "compliance_not_tightened", "x-ace-compliance: " + held.error().what()};
  return std::nullopt;
}

net::Task<> Proxy::serve_operation(net::Exchange& exchange, wire::Operation operation) {
  const auto serving = std::make_unique<Serving>(exchange, operation, std::string());
  Serving& s = *serving;
  if (const auto error = stranger(exchange.head())) {  // before its body is taken: 10 MiB are held for nobody
    co_await fail(s, *error);
    count(s);
    co_return;
  }
  s.wait_begins();
  net::Exchange::Body body = co_await exchange.read_body();
  s.wait_ends();
  if (!body.ok()) {
    if (body.io == net::Io::ok) (void)co_await exchange.refuse(body.fault);
    co_return;
  }
  s.body = std::move(body.bytes);
  const wire::RequestLimits limits;
  wire::ReadRequest read = wire::read_request(operation, s.body, limits, json_);
  if (read.error) {
    co_await fail(s, *read.error);
    count(s);
    co_return;
  }
  s.request = std::move(read.request);
  s.blocks = prompt_blocks(json_.root());
  if (shared_.cache != nullptr && !s.request.stream && !past_the_cache(exchange.head()) &&
      is_cacheable(s.request, json_.root(), shared_.cache_sampled))
    s.question.emplace();
  while (s.flight == nullptr) {
    s.world = shared_.desk.world();
    auto admitted = shared_.callers.admit(exchange.head().fields, s.world->fleet, &s.request, clock_.now());
    if (const auto* refused = std::get_if<Callers::Refused>(&admitted)) {
      co_await fail(s, refused->error, refused->retry_after, refused->retry_after > Duration{0});
      count(s);
      co_return;
    }
    auto& known = std::get<Callers::Admitted>(admitted);
    s.pass = nullptr;  // of a world that is gone meanwhile
    s.caller = std::move(known.caller);
    s.pass = std::move(known.pass);
    if (const auto error = resolve(s)) {
      co_await fail(s, *error);
      count(s);
      co_return;
    }
    if (s.question) s.question = question_of(s);  // of the rule that the request is held to in the end
    if (!admit(s)) {
      const wire::WireError refusal = s.error;
      co_await fail(s, refusal, s.retry_after, s.again);
      count(s);
      co_return;
    }
  }
  if (!co_await answer_from_cache(s)) co_await run(s);
  count(s);
  if (s.pass) s.pass->used(s.tokens, clock_.now());
}

/// @return false if it is refused, with the reason in `s`; true without a flight if the world has changed meanwhile
bool Proxy::admit(Serving& s) {
  Desk::Arriving arriving;
  arriving.world = s.world;
  arriving.caller = s.caller;
  arriving.model = s.model;
  arriving.prompt = Tokens{s.request.prompt_tokens};
  arriving.max_output = Tokens{s.request.max_tokens.value_or(0)};
  if (s.operation == wire::Operation::embeddings || s.operation == wire::Operation::count_tokens)
    arriving.max_output = Tokens{1};  // nothing is written
  arriving.needs = needs_of(s.request);
  arriving.blocks = s.blocks;
  arriving.unable = s.world->upstreams->unable(s.operation);
  arriving.fixed = s.world->routes[s.model.value];
  auto admitted = shared_.desk.admit(clock_.now(), arriving);
  if (auto* flight = std::get_if<std::unique_ptr<Flight>>(&admitted)) {
    s.flight = std::move(*flight);
    return true;
  }
  const Desk::Refusal& refusal = std::get<Desk::Refusal>(admitted);
  switch (refusal.why) {
    case Desk::Refused::outdated:
      return true;
    case Desk::Refused::spine:
      s.error = unrecordable();
      s.retry_after = kSecond;
      s.again = true;
      return false;
    case Desk::Refused::unpriced:  // of what is handed on unread alone
      break;
    case Desk::Refused::budget:
      s.error = {429, "budget_exceeded",
                 fmt::format("budget {} has {} USD left, less than this request may cost at most; it begins anew at {}",
                             refusal.budget_name, to_decimal(refusal.budget.left), to_rfc3339(refusal.budget.until))};
      return false;
  }
  return false;
}

/// What is looked up: shared by nobody of another tenant or rule.
CacheKey Proxy::question_of(const Serving& s) {
  const std::string rule =
      s.caller.compliance.valid() ? s.world->fleet.compliance[s.caller.compliance.value].name : std::string();
  (void)json_.parse(s.body);
  return cache_key_of(s.caller.tenant + "\n" + rule, s.request, json_.root());
}

net::Task<bool> Proxy::answer_from_cache(Serving& s) {
  if (!s.question || !s.flight->acts) co_return false;
  const AnswerCache::Lookup found = shared_.cache->find(*s.question, clock_.now());
  s.keep = found.keep;
  if (found.answer == nullptr) co_return false;
  Usage usage = s.prompt_alone();
  if (const auto facts = wire::read_response(s.operation, found.answer->body, json_)) usage = s.usage_of(*facts, false);
  s.receipt = shared_.desk.answered_from_cache(clock_.now(), *s.flight, found.answer->source, usage);
  if (!co_await durable(s.exchange.loop(), s.caller, *s.flight)) {
    const wire::WireError error = unrecordable();
    co_await fail(s, error, kSecond, true);
    co_return true;
  }
  std::string fields = s.head_fields(found.answer->content_type) + "x-ace-cache: hit\r\n";
  append_cost(fields, *s.receipt);
  s.told = 200;
  s.wait_begins();
  (void)co_await s.exchange.respond(200, fields, found.answer->body);
  co_return true;
}

/// What the metrics are told of it.
void Proxy::count(const Serving& s) {
  Ended ended;
  ended.operation = s.operation;
  const bool cached = s.receipt && s.told == 200 && s.destination.empty();
  ended.outcome = s.left          ? Outcome::client_left
                  : s.told == 200 ? (cached ? Outcome::from_cache : Outcome::served)
                                  : outcome_of(s.told, s.told_code);
  ended.took = s.exchange.loop().now() - s.started;
  if (s.first_token) ended.first_token = *s.first_token - s.started;
  if (s.sent_on) ended.overhead = s.own.total();
  ended.destination = s.destination;
  ended.attempts = s.flight ? s.flight->attempts.size() : 0;
  ended.input_tokens = s.used.prompt().value;
  ended.output_tokens = s.used.completion().value;
  if (s.receipt) {
    ended.cost = s.receipt->cost;
    if (s.receipt->priced) ended.baseline = s.receipt->baseline;
  }
  shared_.meter.ended(ended);
  tell(s, ended);
}

/// From admission to the end, whatever that is.
net::Task<> Proxy::run(Serving& s) {
  Desk& desk = shared_.desk;
  Bell bell(s.exchange.loop());
  s.flight->wake = bell.ringer();
  const net::Cancel::Subscription left(s.exchange.gone(), bell.ringer());
  for (;;) {
    if (s.exchange.gone().cancelled()) {
      s.left = true;
      (void)desk.aborted(clock_.now(), *s.flight, {});
      co_return;
    }
    const Instant now = clock_.now();
    // An attempt that has no time left would only be booked.
    if (!s.flight->attempts.empty() && s.deadline(shared_.timeouts.total) <= s.exchange.loop().now()) break;
    const Desk::Choice choice = desk.decide(now, *s.flight);
    if (choice.verdict == Verdict::no_capacity && !choice.shed && now < choice.until) {
      const Duration pause = std::clamp(Duration{(choice.until - now) / 16}, Duration{20'000'000}, kSecond);
      s.wait_begins();
      co_await bell.until(s.exchange.loop().now() + std::min<Duration>(pause, choice.until - now));
      s.wait_ends();
      continue;
    }
    if (choice.verdict != Verdict::dispatched) {
      if (s.error.code.empty()) s.error = error_of(choice.verdict, choice.shed);
      break;
    }
    const Next next = co_await attempt(s);
    if (next == Next::done) co_return;
    if (next == Next::give_up) break;
  }
  s.receipt = desk.gave_up(clock_.now(), *s.flight);
  const bool recorded = co_await durable(s.exchange.loop(), s.caller, *s.flight);
  const wire::WireError error = recorded ? s.error : unrecordable();
  if (s.begun) {
    s.told = error.status;
    s.told_code = error.code;
    if (!recorded) co_return;  // cut before its end
    (void)co_await hand_out(s, s.last);
    s.wait_begins();
    (void)co_await s.exchange.end();
    co_return;
  }
  const bool again = error.status == 429 || error.status >= 500;
  co_await fail(s, error, s.retry_after, again);
}

/// What a tenant's prompts are kept under at providers, made once for each tenant.
std::string Proxy::prompt_key_of(const std::string& tenant) {
  constexpr std::size_t most = 4096;
  if (prompt_keys_.size() >= most) prompt_keys_.clear();
  const auto [found, made] = prompt_keys_.try_emplace(tenant);
  if (made) found->second = salted(shared_.salt, tenant);
  return found->second;
}

/// One try at the destination that was chosen.
net::Task<Proxy::Next> Proxy::attempt(Serving& s) {
  const Fleet& fleet = s.world->fleet;
  const Offer& offer = s.world->snapshot[s.flight->offer];
  const Upstream* const upstream = s.world->upstreams->at(offer.destination);
  ACE_CHECK(upstream != nullptr, "a destination that cannot be called is not chosen");
  Attempt a{*upstream, fleet.destinations[offer.destination.value].name, fleet.models[offer.model.value].name};
  s.destination = a.destination;
  s.served_model = a.model;
  const std::string id = s.id(), cache_key = prompt_key_of(s.caller.tenant);
  const Ask ask{.request = s.request,
                .body = s.body,
                .model = model_name_at(fleet, offer.destination, offer.model),
                .cache_key = cache_key,
                .request_id = id,
                .fields = s.exchange.head().fields,
                .now = clock_.now()};
  std::variant<Prepared, wire::WireError> prepared = upstream->prepare(ask, json_);
  if (const auto* error = std::get_if<wire::WireError>(&prepared)) {
    s.error = *error;  // nothing was asked of anybody
    const Desk::Failed failure{.why = Rejection::request, .local = true};
    co_return shared_.desk.failed(clock_.now(), *s.flight, failure) ? Next::again : Next::give_up;
  }
  a.prepared = std::move(std::get<Prepared>(prepared));

  net::Outgoing out;
  out.method = "POST";
  out.target = a.prepared.target;
  out.fields = a.prepared.fields.reveal();
  out.body = a.prepared.body.empty() ? std::string_view(s.body) : std::string_view(a.prepared.body);
  net::Patience patience;
  // Whoever waits for a whole answer waits for its last token.
  patience.first_byte = s.request.stream ? shared_.timeouts.first_token : shared_.timeouts.total;
  patience.next_byte = std::max(shared_.timeouts.next_token,
                                s.request.stream ? shared_.timeouts.first_token : shared_.timeouts.next_token);
  patience.total = s.deadline(shared_.timeouts.total);
  s.sent_on = true;
  s.wait_begins();
  net::Sent sent = co_await client_.send(upstream->origin(), out, patience, s.exchange.gone());
  s.wait_ends();
  if (sent.response == nullptr) co_return unreachable(s, sent);
  a.incoming = std::move(sent.response);
  const net::ResponseHead& head = a.incoming->head();
  const Told told = upstream->told(head.fields, clock_.now());
  if (!told.served_by.empty()) a.billed_as = offer_named(*s.world, told.served_by, offer.model);
  shared_.desk.told(clock_.now(), *s.flight, told.windows);
  if (head.status != 200) co_return co_await refused(s, a);
  if (const net::Field* coding = net::find(head.fields, "content-encoding");
      coding != nullptr && coding->value != "identity") {
    s.error = {502, "upstream_encoding",
               fmt::format("{} sent a compressed answer, which nobody asked for", s.destination)};
    const Desk::Failed failure{.why = Rejection::failed};
    co_return shared_.desk.failed(clock_.now(), *s.flight, failure) ? Next::again : Next::give_up;
  }
  if (s.request.stream) co_return co_await stream(s, a);
  co_return co_await whole(s, a);
}

net::Task<> Proxy::fail(Serving& s, const wire::WireError& error, Duration retry_after, bool again) {
  std::string fields = s.head_fields(kJsonType);
  append_retry(fields, error.status, retry_after, again);
  if (s.receipt) append_cost(fields, *s.receipt);
  s.told = error.status;
  s.told_code = error.code;
  const std::string body = wire::error_body(wire::dialect_of(s.operation), error);
  s.wait_begins();
  (void)co_await s.exchange.respond(error.status, fields, body);
}

}  // namespace ace::gateway
