#include "gateway/engine_watch.h"

#include <algorithm>
#include <utility>

#include "adapters/engine_metrics.h"
#include "core/check.h"

#pragma GCC diagnostic ignored "-Wmismatched-new-delete"  // as in proxy.cc

namespace ace::gateway {
namespace {

constexpr std::chrono::milliseconds kLook{100};  ///< how often it asks itself whether it is to stop
constexpr std::string_view kRequests = "ace_engine_requests", kKv = "ace_engine_kv_share",
                           kServers = "ace_engine_servers";
constexpr std::string_view kRequestsHelp = "Requests at the engines of a pool, as they told last.",
                           kKvHelp = "Share of the KV cache in use at a pool, as its engines told last.",
                           kServersHelp = "Servers of a pool whose engines answered the last look.";

}  // namespace

EngineWatch::EngineWatch(Options options, net::Loop& loop, net::Client& client, Desk& desk, MetricRegistry& metrics)
    : options_(options), loop_(loop), client_(client), desk_(desk), metrics_(metrics) {
  const auto by_destination = [this](auto&& add) {
    const std::lock_guard lock(mutex_);
    std::vector<MetricRegistry::Sample> out;
    for (const auto& [name, shown] : shown_) add(out, name, shown);
    return out;
  };
  using Samples = std::vector<MetricRegistry::Sample>;
  metrics_.gauges(kRequests, kRequestsHelp, [=] {
    return by_destination([](Samples& out, const std::string& name, const Shown& s) {
      if (s.answered == 0) return;
      out.push_back({{{"destination", name}, {"state", "running"}}, static_cast<double>(s.load.running)});
      out.push_back({{{"destination", name}, {"state", "waiting"}}, static_cast<double>(s.load.waiting)});
    });
  });
  metrics_.gauges(kKv, kKvHelp, [=] {
    return by_destination([](Samples& out, const std::string& name, const Shown& s) {
      if (s.answered > 0) out.push_back({{{"destination", name}}, s.load.kv_share});
    });
  });
  metrics_.gauges(kServers, kServersHelp, [=] {
    return by_destination([](Samples& out, const std::string& name, const Shown& s) {
      out.push_back({{{"destination", name}}, static_cast<double>(s.answered)});
    });
  });
}

EngineWatch::~EngineWatch() {
  ACE_CHECK(!running_ && under_way_ == 0, "stop the watch before it goes");
  metrics_.gauges(kRequests, kRequestsHelp, nullptr);
  metrics_.gauges(kKv, kKvHelp, nullptr);
  metrics_.gauges(kServers, kServersHelp, nullptr);
}

void EngineWatch::start() {
  ACE_CHECK(!std::exchange(running_, true), "it runs once");
  run(this);
}

void EngineWatch::stop(std::function<void()> done) {
  if (!running_) return done();
  stopping_ = true;
  stopped_ = std::move(done);
  cancel_.cancel();
}

net::Detached EngineWatch::run(EngineWatch* watch) {
  co_await watch->rounds();
  watch->running_ = false;
  if (watch->stopped_) watch->loop_.post(std::exchange(watch->stopped_, nullptr));
}

net::Task<> EngineWatch::rounds() {
  while (!stopping_) {
    const net::Steady due = loop_.now() + options_.interval;
    look_around();
    while (!stopping_ && loop_.now() < due) co_await loop_.sleep(kLook);
  }
  while (under_way_ > 0) co_await loop_.sleep(kLook);
}

/// Asks every server of every pool at once, so that one that is slow holds up no other.
void EngineWatch::look_around() {
  const std::shared_ptr<const World> world = desk_.world();
  const Fleet& fleet = world->fleet;
  {
    const std::lock_guard lock(mutex_);  // pools that a reload took away
    std::erase_if(shown_, [&](const auto& one) { return !fleet.destination(one.first); });
  }
  for (std::uint32_t d = 0; d < fleet.destinations.size(); ++d) {
    const Destination& destination = fleet.destinations[d];
    if (destination.metrics.empty()) continue;
    auto look = std::make_shared<Look>();
    look->seen.world = world;
    look->seen.destination = DestinationId{d};
    look->seen.declared = static_cast<std::int64_t>(destination.metrics.size());
    look->name = destination.name;
    look->left = destination.metrics.size();
    for (const Endpoint& server : destination.metrics) ask(this, look, server);
  }
}

net::Detached EngineWatch::ask(EngineWatch* watch, std::shared_ptr<Look> look, Endpoint server) {
  ++watch->under_way_;
  const std::string text = co_await watch->read(server);
  const Result<EngineLoad> load = read_engine_metrics(text);
  if (load) look->loads.push_back(*load);
  watch->metrics_
      .counter("ace_engine_looks_total", "Looks at a server's metrics, by what came of them.",
               {{"destination", look->name},
                {"outcome", load           ? "read"
                            : text.empty() ? "unreachable"
                                           : "unreadable"}})
      .add();
  // A look that was called off says nothing of who was not heard any more.
  if (--look->left == 0 && !watch->stopping_) watch->heard(*look);
  --watch->under_way_;
}

/// The text of a server's metrics; nothing if it did not come whole, in time and within bounds.
net::Task<std::string> EngineWatch::read(const Endpoint& server) {
  const net::Origin origin{server.host, server.port, server.tls, server.allow_private};
  const std::string target = server.path.empty() ? "/metrics" : server.path;
  net::Outgoing request;
  request.method = "GET";
  request.target = target;
  request.fields = "accept: text/plain\r\nuser-agent: ace\r\n";
  net::Patience patience;
  patience.first_byte = patience.next_byte = options_.patience;
  patience.total = loop_.now() + options_.patience;
  std::string text;
  const net::Sent sent = co_await client_.send(origin, request, patience, cancel_);
  if (!sent.response || sent.response->head().status != 200) co_return text;
  for (;;) {
    const net::Incoming::Piece piece = co_await sent.response->next();
    if (piece.fault != net::SendFault::none || text.size() + piece.data.size() > kMetricsMost) co_return std::string();
    text += piece.data;
    if (piece.end) co_return text;
  }
}

/// What of a pool answered is part of what runs there, so the others' silence only makes the desk think it emptier.
void EngineWatch::heard(Look& look) {
  look.seen.answered = static_cast<std::int64_t>(look.loads.size());
  look.seen.load = pooled(look.loads);
  {
    const std::lock_guard lock(mutex_);
    shown_[look.name] = {look.seen.load, look.seen.answered};
  }
  desk_.scraped(clock_.now(), look.seen);
}

}  // namespace ace::gateway
