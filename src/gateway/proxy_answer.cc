/// What comes of an attempt: no response, a refusal, a whole answer, a stream.
#include <fmt/format.h>

#include "gateway/proxy_parts.h"

namespace ace::gateway {
/// No response at all.
Proxy::Next Proxy::unreachable(Serving& s, const net::Sent& sent) {
  if (sent.fault == net::SendFault::cancelled)
    return client_left(s, sent.bytes_sent ? s.prompt_alone() : Usage{}, OfferId{});
  Desk::Failed failure = failure_of(sent.fault);
  if (sent.bytes_sent && may_be_billed(sent.fault)) failure.billed = s.prompt_alone();
  s.error = error_of(sent.fault, s.destination);
  s.retry_after = failure.local ? kSecond : Duration{0};
  return shared_.desk.failed(clock_.now(), *s.flight, failure) ? Next::again : Next::give_up;
}

/// It stopped within the answer.
Proxy::Next Proxy::broken(Serving& s, Attempt& a, net::SendFault fault) {
  const Usage seen = s.usage_of(a.prepared.answer->facts(), true);
  if (fault == net::SendFault::cancelled) return client_left(s, seen, a.billed_as);
  Desk::Failed failure = failure_of(fault);
  failure.why = Rejection::failed;
  if (s.begun || may_be_billed(fault)) failure.billed = seen;
  if (s.begun) s.used_up(seen);
  s.error = error_of(fault, s.destination);
  const bool again = shared_.desk.failed(clock_.now(), *s.flight, failure);  // never after the first byte
  return again && !s.begun ? Next::again : Next::give_up;
}

Proxy::Next Proxy::client_left(Serving& s, const Usage& usage, OfferId billed_as) {
  s.used_up(usage);
  s.left = true;
  const Desk::Answered so_far{.usage = usage, .billed_as = billed_as, .streamed = s.request.stream};
  (void)shared_.desk.aborted(clock_.now(), *s.flight, so_far);
  return Next::done;
}

/// Another status than 200.
net::Task<Proxy::Next> Proxy::refused(Serving& s, Attempt& a) {
  std::string body;
  while (body.size() < kErrorBytes) {
    s.wait_begins();
    const net::Incoming::Piece piece = co_await a.incoming->next();
    s.wait_ends();
    if (piece.fault == net::SendFault::cancelled) co_return client_left(s, s.prompt_alone(), a.billed_as);
    body += piece.data;
    if (piece.end || piece.fault != net::SendFault::none) break;
  }
  const net::ResponseHead& head = a.incoming->head();
  Refusal refusal = a.upstream.refusal(head.status, head.fields, body, clock_.now(), json_);
  Desk::Failed failure{.why = refusal.why, .retry_after = refusal.retry_after, .limit = refusal.limit};
  if (refusal.billed) failure.billed = s.prompt_alone();
  s.error = std::move(refusal.error);
  s.error.message = without_keys_of(a.prepared.fields.reveal(), std::move(s.error.message));
  s.retry_after = refusal.retry_after;
  co_return shared_.desk.failed(clock_.now(), *s.flight, failure) ? Next::again : Next::give_up;
}

net::Task<Proxy::Next> Proxy::whole(Serving& s, Attempt& a) {
  std::string body;
  for (;;) {
    s.wait_begins();
    const net::Incoming::Piece piece = co_await a.incoming->next();
    s.wait_ends();
    if (piece.fault != net::SendFault::none) co_return broken(s, a, piece.fault);
    body += piece.data;
    if (piece.end) break;
  }
  const Answer::Whole answer = a.prepared.answer->whole(std::move(body), json_);
  if (answer.error) {
    s.error = *answer.error;
    Desk::Failed failure{.why = Rejection::failed};
    if (answer.facts.reported) failure.billed = s.usage_of(answer.facts, false);  // it was written
    co_return shared_.desk.failed(clock_.now(), *s.flight, failure) ? Next::again : Next::give_up;
  }
  const Usage usage = s.usage_of(answer.facts, false);
  s.used_up(usage);
  const Desk::Answered answered{.usage = usage, .billed_as = a.billed_as, .streamed = false};
  s.receipt = shared_.desk.completed(clock_.now(), *s.flight, answered);
  if (!co_await durable(s.exchange.loop(), s.caller, *s.flight)) {
    const wire::WireError error = unrecordable();
    co_await fail(s, error, kSecond, true);
    co_return Next::done;
  }
  std::string fields = s.head_fields(kJsonType);
  append_cost(fields, *s.receipt);
  s.told = 200;
  if (s.keep) {
    CachedAnswer kept{s.flight->id, std::string(kJsonType), answer.body};
    (void)shared_.cache->put(*s.question, std::move(kept), clock_.now());
  }
  s.wait_begins();
  (void)co_await s.exchange.respond(200, fields, answer.body);
  co_return Next::done;
}

/// Whole events of a stream to the client, after its head.
net::Task<net::Io> Proxy::hand_out(Serving& s, std::string_view events) {
  if (events.empty()) co_return net::Io::ok;
  if (!s.begun) {
    s.begun = true;
    s.told = 200;
    const std::string fields =
        s.head_fields("text/event-stream") + "Cache-Control: no-cache\r\n" + predicted_field(s.flight->predicted);
    (void)co_await s.exchange.begin(200, fields, std::nullopt);
  }
  s.wait_begins();
  const net::Io io = co_await s.exchange.write(events);
  s.wait_ends();
  co_return io;
}

net::Task<Proxy::Next> Proxy::stream(Serving& s, Attempt& a) {
  Desk& desk = shared_.desk;
  Answer& answer = *a.prepared.answer;
  bool told_first = false;
  Answer::State state = Answer::State::going;
  while (state == Answer::State::going) {
    s.wait_begins();
    const net::Incoming::Piece piece = co_await a.incoming->next();
    s.wait_ends();
    if (piece.fault == net::SendFault::cancelled) co_return broken(s, a, piece.fault);
    if (piece.fault != net::SendFault::none) {
      const Next next = broken(s, a, piece.fault);
      if (s.begun) s.last = answer.fail(s.error);
      co_return next;
    }
    const Answer::Step step = piece.end ? answer.end(true) : answer.feed(piece.data, json_);
    state = step.state;
    if (state == Answer::State::failed && !s.begun) {  // the client has seen nothing: another may answer
      s.error = {502, "upstream_protocol", fmt::format("{} did not send an answer", s.destination)};
      Desk::Failed failure{.why = Rejection::failed};
      if (answer.facts().reported || answer.content_events() > 0) failure.billed = s.usage_of(answer.facts(), true);
      co_return desk.failed(clock_.now(), *s.flight, failure) ? Next::again : Next::give_up;
    }
    if (!told_first && answer.content_events() > 0) {
      told_first = true;
      s.first_token = s.exchange.loop().now();
      desk.first_token(clock_.now(), *s.flight);
    }
    if (!s.begun && !step.pass.empty() && !co_await durable(s.exchange.loop(), s.caller, *s.flight)) {
      s.error = unrecordable();
      const Desk::Failed ours{.why = Rejection::failed, .billed = s.usage_of(answer.facts(), true), .local = true};
      (void)desk.failed(clock_.now(), *s.flight, ours);
      co_return Next::give_up;
    }
    if (state != Answer::State::going && is_strict(s.caller)) {
      s.last = step.pass;  // the client takes it for the end, which is to be recorded first
      break;
    }
    const net::Io io = co_await hand_out(s, step.pass);
    if (io != net::Io::ok) co_return client_left(s, s.usage_of(answer.facts(), true), a.billed_as);
  }
  const bool ended = state == Answer::State::ended;
  const Usage usage = s.usage_of(answer.facts(), !ended);
  s.used_up(usage);
  if (!ended) {
    s.error = {502, "upstream_failed", fmt::format("{} failed within its answer", s.destination)};
    const Desk::Failed failure{.why = Rejection::failed, .billed = usage};
    (void)desk.failed(clock_.now(), *s.flight, failure);
    co_return Next::give_up;
  }
  const Desk::Answered answered{.usage = usage, .billed_as = a.billed_as, .streamed = true};
  s.receipt = desk.completed(clock_.now(), *s.flight, answered);
  if (!co_await durable(s.exchange.loop(), s.caller, *s.flight)) {
    s.told = 503;  // the stream is cut before its end
    s.told_code = unrecordable().code;
    co_return Next::done;
  }
  (void)co_await hand_out(s, s.last);
  s.wait_begins();
  (void)co_await s.exchange.end();
  // What follows the last event is read, so that the connection can be kept.
  for (;;) {
    const net::Incoming::Piece rest = co_await a.incoming->next();
    if (rest.end || rest.fault != net::SendFault::none) break;
  }
  co_return Next::done;
}

}  // namespace ace::gateway
