#include "replay/server.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/testing.h"

namespace ace {
namespace {

/// 1,000 prompt tokens/s in chunks of 100; a step takes 10 ms + 1 ms per sequence, with a full chunk 100 ms + 1 ms per
/// sequence.
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
    if (e.kind != Server::Event::Kind::none)
      all.push_back({e.flight, e.kind == Server::Event::Kind::first_token, e.at});
  }
  return all;
}

TEST(Server, serves_one_request_at_the_rates_of_its_profile) {
  Server server(simple());
  server.arrive(0.0, 7, 500, 500, 11);
  const auto seen = drain(server);
  // Five chunks of 101 ms to the first token; then 10 more tokens at 11 ms each.
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_TRUE(seen[0].first);
  EXPECT_NEAR(seen[0].at, 0.505, 1e-12);
  EXPECT_NEAR(seen[1].at, 0.615, 1e-12);
}

TEST(Server, gives_every_running_sequence_a_token_per_step) {
  ServerProfile p = simple();
  p.prefill_tokens_per_s = 1e12;  // prompts take no time of their own: steps of 10 ms + 1 ms per sequence
  Server server(p);
  server.arrive(0.0, 1, 1, 1, 11);
  server.arrive(0.0, 2, 1, 1, 21);
  const auto seen = drain(server);
  ASSERT_EQ(seen.size(), 4U);
  // The first prompt takes the step to 11 ms; the second rides on the next one, to 23 ms. Then two together, 12 ms a
  // step: the first has 9 tokens to go (0.023 + 0.108); the second then has 11, alone at 11 ms (0.131 + 0.121).
  EXPECT_NEAR(seen[0].at, 0.011, 1e-9);
  EXPECT_NEAR(seen[1].at, 0.023, 1e-9);
  EXPECT_EQ(seen[2].flight, 1U);
  EXPECT_NEAR(seen[2].at, 0.131, 1e-9);
  EXPECT_EQ(seen[3].flight, 2U);
  EXPECT_NEAR(seen[3].at, 0.252, 1e-9);
}

TEST(Server, slows_decode_while_a_prompt_is_prefilled) {
  Server server(simple());
  server.arrive(0.0, 1, 100, 100, 6);  // first token at 0.101 s
  EXPECT_EQ(server.fire().flight, 1U);
  server.arrive(0.105, 2, 150, 150, 1);
  const auto seen = drain(server);
  // The prompt waits for the end of the step under way (0.112), then takes a step of 100 + 2 ms and one of 50 + 2 ms:
  // 0.266. The first sequence had 1 + 2 of its 5 tokens by then; 2 more at 11 ms.
  ASSERT_EQ(seen.size(), 3U);
  EXPECT_EQ(seen[0].flight, 2U);
  EXPECT_NEAR(seen[0].at, 0.266, 1e-9);
  EXPECT_EQ(seen[1].flight, 2U);
  EXPECT_EQ(seen[2].flight, 1U);
  EXPECT_NEAR(seen[2].at, 0.288, 1e-9);
}

TEST(Server, carries_several_short_prompts_in_one_step) {
  ServerProfile p = simple();
  p.batch_max = 8;
  Server server(p);
  server.arrive(0.0, 1, 100, 100, 100);
  for (std::uint32_t i = 2; i <= 4; ++i) server.arrive(0.05, i, 30, 30, 5);
  server.fire();
  // All three (90 of 100 tokens) ride on the step that begins at 0.101: 90 ms + 4 x 1 ms.
  for (std::uint32_t i = 2; i <= 4; ++i) {
    const auto first = server.fire();
    const auto event = first.kind == Server::Event::Kind::none ? server.fire() : first;
    EXPECT_EQ(event.flight, i);
    EXPECT_NEAR(event.at, 0.195, 1e-9);
  }
}

TEST(Server, queues_first_in_first_out_for_slots_and_memory) {
  ServerProfile p = simple();
  p.batch_max = 1;
  Server server(p);
  server.arrive(0.0, 1, 100, 100, 11);  // ends at 0.101 + 0.11
  server.arrive(0.0, 2, 100, 100, 1);
  const auto seen = drain(server);
  ASSERT_EQ(seen.size(), 4U);
  EXPECT_EQ(seen[1].flight, 1U);
  EXPECT_NEAR(seen[1].at, 0.211, 1e-12);
  EXPECT_EQ(seen[2].flight, 2U);
  EXPECT_NEAR(seen[2].at, 0.312, 1e-12);

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
  server.fire();                                   // first token at 0.101 s
  EXPECT_EQ(server.remove(0.101 + 0.551, 1), 51);  // 50 steps of 11 ms and the first token
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
        if (e.kind == Server::Event::Kind::none) continue;
        ++(e.kind == Server::Event::Kind::first_token ? first : last)[e.flight];
        EXPECT_EQ(first[e.flight], 1);
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

TEST(Server, forgets_what_is_removed_and_finishes_the_rest) {
  for_each_seed(300, [](Rng& rng) {
    ServerProfile p = simple();
    p.batch_max = rng.between(1, 6);
    p.kv_tokens_max = rng.between(200, 3000);
    Server server(p);
    std::vector<int> ended(30);
    double now = 0.0;
    const auto fire_until = [&](double t) {
      while (server.next() <= t) {
        const Server::Event e = server.fire();
        if (e.kind == Server::Event::Kind::finished) ++ended[e.flight];
      }
    };
    for (std::uint32_t i = 0; i < 30; ++i) {
      now += rng.exponential(0.1);
      fire_until(now);
      const std::int64_t prompt = rng.between(1, 400);
      const std::int64_t output = rng.between(1, 60);
      server.arrive(now, i, rng.between(1, prompt), prompt, output);
      if (!rng.chance(0.4)) continue;
      now += rng.exponential(0.05);
      fire_until(now);
      const auto here = server.flights();
      if (here.empty()) continue;
      const std::uint32_t victim = here[rng.below(here.size())];
      EXPECT_GE(server.remove(now, victim), 0);
      ended[victim] += 1;
    }
    fire_until(1e17);
    for (const int count : ended) EXPECT_EQ(count, 1);
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
