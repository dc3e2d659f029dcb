#include "adapters/http_feed.h"

#include <gtest/gtest.h>

#include "net/server_testing.h"

namespace ace {
namespace {

struct Files : net::Handler {
  net::Task<> serve(net::Exchange& exchange) override {
    const std::string_view path = exchange.head().path();
    const std::string body = path == "/vms.csv" ? "InstanceType,Price\na,1.5\n"
                             : path == "/long"  ? std::string(5000, 'x')
                                                : "gone";
    (void)co_await exchange.respond(path == "/moved" ? 301 : path == "/absent" ? 404 : 200, "", body);
  }
};

TEST(HttpFeed, a_document_comes_whole_or_not_at_all) {
  Files files;
  net::TestServer server(files);
  const auto get = [&](const char* path) {
    return fetch_feed({false, "127.0.0.1", server.port, path, false}, std::chrono::seconds{5}, 4000);
  };
  EXPECT_EQ(get("/vms.csv").value(), "InstanceType,Price\na,1.5\n");
  for (const auto& [path, says] : {std::pair{"/moved", "got 301"}, {"/absent", "got 404"}}) {
    const Result<std::string> refused = get(path);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), Errc::unavailable);
    EXPECT_NE(refused.error().what().find(says), std::string::npos) << refused.error().what();
  }
  EXPECT_FALSE(get("/long"));
}

TEST(HttpFeed, nobody_there_is_said) {
  const Result<std::string> refused = fetch_feed({false, "127.0.0.1", 1, "/x", false}, std::chrono::seconds{5});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().what().find("fetching /x from 127.0.0.1: "), std::string::npos) << refused.error().what();
}

}  // namespace
}  // namespace ace
