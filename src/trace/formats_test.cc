/// Each format by a small example of our own, with what must come of every field.
#include <algorithm>

#include <gmock/gmock.h>

#include "core/testing.h"
#include "trace/trace_testing.h"

namespace ace {
namespace {

using ::testing::HasSubstr;

constexpr const char* kBurst =
    "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
    "5,ChatGPT,472,18,490,Conversation log\n"
    "45,GPT-4,1087,0,1087,API log\n";
constexpr const char* kMooncake =
    "{\"timestamp\": 27, \"input_length\": 1030, \"output_length\": 5, \"hash_ids\": [46, 47, 2353]}\n"
    "{\"timestamp\": 1500, \"input_length\": 512, \"output_length\": 7, \"hash_ids\": [46]}\n";
constexpr const char* kLiteLlm =
    R"([{"request_id":"r1","startTime":"2026-01-24 09:20:46.847371","endTime":"2026-01-24 09:20:48.847371",
  "completionStartTime":"2026-01-24 09:20:47.000000","model":"gpt-4o","team_id":"search","organization_id":"acme",
  "user":"jane@example.com","api_key":"88dc","spend":0.00022500000000000002,"prompt_tokens":1000,"completion_tokens":20,
  "status":"success","messages":{"text":"secret, \"quoted\" } ]"},
  "metadata":"{\"usage_object\":{\"prompt_tokens_details\":{\"cached_tokens\":768},\"completion_tokens_details\":{\"reasoning_tokens\":8}}}"},
 {"request_id":"r2","startTime":"2026-01-24 09:21:00","endTime":null,"model":"other-model","team_id":null,"api_key":"88dc",
  "spend":2.5e-06,"prompt_tokens":7,"completion_tokens":0,"status":"failure","metadata":{"usage_object":{"cache_read_input_tokens":4}}}])";
constexpr const char* kUsage =
    R"({"object":"page","data":[{"object":"bucket","start_time":1730419200,"end_time":1730505600,"results":[
 {"object":"organization.usage.completions.result","input_tokens":1000,"output_tokens":500,"input_cached_tokens":800,
  "num_model_requests":3,"project_id":"acme","user_id":null,"api_key_id":null,"model":"gpt-4o","batch":true},
 {"object":"organization.usage.completions.result","input_tokens":10,"output_tokens":1,"num_model_requests":1,"model":null}]}],
 "has_more":false,"next_page":null})";

TEST(BurstGpt, has_seconds_models_and_failures_without_response_tokens) {
  const Read read = read_text(kBurst);
  ASSERT_EQ(read.rows.size(), 2U) << read.error;
  EXPECT_EQ(read.format, "BurstGPT CSV");
  EXPECT_EQ(nanos(read.arrivals[0].at), 5 * nanos(kSecond));
  EXPECT_EQ(read.arrivals[0].prompt, 472);
  EXPECT_EQ(read.arrivals[0].output, 18);
  EXPECT_FALSE(read.arrivals[0].failed);
  EXPECT_TRUE(read.arrivals[1].failed);
  EXPECT_NE(read.arrivals[0].model, read.arrivals[1].model);
  EXPECT_THAT(read.notes, ::testing::ElementsAre("columns not used: Total tokens, Log Type"));
}

TEST(BurstGpt, may_have_sessions_and_elapsed_times) {
  const Read read = read_text(
      "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
      "5.5,s1,2.25,ChatGPT,1,2,3,API log\n");
  ASSERT_EQ(read.rows.size(), 1U) << read.error;
  EXPECT_EQ(read.arrivals[0].duration_us, 2'250'000);
  EXPECT_EQ(nanos(read.arrivals[0].at), 5'500'000'000);
}

TEST(Mooncake, has_milliseconds_and_prefix_blocks) {
  const Read read = read_text(kMooncake);
  ASSERT_EQ(read.rows.size(), 2U) << read.error;
  EXPECT_EQ(nanos(read.arrivals[0].at), 27'000'000);
  EXPECT_THAT(read.rows[0], HasSubstr("#46 #47 #2353"));
  EXPECT_THAT(read.rows[1], HasSubstr("#46"));
}

TEST(LiteLlm, has_cost_as_text_cached_tokens_in_its_metadata_and_no_raw_person) {
  const Read read = read_text(kLiteLlm);
  ASSERT_EQ(read.rows.size(), 2U) << read.error;
  EXPECT_EQ(read.format, "LiteLLM spend log");
  const Arrival& a = read.arrivals[0];
  EXPECT_EQ(to_rfc3339(a.at), "2026-01-24T09:20:46.847371Z");
  EXPECT_EQ(a.cost_nano, 225'000);  // 0.000225 USD, rounded from the double it was printed from
  EXPECT_EQ(a.cached, 768);
  EXPECT_EQ(a.reasoning, 8);
  EXPECT_EQ(a.duration_us, 2'000'000);
  EXPECT_EQ(a.ttft_us, 152'629);
  EXPECT_FALSE(a.failed);
  EXPECT_THAT(read.rows[0], HasSubstr(" gpt-4o acme search"));  // declared: labels
  const Arrival& b = read.arrivals[1];
  EXPECT_TRUE(b.failed);
  EXPECT_EQ(b.cost_nano, 2'500);
  EXPECT_EQ(b.cached, 4);
  EXPECT_THAT(read.rows[1], HasSubstr(" t_"));
  for (const std::string& row : read.rows) {
    EXPECT_THAT(row, ::testing::Not(::testing::AnyOf(HasSubstr("jane"), HasSubstr("88dc"), HasSubstr("other-model"))));
  }
}

TEST(LiteLlm, reads_the_same_from_an_array_from_lines_and_from_csv) {
  const std::string line =
      R"({"request_id":"r1","startTime":"2026-01-24 09:20:46.847","model":"gpt-4o","team_id":"search","spend":0.25,)"
      R"("prompt_tokens":10,"completion_tokens":2,"status":"success","metadata":"{\"usage_object\":{\"prompt_tokens_details\":{\"cached_tokens\":4}}}"})";
  const std::string csv =
      "request_id,startTime,model,team_id,spend,prompt_tokens,completion_tokens,status,metadata\n"
      "r1,2026-01-24 09:20:46.847,gpt-4o,search,0.25,10,2,success,"
      "\"{\"\"usage_object\"\":{\"\"prompt_tokens_details\"\":{\"\"cached_tokens\"\":4}}}\"\n";
  const Read lines = read_text(line + "\n"), array = read_text("[" + line + "\n]"), table = read_text(csv);
  ASSERT_EQ(lines.rows.size(), 1U) << lines.error;
  EXPECT_EQ(lines.arrivals[0].cached, 4);
  EXPECT_EQ(array.rows, lines.rows) << array.error;
  EXPECT_EQ(table.rows, lines.rows) << table.error;
}

TEST(OpenAiUsage, deals_its_totals_out_evenly_and_says_so) {
  const Read read = read_text(kUsage);
  ASSERT_EQ(read.rows.size(), 4U) << read.error;
  // Three requests over 86,400 s: at the middles of the thirds, 14,400 / 43,200 / 72,000 s; the single one at 43,200 s.
  std::vector<std::int64_t> at;
  std::int64_t prompt = 0, cached = 0, output = 0;
  for (const Arrival& a : read.arrivals) {
    at.push_back(nanos(a.at) / nanos(kSecond) - 1'730'419'200);
    prompt += a.prompt;
    output += a.output;
    cached += std::max(a.cached, 0);
    EXPECT_LE(a.cached, a.prompt);
  }
  EXPECT_EQ(at, (std::vector<std::int64_t>{14'400, 43'200, 43'200, 72'000}));
  EXPECT_EQ(prompt, 1'010);
  EXPECT_EQ(output, 501);
  EXPECT_EQ(cached, 800);
  EXPECT_TRUE(read.arrivals[0].batch);
  EXPECT_EQ(read.arrivals[2].cached, -1);  // its result does not say
  ASSERT_FALSE(read.notes.empty());
  EXPECT_THAT(read.notes.back(), HasSubstr("aggregated: 2 totals"));
  EXPECT_THAT(read.rows[0], HasSubstr(" gpt-4o acme "));
}

TEST(OpenAiUsage, totals_survive_the_dealing_whatever_they_are) {
  for_each_seed(200, [](Rng& rng) {
    const std::int64_t n = rng.between(1, 50), input = rng.between(0, 10'000), output = rng.between(0, 3'000);
    const std::int64_t cached = rng.between(0, input);
    const std::string text = fmt::format(
        "{{\"start_time\":100,\"end_time\":{},\"object\":\"bucket\",\"results\":[{{\"num_model_requests\":{},\"input_"
        "tokens\":{},"
        "\"input_cached_tokens\":{},\"output_tokens\":{}}}]}}",
        rng.between(101, 4'000), n, input, cached, output);
    const Read read = read_text(text);
    ASSERT_EQ(read.rows.size(), static_cast<std::size_t>(n)) << read.error;
    std::int64_t sums[3] = {};
    for (const Arrival& a : read.arrivals) {
      sums[0] += a.prompt;
      sums[1] += a.cached;
      sums[2] += a.output;
      EXPECT_GE(a.prompt, a.cached);
    }
    EXPECT_EQ(sums[0], input);
    EXPECT_EQ(sums[1], cached);
    EXPECT_EQ(sums[2], output);
  });
}

TEST(GenericTrace, takes_a_mapping_with_units) {
  ReadOptions options;
  options.columns = "at=ts:ms,prompt=in,output=out,model=m,duration=took:s,user=who";
  const Read table = read_text("who,ts,in,out,m,took\njane,1500,10,2,gpt-4o,0.25\n", options);
  const Read lines = read_text(R"({"who":"jane","ts":1500,"in":10,"out":2,"m":"gpt-4o","took":0.25})", options);
  ASSERT_EQ(table.rows.size(), 1U) << table.error;
  EXPECT_EQ(nanos(table.arrivals[0].at), 1'500'000'000);
  EXPECT_EQ(table.arrivals[0].duration_us, 250'000);
  EXPECT_EQ(lines.rows, table.rows) << lines.error;
  EXPECT_THAT(table.rows[0], ::testing::Not(HasSubstr("jane")));
  for (const char* wrong :
       {"at", "at=", "when=ts,prompt=in,output=out", "at=a,at=b,prompt=c,output=d", "at=ts,prompt=in", ""}) {
    ReadOptions broken;
    broken.columns = wrong;
    if (*wrong == '\0') continue;
    EXPECT_THAT(read_text("a,b\n1,2\n", broken).error, HasSubstr("--columns")) << wrong;
  }
}

TEST(Formats, are_told_apart_by_content_and_named_by_format) {
  const struct {
    std::string text;
    const char* format;
  } cases[] = {{std::string(kAzureHeader), "Azure LLM inference CSV"},
               {kBurst, "BurstGPT CSV"},
               {kMooncake, "Mooncake JSONL"},
               {kLiteLlm, "LiteLLM spend log"},
               {kUsage, "OpenAI usage export (aggregated)"},
               {"at,prompt,output\n", "CSV"},
               {"{\"at\":1,\"prompt\":2,\"output\":3}", "JSONL"}};
  for (const auto& c : cases) {
    EXPECT_EQ(read_text(c.text).format, c.format);
    EXPECT_EQ(read_text(gzip_of(c.text)).format, c.format);
  }
  EXPECT_THAT(read_text("client,t_s,rate_per_s,cv\n0,0,1,1\n").error, HasSubstr("ace trace generate --servegen"));
  EXPECT_THAT(read_text("a,b\n1,2\n").error, HasSubstr("--columns"));
  EXPECT_THAT(read_text("{\"a\":1}").error, HasSubstr("--columns"));
  EXPECT_EQ(trace_format_from("burstgpt"), TraceFormat::burstgpt);
  EXPECT_EQ(trace_format_from("nonsense"), std::nullopt);
}

TEST(Names, are_masked_unless_declared_mapped_or_given) {
  const std::string text = "at,model,tenant,team,prompt,output\n1,gpt-4o,acme,search,1,1\n2,secret,globex,ops,1,1\n";
  const Read masked = read_text(text);
  ASSERT_EQ(masked.rows.size(), 2U) << masked.error;
  EXPECT_THAT(masked.rows[0], HasSubstr(" gpt-4o acme search"));
  for (const char* raw : {"secret", "globex", "ops"}) EXPECT_THAT(masked.rows[1], ::testing::Not(HasSubstr(raw)));
  ReadOptions mapped;
  mapped.model_map = {{"secret", "ours"}};
  EXPECT_THAT(read_text(text, mapped).rows[1], HasSubstr(" ours t_"));
  ReadOptions given;
  given.model = "one";
  EXPECT_THAT(read_text(text, given).rows[0], HasSubstr(" one acme"));
  // Without a key of the user's, a random one: two runs do not agree.
  auto a = read_trace(bytes_of(text), "a"), b = read_trace(bytes_of(text), "b");
  std::vector<Arrival> rows(2);
  ASSERT_TRUE(a && b && (*a)->next(rows) && (*b)->next(rows));
  EXPECT_NE((*a)->tenants()[rows[1].tenant], (*b)->tenants()[rows[1].tenant]);
}

TEST(Pieces, in_which_a_trace_arrives_do_not_matter) {
  for (const std::string& text :
       {std::string(kAzureHeader) + "2023-11-16 18:17:03.9799600,4808,10\n2023-11-16 18:17:04.0319600,3180,8\r\n",
        std::string(kBurst), std::string(kMooncake), std::string(kLiteLlm), std::string(kUsage)}) {
    const Read whole = read_text(text);
    ASSERT_EQ(whole.error, "");
    for (std::size_t piece = 1; piece < text.size(); piece += 1 + piece / 8) {
      const Read pieces = read_text(text, {}, piece);
      EXPECT_EQ(pieces.rows, whole.rows) << piece << " " << pieces.error;
    }
  }
}

TEST(FixedLayout, reads_exactly_what_the_careful_way_reads) {
  for_each_seed(50, [](Rng& rng) {
    std::string text = kAzureHeader,
                careful = "GeneratedTokens,ContextTokens,TIMESTAMP\n";  // another order: not the layout
    std::int64_t at = 1'700'000'000'000'000'000;
    for (int i = 0; i < 200; ++i) {
      at += rng.between(0, rng.chance(0.1) ? 90'000 : 2) * nanos(kSecond) + rng.between(0, 9'999'999) * 100;
      const Civil c = civil_of(instant(at));
      const std::string time = fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}.{:07}", c.year, c.month, c.day, c.hour,
                                           c.minute, c.second, c.nano / 100);
      const std::int64_t prompt = rng.between(0, rng.chance(0.05) ? 1'000'000'000 : 9'999),
                         output = rng.between(0, 999);
      const char* end = rng.chance(0.1) ? "\r\n" : "\n";
      text += fmt::format("{},{},{}{}", time, prompt, output, end);
      careful += fmt::format("{},{},{}{}", output, prompt, time, end);
    }
    const Read fast = read_text(text), slow = read_text(careful);
    ASSERT_EQ(fast.rows.size(), 200U) << fast.error;
    EXPECT_EQ(fast.rows, slow.rows) << slow.error;
  });
}

}  // namespace
}  // namespace ace
