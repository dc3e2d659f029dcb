#include "net/tls.h"

#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <fstream>

#include "net/client.h"
#include "net/echo_testing.h"
#include "net/server_testing.h"

namespace ace::net {
namespace {

using namespace std::chrono_literals;

/// A certificate that signs itself, and its key, as two files.
struct Certificate {
  std::string certificate, key;

  Certificate(const std::string& names, long valid_from, long valid_for) {
    static int number = 0;
    const std::string base =
        ::testing::TempDir() + "ace_tls_test_" + std::to_string(::getpid()) + "_" + std::to_string(++number);
    certificate = base + ".crt";
    key = base + ".key";
    EVP_PKEY* pair = EVP_EC_gen("P-256");
    X509* x = X509_new();
    X509_set_version(x, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(x), number);
    X509_gmtime_adj(X509_getm_notBefore(x), valid_from);
    X509_gmtime_adj(X509_getm_notAfter(x), valid_from + valid_for);
    X509_set_pubkey(x, pair);
    X509_NAME* subject = X509_get_subject_name(x);
    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("ace test"), -1, -1,
                               0);
    X509_set_issuer_name(x, subject);
    X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, names.c_str());
    X509_add_ext(x, extension, -1);
    X509_EXTENSION_free(extension);
    X509_sign(x, pair, EVP_sha256());
    std::FILE* file = std::fopen(certificate.c_str(), "w");
    PEM_write_X509(file, x);
    std::fclose(file);
    file = std::fopen(key.c_str(), "w");
    PEM_write_PrivateKey(file, pair, nullptr, nullptr, 0, nullptr, nullptr);
    std::fclose(file);
    X509_free(x);
    EVP_PKEY_free(pair);
  }
  ~Certificate() {
    std::remove(certificate.c_str());
    std::remove(key.c_str());
  }
  Certificate(const Certificate&) = delete;
  Certificate& operator=(const Certificate&) = delete;
};

constexpr long kDaySeconds = 86400;

struct Outcome {
  SendFault fault = SendFault::none;
  std::string body;
};

Task<> post(Client& client, const Origin& origin, std::string_view body, Outcome& result) {
  Cancel cancel;
  Sent sent = co_await client.send(origin, {.method = "POST", .target = "/echo", .body = body}, {10s, 10s}, cancel);
  result.fault = sent.fault;
  while (sent.response) {
    const Incoming::Piece piece = co_await sent.response->next();
    result.body += piece.data;
    result.fault = piece.fault;
    if (piece.end || piece.fault != SendFault::none) break;
  }
}

/// Sends `bodies` one after the other, each on a connection of its own.
std::vector<Outcome> posts(const Origin& origin, const std::string& trusted, const std::vector<std::string>& bodies,
                           std::uint64_t* resumed = nullptr) {
  LoopThread thread;
  std::unique_ptr<Client> client;
  std::shared_ptr<TlsClient> tls;
  std::vector<Outcome> got(bodies.size());
  thread.run([&] {
    tls = TlsClient::create(trusted).value();
    ClientOptions options;
    options.tls = tls;
    options.connect_time = 10s;
    client = std::make_unique<Client>(thread.loop, options);
  });
  std::size_t open = 0;
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    thread.wait_for([&]() -> Task<> {
      co_await post(*client, origin, bodies[i], got[i]);
      client->close_kept();
    });
    EXPECT_TRUE(eventually([&] {
      thread.run([&] { open = client->connections(); });
      return open == 0;
    }));
  }
  if (resumed != nullptr) *resumed = tls->resumed();
  thread.run([&] { client.reset(); });
  return got;
}

TEST(Tls, carries_requests_and_resumes_its_session_on_the_next_connection) {
  const Certificate own("IP:127.0.0.1,DNS:localhost", -60, kDaySeconds);
  EchoHandler handler;
  ServerOptions options;
  options.tls = TlsServer::load(own.certificate, own.key).value();
  TestServer server(handler, options);
  const std::string large(5 * 1024 * 1024, 'x');
  std::uint64_t resumed = 0;
  const std::vector<Outcome> got =
      posts({"127.0.0.1", server.port}, own.certificate, {"hello", large, "again"}, &resumed);
  EXPECT_EQ(got[0].body, "hello");
  EXPECT_EQ(got[1].body.size(), large.size());
  EXPECT_TRUE(got[1].body == large);
  EXPECT_EQ(got[2].body, "again");
  EXPECT_EQ(resumed, 2U);
  EXPECT_EQ(posts({"localhost", server.port}, own.certificate, {"by name"})[0].body, "by name");
}

TEST(Tls, sends_nothing_to_a_peer_that_cannot_prove_its_name) {
  const Certificate good("DNS:localhost", -60, kDaySeconds),
      other("DNS:other.example,DNS:*.localhost", -60, kDaySeconds),
      expired("DNS:localhost", -2 * kDaySeconds, kDaySeconds), future("DNS:localhost", kDaySeconds, kDaySeconds);
  const struct {
    const char* what;
    const Certificate &shown, &trusted;
  } cases[] = {
      {"wrong name", other, other},
      {"expired", expired, expired},
      {"not valid yet", future, future},
      {"signed by nobody we trust", good, other},
  };
  for (const auto& c : cases) {
    EchoHandler handler;
    ServerOptions options;
    options.tls = TlsServer::load(c.shown.certificate, c.shown.key).value();
    TestServer server(handler, options);
    EXPECT_EQ(name_of(posts({"localhost", server.port}, c.trusted.certificate, {"secret"})[0].fault), "tls") << c.what;
    EXPECT_EQ(handler.served, 0) << c.what;
  }
}

TEST(Tls, a_peer_that_does_not_speak_it_is_refused_on_both_sides) {
  const Certificate own("IP:127.0.0.1", -60, kDaySeconds);
  EchoHandler handler;
  {
    TestServer plain(handler);
    EXPECT_EQ(name_of(posts({"127.0.0.1", plain.port}, own.certificate, {"x"})[0].fault), "tls");
  }
  ServerOptions options;
  options.tls = TlsServer::load(own.certificate, own.key).value();
  options.head_time = 100ms;
  TestServer server(handler, options);
  const Peer talks_plain = Peer::connect(server.port), silent = Peer::connect(server.port);
  talks_plain.send("GET /early HTTP/1.1\r\nHost: ace\r\n\r\n");
  EXPECT_EQ(talks_plain.receive_all().find("HTTP"), std::string::npos);
  EXPECT_EQ(silent.receive_all(), "");
  EXPECT_TRUE(eventually([&] { return server.connections() == 0; }));
  EXPECT_EQ(handler.served, 0);
}

TEST(Tls, says_which_file_is_wrong) {
  const Certificate one("DNS:a", -60, kDaySeconds), two("DNS:b", -60, kDaySeconds);
  EXPECT_NE(TlsServer::load("/nowhere.pem", one.key).error().what().find("reading the certificate /nowhere.pem"),
            std::string::npos);
  EXPECT_NE(TlsServer::load(one.certificate, two.key).error().what().find("reading the key " + two.key),
            std::string::npos);
  EXPECT_NE(TlsClient::create("/nowhere.pem").error().what().find("reading the authorities /nowhere.pem"),
            std::string::npos);
}

}  // namespace
}  // namespace ace::net
