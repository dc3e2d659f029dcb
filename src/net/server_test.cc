#include "net/server.h"

#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/resource.h>

#include "net/echo_testing.h"
#include "net/http_testing.h"
#include "net/server_testing.h"

namespace ace::net {
namespace {

using namespace std::chrono_literals;

#define GET(path) "GET " path " HTTP/1.1\r\nHost: ace\r\n\r\n"

/// Limits so short that a test sees them pass; the defaults are seconds.
ServerOptions impatient() {
  ServerOptions o;
  o.head_time = 150ms;
  o.idle_time = 150ms;
  o.body_grace = 150ms;
  o.body_rate = 100'000;
  o.write_stall = 150ms;
  o.accept_pause = 20ms;
  return o;
}

Transcript responses(std::string_view bytes) {
  return read_messages(Side::responses, std::span(&bytes, 1), kResponseLimits);
}

TEST(Server, answers_requests_one_after_the_other_also_when_they_come_at_once) {
  EchoHandler handler;
  TestServer server(handler);
  const Peer peer = Peer::connect(server.port);
  peer.send(
      "POST /echo HTTP/1.1\r\nHost: ace\r\nContent-Length: 5\r\n\r\nhello"
      "POST /echo HTTP/1.1\r\nHost: ace\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n" GET(
          "/stream") "GET /early HTTP/1.1\r\nHost: ace\r\nConnection: close\r\n\r\n");
  const Transcript got = responses(peer.receive_all());
  ASSERT_EQ(got.messages.size(), 4U);
  EXPECT_EQ(got.messages[0].body, "hello");
  EXPECT_EQ(got.messages[1].body, "abc");
  EXPECT_EQ(got.messages[2].body, "data: a\n\ndata: b\n\n");
  EXPECT_EQ(got.messages[3].start, "404");
  EXPECT_FALSE(got.messages[3].keep_alive);
  EXPECT_FALSE(got.inside);
}

TEST(Server, reads_a_body_of_ten_mebibytes_in_pieces_and_refuses_one_byte_more) {
  EchoHandler handler;
  TestServer server(handler);
  const std::string body(10 * 1024 * 1024, 'x');
  const Peer peer = Peer::connect(server.port);
  peer.send("POST /echo HTTP/1.1\r\nHost: ace\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n");
  std::thread sender([&] { peer.send(body); });
  const std::string got =
      peer.receive([&](std::string_view g) { return g.size() > body.size() && g.ends_with("xxx"); });
  sender.join();
  EXPECT_GT(got.size(), body.size());
  const Peer greedy = Peer::connect(server.port);
  greedy.send("POST /echo HTTP/1.1\r\nHost: ace\r\nExpect: 100-continue\r\nContent-Length: 10485761\r\n\r\n");
  EXPECT_EQ(responses(greedy.receive_all()).messages.at(0).start, "413") << "at once, and without a 100";
}

TEST(Server, sends_100_only_when_the_body_is_wanted) {
  EchoHandler handler;
  TestServer server(handler);
  const std::string head = "Host: ace\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n";
  const Peer wanted = Peer::connect(server.port);
  wanted.send("POST /echo HTTP/1.1\r\n" + head);
  EXPECT_EQ(wanted.receive_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  wanted.send("hi");
  EXPECT_NE(wanted.receive_until("hi").find("200 OK"), std::string::npos);
  const Peer unwanted = Peer::connect(server.port);
  unwanted.send("POST /early HTTP/1.1\r\n" + head);
  const Transcript got = responses(unwanted.receive_all());
  ASSERT_EQ(got.messages.size(), 1U);
  EXPECT_EQ(got.messages[0].start, "404");
  EXPECT_FALSE(got.messages[0].keep_alive) << "whether the body follows cannot be known";
}

TEST(Server, answers_a_fault_once_and_closes) {
  EchoHandler handler;
  TestServer server(handler);
  const struct {
    std::string bytes;
    const char *status, *code;
  } cases[] = {
      {"POST /echo HTTP/1.1\r\nHost: ace\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" GET(
           "/echo"),
       "400", "length_conflict"},
      {"POST /echo HTTP/1.1\r\nHost: ace\r\nTransfer-Encoding: chunked\r\n\r\n5;x\r\nhello\r\n0\r\n\r\n" GET("/echo"),
       "400", "bad_chunk"},
      {"GET / HTTP/2.0\r\n\r\n", "505", "unsupported_version"},
      {"GET /" + std::string(20'000, 'a'), "414", "line_too_long"},
      {GET("http://evil/"), "421", "misdirected"},
  };
  for (const auto& c : cases) {
    const Peer peer = Peer::connect(server.port);
    peer.send(c.bytes);
    const Transcript got = responses(peer.receive_all());
    ASSERT_EQ(got.messages.size(), 1U) << c.code;
    EXPECT_EQ(got.messages[0].start, c.status);
    EXPECT_NE(got.messages[0].body.find(c.code), std::string::npos) << got.messages[0].body;
    EXPECT_FALSE(got.messages[0].keep_alive);
  }
}

TEST(Server, leaves_no_answer_that_looks_whole_and_is_not) {
  EchoHandler handler;
  TestServer server(handler);
  const Peer peer = Peer::connect(server.port);
  peer.send(GET("/cut"));
  const Transcript got = responses(peer.receive_all());
  EXPECT_TRUE(got.messages.empty());
  EXPECT_TRUE(got.inside);
  const Peer counted = Peer::connect(server.port);
  counted.send(GET("/counted") GET("/short"));
  const Transcript both = responses(counted.receive_all());
  ASSERT_EQ(both.messages.size(), 1U);
  EXPECT_EQ(both.messages[0].body, "halfhalf");
  EXPECT_TRUE(both.inside) << "nine bytes were announced, eight came";
  const Peer silent = Peer::connect(server.port);
  silent.send(GET("/nothing-answers-this"));
  EXPECT_NE(silent.receive_until("}}").find("500 Internal Server Error"), std::string::npos);
}

TEST(Server, sends_what_a_broken_peer_would_and_keeps_no_connection_after_it) {
  EchoHandler handler;
  TestServer server(handler);
  for (const auto& [path, wanted] :
       {std::pair("/raw", "HTTP/1.1 200 OK\r\nContent-Le"),
        std::pair("/raw_tail", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhalfHTTP/1.1 200 OK\r\n")}) {
    const Peer peer = Peer::connect(server.port);
    peer.send("GET " + std::string(path) + " HTTP/1.1\r\nHost: ace\r\n\r\n" GET("/echo"));
    EXPECT_EQ(peer.receive_all(), wanted);
  }
}

TEST(Server, old_clients_get_a_stream_that_ends_with_the_connection) {
  EchoHandler handler;
  TestServer server(handler);
  const Peer peer = Peer::connect(server.port);
  peer.send("GET /stream HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  const std::string got = peer.receive_all();
  EXPECT_EQ(got.find("chunked"), std::string::npos);
  EXPECT_TRUE(got.ends_with("\r\n\r\ndata: a\n\ndata: b\n\n")) << got;
}

TEST(Server, notices_a_client_that_leaves_while_it_waits_for_its_answer) {
  EchoHandler handler;
  TestServer server(handler);
  for (const bool hard : {false, true}) {
    handler.gone = handler.waiting = 0;
    Peer peer = Peer::connect(server.port);
    peer.send("POST /wait HTTP/1.1\r\nHost: ace\r\nContent-Length: 0\r\n\r\n");
    ASSERT_TRUE(eventually([&] { return handler.waiting == 1; }));
    hard ? peer.reset() : peer.close();
    EXPECT_TRUE(eventually([&] { return handler.gone == 1; }));
  }
  EXPECT_TRUE(eventually([&] { return server.connections() == 0; }));
}

TEST(Server, drains_idle_connections_at_once_busy_ones_with_their_answer_and_the_rest_by_force) {
  EchoHandler handler;
  TestServer server(handler);
  const Peer idle = Peer::connect(server.port), busy = Peer::connect(server.port), endless = Peer::connect(server.port);
  idle.send(GET("/early"));
  EXPECT_NE(idle.receive_until("no").find("404"), std::string::npos);
  endless.send(GET("/wait"));
  busy.send(GET("/slow"));
  ASSERT_TRUE(eventually([&] { return handler.served == 3; }));
  std::atomic<bool> drained = false;
  server.thread.run([&] { server.server->drain(300ms, [&] { drained = true; }); });
  EXPECT_EQ(idle.receive_all(), "");
  const Transcript got = responses(busy.receive_all());
  ASSERT_EQ(got.messages.size(), 1U);
  EXPECT_EQ(got.messages[0].body, "late");
  EXPECT_FALSE(got.messages[0].keep_alive);
  EXPECT_EQ(handler.gone, 0) << "the limit has not passed yet";
  EXPECT_TRUE(eventually([&] { return drained.load(); }));
  EXPECT_EQ(handler.gone, 1);
  EXPECT_FALSE(Peer::connect(server.port).good());
}

TEST(HostileClient, that_sends_its_head_a_byte_at_a_time_is_cut_at_the_deadline_of_the_whole_head) {
  EchoHandler handler;
  TestServer server(handler, impatient());
  const Peer peer = Peer::connect(server.port);
  const auto start = std::chrono::steady_clock::now();
  bool open = true;
  for (int i = 0; i < 200 && open; ++i) {
    open = peer.send("G");
    std::this_thread::sleep_for(10ms);
  }
  EXPECT_FALSE(open);
  EXPECT_LT(std::chrono::steady_clock::now() - start, 1900ms);
  EXPECT_TRUE(eventually([&] { return server.connections() == 0; }));
  EXPECT_EQ(handler.served, 0);
}

TEST(HostileClient, that_sends_its_body_too_slowly_is_told_so) {
  EchoHandler handler;
  TestServer server(handler, impatient());
  const Peer peer = Peer::connect(server.port);
  peer.send("POST /echo HTTP/1.1\r\nHost: ace\r\nContent-Length: 1000\r\n\r\nsome");
  const Transcript got = responses(peer.receive_all());
  ASSERT_EQ(got.messages.size(), 1U);
  EXPECT_EQ(got.messages[0].start, "408");
  EXPECT_EQ(handler.bad_bodies, 1);
}

TEST(HostileClient, that_stops_within_a_head_is_told_so_and_one_that_says_nothing_is_not) {
  EchoHandler handler;
  TestServer server(handler, impatient());
  const Peer half = Peer::connect(server.port), silent = Peer::connect(server.port), idle = Peer::connect(server.port);
  half.send("GET / HTTP/1.1\r\nHo");
  idle.send(GET("/early"));
  EXPECT_EQ(responses(half.receive_all()).messages.at(0).start, "408");
  EXPECT_EQ(silent.receive_all(), "");
  EXPECT_EQ(responses(idle.receive_all()).messages.size(), 1U);
}

TEST(HostileClient, that_announces_a_body_and_leaves_costs_nothing) {
  EchoHandler handler;
  TestServer server(handler);
  {
    const Peer peer = Peer::connect(server.port);
    peer.send("POST /echo HTTP/1.1\r\nHost: ace\r\nContent-Length: 100\r\n\r\n" + std::string(50, 'x'));
    peer.end_writing();
    EXPECT_EQ(peer.receive_all(), "");
  }
  EXPECT_TRUE(eventually([&] { return handler.bad_bodies == 1 && server.connections() == 0; }));
}

TEST(HostileClient, that_does_not_read_is_held_back_and_cut) {
  EchoHandler handler;
  TestServer server(handler, impatient());
  const Peer peer = Peer::connect(server.port, 4096);
  peer.send(GET("/endless"));
  EXPECT_TRUE(eventually([&] { return handler.gone == 1; }));
  // What the kernel's buffers hold; of ours nothing beyond the piece at hand.
  EXPECT_LT(handler.written, 16U * 1024 * 1024);
  EXPECT_TRUE(eventually([&] { return server.connections() == 0; }));
}

TEST(HostileClient, cannot_make_the_server_read_a_body_that_nobody_wants) {
  EchoHandler handler;
  TestServer server(handler);
  const Peer peer = Peer::connect(server.port);
  peer.send("POST /early HTTP/1.1\r\nHost: ace\r\nContent-Length: 10000000\r\n\r\n");
  const std::string piece(64 * 1024, 'x');
  std::size_t sent = 0;
  while (sent < 64U * 1024 * 1024 && peer.send(piece)) sent += piece.size();
  EXPECT_LT(sent, 16U * 1024 * 1024);
}

TEST(HostileClient, connections_beyond_the_bound_wait_for_others_to_close) {
  EchoHandler handler;
  ServerOptions options;
  options.connections = 2;
  TestServer server(handler, options);
  Peer first = Peer::connect(server.port);
  const Peer second = Peer::connect(server.port), third = Peer::connect(server.port);
  for (const Peer* peer : {&second, &third}) peer->send(GET("/early"));
  EXPECT_NE(second.receive_until("no").find("404"), std::string::npos);
  EXPECT_EQ(server.connections(), 2U);
  EXPECT_EQ(handler.served, 1);
  first.close();
  EXPECT_NE(third.receive_until("no").find("404"), std::string::npos);
}

TEST(HostileClient, that_takes_all_descriptors_makes_accepting_pause_not_spin) {
  EchoHandler handler;
  const std::size_t before = open_descriptors();
  {
    TestServer server(handler, impatient());
    rlimit old{};
    ::getrlimit(RLIMIT_NOFILE, &old);
    rlimit low = old;
    low.rlim_cur = open_descriptors() + 40;
    ::setrlimit(RLIMIT_NOFILE, &low);
    std::vector<Peer> peers;
    for (Peer peer = Peer::connect(server.port); peer.good(); peer = Peer::connect(server.port))
      peers.push_back(std::move(peer));
    std::uint64_t pauses = 0;
    const auto count = [&] { server.thread.run([&] { pauses = server.server->accept_pauses(); }); };
    std::this_thread::sleep_for(100ms);
    count();
    EXPECT_GE(pauses, 1U);
    EXPECT_LE(pauses, 20U) << "one for each pause of 20 ms, with room for a slow machine";
    peers.clear();
    ::setrlimit(RLIMIT_NOFILE, &old);
    const Peer after = Peer::connect(server.port);
    after.send(GET("/early"));
    EXPECT_NE(after.receive_until("no").find("404"), std::string::npos);
  }
  EXPECT_EQ(open_descriptors(), before);
}

TEST(Server, loops_of_several_threads_share_a_port) {
  EchoHandler handlers[2];
  TestServer first(handlers[0]);
  ServerOptions options;
  options.port = first.port;
  TestServer second(handlers[1], options);
  EXPECT_EQ(second.port, first.port);
  // The kernel chooses by a hash of the addresses: of 64 connections some go to each but once in 2^63 runs.
  for (int i = 0; i < 64; ++i) {
    const Peer peer = Peer::connect(first.port);
    peer.send(GET("/early"));
    EXPECT_NE(peer.receive_until("no").find("404"), std::string::npos);
  }
  EXPECT_GT(handlers[0].served, 0);
  EXPECT_GT(handlers[1].served, 0);
  EXPECT_EQ(handlers[0].served + handlers[1].served, 64);
}

TEST(Server, an_idle_connection_holds_little_memory) {
  EchoHandler handler;
  TestServer server(handler);
  constexpr std::size_t kPeers = 300;
  std::vector<Peer> peers;
  peers.reserve(kPeers);
  std::size_t before = 0, after = 0;
  server.thread.run([&] { before = ::mallinfo2().uordblks; });
  for (std::size_t i = 0; i < kPeers; ++i) {
    peers.push_back(Peer::connect(server.port));
    peers.back().send(GET("/early"));
    EXPECT_NE(peers.back().receive_until("no").find("404"), std::string::npos);
  }
  server.thread.run([&] { after = ::mallinfo2().uordblks; });
  EXPECT_EQ(server.connections(), kPeers);
  EXPECT_LT(after - before, kPeers * 8 * 1024) << "4 KiB are the buffer";
}

TEST(Server, says_what_is_wrong_with_an_address) {
  EchoHandler handler;
  LoopThread thread;
  ServerOptions options;
  options.address = "localhost";
  thread.run([&] {
    Server server(thread.loop, options, handler);
    EXPECT_EQ(server.listen().error().what(), "listening on \"localhost\": expected an IPv4 or IPv6 address");
  });
  options.address = "192.0.2.1";  // for documentation, so of no machine
  thread.run([&] {
    Server server(thread.loop, options, handler);
    EXPECT_EQ(server.listen().error().code(), Errc::unavailable);
  });
}

}  // namespace
}  // namespace ace::net
