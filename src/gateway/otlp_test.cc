#include "gateway/otlp.h"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <nlohmann/json.hpp>
#include <vector>

#include "gateway/otlp_exporter.h"
#include "net/server_testing.h"

namespace ace::gateway {
namespace {

using Json = nlohmann::json;

SpanRecord span_of(std::string model = "m-large") {
  SpanRecord s;
  s.context = {{0x0af7651916cd43ddULL, 0x8448eb211c80319cULL}, 0xb7ad6b7169203331ULL, true};
  s.span = 0x00f067aa0ba902b7ULL;
  s.start = instant(1'800'000'000'000'000'000);
  s.end = s.start + Duration{1'500'000'000};
  s.first_chunk = Duration{250'000'000};
  s.provider = "openai";
  s.server = "api.example";
  s.port = 443;
  s.request_model = std::move(model);
  s.finish = "stop";
  s.input_tokens = 100;
  s.output_tokens = 20;
  s.request_id = "req_1";
  return s;
}

Json attributes_of(const Json& holder) {
  Json out = Json::object();
  for (const Json& attribute : holder["attributes"]) out[attribute["key"].get<std::string>()] = attribute["value"];
  return out;
}

TEST(Traceparent, is_read_as_the_recommendation_says) {
  const std::string good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  EXPECT_EQ(parse_traceparent(good), span_of().context);
  EXPECT_FALSE(parse_traceparent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00")->sampled);
  EXPECT_TRUE(parse_traceparent("01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more")) << "a later version";
  for (const char* bad : {"", "00", "00-00000000000000000000000000000000-b7ad6b7169203331-01",
                          "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
                          "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
                          "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
                          "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
                          "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0x",
                          "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01.more"})
    EXPECT_FALSE(parse_traceparent(bad)) << bad;
}

TEST(Otlp, spans_have_the_names_of_the_conventions) {
  SpanRecord failed = span_of();
  failed.error = "upstream_timeout";
  failed.context.parent = 0;
  const SpanRecord spans[] = {span_of(), failed};
  const Json body = Json::parse(otlp_spans(spans, "0.1.0"));
  EXPECT_EQ(attributes_of(body["resourceSpans"][0]["resource"])["service.name"]["stringValue"], "ace");
  const Json& all = body["resourceSpans"][0]["scopeSpans"][0]["spans"];
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0]["traceId"], "0af7651916cd43dd8448eb211c80319c");
  EXPECT_EQ(all[0]["spanId"], "00f067aa0ba902b7");
  EXPECT_EQ(all[0]["parentSpanId"], "b7ad6b7169203331");
  EXPECT_EQ(all[0]["name"], "chat m-large");
  EXPECT_EQ(all[0]["kind"], 3) << "client";
  EXPECT_EQ(all[0]["endTimeUnixNano"], "1800000001500000000");
  EXPECT_EQ(all[0]["status"], Json::object());
  const Json attributes = attributes_of(all[0]);
  EXPECT_EQ(attributes["gen_ai.usage.input_tokens"]["intValue"], "100");
  EXPECT_EQ(attributes["gen_ai.response.finish_reasons"]["arrayValue"]["values"][0]["stringValue"], "stop");
  EXPECT_EQ(attributes["gen_ai.response.time_to_first_chunk"]["doubleValue"], 0.25);
  EXPECT_FALSE(attributes.contains("error.type"));
  EXPECT_FALSE(all[1].contains("parentSpanId"));
  EXPECT_EQ(all[1]["status"]["code"], 2);
  EXPECT_EQ(attributes_of(all[1])["error.type"]["stringValue"], "upstream_timeout");
}

TEST(Otlp, metrics_add_up_by_operation_provider_and_model) {
  GenAiMetrics metrics(instant(1));
  for (int i = 0; i < 3; ++i) metrics.add(span_of());
  metrics.add(span_of("m-small"));
  const Json body = Json::parse(metrics.otlp(instant(2), "0.1.0"));
  const Json& all = body["resourceMetrics"][0]["scopeMetrics"][0]["metrics"];
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0]["name"], "gen_ai.client.operation.duration");
  const Json& point = all[0]["histogram"]["dataPoints"][0];
  EXPECT_EQ(attributes_of(point)["gen_ai.request.model"]["stringValue"], "m-large");
  EXPECT_EQ(point["count"], "3");
  EXPECT_EQ(point["sum"], 4.5);
  EXPECT_EQ(point["bucketCounts"].size(), point["explicitBounds"].size() + 1);
  EXPECT_EQ(point["bucketCounts"][8], "3") << "(1.28, 2.56]";
  EXPECT_EQ(all[2]["name"], "gen_ai.client.token.usage");
  EXPECT_EQ(all[2]["histogram"]["dataPoints"].size(), 4U) << "input and output of two models";
}

TEST(Otlp, a_flood_of_models_is_counted_as_other) {
  GenAiMetrics metrics(instant(1));
  for (std::size_t i = 0; i < 3 * GenAiMetrics::kSeries; ++i) metrics.add(span_of("m" + std::to_string(i)));
  const Json body = Json::parse(metrics.otlp(instant(2), "0.1.0"));
  EXPECT_LE(body["resourceMetrics"][0]["scopeMetrics"][0]["metrics"][0]["histogram"]["dataPoints"].size(),
            GenAiMetrics::kSeries + 1);
}

/// Keeps what it is sent.
struct Collector final : net::Handler {
  std::mutex mutex;
  std::vector<std::pair<std::string, std::string>> got;
  int status = 200;
  net::Task<> serve(net::Exchange& exchange) override {
    const net::Exchange::Body body = co_await exchange.read_body();
    {
      const std::lock_guard lock(mutex);
      got.emplace_back(exchange.head().target, body.bytes);
    }
    (void)co_await exchange.respond(status, "", "{}");
  }
  std::size_t spans() {
    const std::lock_guard lock(mutex);
    std::size_t n = 0;
    for (const auto& [target, body] : got)
      if (target == "/v1/traces") n += Json::parse(body)["resourceSpans"][0]["scopeSpans"][0]["spans"].size();
    return n;
  }
};

/// An exporter on a loop of its own.
struct Exporting {
  explicit Exporting(OtlpExporter::Options options) {
    thread.run([&] {
      client = std::make_unique<net::Client>(thread.loop, net::ClientOptions{});
      exporter = std::make_unique<OtlpExporter>(std::move(options), thread.loop, *client);
      exporter->start();
    });
  }
  void stop() {
    std::atomic<bool> stopped = false;
    thread.run([&] {
      exporter->stop([&] {
        stopped = true;
        stopped.notify_one();
      });
    });
    stopped.wait(false);
  }
  ~Exporting() {
    stop();
    thread.run([&] {
      exporter.reset();
      client->close_kept();
    });
    thread.run([&] { client.reset(); });
  }
  net::LoopThread thread;
  std::unique_ptr<net::Client> client;
  std::unique_ptr<OtlpExporter> exporter;
};

OtlpExporter::Options to(std::uint16_t port) {
  OtlpExporter::Options options;
  options.collector = {"127.0.0.1", port, false, true};
  options.interval = Duration{20'000'000};
  return options;
}

TEST(OtlpExporter, sends_all_spans_and_the_sums_also_at_its_end) {
  Collector collector;
  net::TestServer server(collector);
  Exporting exporting(to(server.port));
  for (int i = 0; i < 1300; ++i) exporting.exporter->offer(span_of());
  EXPECT_TRUE(net::eventually([&] { return collector.spans() == 1300; }));
  exporting.exporter->offer(span_of());
  exporting.stop();
  EXPECT_EQ(collector.spans(), 1301U);
  EXPECT_EQ(collector.got.back().first, "/v1/metrics");
  EXPECT_EQ(exporting.exporter->counts().sent, 1301U);
}

TEST(OtlpExporter, drops_and_counts_what_a_collector_that_is_away_does_not_take) {
  std::uint16_t nobody = 0;
  {
    const net::Trap trap;
    nobody = trap.port;
  }
  OtlpExporter::Options options = to(nobody);
  options.queue = 10;
  options.interval = kHour;
  Exporting exporting(options);
  for (int i = 0; i < 25; ++i) exporting.exporter->offer(span_of());
  EXPECT_EQ(exporting.exporter->counts().dropped, 15U);
  exporting.stop();
  EXPECT_EQ(exporting.exporter->counts().lost, 10U);
  EXPECT_EQ(exporting.exporter->counts().sent, 0U);
}

TEST(OtlpExporter, counts_what_a_collector_refuses_as_lost) {
  Collector collector;
  collector.status = 503;
  net::TestServer server(collector);
  Exporting exporting(to(server.port));
  exporting.exporter->offer(span_of());
  EXPECT_TRUE(net::eventually([&] { return exporting.exporter->counts().lost == 1; }));
}

}  // namespace
}  // namespace ace::gateway
