#include "gateway/prefixes.h"

#include <gtest/gtest.h>

#include "gateway/desk_testing.h"

namespace ace::gateway {
namespace {

std::vector<std::uint32_t> blocks_of(const std::string& body) {
  wire::Json json;
  EXPECT_TRUE(json.parse(body));
  return prompt_blocks(json.root());
}
std::string chat(const std::vector<std::string>& said, const std::string& more = {}) {
  std::string body = R"({"model":"m","messages":[)";
  for (std::size_t i = 0; i < said.size(); ++i)
    body += (i > 0 ? "," : "") + std::string(R"({"role":"user","content":")") + said[i] + "\"}";
  return body + "]" + more + "}";
}

TEST(PromptBlocks, of_a_longer_conversation_begin_with_those_of_the_shorter) {
  const std::string a(5000, 'a'), b(5000, 'b'), c(5000, 'c');
  const auto one = blocks_of(chat({a})), two = blocks_of(chat({a, b})), other = blocks_of(chat({a, c}));
  ASSERT_EQ(one.size(), 2U);
  ASSERT_EQ(two.size(), 4U);
  EXPECT_TRUE(std::equal(one.begin(), one.end(), two.begin()));
  EXPECT_EQ(two[1], other[1]);
  EXPECT_NE(two[3], other[3]) << "they part within the third block";
}

TEST(PromptBlocks, do_not_depend_on_what_is_no_prompt) {
  const std::string a(9000, 'a');
  EXPECT_EQ(blocks_of(chat({a})), blocks_of(chat({a}, R"(,"temperature":0.5,"max_tokens":7)")));
  EXPECT_NE(blocks_of(chat({a})), blocks_of(chat({a}, R"(,"tools":[{"type":"function"}])")));
  EXPECT_TRUE(blocks_of(chat({"short"})).empty());
  EXPECT_EQ(blocks_of(chat({std::string(3 * kBlocksMost * kBlockBytes, 'a')})).size(), kBlocksMost);
}

Fleet caching_fleet() {
  Fleet fleet = ledger_testing::small_fleet();
  for (Destination& d : fleet.destinations)
    if (d.tier != Tier::payg) d.serving.clear();
  fleet.models[ledger_testing::kLarge.value].equivalents.clear();
  PromptCache cache;
  cache.enabled = true;
  for (Provider& provider : fleet.providers) provider.cache = cache;
  return fleet;
}

TEST(Prefixes, a_desk_knows_what_the_default_provider_would_have_had_cached) {
  DeskWorld w(DeskWorld::acting(), nullptr, caching_fleet());
  Desk::Arriving a = w.arriving();
  a.prompt = Tokens{2048};
  const std::vector<std::uint32_t> blocks = {1, 2, 3, 4};
  a.blocks = blocks;
  (void)w.serve(a);
  (void)w.serve(a);
  Desk::Arriving other = a;
  other.caller.tenant = "other";
  (void)w.serve(other);
  const auto admitted = w.spine.all<event::Admitted>();
  EXPECT_EQ(admitted.at(0).h0, Tokens{0});
  EXPECT_EQ(admitted.at(1).h0, Tokens{2048});
  EXPECT_EQ(admitted.at(2).h0, Tokens{0}) << "of another tenant nothing is shared";
  EXPECT_EQ(w.spine.verified(), "");
}

TEST(Prefixes, draw_a_conversation_to_where_its_beginning_is_cached) {
  Fleet fleet = caching_fleet();
  fleet.destinations[ledger_testing::kAlt.value].rpm = 1;
  DeskWorld w(DeskWorld::acting(), nullptr, std::move(fleet));
  Desk::Arriving a = w.arriving();
  a.prompt = Tokens{20'480};
  std::vector<std::uint32_t> blocks(40);
  for (std::uint32_t i = 0; i < 40; ++i) blocks[i] = i + 1;
  (void)w.serve(w.arriving());  // takes the one request of alt's minute
  a.blocks = blocks;
  (void)w.serve(a);
  w.pass(2 * kMinute);
  (void)w.serve(a);
  const auto decided = w.spine.all<event::Decided>();
  EXPECT_EQ(w.destination(decided.at(1).decision.chosen), "api");
  EXPECT_EQ(w.destination(decided.at(2).decision.chosen), "api") << "alt is free again and cheaper, but has none of it";
  EXPECT_EQ(decided.at(2).cached_predicted, Tokens{20'480});
  EXPECT_EQ(w.spine.verified(), "");
}

TEST(Prefixes, a_reload_forgets_nothing_of_what_it_did_not_touch) {
  DeskWorld w(DeskWorld::acting(), nullptr, caching_fleet());
  Desk::Arriving a = w.arriving();
  a.prompt = Tokens{2048};
  const std::vector<std::uint32_t> blocks = {1, 2, 3, 4};
  a.blocks = blocks;
  (void)w.serve(a);
  const auto old = w.world;
  w.world = std::make_shared<World>(caching_fleet());
  w.desk.change(w.now, w.world);
  a.world = w.world;
  (void)w.serve(a);
  EXPECT_EQ(w.spine.all<event::Admitted>().at(1).h0, Tokens{2048});
  EXPECT_EQ(w.spine.verified(), "");
}

}  // namespace
}  // namespace ace::gateway
