#include "replay/server.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/testing.h"

namespace ace {
namespace {

/// 1,000 prompt tokens/s; a step takes 10 ms + 1 ms per sequence, so b sequences get 1 / (0.010 + 0.001 b) tokens/s
/// each.
ServerProfile simple() {
  ServerProfile p;
  p.prefill_tokens_per_s = 1000.0;
  p.step_base_s = 0.010;
  p.step_per_sequence_s = 0.001;
  p.batch_max = 4;
  p.kv_tokens_max = 10'000;
  p.prefill_chunk = 100;
  return p;
}

struct Seen {
  std::uint32_t flight;
  bool first;
  double at;
};
std::vector<Seen> drain(Server& server) {
  std::vector<Seen> all;
  while (server.next() < 1e17) {
    const Server::Event e = server.fire();
    all.push_back({e.flight, e.kind == Server::Event::Kind::first_token, e.at});
  }
  return all;
}

TEST(Server, serves_one_request_at_the_rates_of_its_profile) {
  Server server(simple());
  server.arrive(0.0, 7, 500, 500, 11);
  const auto seen = drain(server);
  // 500 tokens at 1,000/s = 0.5 s to the first token; then 10 more at 11 ms each.
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_TRUE(seen[0].first);
  EXPECT_NEAR(seen[0].at, 0.5, 1e-12);
  EXPECT_NEAR(seen[1].at, 0.61, 1e-12);
}

TEST(Server, gives_running_sequences_equal_shares) {
  ServerProfile p = simple();
  p.prefill_tokens_per_s = 1e12;  // prefill takes no time: only decode is under test
  Server server(p);
  server.arrive(0.0, 1, 1, 1, 11);
  server.arrive(0.0, 2, 1, 1, 21);
  const auto seen = drain(server);
  ASSERT_EQ(seen.size(), 4U);
  // Two together: 12 ms a step. The first is done after 10 steps (0.120 s), the second has 10 left, alone at 11 ms.
  EXPECT_EQ(seen[2].flight, 1U);
  EXPECT_NEAR(seen[2].at, 0.120, 1e-6);
  EXPECT_EQ(seen[3].flight, 2U);
  EXPECT_NEAR(seen[3].at, 0.230, 1e-6);
}

TEST(Server, slows_decode_while_a_prompt_is_prefilled) {
  Server server(simple());
  server.arrive(0.0, 1, 100, 100, 1001);  // first token at 0.1 s
  server.arrive(0.1, 2, 100, 100, 2);
  // From 0.1 s on each step carries a chunk of 100 tokens (0.1 s) beside 11 ms of decode: the prompt of 100 takes one
  // step.
  const auto first = server.fire();
  EXPECT_EQ(first.flight, 1U);
  const auto second = server.fire();
  EXPECT_EQ(second.flight, 2U);
  EXPECT_NEAR(second.at, 0.1 + 0.111, 1e-9);
}

TEST(Server, queues_first_in_first_out_for_slots_and_memory) {
  ServerProfile p = simple();
  p.batch_max = 1;
  Server server(p);
  server.arrive(0.0, 1, 100, 100, 11);  // ends at 0.1 + 0.11
  server.arrive(0.0, 2, 100, 100, 1);
  const auto seen = drain(server);
  ASSERT_EQ(seen.size(), 4U);
  EXPECT_EQ(seen[1].flight, 1U);
  EXPECT_NEAR(seen[1].at, 0.21, 1e-12);
  EXPECT_EQ(seen[2].flight, 2U);
  EXPECT_NEAR(seen[2].at, 0.31, 1e-12);

  p = simple();
  p.kv_tokens_max = 150;  // holds one prompt of 100 + 11/2 output tokens, not two
  Server small(p);
  small.arrive(0.0, 1, 100, 100, 11);
  small.arrive(0.0, 2, 100, 100, 11);
  EXPECT_EQ(small.fire().flight, 1U);
  EXPECT_EQ(small.fire().flight, 1U) << "the second waits for memory";
}

TEST(Server, takes_a_request_larger_than_its_memory_when_it_is_empty) {
  ServerProfile p = simple();
  p.kv_tokens_max = 50;
  Server server(p);
  server.arrive(0.0, 1, 100, 100, 2);
  EXPECT_EQ(drain(server).size(), 2U);
}

TEST(Server, tells_how_much_a_removed_request_had_produced) {
  Server server(simple());
  server.arrive(0.0, 1, 100, 100, 101);
  server.fire();                                // first token at 0.1 s
  EXPECT_EQ(server.remove(0.1 + 0.55, 1), 51);  // 50 steps of 11 ms and the first token
  EXPECT_EQ(server.load(), 0U);
}

TEST(Server, finishes_everything_once_in_order_of_time_whatever_arrives) {
  for_each_seed(200, [](Rng& rng) {
    ServerProfile p = simple();
    p.batch_max = rng.between(1, 8);
    p.kv_tokens_max = rng.between(200, 5000);
    p.prefill_chunk = rng.between(16, 512);
    Server server(p);
    std::vector<int> first(40), last(40);
    double now = 0.0;
    double seen_at = 0.0;
    const auto fire_until = [&](double t) {
      while (server.next() <= t) {
        const Server::Event e = server.fire();
        EXPECT_GE(e.at, seen_at);
        seen_at = e.at;
        ++(e.kind == Server::Event::Kind::first_token ? first : last)[e.flight];
        if (e.kind == Server::Event::Kind::finished) EXPECT_EQ(first[e.flight], 1);
      }
    };
    for (std::uint32_t i = 0; i < 40; ++i) {
      now += rng.exponential(0.2);
      fire_until(now);
      const std::int64_t prompt = rng.between(1, 400);
      server.arrive(now, i, rng.between(1, prompt), prompt, rng.between(1, 100));
    }
    fire_until(1e17);
    for (int i = 0; i < 40; ++i) {
      EXPECT_EQ(first[static_cast<std::size_t>(i)], 1);
      EXPECT_EQ(last[static_cast<std::size_t>(i)], 1);
    }
    EXPECT_EQ(server.backlog(), 0);
    EXPECT_EQ(server.load(), 0U);
  });
}

TEST(Server, takes_thirty_percent_longer_when_the_world_is_slower) {
  Server fast(simple());
  Server slow(simple(), 1.3);
  for (Server* s : {&fast, &slow}) s->arrive(0.0, 1, 500, 500, 11);
  EXPECT_NEAR(drain(slow).back().at, 1.3 * drain(fast).back().at, 1e-9);
}

}  // namespace
}  // namespace ace
