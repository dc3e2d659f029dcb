#include "net/client.h"

#include <gtest/gtest.h>

#include "net/echo_testing.h"
#include "net/server_testing.h"

namespace ace::net {
namespace {

using namespace std::chrono_literals;

/// What one request came to, all parts owned.
struct Outcome {
  SendFault fault = SendFault::none;
  Fault why = Fault::none;
  bool bytes_sent = false;
  int status = 0;
  std::string body;
};

Task<> request(Client& client, const Origin& origin, const Outgoing& out, Patience patience, Cancel& cancel,
               Outcome& result) {
  Sent sent = co_await client.send(origin, out, patience, cancel);
  result.fault = sent.fault;
  result.why = sent.why;
  result.bytes_sent = sent.bytes_sent;
  if (!sent.response) co_return;
  result.status = sent.response->head().status;
  for (;;) {
    const Incoming::Piece piece = co_await sent.response->next();
    result.fault = piece.fault;
    result.why = piece.why;
    result.body += piece.data;
    if (piece.end || piece.fault != SendFault::none) break;
  }
}

ClientOptions impatient() {
  ClientOptions o;
  o.connect_time = 5s;
  o.idle_time = 500ms;
  o.limits.body_bytes = 100'000;
  o.limits.head_bytes = 5'000;
  return o;
}

/// (A named value: GCC 12 copies the bytes of a temporary std::string in a co_await expression.)
Origin loopback(std::uint16_t port) { return {"127.0.0.1", port, false}; }

/// A client on its own loop, which leaves nothing open when it goes.
struct TestClient {
  explicit TestClient(ClientOptions options = impatient()) {
    thread.run([&] { client = std::make_unique<Client>(thread.loop, std::move(options)); });
  }
  ~TestClient() {
    thread.run([&] { client->close_kept(); });
    EXPECT_TRUE(eventually([&] { return connections() == 0; })) << "a connection leaked";
    thread.run([&] { client.reset(); });
  }
  std::size_t connections() {
    std::size_t n = 0;
    thread.run([&] { n = client->connections(); });
    return n;
  }
  std::size_t kept() {
    std::size_t n = 0;
    thread.run([&] { n = client->kept(); });
    return n;
  }
  Outcome get(std::uint16_t port, std::string_view target, Patience patience = {5s, 5s}) {
    return send(port, {.method = "GET", .target = target}, patience);
  }
  Outcome send(std::uint16_t port, const Outgoing& out, Patience patience = {5s, 5s}) {
    Outcome result;
    thread.wait_for([&]() -> Task<> {
      Cancel cancel;
      const Origin origin = loopback(port);
      co_await request(*client, origin, out, patience, cancel, result);
    });
    return result;
  }
  LoopThread thread;
  std::unique_ptr<Client> client;
};

TEST(Client, keeps_its_connection_for_the_next_request) {
  EchoHandler handler;
  TestServer server(handler);
  TestClient client;
  const Outgoing post{.method = "POST",
                      .target = "/echo",
                      .fields = "X-A: b\r\n",
                      .body = "one, ",
                      .body_2 = "two, ",
                      .body_3 = "three"};
  for (int i = 0; i < 3; ++i) {
    const Outcome got = client.send(server.port, post);
    EXPECT_EQ(name_of(got.fault), "none");
    EXPECT_EQ(got.status, 200);
    EXPECT_EQ(got.body, "one, two, three");
  }
  EXPECT_EQ(client.get(server.port, "/stream").body, "data: a\n\ndata: b\n\n");
  EXPECT_EQ(server.connections(), 1U);
  EXPECT_EQ(client.kept(), 1U);
  EXPECT_TRUE(eventually([&] { return client.kept() == 0; })) << "idle for too long";
}

TEST(Client, notices_that_a_kept_connection_was_closed_before_it_sends_on_it) {
  TestClient client;
  Trap trap;
  std::thread peer([&] {
    for (int i = 0; i < 2; ++i) {
      Peer p = trap.accept();
      (void)p.receive_until("\r\n\r\n");
      p.send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n" + std::to_string(i));
      if (i == 0) p.reset();
    }
  });
  EXPECT_EQ(client.get(trap.port, "/").body, "0");
  EXPECT_TRUE(eventually([&] { return client.kept() == 0; }));
  EXPECT_EQ(client.get(trap.port, "/").body, "1");
  peer.join();
}

TEST(Client, does_not_keep_a_connection_on_which_more_came_than_was_asked_for) {
  TestClient client;
  Trap trap;
  std::thread peer([&] {
    const Peer p = trap.accept();
    (void)p.receive_until("\r\n\r\n");
    p.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil");
    (void)p.receive_all();
  });
  EXPECT_EQ(client.get(trap.port, "/").body, "ok");
  EXPECT_EQ(client.kept(), 0U);
  peer.join();
}

/// What an upstream may do wrong, at each position, and what comes of it. `close`: ends the connection after the bytes,
/// else it stays open and silent.
TEST(Client, gives_every_fault_of_an_upstream_its_name_and_hangs_at_none) {
  enum End { closes, resets, stays };
  const std::string head = "HTTP/1.1 200 OK\r\n";
  const struct {
    const char* what;
    std::string bytes;
    End end;
    SendFault fault;
    Fault why;
    int status;
    const char* body;
  } cases[] = {
      {"closed before status", "", closes, SendFault::reset, Fault::none, 0, ""},
      {"reset before status", "", resets, SendFault::reset, Fault::none, 0, ""},
      {"silent", "", stays, SendFault::first_byte_timeout, Fault::none, 0, ""},
      {"silent within the head", head, stays, SendFault::first_byte_timeout, Fault::none, 0, ""},
      {"closed within the head", head + "A: b", closes, SendFault::reset, Fault::none, 0, ""},
      {"closed within the body", head + "Content-Length: 5\r\n\r\nhe", closes, SendFault::reset, Fault::truncated, 200,
       "he"},
      {"closed within a chunk", head + "Transfer-Encoding: chunked\r\n\r\n5\r\nhe", closes, SendFault::reset,
       Fault::truncated, 200, "he"},
      {"closed before the last chunk", head + "Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n", closes, SendFault::reset,
       Fault::truncated, 200, "he"},
      {"reset within the body", head + "Content-Length: 5\r\n\r\nhe", resets, SendFault::reset, Fault::truncated, 200,
       nullptr},
      {"silent within the body", head + "Content-Length: 5\r\n\r\nhe", stays, SendFault::next_byte_timeout, Fault::none,
       200, "he"},
      {"a body until the close", head + "\r\nhello", closes, SendFault::none, Fault::none, 200, "hello"},
      {"a malformed chunk", head + "Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\nX", stays, SendFault::protocol,
       Fault::bad_chunk, 200, "he"},
      {"two lengths", head + "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello", stays, SendFault::protocol,
       Fault::length_conflict, 0, ""},
      {"a large head", head + "A: " + std::string(6000, 'a'), stays, SendFault::protocol, Fault::head_too_large, 0, ""},
      {"a large body", head + "Content-Length: 100001\r\n\r\n", stays, SendFault::protocol, Fault::body_too_large, 0,
       ""},
      {"no HTTP", "SSH-2.0-OpenSSH\r\n\r\n", stays, SendFault::protocol, Fault::bad_start_line, 0, ""},
      {"a redirect is an answer", "HTTP/1.1 302 Found\r\nLocation: http://evil/\r\nContent-Length: 0\r\n\r\n", stays,
       SendFault::none, Fault::none, 302, ""},
      {"interim responses", "HTTP/1.1 103 Early Hints\r\n\r\n" + head + "Content-Length: 2\r\n\r\nok", stays,
       SendFault::none, Fault::none, 200, "ok"},
      {"an answer before the end of the request", "HTTP/1.1 429 Too Many Requests\r\nContent-Length: 0\r\n\r\n", closes,
       SendFault::none, Fault::none, 429, ""},
  };
  const std::size_t before = open_descriptors();
  {
    TestClient client;
    for (const auto& c : cases) {
      Trap trap;
      std::thread peer([&] {
        Peer p = trap.accept();
        (void)p.receive_until("\r\n\r\n");
        p.send(c.bytes);
        if (c.end == resets) p.reset();
        if (c.end == stays) (void)p.receive_all();
      });
      const Outcome got = client.get(trap.port, "/", {300ms, 300ms});
      EXPECT_EQ(name_of(got.fault), name_of(c.fault)) << c.what;
      EXPECT_EQ(name_of(got.why), name_of(c.why)) << c.what;
      EXPECT_EQ(got.status, c.status) << c.what;
      if (c.body != nullptr) {
        EXPECT_EQ(got.body, c.body) << c.what;
      }
      EXPECT_TRUE(got.bytes_sent) << c.what;
      client.thread.run([&] { client.client->close_kept(); });
      peer.join();
    }
  }
  EXPECT_EQ(open_descriptors(), before);
}

TEST(Client, stops_at_nine_interim_responses) {
  TestClient client;
  Trap trap;
  std::thread peer([&] {
    const Peer p = trap.accept();
    (void)p.receive_until("\r\n\r\n");
    for (int i = 0; i < 100; ++i) p.send("HTTP/1.1 103 Early Hints\r\n\r\n");
    (void)p.receive_all();
  });
  const Outcome got = client.get(trap.port, "/");
  EXPECT_EQ(name_of(got.fault), "protocol");
  EXPECT_EQ(name_of(got.why), "bad_status");
  peer.join();
}

TEST(Client, says_why_there_is_no_connection) {
  TestClient client;
  std::uint16_t closed_port = 0;
  {
    const Trap trap;
    closed_port = trap.port;
  }
  const struct {
    const char* what;
    Origin origin;
    SendFault want;
  } cases[] = {
      {"nobody listens", {"127.0.0.1", closed_port, false}, SendFault::refused},
      // (A label longer than a name may have: no server has to be asked.)
      {"no such name", {std::string(64, 'a') + ".invalid", 80, false}, SendFault::unresolved},
      {"link-local", {"169.254.169.254", 80, false}, SendFault::forbidden},
      {"link-local, even where private is allowed", {"169.254.169.254", 80, false, true}, SendFault::forbidden},
      {"link-local, but not the metadata service", {"169.254.1.1", 80, false, true, true}, SendFault::forbidden},
      {"mapped", {"::ffff:127.0.0.1", 80, false}, SendFault::forbidden},
      {"private", {"10.1.2.3", 80, false}, SendFault::forbidden},
      {"unspecified", {"0.0.0.0", 80, false}, SendFault::forbidden},
      {"TLS without trust", {"127.0.0.1", closed_port, true}, SendFault::tls},
  };
  for (const auto& c : cases) {
    Outcome got;
    client.thread.wait_for([&]() -> Task<> {
      Cancel cancel;
      co_await request(*client.client, c.origin, {.method = "GET", .target = "/"}, {}, cancel, got);
    });
    EXPECT_EQ(name_of(got.fault), name_of(c.want)) << c.what;
    EXPECT_FALSE(got.bytes_sent) << c.what;
  }
}

TEST(Client, stops_at_once_when_the_request_is_no_longer_wanted) {
  Trap trap;
  std::atomic<bool> noticed = false;
  std::thread peer([&] {
    for (int i = 0; i < 2; ++i) {
      const Peer p = trap.accept();
      (void)p.receive_until("\r\n\r\n");
      if (i == 1) p.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf");
      (void)p.receive_all();
    }
    noticed = true;
  });
  TestClient client;
  for (int i = 0; i < 2; ++i) {  // before the status, and within the body
    Outcome got;
    client.thread.wait_for([&]() -> Task<> {
      Cancel cancel;
      Timer timer([&] { cancel.cancel(); });
      client.thread.loop.arm(timer, client.thread.loop.now() + 50ms);
      const Origin origin = loopback(trap.port);
      co_await request(*client.client, origin, {.method = "GET", .target = "/"}, {}, cancel, got);
    });
    EXPECT_EQ(name_of(got.fault), "cancelled");
  }
  EXPECT_TRUE(eventually([&] { return noticed.load(); }));
  peer.join();
  Outcome got;
  client.thread.wait_for([&]() -> Task<> {
    Cancel cancel;
    cancel.cancel();
    const Origin origin = loopback(trap.port);
    co_await request(*client.client, origin, {.method = "GET", .target = "/"}, {}, cancel, got);
  });
  EXPECT_EQ(name_of(got.fault), "cancelled") << "already before";
}

Task<> get_slowly(Client& client, std::uint16_t port, Steady total, Outcome& result, std::atomic<int>& left) {
  Cancel cancel;
  const Origin origin = loopback(port);
  co_await request(client, origin, {.method = "GET", .target = "/slow"}, {5s, 5s, total}, cancel, result);
  --left;
}

TEST(Client, lets_requests_wait_for_a_connection_in_their_order_and_only_so_many) {
  EchoHandler handler;
  TestServer server(handler);
  ClientOptions options = impatient();
  options.connections = 1;
  options.waiting = 2;
  TestClient client(options);
  std::vector<Outcome> got(4);
  std::atomic<int> left = 4;
  client.thread.run([&] {
    for (Outcome& outcome : got) {
      const Steady total = &outcome == &got[2] ? client.thread.loop.now() + 50ms : kNever;
      detach(get_slowly(*client.client, server.port, total, outcome, left));
    }
  });
  ASSERT_TRUE(eventually([&] { return left == 0; }));
  EXPECT_EQ(got[0].body, "late");
  EXPECT_EQ(got[1].body, "late");
  EXPECT_EQ(name_of(got[2].fault), "deadline") << "its patience ended in the queue";
  EXPECT_EQ(name_of(got[3].fault), "overloaded");
  EXPECT_EQ(server.connections(), 1U);
}

TEST(Client, total_deadline_ends_a_response_that_keeps_coming) {
  EchoHandler handler;
  TestServer server(handler);
  ClientOptions options = impatient();
  options.limits.body_bytes = std::uint64_t{1} << 40;
  TestClient client(options);
  Outcome got;
  client.thread.wait_for([&]() -> Task<> {
    Cancel cancel;
    const Origin origin = loopback(server.port);
    Sent sent = co_await client.client->send(origin, {.method = "GET", .target = "/endless"},
                                             {1s, 1s, client.thread.loop.now() + 60ms}, cancel);
    for (Incoming::Piece piece = co_await sent.response->next();; piece = co_await sent.response->next()) {
      got.fault = piece.fault;
      if (piece.fault != SendFault::none) break;
    }
  });
  EXPECT_EQ(name_of(got.fault), "deadline");
  EXPECT_TRUE(eventually([&] { return handler.gone == 1; })) << "the upstream is told to stop";
}

}  // namespace
}  // namespace ace::net
