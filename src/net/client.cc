#include "net/client.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/check.h"
#include "net/body.h"
#include "net/pool.h"
#include "net/write_head.h"

namespace ace::net {
namespace {

constexpr int kInterimResponses = 8;

SendFault fault_of(Io io, SendFault timeout) {
  if (io == Io::timed_out) return timeout;
  return io == Io::cancelled ? SendFault::cancelled : SendFault::reset;
}

/// A response on its link. When it ends well the link is kept, else it is closed.
class Response final : public Incoming {
 public:
  Response(std::unique_ptr<Link> link, const ClientOptions& options, const Patience& patience, Cancel& cancel)
      : link_(std::move(link)),
        options_(&options),
        patience_(patience),
        decoder_(options.limits),
        subscription_(cancel, [this] {
          if (link_) link_->stream->close();
        }) {}
  ~Response() override {
    if (link_) bury(std::move(link_));
  }

  const ResponseHead& head() const override { return head_; }
  Link& link() { return *link_; }
  Task<SendFault> read_head(bool to_head, Fault& why);
  Task<Piece> next() override;

 private:
  Task<SendFault> fill(std::chrono::nanoseconds patience, SendFault timeout);
  void finish();

  std::unique_ptr<Link> link_;
  const ClientOptions* options_;
  Patience patience_;
  std::string head_text_;  ///< what head_ points into
  ResponseHead head_;
  BodyDecoder decoder_;
  Cancel::Subscription subscription_;
};

Task<SendFault> Response::fill(std::chrono::nanoseconds patience, SendFault timeout) {
  Loop& loop = link_->stream->loop();
  const Steady soon = loop.now() + patience;
  link_->stream->set_read_deadline(std::min(soon, patience_.total));
  const Io io = co_await link_->inbox.fill();
  if (io == Io::ok) co_return SendFault::none;
  co_return fault_of(io, soon <= patience_.total ? timeout : SendFault::deadline);
}

Task<SendFault> Response::read_head(bool to_head, Fault& why) {
  Inbox& inbox = link_->inbox;
  HeadScanner scanner(options_->limits);
  for (int interim = 0;;) {
    const HeadScanner::Scan scan = scanner.scan(inbox.bytes());
    why = scan.fault;
    if (scan.length > 0) {
      head_text_.assign(inbox.bytes().substr(0, scan.length));
      inbox.consume(scan.length);
      scanner.reset();
      why = parse_response(head_text_, options_->limits, to_head, head_);
      if (why == Fault::none && head_.status >= 200) break;
      if (why == Fault::none && ++interim > kInterimResponses) why = Fault::bad_status;
      if (why == Fault::none) continue;
    }
    if (why != Fault::none) co_return SendFault::protocol;
    const SendFault fault = co_await fill(patience_.first_byte, SendFault::first_byte_timeout);
    if (fault != SendFault::none) co_return fault;
  }
  decoder_.start(head_.framing, head_.length);
  if (decoder_.done()) finish();
  co_return SendFault::none;
}

Task<Incoming::Piece> Response::next() {
  while (!decoder_.done()) {
    Inbox& inbox = link_->inbox;
    if (!inbox.bytes().empty()) {
      const BodyDecoder::Step step = decoder_.next(inbox.bytes());
      inbox.consume(step.consumed);
      if (step.fault != Fault::none) co_return Piece{{}, SendFault::protocol, step.fault, false};
      if (!step.data.empty()) co_return Piece{step.data};
      continue;
    }
    const SendFault fault = co_await fill(patience_.next_byte, SendFault::next_byte_timeout);
    if (fault == SendFault::none) continue;
    if (inbox.end() == Io::closed && decoder_.complete_at_close()) break;
    co_return Piece{{}, fault, fault == SendFault::reset ? Fault::truncated : Fault::none, false};
  }
  finish();
  co_return Piece{{}, SendFault::none, Fault::none, true};
}

/// The message is over: keeps the link if it is certain where the next one starts.
void Response::finish() {
  if (!link_) return;
  std::unique_ptr<Link> link = std::move(link_);
  if (head_.keep_alive && link->inbox.bytes().empty() && link->inbox.end() == Io::ok) {
    link->pool->keep(std::move(link));
  } else {
    bury(std::move(link));
  }
}

std::string written_head(const Origin& origin, const Outgoing& request) {
  std::string out;
  HeadWriter writer(out);
  writer.request(request.method, request.target);
  const std::string_view bracket = origin.host.find(':') == std::string::npos ? "" : "[";
  const bool default_port = origin.port == (origin.tls ? 443 : 80);
  writer.field("Host", fmt::format("{}{}{}{}", bracket, origin.host, bracket.empty() ? "" : "]",
                                   default_port ? std::string() : fmt::format(":{}", origin.port)));
  out += request.fields;
  const std::size_t length = request.body.size() + request.body_2.size() + request.body_3.size();
  if (length > 0 || request.method == "POST" || request.method == "PUT" || request.method == "PATCH")
    writer.field("Content-Length", std::uint64_t{length});
  writer.end();
  return out;
}

}  // namespace

std::string_view name_of(SendFault fault) {
  switch (fault) {
    case SendFault::none:
      return "none";
    case SendFault::unresolved:
      return "unresolved";
    case SendFault::forbidden:
      return "forbidden_address";
    case SendFault::refused:
      return "refused";
    case SendFault::connect_timeout:
      return "connect_timeout";
    case SendFault::tls:
      return "tls";
    case SendFault::overloaded:
      return "overloaded";
    case SendFault::reset:
      return "reset";
    case SendFault::first_byte_timeout:
      return "first_byte_timeout";
    case SendFault::next_byte_timeout:
      return "next_byte_timeout";
    case SendFault::deadline:
      return "deadline";
    case SendFault::protocol:
      return "protocol";
    case SendFault::cancelled:
      return "cancelled";
  }
  return "?";
}

struct Client::State {
  State(Loop& l, ClientOptions o) : loop(l), options(std::move(o)), resolver(l) {}
  Pool& pool(const Origin& origin) {
    std::shared_ptr<Pool>& pool = pools[origin];
    if (!pool) pool = std::make_shared<Pool>(loop, origin, options, resolver);
    return *pool;
  }
  Loop& loop;
  ClientOptions options;
  Resolver resolver;
  std::map<Origin, std::shared_ptr<Pool>> pools;  ///< each outlives its last connection
};

Client::Client(Loop& loop, ClientOptions options) : state_(std::make_unique<State>(loop, std::move(options))) {}

Client::~Client() { close_kept(); }

Task<Sent> Client::send(const Origin& origin, const Outgoing& request, const Patience& patience, Cancel& cancel) {
  State& s = *state_;
  Pool& pool = s.pool(origin);
  const std::string head = written_head(origin, request);
  for (;;) {
    Pool::Got got = co_await pool.acquire(patience.total, cancel);
    if (got.fault != SendFault::none) co_return Sent{nullptr, got.fault, Fault::none, false};
    const bool used_before = got.link->used_before;
    auto response = std::make_unique<Response>(std::move(got.link), s.options, patience, cancel);
    const Parts parts{head, request.body, request.body_2, request.body_3};
    const IoResult written = co_await response->link().stream->write(parts);
    if (written.status != Io::ok && written.bytes == 0 && used_before && !cancel.cancelled()) continue;
    const bool bytes_sent = written.bytes > 0;
    // A server that refuses a long body may answer and close before it has read it: what it said is worth reading.
    if (written.status != Io::ok && written.status != Io::reset)
      co_return Sent{nullptr, fault_of(written.status, SendFault::next_byte_timeout), Fault::none, bytes_sent};
    Fault why = Fault::none;
    const SendFault fault = co_await response->read_head(request.method == "HEAD", why);
    if (fault != SendFault::none) co_return Sent{nullptr, fault, why, bytes_sent};
    co_return Sent{std::move(response), SendFault::none, Fault::none, bytes_sent};
  }
}

std::size_t Client::connections() const {
  std::size_t sum = 0;
  for (const auto& [origin, pool] : state_->pools) sum += pool->open();
  return sum;
}

std::size_t Client::kept() const {
  std::size_t sum = 0;
  for (const auto& [origin, pool] : state_->pools) sum += pool->kept();
  return sum;
}

void Client::close_kept() {
  for (auto& [origin, pool] : state_->pools) pool->close_kept();
}

}  // namespace ace::net
