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

/// One row of a spend log with these further members.
std::string spend_row(const std::string& more) {
  return R"({"request_id":"r","startTime":"2026-01-24 09:20:46.8","model":"gpt-4o","prompt_tokens":1000,"completion_tokens":100,)" +
         more + "}\n";
}
std::string all_of(const std::vector<std::string>& notes) {
  std::string all;
  for (const std::string& note : notes) all += note + "\n";
  return all;
}

TEST(LiteLlm, tells_an_answer_of_the_response_cache) {
  const struct {
    const char* text;
    bool want;
  } cases[] = {{R"("cache_hit":"True")", true},   {R"("cache_hit":true)", true},   {R"("cache_hit":"False")", false},
               {R"("cache_hit":"None")", false},  {R"("cache_hit":"")", false},    {R"("cache_hit":null)", false},
               {R"("cache_hit":"false")", false}, {R"("cache_key":"None")", false}};
  for (const auto& c : cases) {
    const Read read = read_text(spend_row(c.text));
    ASSERT_EQ(read.arrivals.size(), 1U) << c.text << read.error;
    EXPECT_EQ(read.arrivals[0].cache_hit, c.want) << c.text;
  }
  EXPECT_THAT(read_text(spend_row(R"("cache_hit":"perhaps")")).error, HasSubstr("cache_hit: expected true or false"));
}

TEST(LiteLlm, reads_every_class_of_token_that_its_usage_tells) {
  const struct {
    const char* why;
    const char* usage;
    std::int32_t cached, written, written_1h, audio, image, reasoning, audio_output, image_output;
  } cases[] = {
      {"Anthropic's names", R"({"cache_read_input_tokens":600,"cache_creation_input_tokens":300})", 600, 300, 0, 0, 0,
       0, 0, 0},
      {"DeepSeek's name", R"({"prompt_cache_hit_tokens":640,"prompt_cache_miss_tokens":360})", 640, 0, 0, 0, 0, 0, 0,
       0},
      {"writes for an hour",
       R"({"prompt_tokens_details":{"cached_tokens":10,"cache_creation_tokens":300,"cache_creation_token_details":{"ephemeral_5m_input_tokens":100,"ephemeral_1h_input_tokens":200}}})",
       10, 300, 200, 0, 0, 0, 0, 0},
      {"the same as Anthropic sends it",
       R"({"cache_creation_input_tokens":300,"cache_creation":{"ephemeral_5m_input_tokens":100,"ephemeral_1h_input_tokens":200}})",
       -1, 300, 200, 0, 0, 0, 0, 0},
      {"audio and images",
       R"({"prompt_tokens_details":{"audio_tokens":40,"image_tokens":200,"text_tokens":760},"completion_tokens_details":{"reasoning_tokens":20,"audio_tokens":30,"image_tokens":5}})",
       -1, 0, 0, 40, 200, 20, 30, 5},
      {"cached audio is counted once",
       R"({"prompt_tokens_details":{"cached_tokens":500,"audio_tokens":400,"cached_tokens_details":{"audio_tokens":300}}})",
       500, 0, 0, 100, 0, 0, 0, 0},
      {"cached audio that is not told apart: the least that fits, 700 + 400 - 1000",
       R"({"prompt_tokens_details":{"cached_tokens":700,"audio_tokens":400}})", 700, 0, 0, 300, 0, 0, 0, 0},
  };
  for (const auto& c : cases) {
    const Read read = read_text(spend_row("\"metadata\":{\"usage_object\":" + std::string(c.usage) + "}"));
    ASSERT_EQ(read.arrivals.size(), 1U) << c.why << ": " << read.error;
    const Arrival& a = read.arrivals[0];
    EXPECT_EQ(std::tuple(a.cached, a.cache_write, a.cache_write_1h, a.audio_prompt, a.image_prompt),
              std::tuple(c.cached, c.written, c.written_1h, c.audio, c.image))
        << c.why;
    EXPECT_EQ(std::tuple(a.reasoning, a.audio_output, a.image_output),
              std::tuple(c.reasoning, c.audio_output, c.image_output))
        << c.why;
  }
  EXPECT_THAT(
      read_text(
          spend_row(R"("metadata":{"usage_object":{"cache_read_input_tokens":600,"cache_creation_input_tokens":500}})"))
          .error,
      HasSubstr("more cached and cache-write tokens than prompt tokens"));
}

TEST(LiteLlm, tells_what_money_no_token_explains_and_keeps_it_out_of_the_comparison) {
  const Read read = read_text(spend_row(
      R"("spend":0.5,"call_type":"acompletion","metadata":{"usage_object":{"service_tier":"flex","video_tokens":9,"server_tool_use":{"web_search_requests":2}},)"
      R"("cost_breakdown":{"input_cost":0.2,"output_cost":0.15,"tool_usage_cost":0.1,"margin_total_amount":0.05,"surcharge_cost":0.01,"total_cost":0.5}})"));
  ASSERT_EQ(read.arrivals.size(), 1U) << read.error;
  EXPECT_EQ(read.arrivals[0].cost_nano, 350'000'000) << "0.5 less 0.1 for tools and 0.05 of margin";
  for (const char* told : {"cost_breakdown.tool_usage_cost: in 1 rows, 0.10 USD together",
                           "cost_breakdown.margin_total_amount", "service tier flex", "web_search_requests",
                           "usage_object.video_tokens: in 1 rows, 9 units", "cost_breakdown.surcharge_cost"})
    EXPECT_THAT(all_of(read.notes), HasSubstr(told));
  const Read images = read_text(spend_row(R"("spend":0.04,"call_type":"aimage_generation")"));
  EXPECT_THAT(all_of(images.notes),
              HasSubstr("call type aimage_generation: in 1 rows, 0.04 USD together; not billed by tokens"));
  EXPECT_TRUE(read_text(spend_row(R"("call_type":"aretrieve_batch")")).arrivals.at(0).batch);
}

/// A page with one bucket of one result.
std::string usage_page(const std::string& result) {
  return R"({"object":"page","data":[{"object":"bucket","start_time":1730419200,"end_time":1730505600,"results":[{"num_model_requests":1,)" +
         result + "}]}]}";
}

TEST(OpenAiUsage, reads_audio_images_and_cache_writes_in_both_meanings_of_the_export) {
  const Read older = read_text(usage_page(
      R"("object":"organization.usage.completions.result","input_tokens":1000,"input_cached_tokens":800,"output_tokens":500,"input_audio_tokens":300,"output_audio_tokens":200)"));
  ASSERT_EQ(older.arrivals.size(), 1U) << older.error;
  const Arrival& a = older.arrivals[0];
  EXPECT_EQ(std::tuple(a.prompt, a.cached, a.audio_prompt, a.output, a.audio_output),
            std::tuple(1300, 800, 300, 700, 200))
      << "text alone was input_tokens";
  EXPECT_EQ(a.needs, 1U << 2U) << "audio";
  const Read newer = read_text(usage_page(
      R"("input_tokens":1500,"input_cached_tokens":800,"input_cache_write_tokens":200,"input_uncached_tokens":500,"input_text_tokens":150,)"
      R"("input_audio_tokens":300,"input_image_tokens":50,"input_cached_audio_tokens":100,"output_tokens":700,"output_text_tokens":490,)"
      R"("output_audio_tokens":200,"output_image_tokens":10,"service_tier":"priority","output_video_tokens":7)"));
  ASSERT_EQ(newer.arrivals.size(), 1U) << newer.error;
  const Arrival& b = newer.arrivals[0];
  EXPECT_EQ(std::tuple(b.prompt, b.cached, b.cache_write, b.audio_prompt, b.image_prompt),
            std::tuple(1500, 800, 200, 300, 50));
  EXPECT_EQ(std::tuple(b.output, b.audio_output, b.image_output), std::tuple(700, 200, 10));
  for (const char* told : {"input_cached_audio_tokens: in 1 rows, 100 tokens together", "service tier priority",
                           "output_video_tokens: in 1 rows, 7 units"})
    EXPECT_THAT(all_of(newer.notes), HasSubstr(told));
  EXPECT_TRUE(
      read_text(usage_page(R"("input_tokens":1,"output_tokens":1,"service_tier":"batch")")).arrivals.at(0).batch);
  EXPECT_EQ(read_text(usage_page(R"("object":"organization.usage.embeddings.result","input_tokens":7)"))
                .arrivals.at(0)
                .prompt,
            7);
  const struct {
    const char* result;
    const char* says;
  } wrong[] = {
      {R"("input_tokens":100,"output_tokens":1,"input_cached_tokens":60,"input_cache_write_tokens":50)",
       "input_tokens: less than"},
      {R"("input_tokens":100,"output_tokens":1,"input_uncached_tokens":50,"input_cached_tokens":60)",
       "input_uncached_tokens"},
      {R"("input_tokens":100,"output_tokens":1,"output_text_tokens":1,"input_text_tokens":90,"output_audio_tokens":2)",
       "output_tokens: less than"},
      {R"("object":"organization.usage.images.result","images":3)", "not billed by the tokens"},
      {R"("input_tokens":100,"output_tokens":1,"input_audio_tokens":-1)", "input_audio_tokens"},
  };
  for (const auto& c : wrong) EXPECT_THAT(read_text(usage_page(c.result)).error, HasSubstr(c.says)) << c.result;
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

TEST(Names, are_masked_unless_declared) {
  const std::string text = "at,model,tenant,team,prompt,output\n1,gpt-4o,acme,search,1,1\n2,secret,globex,ops,1,1\n";
  const Read masked = read_text(text);
  ASSERT_EQ(masked.rows.size(), 2U) << masked.error;
  EXPECT_THAT(masked.rows[0], HasSubstr(" gpt-4o acme search"));
  for (const char* raw : {"secret", "globex", "ops"}) EXPECT_THAT(masked.rows[1], ::testing::Not(HasSubstr(raw)));
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
