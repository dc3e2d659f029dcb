#include "gateway/side_loop.h"

#include <atomic>
#include <thread>

#include "gateway/engine_watch.h"
#include "gateway/otlp_exporter.h"
#include "net/server.h"
#include "net/tls.h"

namespace ace::gateway {
namespace {

constexpr std::string_view kSpans = "ace_telemetry_spans",
                           kSpansHelp = "Spans for the collector since the start, by what became of them.";

}  // namespace

struct SideLoop::State {
  explicit State(const Parts& p) : parts(p) {}

  /// Runs `work(done)` on the loop and waits until it has called done.
  void wait_for(const std::function<void(std::function<void()>)>& work) {
    std::atomic<bool> over = false;
    loop.post([&] {
      work([&over] {
        over = true;
        over.notify_one();
      });
    });
    over.wait(false);
  }
  void keep_house() {
    parts.limits->forget_idle(loop.utc());
    if (parts.desk != nullptr) parts.desk->accrue(loop.utc());
    loop.arm(*housekeeping, loop.now() + kMinute);
  }
  Result<void> listen(const Config::Listen& at) {
    net::ServerOptions options;
    options.address = at.address;
    options.port = at.port;
    if (!at.certificate.empty()) {
      Result<std::shared_ptr<net::TlsServer>> tls = net::TlsServer::load(at.certificate, at.key);
      if (!tls) return std::move(tls).error().with("admin.tls");
      options.tls = *std::move(tls);
    }
    server = std::make_unique<net::Server>(loop, options, *parts.admin);
    const Result<std::uint16_t> bound = server->listen();
    if (!bound) return Error(bound.error()).with("admin");
    port = *bound;
    return {};
  }
  Result<void> export_to(const Endpoint& collector) {
    net::ClientOptions options;
    if (collector.tls) {
      Result<std::shared_ptr<net::TlsClient>> tls = net::TlsClient::create();
      if (!tls) return std::move(tls).error().with("telemetry");
      options.tls = *std::move(tls);
    }
    client = std::make_unique<net::Client>(loop, options);
    OtlpExporter::Options exporting;
    exporting.collector = {collector.host, collector.port, collector.tls, true};
    exporting.path = collector.path + "/v1";
    exporting.version = parts.version;
    exporter = std::make_unique<OtlpExporter>(exporting, loop, *client);
    parts.metrics->gauges(kSpans, kSpansHelp, [e = exporter.get()] {
      const OtlpExporter::Counts counts = e->counts();
      std::vector<MetricRegistry::Sample> out;
      const auto add = [&](const char* outcome, std::uint64_t n) {
        out.push_back({{{"outcome", outcome}}, static_cast<double>(n)});
      };
      add("sent", counts.sent);
      add("dropped", counts.dropped);
      add("lost", counts.lost);
      return out;
    });
    return {};
  }

  Result<void> watch_engines() {
    net::ClientOptions options;
    Result<std::shared_ptr<net::TlsClient>> tls = net::TlsClient::create();
    if (!tls) return std::move(tls).error().with("metrics of engines");
    options.tls = *std::move(tls);
    options.connections = 8;  // to one server
    engine_client = std::make_unique<net::Client>(loop, options);
    engines = std::make_unique<EngineWatch>(EngineWatch::Options{}, loop, *engine_client, *parts.desk, *parts.metrics);
    return {};
  }

  const Parts parts;
  net::Loop loop;
  std::unique_ptr<net::Server> server;
  std::unique_ptr<net::Client> client;
  std::unique_ptr<OtlpExporter> exporter;
  std::unique_ptr<net::Client> engine_client;
  std::unique_ptr<EngineWatch> engines;
  std::unique_ptr<net::Timer> housekeeping;
  std::uint16_t port = 0;
  std::thread thread;
};

SideLoop::SideLoop(std::unique_ptr<State> state) : state_(std::move(state)) {}

Result<std::unique_ptr<SideLoop>> SideLoop::start(const Parts& parts) {
  auto state = std::make_unique<State>(parts);
  State& s = *state;
  if (parts.config.admin)
    if (Result<void> listens = s.listen(*parts.config.admin); !listens) return std::move(listens).error();
  if (parts.config.telemetry)
    if (Result<void> exports = s.export_to(*parts.config.telemetry); !exports) return std::move(exports).error();
  if (parts.desk != nullptr)
    if (Result<void> watches = s.watch_engines(); !watches) return std::move(watches).error();
  s.housekeeping = std::make_unique<net::Timer>([&s] { s.keep_house(); });
  s.thread = std::thread([&s] { s.loop.run(); });
  s.wait_for([&s](const std::function<void()>& done) {
    if (s.exporter) s.exporter->start();
    if (s.engines) s.engines->start();
    s.loop.arm(*s.housekeeping, s.loop.now() + kMinute);
    done();
  });
  return std::make_unique<SideLoop>(std::move(state));
}

SideLoop::~SideLoop() {
  State& s = *state_;
  if (s.exporter) s.parts.metrics->gauges(kSpans, kSpansHelp, nullptr);
  s.wait_for([&s](const std::function<void()>& done) {
    s.housekeeping.reset();
    if (!s.server) return done();
    s.server->drain(std::chrono::milliseconds{200}, done);
  });
  s.wait_for([&s](const std::function<void()>& done) {
    s.server.reset();
    if (!s.exporter) return done();
    s.exporter->stop(done);
  });
  s.wait_for([&s](const std::function<void()>& done) {
    if (!s.engines) return done();
    s.engines->stop(done);
  });
  s.wait_for([&s](const std::function<void()>& done) {
    s.engines.reset();
    for (net::Client* client : {s.client.get(), s.engine_client.get()})
      if (client != nullptr) client->close_kept();
    done();
  });
  s.loop.stop();
  s.thread.join();
}

std::uint16_t SideLoop::admin_port() const { return state_->port; }

std::function<void(SpanRecord)> SideLoop::tell() const {
  if (!state_->exporter) return {};
  return [exporter = state_->exporter.get()](SpanRecord span) { exporter->offer(std::move(span)); };
}

}  // namespace ace::gateway
