#include "gateway/engine_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "gateway/desk_testing.h"
#include "gateway/side_loop.h"
#include "net/server_testing.h"

namespace ace::gateway {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// An engine that tells of its load.
struct Engine final : net::Handler {
  explicit Engine(std::string text) : body(std::move(text)), server(*this) {}
  net::Task<> serve(net::Exchange& exchange) override {
    ++asked;
    const int status = exchange.head().target == "/metrics" ? 200 : 404;
    (void)co_await exchange.respond(status, "Content-Type: text/plain\r\n", body);
  }
  [[nodiscard]] Endpoint at() const { return {false, "127.0.0.1", server.port, "/metrics", true}; }
  std::atomic<int> asked = 0;
  const std::string body;
  net::TestServer server;
};

std::string vllm(int running, int waiting, double kv) {
  return "vllm:num_requests_running{engine=\"0\"} " + std::to_string(running) + "\nvllm:num_requests_waiting " +
         std::to_string(waiting) + "\nvllm:kv_cache_usage_perc " + std::to_string(kv) + "\n";
}

/// A side loop that watches the engines of the pool "gpu", whose 256 slots nobody else uses.
struct Watched {
  explicit Watched(std::vector<Endpoint> servers) : world(DeskWorld::acting(), nullptr, fleet(std::move(servers))) {
    SideLoop::Parts parts;
    parts.limits = &limits;
    parts.metrics = &metrics;
    parts.desk = &world.desk;
    side = SideLoop::start(parts).value();
  }
  static Fleet fleet(std::vector<Endpoint> servers) {
    Fleet fleet = ledger_testing::small_fleet();
    Destination& gpu = fleet.destinations[ledger_testing::kGpu.value];
    gpu.metrics = std::move(servers);
    for (Serving& serving : gpu.serving) serving.measured->batch_max = 256;
    return fleet;
  }
  double utilization() {
    for (const DestinationView& view : world.desk.destinations(Instant::min()))
      if (view.name == "gpu") return view.utilization;
    return -1.0;
  }
  /// Ends the loop. @return what the spine was told of servers
  std::vector<event::CapacityObserved> stop() {
    side.reset();
    return world.spine.all<event::CapacityObserved>();
  }
  bool counted(const std::string& outcome) {
    return net::eventually([&] {
      return metrics.expose().find("ace_engine_looks_total{destination=\"gpu\",outcome=\"" + outcome + "\"}") !=
             std::string::npos;
    });
  }
  Limits limits;
  MetricRegistry metrics;
  DeskWorld world;
  std::unique_ptr<SideLoop> side;
};

TEST(EngineWatch, adds_up_what_the_servers_of_a_pool_run) {
  Engine one(vllm(40, 0, 0.2)), two(vllm(24, 0, 0.2));
  Watched w({one.at(), two.at()});
  EXPECT_TRUE(net::eventually([&] { return w.utilization() == 0.25; })) << w.utilization() << ": 64 of 256 slots";
  EXPECT_THAT(w.metrics.expose(), HasSubstr("ace_engine_requests{destination=\"gpu\",state=\"running\"} 64"));
  EXPECT_THAT(w.metrics.expose(), HasSubstr("ace_engine_servers{destination=\"gpu\"} 2"));
  const auto said = w.stop();
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said[0].source, event::CapacityObserved::Source::prometheus);
  EXPECT_EQ(said[0].units_healthy, 2);
  EXPECT_EQ(w.world.spine.verified(), "");
  EXPECT_THAT(w.metrics.expose(), Not(HasSubstr("ace_engine_servers{")));
}

TEST(EngineWatch, keeps_a_full_pool_from_being_chosen_and_the_record_shows_why) {
  Engine full(vllm(20, 30, 0.9));
  Watched w({full.at()});
  ASSERT_TRUE(net::eventually([&] { return w.utilization() >= 2.5; })) << "50 at what can run 20";
  (void)w.stop();
  w.world.now = Instant::min();  // as late as the look, and no later: its time is the desk's
  const auto flight = w.world.admit(w.world.arriving());
  const Desk::Choice choice = w.world.desk.decide(w.world.now, *flight);
  EXPECT_NE(w.world.destination(choice.offer), "gpu");
  (void)w.world.desk.aborted(w.world.now, *flight, {});
  EXPECT_EQ(w.world.spine.verified(), "");
}

TEST(EngineWatch, goes_on_with_the_servers_that_answer) {
  Engine alive(vllm(64, 0, 0.0));
  const net::Trap silent;  // takes the connection and says nothing
  Endpoint closed = alive.at();
  {
    const net::Trap gone;
    closed.port = gone.port;
  }
  Watched w({closed, {false, "127.0.0.1", silent.port, "/metrics", true}, alive.at()});
  EXPECT_TRUE(net::eventually([&] { return w.utilization() == 0.25; }));
  EXPECT_TRUE(w.counted("unreachable"));
  const auto said = w.stop();
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said[0].units_healthy, 1);
  EXPECT_EQ(said[0].units_total, 3);
}

TEST(EngineWatch, says_nothing_of_a_pool_that_it_looked_at_when_it_was_stopped) {
  const net::Trap silent;
  Watched w({{false, "127.0.0.1", silent.port, "/metrics", true}});
  const net::Peer asked = silent.accept();
  ASSERT_TRUE(asked.good());
  EXPECT_TRUE(w.stop().empty()) << "nobody knows that no engine answers";
}

TEST(EngineWatch, takes_no_text_without_a_load_for_an_idle_engine) {
  Engine other("go_goroutines 12\n"), endless(std::string((std::size_t{4} << 20) + 1, '#'));
  Watched w({other.at(), endless.at()});
  EXPECT_TRUE(w.counted("unreadable"));
  EXPECT_TRUE(w.counted("unreachable")) << "more than is read";
  EXPECT_EQ(w.utilization(), 0.0);
  EXPECT_EQ(w.stop().at(0).units_healthy, 0);
}

}  // namespace
}  // namespace ace::gateway
