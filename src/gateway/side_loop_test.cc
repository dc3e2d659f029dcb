#include "gateway/side_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "net/server_testing.h"

namespace ace::gateway {
namespace {

using ::testing::HasSubstr;

/// Answers every request, and counts those for a path.
struct Counting final : net::Handler {
  std::atomic<int> traces = 0, others = 0;
  net::Task<> serve(net::Exchange& exchange) override {
    const net::Exchange::Body body = co_await exchange.read_body();
    ++(exchange.head().target == "/collect/v1/traces" ? traces : others);
    (void)co_await exchange.respond(200, "", "{}");
  }
};

struct Around {
  Limits limits;
  MetricRegistry metrics;
  Counting admin;
  SideLoop::Parts parts() {
    SideLoop::Parts out;
    out.admin = &admin;
    out.limits = &limits;
    out.metrics = &metrics;
    return out;
  }
};

TEST(SideLoop, listens_for_operators) {
  Around around;
  SideLoop::Parts parts = around.parts();
  parts.config.admin.emplace();
  parts.config.admin->port = 0;
  const Result<std::unique_ptr<SideLoop>> side = SideLoop::start(parts);
  ASSERT_TRUE(side) << side.error().what();
  const net::Peer peer = net::Peer::connect((*side)->admin_port());
  peer.send("GET /x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(peer.receive_all(), HasSubstr("200 OK"));
  EXPECT_FALSE((*side)->tell()) << "nobody wants to know";
}

TEST(SideLoop, tells_a_collector_also_what_came_last) {
  Counting collector;
  net::TestServer server(collector);
  Around around;
  SideLoop::Parts parts = around.parts();
  parts.config.telemetry = Endpoint{false, "127.0.0.1", server.port, "/collect", true};
  {
    const Result<std::unique_ptr<SideLoop>> side = SideLoop::start(parts);
    ASSERT_TRUE(side) << side.error().what();
    EXPECT_EQ((*side)->admin_port(), 0);
    (*side)->tell()(SpanRecord{});
    EXPECT_THAT(around.metrics.expose(), HasSubstr("ace_telemetry_spans{outcome=\"dropped\"} 0"));
  }
  EXPECT_EQ(collector.traces, 1);
  EXPECT_EQ(around.metrics.expose().find("ace_telemetry_spans{"), std::string::npos);
}

}  // namespace
}  // namespace ace::gateway
