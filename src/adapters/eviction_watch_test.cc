#include "adapters/eviction_watch.h"

#include <gtest/gtest.h>

#include <mutex>

#include "net/server_testing.h"
#include "net/write_head.h"

namespace ace {
namespace {

using namespace std::chrono_literals;

/// The metadata services of three clouds, as far as they are documented; refuses what they refuse.
struct Metadata : net::Handler {
  std::atomic<bool> taken = false, broken = false, forgets_token = false;
  std::atomic<int> questions = 0, held = 0;

  net::Task<> serve(net::Exchange& exchange) override {
    ++questions;
    const net::RequestHead& head = exchange.head();
    const auto field = [&](std::string_view name) {
      const net::Field* found = net::find(head.fields, name);
      return found == nullptr ? std::string() : std::string(found->value);
    };
    int status = 404;
    std::string body;
    const std::string_view path = head.path();
    if (broken) {
      status = 503;
    } else if (path == "/latest/api/token") {
      const bool fine = head.method == "PUT" && field("x-aws-ec2-metadata-token-ttl-seconds") == "21600";
      status = fine ? 200 : 400;
      if (fine) body = "token-7";
    } else if (path == "/latest/meta-data/spot/instance-action") {
      if (field("x-aws-ec2-metadata-token") != "token-7" || forgets_token.exchange(false))
        status = 401;
      else if (taken)
        status = 200, body = R"({"action":"terminate","time":"2026-12-01T08:22:00Z"})";
    } else if (path == "/computeMetadata/v1/instance/preempted") {
      if (field("metadata-flavor") != "Google") {
        status = 403;
      } else {
        if (head.target.find("wait_for_change=true") != std::string_view::npos) {
          ++held;
          while (!taken) co_await exchange.loop().sleep(5ms);
        }
        status = 200, body = taken ? "TRUE" : "FALSE";
      }
    } else if (path == "/metadata/instance/compute/name") {
      status = field("metadata") == "true" ? 200 : 400;
      if (status == 200) body = "vm_0";
    } else if (path == "/metadata/scheduledevents") {
      status = field("metadata") == "true" ? 200 : 400;
      body = taken ? R"({"DocumentIncarnation":2,"Events":[{"EventId":"E2","EventType":"Preempt","Resources":["vm_0"],)"
                     R"("NotBefore":"Tue, 01 Dec 2026 08:22:00 GMT"}]})"
                   : R"({"DocumentIncarnation":1,"Events":[]})";
    }
    (void)co_await exchange.respond(status, "", body);
  }
};

/// A watch of one cloud on loopback.
class Watched {
 public:
  explicit Watched(Cloud cloud) : server_(service) {
    EvictionWatch::Options options;
    options.cloud = cloud;
    options.metadata = {"127.0.0.1", server_.port, false};
    options.every = 5ms;
    options.patience = 2s;
    thread_.run([&] {
      client_ = std::make_unique<net::Client>(thread_.loop, net::ClientOptions{});
      watch_ = std::make_unique<EvictionWatch>(thread_.loop, *client_, options);
    });
  }
  ~Watched() {
    thread_.run([&] { client_->close_kept(); });
    EXPECT_TRUE(net::eventually([&] {
      std::size_t n = 0;
      thread_.run([&] { n = client_->connections(); });
      return n == 0;
    }));
    thread_.run([&] { watch_.reset(), client_.reset(); });
  }
  /// Until there is a notice; the service gives one after it was asked `questions` times.
  std::optional<EvictionNotice> notice_after(int questions) {
    std::thread taker([this, questions] {
      EXPECT_TRUE(net::eventually([&] { return service.questions >= questions; }));
      service.taken = true;
    });
    std::optional<EvictionNotice> notice;
    thread_.wait_for([&]() -> net::Task<> {
      net::Cancel cancel;
      std::function<void(const Error&)> tell = [this](const Error& error) { troubles.push_back(error.what()); };
      notice = co_await watch_->next(cancel, tell);
    });
    taker.join();
    return notice;
  }
  Metadata service;
  std::vector<std::string> troubles;
  EvictionWatch::Counts counts() { return watch_->counts(); }

 private:
  net::TestServer server_;
  net::LoopThread thread_;
  std::unique_ptr<net::Client> client_;
  std::unique_ptr<EvictionWatch> watch_;
};

const Instant kGone = *parse_rfc3339("2026-12-01T08:22:00Z");

TEST(EvictionWatch, asks_aws_with_a_token_and_gets_another_when_it_runs_out) {
  Watched aws(Cloud::aws);
  aws.service.forgets_token = true;
  const std::optional<EvictionNotice> notice = aws.notice_after(8);
  ASSERT_TRUE(notice);
  EXPECT_EQ(*notice, (EvictionNotice{EvictionNotice::What::terminate, kGone, ""}));
  EXPECT_EQ(aws.troubles.size(), 1U);  // the 401
  EXPECT_EQ(aws.counts().failed, 1U);
}

TEST(EvictionWatch, lets_gcp_hold_the_question) {
  Watched gcp(Cloud::gcp);
  const std::optional<EvictionNotice> notice = gcp.notice_after(2);
  ASSERT_TRUE(notice);
  EXPECT_EQ(gcp.service.held, 1);
  EXPECT_EQ(gcp.service.questions, 2);
  EXPECT_TRUE(gcp.troubles.empty());
}

TEST(EvictionWatch, asks_azure_for_the_name_and_then_for_its_events) {
  Watched azure(Cloud::azure);
  const std::optional<EvictionNotice> notice = azure.notice_after(4);
  ASSERT_TRUE(notice);
  EXPECT_EQ(*notice, (EvictionNotice{EvictionNotice::What::terminate, kGone, "E2"}));
}

TEST(EvictionWatch, a_service_that_fails_is_told_once_and_asked_again) {
  Watched aws(Cloud::aws);
  aws.service.broken = true;
  std::thread mender([&] {
    EXPECT_TRUE(net::eventually([&] { return aws.service.questions >= 4; }));
    aws.service.broken = false;
  });
  const std::optional<EvictionNotice> notice = aws.notice_after(10);
  mender.join();
  EXPECT_TRUE(notice);
  ASSERT_EQ(aws.troubles.size(), 1U);
  EXPECT_NE(aws.troubles[0].find("answered 503 to PUT /latest/api/token"), std::string::npos) << aws.troubles[0];
  EXPECT_GE(aws.counts().failed, 4U);
}

TEST(EvictionWatch, the_services_of_clouds_may_be_reached_where_they_are) {
  EXPECT_EQ(metadata_of(Cloud::aws).host, "169.254.169.254");
  EXPECT_EQ(metadata_of(Cloud::gcp).host, "metadata.google.internal");
  for (const Cloud cloud : {Cloud::aws, Cloud::gcp, Cloud::azure}) {
    EXPECT_TRUE(metadata_of(cloud).metadata);
    EXPECT_FALSE(metadata_of(cloud).allow_private);
  }
}

}  // namespace
}  // namespace ace
