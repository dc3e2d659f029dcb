#include "net/connection.h"

#include <algorithm>

#include "core/check.h"
#include "core/text.h"
#include "net/write_head.h"

namespace ace::net {
namespace {

constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
constexpr std::size_t kLingerBytes = 64 * 1024;  ///< read and dropped after an error, so that the answer arrives
constexpr std::chrono::seconds kLingerTime{1};

}  // namespace

std::string Handler::error_body(Fault fault, std::string_view) {
  return "{\"error\":{\"code\":" + json_text(name_of(fault)) + ",\"message\":" + json_text(meaning_of(fault)) + "}}";
}

Connection::Connection(std::unique_ptr<Stream> stream, PeerName peer, const ServerOptions& options, Handler& handler)
    : stream_(std::move(stream)),
      peer_(std::move(peer)),
      options_(&options),
      handler_(&handler),
      inbox_(*stream_, 4096, options.limits.head_bytes + 4096),
      scanner_(options.limits),
      decoder_(options.limits),
      gone_(std::make_unique<Cancel>()) {
  stream_->set_write_stall(options.write_stall);
}

Task<> Connection::run() {
  for (bool first = true; keep_alive_; first = false) {
    const bool more = co_await read_head(first);
    if (!more) break;
    co_await serve_one();
  }
  if (lingering_) co_await linger();
  inbox_.unwatch();
  stream_->close();
  while (inbox_.reading()) (void)co_await inbox_.fill();
}

/// @return whether there is a request to serve; a fault has been answered if not
Task<bool> Connection::read_head(bool first) {
  scanner_.reset();
  between_ = inbox_.bytes().empty();
  if (draining_ && between_) co_return false;
  stream_->set_read_deadline(loop().now() + (first || !between_ ? options_->head_time : options_->idle_time));
  answer_ = Answer::none;
  for (;;) {
    const HeadScanner::Scan scan = scanner_.scan(inbox_.bytes());
    Fault fault = scan.fault;
    if (scan.length > 0) {
      head_text_.assign(inbox_.bytes().substr(0, scan.length));
      inbox_.consume(scan.length);
      fault = parse_request(head_text_, options_->limits, head_);
      if (fault == Fault::none) break;
    }
    if (fault != Fault::none) {
      head_ = {};
      (void)co_await refuse(fault);
      co_return false;
    }
    const bool none_yet = inbox_.bytes().empty();
    const Io io = co_await inbox_.fill();
    if (io != Io::ok) {
      if (!inbox_.bytes().empty()) {
        head_ = {};
        if (io == Io::timed_out) {
          (void)co_await refuse(Fault::too_slow);
        } else {
          handler_->rejected(Fault::truncated);
        }
      }
      co_return false;
    }
    if (none_yet) {
      between_ = false;
      stream_->set_read_deadline(loop().now() + options_->head_time);
    }
  }
  between_ = false;
  stream_->set_read_deadline(kNever);
  co_return true;
}

Task<> Connection::serve_one() {
  if (gone_->cancelled()) gone_ = std::make_unique<Cancel>();
  decoder_.start(head_.framing, head_.length);
  keep_alive_ = head_.keep_alive && !draining_;
  body_start_ = loop().now();
  if (decoder_.done()) watch();
  co_await handler_->serve(*this);
  if (answer_ == Answer::none && !gone_->cancelled()) (void)co_await refuse(Fault::unanswered);
  inbox_.unwatch();
  if (answer_ != Answer::done || inbox_.end() != Io::ok) keep_alive_ = false;
  if (!decoder_.done()) {  // a body that nobody wanted: rather a new connection than reading it all
    keep_alive_ = false;
    lingering_ = answer_ == Answer::done;
  }
  if (draining_) keep_alive_ = false;
}

void Connection::watch() {
  inbox_.watch([this] { gone_->cancel(); });
}

Steady Connection::body_deadline(std::uint64_t received) const {
  const double at_rate = static_cast<double>(received) / static_cast<double>(options_->body_rate);
  return body_start_ + options_->body_grace + from_seconds(at_rate);
}

Task<Exchange::Body> Connection::read_body() {
  Body body;
  if (head_.expect_continue && !decoder_.done() && inbox_.bytes().empty()) {
    body.io = co_await send(Parts{kContinue});
    if (body.io != Io::ok) co_return body;
  }
  body_start_ = loop().now();
  body.io = co_await read_rest(body);
  stream_->set_read_deadline(kNever);
  if (!body.ok()) {
    keep_alive_ = false;
    // Whoever was too slow hears of it; whoever is gone does not.
    if (body.io == Io::timed_out) {
      (void)co_await refuse(Fault::too_slow);
    } else if (body.io != Io::ok) {
      handler_->rejected(Fault::truncated);
    }
    if (body.io != Io::ok) gone_->cancel();
    co_return body;
  }
  watch();
  co_return body;
}

/// The body piece by piece; a long one with a length comes straight into place.
Task<Io> Connection::read_rest(Body& body) {
  constexpr std::size_t kStep = 64 * 1024;
  while (!decoder_.done()) {
    if (!inbox_.bytes().empty()) {
      const BodyDecoder::Step step = decoder_.next(inbox_.bytes());
      body.bytes += step.data;
      inbox_.consume(step.consumed);
      body.fault = step.fault;
      if (step.fault != Fault::none) co_return Io::ok;
      continue;
    }
    stream_->set_read_deadline(body_deadline(body.bytes.size()));
    if (head_.framing == Framing::length && !inbox_.reading() && inbox_.end() == Io::ok) {
      const std::size_t had = body.bytes.size();
      const std::size_t wanted = static_cast<std::size_t>(std::min<std::uint64_t>(head_.length - had, kStep));
      body.bytes.resize(had + wanted);
      const IoResult got = co_await stream_->read_some(body.bytes.data() + had, wanted);
      body.bytes.resize(had + got.bytes);
      if (got.status != Io::ok) co_return got.status;
      (void)decoder_.next(std::string_view(body.bytes).substr(had));
      continue;
    }
    const Io io = co_await inbox_.fill();
    if (io != Io::ok) co_return io;
  }
  co_return Io::ok;
}

void Connection::start_head(int status, std::string_view fields) {
  ACE_CHECK(answer_ == Answer::none, "a request is answered once");
  out_.clear();
  HeadWriter writer(out_);
  writer.status(status);
  out_ += fields;
  if (!decoder_.done() || draining_) keep_alive_ = false;
  if (!keep_alive_) {
    writer.field("Connection", "close");
  } else if (head_.minor == 0) {
    writer.field("Connection", "keep-alive");
  }
}

Task<Io> Connection::send(Parts parts) {
  const IoResult result = co_await stream_->write(parts);
  if (result.status != Io::ok) {
    keep_alive_ = false;
    gone_->cancel();
  }
  co_return result.status;
}

Task<Io> Connection::respond(int status, std::string_view fields, std::string_view body) {
  start_head(status, fields);
  answer_ = Answer::done;
  const bool bodiless = status < 200 || status == 204 || status == 304;
  if (!bodiless) HeadWriter(out_).field("Content-Length", std::uint64_t{body.size()});
  HeadWriter(out_).end();
  const Io io = co_await send(Parts{out_, bodiless || head_.method == "HEAD" ? std::string_view() : body});
  co_return io;
}

Task<Io> Connection::refuse(Fault fault) {
  handler_->rejected(fault);
  keep_alive_ = false;
  lingering_ = true;
  const std::string body = handler_->error_body(fault, head_.path());
  const Io io = co_await respond(status_of(fault), "Content-Type: application/json\r\n", body);
  co_return io;
}

Task<Io> Connection::begin(int status, std::string_view fields, std::optional<std::uint64_t> length) {
  ending_ = length ? Ending::counted : head_.minor == 1 ? Ending::chunked : Ending::close;
  left_ = length.value_or(0);
  if (ending_ == Ending::close) keep_alive_ = false;
  start_head(status, fields);
  answer_ = Answer::streaming;
  if (length) HeadWriter(out_).field("Content-Length", *length);
  if (ending_ == Ending::chunked) HeadWriter(out_).field("Transfer-Encoding", "chunked");
  HeadWriter(out_).end();
  co_return Io::ok;
}

Task<Io> Connection::write(std::string_view piece) {
  ACE_CHECK(answer_ == Answer::streaming && !piece.empty(), "a piece belongs to a streamed answer and is not empty");
  if (ending_ == Ending::counted) {
    ACE_CHECK(piece.size() <= left_, "more than was announced");
    left_ -= piece.size();
  }
  if (head_.method == "HEAD") co_return Io::ok;
  const ChunkHead chunk(piece.size());
  const Parts parts = ending_ == Ending::chunked ? Parts{out_, chunk.text(), piece, kChunkEnd} : Parts{out_, piece};
  const Io io = co_await send(parts);
  out_.clear();
  co_return io;
}

Task<Io> Connection::end() {
  ACE_CHECK(answer_ == Answer::streaming, "nothing to end");
  if (left_ > 0) co_return Io::ok;  // run() closes what is not done
  answer_ = Answer::done;
  const bool last_chunk = ending_ == Ending::chunked && head_.method != "HEAD";
  if (out_.empty() && !last_chunk) co_return Io::ok;
  const Io io = co_await send(Parts{out_, last_chunk ? kLastChunk : std::string_view()});
  co_return io;
}

Task<Io> Connection::write_raw(std::string_view bytes) {
  if (answer_ == Answer::none) {
    answer_ = Answer::streaming;
    out_.clear();
  }
  keep_alive_ = false;
  if (out_.empty() && bytes.empty()) co_return Io::ok;
  const Io io = co_await send(Parts{out_, bytes});
  out_.clear();
  co_return io;
}

/// Closing while the peer still sends would reset the connection, and the answer might be lost with it.
Task<> Connection::linger() {
  stream_->end_writing();
  stream_->set_read_deadline(loop().now() + kLingerTime);
  for (std::size_t dropped = 0; dropped < kLingerBytes;) {
    dropped += inbox_.bytes().size();
    inbox_.consume(inbox_.bytes().size());
    const Io io = co_await inbox_.fill();
    if (io != Io::ok) break;
  }
}

void Connection::drain() {
  draining_ = true;
  if (between_) stream_->close();
}

void Connection::cut() { stream_->close(); }

}  // namespace ace::net
