#include "gateway/gateway.h"

#include <atomic>
#include <thread>

#include "adapters/wall_clock.h"
#include "net/server.h"
#include "net/tls.h"

namespace ace::gateway {

struct Gateway::Lane {
  Lane(ProxyShared& shared, const Config& config, std::shared_ptr<net::TlsClient> tls, std::uint64_t number)
      : client(loop, client_options(config, std::move(tls))), proxy(shared, client, clock, number) {}
  ~Lane() {
    loop.stop();
    if (thread.joinable()) thread.join();
  }
  static net::ClientOptions client_options(const Config& config, std::shared_ptr<net::TlsClient> tls) {
    net::ClientOptions options;
    options.connect_time = config.timeouts.connect;
    options.tls = std::move(tls);
    return options;
  }
  /// Runs `work` on the loop's thread and waits for it.
  void run(const std::function<void()>& work) {
    std::atomic<bool> done = false;
    loop.post([&] {
      work();
      done = true;
      done.notify_one();
    });
    done.wait(false);
  }

  net::Loop loop;
  WallClock clock;
  net::Client client;
  Proxy proxy;
  std::unique_ptr<net::Server> server;
  std::atomic<bool> drained = false;
  std::thread thread;  ///< last: it uses the others
};

Gateway::Gateway(const Parts& parts)
    : shared_{*parts.desk,
              *parts.callers,
              *parts.meter,
              parts.cache,
              parts.config.cache && parts.config.cache->sampled,
              parts.config.timeouts,
              parts.tell,
              parts.salt,
              parts.config.durability == spine::Durability::strict,
              parts.config.strict} {}

Result<std::unique_ptr<Gateway>> Gateway::start(const Parts& parts) {
  std::unique_ptr<Gateway> gateway(new Gateway(parts));
  const Config& config = parts.config;
  const unsigned threads = config.threads > 0 ? config.threads : std::max(1U, std::thread::hardware_concurrency());
  net::ServerOptions options;
  options.address = config.listen.address;
  options.port = config.listen.port;
  options.limits.body_bytes = config.body_bytes;
  for (unsigned i = 0; i < threads; ++i) {
    Result<std::shared_ptr<net::TlsClient>> client_tls = net::TlsClient::create(parts.authorities);
    if (!client_tls) return std::move(client_tls).error();
    if (!config.listen.certificate.empty()) {
      Result<std::shared_ptr<net::TlsServer>> tls = net::TlsServer::load(config.listen.certificate, config.listen.key);
      if (!tls) return std::move(tls).error().with("listen.tls");
      options.tls = *std::move(tls);
    }
    Lane& lane =
        *gateway->lanes_.emplace_back(std::make_unique<Lane>(gateway->shared_, config, *std::move(client_tls), i));
    lane.server = std::make_unique<net::Server>(lane.loop, options, lane.proxy);
    const Result<std::uint16_t> port = lane.server->listen();
    if (!port) return Error(port.error());
    gateway->port_ = options.port = *port;  // the others share it
  }
  for (const auto& lane : gateway->lanes_) lane->thread = std::thread([&loop = lane->loop] { loop.run(); });
  return gateway;
}

void Gateway::drain(Duration limit) {
  if (std::exchange(drained_, true)) return;
  shared_.draining = true;
  for (const auto& lane : lanes_)
    lane->run([&, l = lane.get()] {
      l->server->drain(limit, [l] {
        l->drained = true;
        l->drained.notify_one();
      });
    });
  for (const auto& lane : lanes_) {
    lane->drained.wait(false);
    lane->run([l = lane.get()] {
      l->server.reset();
      l->client.close_kept();
    });
  }
}

Gateway::~Gateway() {
  if (std::all_of(lanes_.begin(), lanes_.end(), [](const auto& lane) { return lane->thread.joinable(); }))
    drain(Duration{0});
}

}  // namespace ace::gateway
