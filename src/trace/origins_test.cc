#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace/trace_testing.h"

namespace ace {
namespace {

constexpr const char* kSpend =
    R"({"request_id":"chatcmpl-1","startTime":"2026-01-05T00:00:00Z","model":"gpt-4o","custom_llm_provider":"openai","prompt_tokens":5,"completion_tokens":1,"spend":0.1}
{"request_id":"chatcmpl-2","startTime":"2026-01-05T00:00:01Z","model":"gpt-4o","custom_llm_provider":"azure","prompt_tokens":5,"completion_tokens":1,"spend":0.1}
{"request_id":"","startTime":"2026-01-05T00:00:02Z","model":"gpt-4o","prompt_tokens":5,"completion_tokens":1,"spend":0.1}
)";

ReadOptions options(bool origins, std::uint8_t key = 7) {
  ReadOptions o;
  o.masks = masks_with(MaskKey{key}, {"gpt-4o"}, {}, {}, {"openai"});
  o.origins = origins;
  return o;
}

TEST(Origins, are_the_rows_own_id_under_the_key_and_who_served) {
  const Read read = read_text(kSpend, options(true)), same = read_text(kSpend, options(true));
  ASSERT_EQ(read.arrivals.size(), 3U) << read.error;
  EXPECT_NE(read.arrivals[0].id, 0U);
  EXPECT_NE(read.arrivals[0].id, read.arrivals[1].id);
  EXPECT_EQ(read.arrivals[2].id, 0U);
  EXPECT_EQ(read.arrivals[0].id, same.arrivals[0].id);
  EXPECT_NE(read.arrivals[0].id, read_text(kSpend, options(true, 8)).arrivals[0].id);
  EXPECT_EQ(read.arrivals[2].provider, 0U);
  EXPECT_NE(read.arrivals[0].provider, read.arrivals[1].provider);
  auto source = read_trace(bytes_of(kSpend), "t", options(true));
  std::vector<Arrival> batch(5);
  ASSERT_EQ(*(*source)->next(batch), 3U);
  EXPECT_EQ((*source)->providers()[batch[0].provider], "openai");
  EXPECT_THAT((*source)->providers()[batch[1].provider], testing::StartsWith("t_"));  // not declared
}

TEST(Origins, are_left_alone_unless_they_are_asked_for) {
  for (const Arrival& row : read_text(kSpend, options(false)).arrivals) {
    EXPECT_EQ(row.id, 0U);
    EXPECT_EQ(row.provider, 0U);
  }
}

TEST(Origins, outlive_the_sorting_of_a_log) {
  ReadOptions o = options(true);
  o.sort = true;
  const Read read = read_text(kSpend, o), plain = read_text(kSpend, options(true));
  ASSERT_EQ(read.arrivals.size(), 3U) << read.error;
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(read.arrivals[i].id, plain.arrivals[i].id);
    EXPECT_EQ(read.arrivals[i].provider, plain.arrivals[i].provider);
  }
}

std::string owners_of(const std::string& text, ReadOptions o) {
  o.masks = masks_with(MaskKey{7}, {"gpt-4o"}, {"acme"}, {"search"}, {}, {"checkout"});
  o.tz = "UTC";
  auto source = read_trace(bytes_of(text), "t", o);
  std::vector<Arrival> batch(5);
  const Result<std::size_t> n = (*source)->next(batch);
  EXPECT_TRUE(n) << n.error().what();
  std::string all;
  for (const Arrival& a : std::span(batch).first(n.value_or(0)))
    all += (*source)->tenants()[a.tenant] + "/" + (*source)->teams()[a.team] + "/" + (*source)->projects()[a.project] +
           "/" + (*source)->keys()[a.key] + "\n";
  return all;
}

/// What a key is called tells who holds it, so it is an identity even where it looks like a declared name.
TEST(Origins, a_row_belongs_to_a_project_and_a_key_where_the_log_says_so) {
  const std::string key = masks_with(MaskKey{7}).identity("sk-1"), named = masks_with(MaskKey{7}).identity("checkout");
  const std::string other = masks_with(MaskKey{7}).project("secret");
  const std::string csv =
      "at,model,tenant,team,project,api_key,prompt,output\n"
      "2026-01-05T00:00:00Z,gpt-4o,acme,search,checkout,sk-1,1,1\n"
      "2026-01-05T00:00:01Z,gpt-4o,acme,search,secret,checkout,1,1\n"
      "2026-01-05T00:00:02Z,gpt-4o,acme,search,,,1,1\n";
  EXPECT_EQ(owners_of(csv, {}),
            "acme/search/checkout/" + key + "\nacme/search/" + other + "/" + named + "\nacme/search//\n");
  ReadOptions mapped;
  mapped.columns = "at=ts,prompt=in,output=out,tenant=who,project=p,api_key=k";
  EXPECT_EQ(owners_of("ts,in,out,who,p,k\n2026-01-05T00:00:00Z,1,1,acme,checkout,sk-1\n", mapped),
            "acme//checkout/" + key + "\n");
  const std::string spend =
      R"({"startTime":"2026-01-05T00:00:00Z","model":"gpt-4o","organization_id":"acme","team_id":"search","api_key":"sk-1","prompt_tokens":5,"completion_tokens":1,"spend":0.1})"
      "\n";
  EXPECT_EQ(owners_of(spend, {}), "acme/search//" + key + "\n");
}

TEST(Origins, owners_outlive_a_conversion) {
  const std::string csv =
      "at,model,tenant,team,project,api_key,prompt,output\n"
      "2026-01-05T00:00:00Z,gpt-4o,acme,search,checkout,sk-1,1,1\n"
      "2026-01-05T00:00:01Z,gpt-4o,acme,search,,,1,1\n";
  // What is masked is masked again where it is read again, like every name that nobody declared.
  const Masks masks = masks_with(MaskKey{7});
  const std::string want = "acme/search/checkout/" + masks.identity(masks.identity("sk-1")) + "\nacme/search//\n";
  for (const bool lines : {false, true}) {
    ReadOptions o;
    o.masks = masks_with(MaskKey{7}, {"gpt-4o"}, {"acme"}, {"search"}, {}, {"checkout"});
    auto source = read_trace(bytes_of(csv), "t", o);
    std::string text;
    const ByteSink sink = [&](std::string_view piece) { return text += piece, Result<void>{}; };
    ASSERT_TRUE(lines ? write_jsonl(**source, sink) : write_csv(**source, sink));
    EXPECT_EQ(owners_of(text, {}), want) << text;
  }
}

}  // namespace
}  // namespace ace
