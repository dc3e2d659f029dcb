#include "simulated/sending.h"

#include <algorithm>

#include "net/sse.h"
#include "net/write_head.h"

namespace ace::simulated {
namespace {

constexpr std::chrono::milliseconds kLook{10};  ///< how long a client may be gone before it is noticed in a pause

std::string times(const Fault& fault) {
  std::string out;
  for (std::int64_t i = 0; i < fault.count; ++i) out += fault.text;
  return out;
}

/// Position of the event that carries the nth token, the last that carries one if there are fewer.
std::size_t position_of(const std::vector<Event>& events, std::int64_t nth) {
  std::size_t last = 0;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (!events[i].content) continue;
    last = i;
    if (--nth == 0) break;
  }
  return last;
}

}  // namespace

Sending::Sending(net::Exchange& exchange, const Plan& plan, std::string fields)
    : exchange_(exchange),
      plan_(plan),
      fields_(std::move(fields)),
      subscription_(exchange.gone(), [this] { gone_ = true; }) {
  if (plan.fields != nullptr)
    for (std::int64_t i = 0; i < plan.fields->count; ++i)
      fields_ += "X-Simulated-" + std::to_string(i) + ": " + plan.fields->text + "\r\n";
}

net::Task<bool> Sending::until(net::Steady due) {
  net::Loop& loop = exchange_.loop();
  while (!gone_ && loop.now() < due) co_await loop.sleep(std::min<Duration>(kLook, due - loop.now()));
  co_return !gone_;
}

net::Task<bool> Sending::reach(Place place) {
  if (gone_) co_return true;
  if (plan_.stall != nullptr && plan_.stall->place == place) {
    if (place > Place::inside_head) (void)co_await exchange_.write_raw("");
    const bool here = co_await until(exchange_.loop().now() + plan_.stall->pause);
    if (!here) co_return true;
  }
  if (plan_.raw != nullptr && plan_.raw->place == place) {
    const std::string bytes = times(*plan_.raw);
    (void)co_await exchange_.write_raw(bytes);
    co_return true;
  }
  if (plan_.close != nullptr && plan_.close->place == place) {
    (void)co_await exchange_.write_raw("");
    co_return true;
  }
  co_return false;
}

/// @return whether to go on
net::Task<bool> Sending::head(int status, std::string_view type, std::optional<std::uint64_t> length) {
  const auto breaks_here = [](const Fault* f) { return f != nullptr && f->place == Place::inside_head; };
  bool over = co_await reach(Place::before_head);
  if (over) co_return false;
  status_ = status;
  if (breaks_here(plan_.close) || breaks_here(plan_.stall) || breaks_here(plan_.raw)) {
    std::string half;
    net::HeadWriter(half).status(status);
    half += "Content-Ty";
    (void)co_await exchange_.write_raw(half);
    (void)co_await reach(Place::inside_head);  // half a head cannot be gone on with: the connection ends
    co_return false;
  }
  std::string fields = fields_;
  if (!type.empty()) net::HeadWriter(fields).field("Content-Type", type);
  (void)co_await exchange_.begin(status, fields, length);
  over = co_await reach(Place::after_head);
  co_return !over;
}

net::Task<bool> Sending::send(std::string_view bytes) {
  if (plan_.trickle == nullptr) {
    net::Io io = net::Io::ok;
    if (!bytes.empty()) io = co_await exchange_.write(bytes);
    co_return io == net::Io::ok;
  }
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const net::Io io = co_await exchange_.write(bytes.substr(i, 1));
    if (io != net::Io::ok) co_return false;
    const bool here = co_await until(exchange_.loop().now() + plan_.trickle->pause);
    if (!here) co_return false;
  }
  co_return true;
}

net::Task<> Sending::whole(int status, std::string_view type, std::string_view body, net::Steady due) {
  const bool here = co_await until(due);
  if (!here) co_return;
  const std::string other = plan_.event != nullptr && status == 200 ? times(*plan_.event) : std::string();
  if (!other.empty()) body = other;
  bool on = co_await head(status, type, body.size());
  if (!on) co_return;
  const std::size_t half = body.size() / 2, last = body.size() - (body.empty() ? 0 : 1);
  on = co_await send(body.substr(0, half));
  if (!on) co_return;
  on = !co_await reach(Place::inside_event);
  if (!on) co_return;
  on = co_await send(body.substr(half, last - half));
  if (!on) co_return;
  for (const Place place : {Place::after_event, Place::before_end}) {
    on = !co_await reach(place);
    if (!on) co_return;
  }
  on = co_await send(body.substr(last));
  if (!on) co_return;
  (void)co_await exchange_.end();
}

/// @param named  whether it is the event that the faults name
net::Task<bool> Sending::event(const Event& event, bool named) {
  const std::string_view bytes = event.bytes;
  std::size_t sent = 0;
  if (named) {
    sent = bytes.size() / 2;
    bool on = co_await send(bytes.substr(0, sent));
    if (on) on = !co_await reach(Place::inside_event);
    if (!on) co_return false;
  }
  bool on = co_await send(bytes.substr(sent));
  if (on && event.content) ++tokens_sent_;
  if (on && named) on = !co_await reach(Place::after_event);
  co_return on;
}

net::Task<> Sending::stream(const std::vector<Event>& events, net::Steady first, Duration pace, wire::Dialect dialect) {
  const auto breaks_inside = [](const Fault* f) {
    return f != nullptr && (f->place == Place::inside_event || f->place == Place::after_event) ? f : nullptr;
  };
  const Fault* broken = breaks_inside(plan_.close);
  if (broken == nullptr) broken = breaks_inside(plan_.stall);
  if (broken == nullptr) broken = breaks_inside(plan_.raw);
  const std::size_t none = events.size();
  const std::size_t named = broken != nullptr ? position_of(events, broken->event) : none;
  const std::size_t before = plan_.event != nullptr ? position_of(events, plan_.event->event) : none;
  const std::size_t fails = plan_.error_event != nullptr ? position_of(events, plan_.error_event->event) : none;
  bool on = co_await until(first);
  if (!on) co_return;
  on = co_await head(200, "text/event-stream; charset=utf-8", std::nullopt);
  std::int64_t token = 0;
  for (std::size_t i = 0; on && i < events.size(); ++i) {
    if (events[i].content && token++ > 0) on = co_await until(first + (token - 1) * pace);
    if (!on) co_return;
    if (i + 1 == events.size()) {
      on = !co_await reach(Place::before_end);
      if (!on) co_return;
      if (plan_.no_terminator) break;
    }
    if (i == before) {
      const std::string inserted = times(*plan_.event);
      on = co_await send(inserted);
      if (!on) co_return;
    }
    on = co_await event(events[i], i == named);
    if (!on || i != fails) continue;
    std::string failure;
    const wire::WireError error{500, "overloaded_error", "The simulated provider gave up."};
    net::append_event(failure, {dialect == wire::Dialect::anthropic ? "error" : "", wire::error_body(dialect, error)});
    on = co_await send(failure);
    break;
  }
  if (on) (void)co_await exchange_.end();
}

}  // namespace ace::simulated
