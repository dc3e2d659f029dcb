#include "gateway/otlp_exporter.h"

#include <algorithm>
#include <utility>

#include "core/check.h"
#include "net/write_head.h"

namespace ace::gateway {
namespace {

constexpr std::chrono::milliseconds kLook{100};  ///< how often the queue is looked at

}  // namespace

OtlpExporter::OtlpExporter(Options options, net::Loop& loop, net::Client& client)
    : options_(std::move(options)), loop_(loop), client_(client), metrics_(loop.utc()) {}

OtlpExporter::~OtlpExporter() { ACE_CHECK(!running_, "stop the exporter before it goes"); }

void OtlpExporter::offer(SpanRecord span) {
  ++offered_;
  const std::lock_guard lock(mutex_);
  if (queue_.size() >= options_.queue) {
    ++dropped_;
    return;
  }
  queue_.push_back(std::move(span));
}

std::vector<SpanRecord> OtlpExporter::take() {
  const std::lock_guard lock(mutex_);
  const std::size_t count = std::min(queue_.size(), options_.batch);
  const auto end = queue_.begin() + static_cast<std::ptrdiff_t>(count);
  std::vector<SpanRecord> out(std::make_move_iterator(queue_.begin()), std::make_move_iterator(end));
  queue_.erase(queue_.begin(), end);
  return out;
}

void OtlpExporter::start() {
  ACE_CHECK(!std::exchange(running_, true), "it runs once");
  net::detach(run());
}

void OtlpExporter::stop(std::function<void()> done) {
  if (!running_) return done();
  stopping_ = true;
  stopped_ = std::move(done);
}

net::Task<> OtlpExporter::run() {
  for (bool last = false; !last;) {
    const net::Steady due = loop_.now() + options_.interval;
    for (;;) {
      const std::size_t waiting = [&] {
        const std::lock_guard lock(mutex_);
        return queue_.size();
      }();
      if (stopping_ || waiting >= options_.batch || loop_.now() >= due) break;
      co_await loop_.sleep(std::min<Duration>(kLook, options_.interval));
    }
    last = stopping_;
    bool any = false;
    for (std::vector<SpanRecord> spans = take(); !spans.empty(); spans = take()) {
      any = true;
      for (const SpanRecord& span : spans) metrics_.add(span);
      std::string body = otlp_spans(spans, options_.version);
      const bool arrived = co_await post("/traces", std::move(body));
      (arrived ? sent_ : lost_) += spans.size();
      if (!arrived && last) break;  // a collector that is away does not hold up the end
    }
    if (any) {
      std::string body = metrics_.otlp(loop_.utc(), options_.version);
      (void)co_await post("/metrics", std::move(body));
    }
  }
  running_ = false;
  if (stopped_) loop_.post(std::exchange(stopped_, nullptr));
}

net::Task<bool> OtlpExporter::post(const char* what, std::string body) {
  const std::string target = options_.path + what;
  std::string fields = options_.fields;
  net::HeadWriter(fields).field("Content-Type", "application/json");
  net::Outgoing request;
  request.method = "POST";
  request.target = target;
  request.fields = fields;
  request.body = body;
  net::Patience patience;
  patience.first_byte = patience.next_byte = options_.patience;
  patience.total = loop_.now() + options_.patience;
  const net::Sent sent = co_await client_.send(options_.collector, request, patience, cancel_);
  if (!sent.response) co_return false;
  const int status = sent.response->head().status;
  for (;;) {  // read, so that the connection is kept
    const net::Incoming::Piece piece = co_await sent.response->next();
    if (piece.end || piece.fault != net::SendFault::none) break;
  }
  co_return status >= 200 && status < 300;
}

OtlpExporter::Counts OtlpExporter::counts() const { return {offered_, sent_, dropped_, lost_}; }

}  // namespace ace::gateway
