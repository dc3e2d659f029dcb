#include <gtest/gtest.h>

#include "fleet/price.h"
#include "fleet/price_keys.h"
#include "fleet/price_list_testing.h"

namespace ace {
namespace {

using fixture::findings;
using fixture::rate;
using fixture::read;
using fixture::read_row;

TEST(PriceKeys, say_unit_threshold_and_service_tier) {
  const struct {
    const char* key;
    PriceKey want;
  } cases[] = {
      {"input_cost_per_token", {.unit = Unit::input}},
      {"output_cost_per_token_batches", {.unit = Unit::output, .service = ServiceTier::batch}},
      {"input_cost_per_token_above_200k_tokens", {.unit = Unit::input, .above = 200'000}},
      {"input_cost_per_token_above_1m_tokens", {.unit = Unit::input, .above = 1'000'000}},
      {"input_cost_per_token_above_32000_tokens", {.unit = Unit::input, .above = 32'000}},
      {"cache_read_input_token_cost_above_272k_tokens_priority",
       {.unit = Unit::cached_input, .above = 272'000, .service = ServiceTier::priority}},
      {"cache_read_input_token_cost_flex_above_272k_tokens",
       {.unit = Unit::cached_input, .above = 272'000, .service = ServiceTier::flex}},
      {"cache_creation_input_token_cost_above_1hr", {.unit = Unit::cache_write_1h}},
      {"cache_creation_input_token_cost_above_1hr_above_200k_tokens", {.unit = Unit::cache_write_1h, .above = 200'000}},
      {"input_cost_per_audio_per_second_above_128k_tokens", {.unit = Unit::audio_second_input, .above = 128'000}},
      {"input_cost_per_token_ultrafast", {.kind = PriceKey::Kind::named}},
      {"output_cost_per_second_1080p", {.kind = PriceKey::Kind::named}},
      {"file_search_cost_per_1k_calls", {.kind = PriceKey::Kind::named}},
  };
  for (const auto& c : cases) EXPECT_EQ(price_key(c.key), c.want) << c.key;
  for (const char* none :
       {"", "_batches", "input_cost_per_tokens", "supports_vision", "max_tokens", "input_cost_per_token_above_k_tokens",
        "input_cost_per_token_above_200k", "input_cost_per_token_above_9999999999999_tokens"})
    EXPECT_EQ(price_key(none), std::nullopt) << none;
}

TEST(PriceList, numbers_are_read_from_their_text_and_never_through_a_double) {
  const struct {
    const char* text;
    const char* want;  // USD per million
  } cases[] = {
      {"3e-06", "3.00"},         {"0.000003", "3.00"},     {"\"3e-7\"", "0.30"}, {"5.46875e-07", "0.546875"},
      {"4.688e-09", "0.004688"}, {"1e-15", "0.000000001"}, {"0", "0.00"},        {"0.0", "0.00"},
      {"2.4e-6", "2.40"},        {"1E-6", "1.00"},
  };
  for (const auto& c : cases)
    EXPECT_EQ(rate(read_row("\"input_cost_per_token\": " + std::string(c.text)), Unit::input), c.want) << c.text;
}

TEST(PriceList, a_number_that_is_no_price_is_an_error_with_the_row_and_leaves_it_unpriced) {
  for (const char* text : {"-1e-06", "NaN", "Infinity", "-Infinity", "\"inf\"", "\"nan\"", "\"free\"", "\"\"",
                           "\"1,5\"", "true", "{}", "[3e-06]", "\"0x10\"", "\" 3e-06\""}) {
    const PriceReading reading =
        read("{\"good\": {\"input_cost_per_token\": 1e-06}, \"bad\": {\"input_cost_per_token\": " + std::string(text) +
             "}}");
    ASSERT_EQ(reading.book.rows.size(), 1U) << text;
    EXPECT_EQ(reading.book.rows[0].key, "good") << text;
    ASSERT_EQ(reading.findings.size(), 1U) << text;
    EXPECT_TRUE(reading.findings[0].error);
    EXPECT_EQ(reading.findings[0].row, "bad") << text;
    EXPECT_EQ(reading.findings[0].field, "input_cost_per_token") << text;
  }
}

TEST(PriceList, a_price_with_too_many_decimals_is_an_error_and_its_unit_unpriced_never_rounded) {
  for (const char* text : {"1e-16", "1.0000000000000001e-06", "3.3333333333333335e-05", "1e5"}) {
    const std::string fields = R"("input_cost_per_token": 1e-6, "cache_read_input_token_cost_above_200k_tokens": )" +
                               std::string(text) + R"(, "cache_read_input_token_cost": 1e-7)";
    const PriceReading theirs = read_row(fields);
    EXPECT_EQ(rate(theirs, Unit::input), "1.00") << text;
    for (const std::int64_t context : {0, 200'001})
      EXPECT_EQ(rate(theirs, Unit::cached_input, context), "-") << "neither another tier nor input stands in: " << text;
    ASSERT_EQ(theirs.findings.size(), 1U) << text;
    EXPECT_TRUE(theirs.findings[0].error && theirs.findings[0].row_kept && theirs.findings[0].row == "m") << text;
    EXPECT_TRUE(read_row(fields, PriceDialect::own).book.rows.empty()) << text;
  }
}

TEST(PriceList, every_kind_of_price_lands_on_its_unit) {
  const PriceReading reading = read_row(R"(
    "input_cost_per_token": 1e-6, "output_cost_per_token": 2e-6, "output_cost_per_reasoning_token": 3e-6,
    "cache_read_input_token_cost": 4e-6, "cache_creation_input_token_cost": 5e-6,
    "cache_creation_input_token_cost_above_1hr": 6e-6, "input_cost_per_audio_token": 7e-6,
    "output_cost_per_audio_token": 8e-6, "input_cost_per_image_token": 9e-6, "output_cost_per_image_token": 10e-6,
    "input_cost_per_video_token": 11e-6, "input_cost_per_character": 12e-6, "output_cost_per_character": 13e-6,
    "input_cost_per_second": 14e-6, "output_cost_per_second": 15e-6, "input_cost_per_audio_per_second": 16e-6,
    "input_cost_per_video_per_second": 17e-6, "input_cost_per_image": 18e-6, "output_cost_per_image": 19e-6,
    "input_cost_per_pixel": 20e-6, "output_cost_per_pixel": 21e-6, "input_cost_per_query": 22e-6,
    "ocr_cost_per_page": 23e-6, "code_interpreter_cost_per_session": 24e-6)");
  EXPECT_EQ(findings(reading), "");
  constexpr Unit order[] = {Unit::input,
                            Unit::output,
                            Unit::reasoning,
                            Unit::cached_input,
                            Unit::cache_write,
                            Unit::cache_write_1h,
                            Unit::audio_input,
                            Unit::audio_output,
                            Unit::image_input,
                            Unit::image_output,
                            Unit::video_input,
                            Unit::character_input,
                            Unit::character_output,
                            Unit::second_input,
                            Unit::second_output,
                            Unit::audio_second_input,
                            Unit::video_second_input,
                            Unit::image_count_input,
                            Unit::image_count_output,
                            Unit::pixel_input,
                            Unit::pixel_output,
                            Unit::query,
                            Unit::page,
                            Unit::session};
  for (std::size_t i = 0; i < std::size(order); ++i)
    EXPECT_EQ(rate(reading, order[i]), std::to_string(i + 1) + ".00") << name_of(order[i]);
}

TEST(PriceList, a_class_without_its_own_price_falls_back_and_no_other_does) {
  const PriceReading reading = read_row(R"("input_cost_per_token": 1e-6, "output_cost_per_token": 2e-6,
                                           "cache_creation_input_token_cost": 1.25e-6)");
  EXPECT_EQ(rate(reading, Unit::cached_input), "1.00") << "a provider without a cache price charges the input price";
  EXPECT_EQ(rate(reading, Unit::cache_write), "1.25");
  EXPECT_EQ(rate(reading, Unit::cache_write_1h), "1.25");
  EXPECT_EQ(rate(reading, Unit::reasoning), "2.00");
  EXPECT_EQ(rate(reading, Unit::audio_input), "-");
  EXPECT_EQ(rate(reading, Unit::image_count_input), "-");
  EXPECT_EQ(rate(read_row(R"("output_cost_per_token": 2e-6)"), Unit::cached_input), "-") << "nothing to fall back on";
}

TEST(PriceList, tiers_inherit_what_the_list_said_below_them) {
  const PriceReading reading = read_row(R"(
    "input_cost_per_token": 1e-6, "output_cost_per_token": 4e-6, "cache_read_input_token_cost": 0.1e-6,
    "input_cost_per_token_above_200k_tokens": 2e-6, "output_cost_per_token_above_128k_tokens": 6e-6,
    "input_cost_per_token_batches": 0.5e-6, "input_cost_per_token_priority": 3e-6,
    "input_cost_per_token_above_200k_tokens_priority": 5e-6)");
  EXPECT_EQ(findings(reading), "");
  EXPECT_EQ(rate(reading, Unit::input, 200'000), "1.00") << "exactly at the threshold";
  EXPECT_EQ(rate(reading, Unit::input, 200'001), "2.00");
  EXPECT_EQ(rate(reading, Unit::output, 128'001), "6.00");
  EXPECT_EQ(rate(reading, Unit::output, 200'001), "6.00") << "inherited from the tier above 128k";
  EXPECT_EQ(rate(reading, Unit::cached_input, 200'001), "0.10") << "listed below, so it does not fall back to input";
  EXPECT_EQ(rate(reading, Unit::input, 0, ServiceTier::batch), "0.50");
  EXPECT_EQ(rate(reading, Unit::output, 0, ServiceTier::batch), "4.00") << "no batch price: the standard one";
  EXPECT_EQ(rate(reading, Unit::input, 200'001, ServiceTier::batch), "2.00") << "long context has no batch price";
  EXPECT_EQ(rate(reading, Unit::input, 200'001, ServiceTier::priority), "5.00");
  EXPECT_EQ(rate(reading, Unit::input, 0, ServiceTier::flex), "1.00");
}

TEST(PriceList, tiered_pricing_is_chosen_on_the_prompt) {
  const PriceReading reading = read_row(R"("tiered_pricing": [
    {"input_cost_per_token": 1e-6, "output_cost_per_token": 2e-6, "range": [0, 32000.0]},
    {"range": [32000, 1.28e5], "input_cost_per_token": "3e-6", "output_cost_per_reasoning_token": 9e-6}])");
  EXPECT_EQ(findings(reading), "");
  EXPECT_EQ(rate(reading, Unit::input, 32'000), "1.00");
  EXPECT_EQ(rate(reading, Unit::input, 32'001), "3.00");
  EXPECT_EQ(rate(reading, Unit::reasoning, 32'001), "9.00");
  for (const char* bad : {R"([{"range": [1, 5], "input_cost_per_token": 1e-6}])",
                          R"([{"range": [0, 5]}, {"range": [6, 9]}])", R"([{"range": [0, 5]}, {"range": [4, 9]}])",
                          R"([{"range": [0]}])", R"([{"range": [0, -5]}])", R"([{"input_cost_per_token": 1e-6}])",
                          R"([{"range": [0, 5], "input_cost_per_token": -1}])", R"([7])", R"([{"range": [0, 0.5]}])"}) {
    const PriceReading broken = read_row("\"tiered_pricing\": " + std::string(bad));
    EXPECT_TRUE(broken.book.rows.empty()) << bad;
    EXPECT_NE(findings(broken).find("error m."), std::string::npos) << bad;
  }
}

TEST(PriceList, surcharges_are_exact_ratios_and_tools_keep_their_names) {
  const PriceReading reading = read_row(R"("input_cost_per_token": 1e-6,
    "regional_processing_uplift_multiplier_eu": 1.1, "regional_processing_uplift_multiplier_us": 1.0500,
    "provider_specific_entry": {"us": 1.1, "fast": 6.0},
    "search_context_cost_per_query": {"search_context_size_low": 0.03, "search_context_size_high": 0.05},
    "file_search_cost_per_1k_calls": 0.0025, "output_cost_per_second_1080p": 0.5)");
  EXPECT_EQ(findings(reading), "");
  const PriceRow& row = reading.book.rows.at(0);
  EXPECT_EQ(row.uplift_ppm_eu, 1'100'000);
  EXPECT_EQ(row.uplift_ppm_us, 1'050'000);
  EXPECT_EQ(row.factors, (std::vector<NamedFactor>{{"fast", 6'000'000}, {"us", 1'100'000}}));
  ASSERT_EQ(row.other.size(), 4U);
  EXPECT_EQ(row.other[0].name, "file_search_cost_per_1k_calls");
  EXPECT_EQ(row.other[2].name, "search_context_cost_per_query.search_context_size_high");
  EXPECT_EQ(to_decimal(row.other[2].price), "50000.00");
  for (const char* bad : {"0", "-1.1", "10.5", "1.0000001", "\"a\"", "{}"})
    EXPECT_TRUE(read_row("\"regional_processing_uplift_multiplier_eu\": " + std::string(bad)).book.rows.empty()) << bad;
}

TEST(PriceList, facts_and_limits_are_kept) {
  const PriceReading reading = read_row(R"("litellm_provider": "together_ai", "mode": "chat", "max_tokens": 8192,
    "max_input_tokens": 131072, "max_output_tokens": "4096", "rpm": 10, "tpm": 250000, "prompt_cache_min_tokens": 1024,
    "deprecation_date": "2026-10-01", "source": "https://x.example", "supports_vision": true,
    "supported_regions": ["global"], "metadata": {"notes": "x"}, "input_cost_per_token": null)");
  EXPECT_EQ(findings(reading), "");
  const PriceRow& row = reading.book.rows.at(0);
  EXPECT_EQ(row.provider, "together_ai");
  EXPECT_EQ(row.mode, "chat");
  EXPECT_EQ(row.context_max, Tokens{131072});
  EXPECT_EQ(row.output_max, Tokens{4096});
  EXPECT_EQ(row.cache_min, Tokens{1024});
  EXPECT_EQ(row.rpm, 10);
  EXPECT_EQ(row.tpm, 250'000);
  EXPECT_EQ(row.deprecation_date, "2026-10-01");
  EXPECT_EQ(row.source, "https://x.example");
  ASSERT_EQ(row.tiers.size(), 1U);
  EXPECT_EQ(row.tiers[0].by_service[0].mask(), 0U) << "no price is not a price of zero";
  EXPECT_EQ(price_of(Usage(Tokens{1}, Tokens{0}, Tokens{0}), row).error().code(), Errc::unpriced);
  EXPECT_EQ(read_row("\"max_tokens\": 7").book.rows.at(0).context_max, Tokens{7});
  EXPECT_EQ(findings(read_row("\"rpm\": -7")).find("warning m.rpm"), 0U);
}

TEST(PriceList, an_unknown_price_is_a_warning_in_the_communitys_list_and_an_error_in_ours) {
  const std::string odd = R"("input_cost_per_token": 1e-6, "input_price_per_smell": 1)";
  const PriceReading theirs = read_row(odd);
  EXPECT_EQ(findings(theirs), "warning m.input_price_per_smell: unknown price; it is not used\n");
  EXPECT_EQ(rate(theirs, Unit::input), "1.00");
  const PriceReading ours = read_row(odd, PriceDialect::own);
  EXPECT_TRUE(ours.book.rows.empty());
  EXPECT_EQ(findings(ours).find("error m.input_price_per_smell: unknown key"), 0U);
  EXPECT_EQ(findings(read_row(R"("new_thing": 5)")), "") << "not money: ignored in the community's";
  EXPECT_NE(findings(read_row(R"("new_thing": 5)", PriceDialect::own)), "");
  EXPECT_EQ(findings(read_row(R"("as_of": "2026-11-01", "source": "s")", PriceDialect::own)), "");
}

TEST(PriceList, the_same_price_under_two_keys_must_agree) {
  EXPECT_EQ(findings(read_row(R"("cache_read_input_token_cost": 1e-7, "input_cost_per_token_cache_hit": 0.1e-6)")), "");
  EXPECT_NE(findings(read_row(R"("cache_read_input_token_cost": 1e-7, "input_cost_per_token_cache_hit": 2e-7)")), "");
}

TEST(PriceList, repeated_keys_leave_the_row_unpriced) {
  const PriceReading field = read_row(R"("input_cost_per_token": 1e-6, "input_cost_per_token": 1e-6)");
  EXPECT_TRUE(field.book.rows.empty());
  EXPECT_EQ(findings(field), "error m.input_cost_per_token: the key is given twice; keep one\n");
  const PriceReading row = read(R"({"a": {"mode": "chat"}, "m": {"mode": "chat"}, "a": {"mode": "chat"}})");
  ASSERT_EQ(row.book.rows.size(), 1U);
  EXPECT_EQ(row.book.rows[0].key, "m");
  EXPECT_EQ(findings(row), "error a.: the row is given twice; keep one\n");
}

TEST(PriceList, keys_that_differ_by_case_alone_are_told) {
  const char* list = R"({"Acme/M": {"mode": "chat"}, "acme/m": {"mode": "chat"}, "acme/n": {"mode": "chat"}})";
  const PriceReading theirs = read(list);
  EXPECT_EQ(theirs.book.rows.size(), 3U);
  EXPECT_EQ(findings(theirs),
            "warning Acme/M.: differs from \"acme/m\" by case alone\n"
            "warning acme/m.: differs from \"Acme/M\" by case alone\n");
  const PriceReading ours = read(list, PriceDialect::own);
  ASSERT_EQ(ours.book.rows.size(), 1U);
  EXPECT_EQ(ours.book.rows[0].key, "acme/n");
}

TEST(PriceList, a_document_that_is_no_json_is_refused_as_a_whole) {
  std::string deep = R"({"m": {"metadata": )" + std::string(100, '[') + std::string(100, ']') + "}}";
  const std::string_view documents[] = {
      "",
      "   ",
      "null",
      "[]",
      "\"x\"",
      "{",
      R"({"m": {)",
      R"({"m": {"mode": "chat"})",
      R"({"m": {"mode": "chat"}} x)",
      R"({"m": {"mode": "chat"}}{})",
      R"({"m": {"mode": "ch)",
      R"({"m": {"mode" "chat"}})",
      R"({"m": {"supports_vision": True}})",
      R"({"m": {"max_images": 01}})",
      R"({"m": {"metadata": [1 2]}})",
      "{\"m\": {\"mode\": \"\xff\"}}",
      R"({"m": {"mode": "\ud800"}})",
      deep,
  };
  for (const std::string_view json : documents) {
    const Result<PriceReading> reading = parse_prices(json, PriceDialect::community);
    ASSERT_FALSE(reading) << json;
    EXPECT_EQ(reading.error().code(), Errc::bad_input) << json;
  }
  EXPECT_NE(parse_prices(R"({"m": {"supports_vision": True}})", PriceDialect::community).error().what().find("\"m\""),
            std::string::npos)
      << "names the row";
  EXPECT_TRUE(parse_prices("\xef\xbb\xbf{}", PriceDialect::community)) << "byte order mark";
}

TEST(PriceList, sample_spec_is_documentation_and_other_shapes_are_errors) {
  const PriceReading reading = read(R"({"sample_spec": {"input_cost_per_token": "USD"}, "odd": 5, "list": [{}]})");
  EXPECT_TRUE(reading.book.rows.empty());
  EXPECT_EQ(findings(reading),
            "error odd.: expected an object with the row's prices\n"
            "error list.: expected an object with the row's prices\n");
}

TEST(PriceList, versions_of_our_own_rows_hold_on_their_days) {
  const char* list = R"({"m": [
    {"input_cost_per_token": "2e-6", "valid_from": "2026-03-01", "valid_to": "2026-06-01"},
    {"input_cost_per_token": "1e-6", "valid_to": "2026-02-01"},
    {"input_cost_per_token": "3e-6", "valid_from": "2026-06-01"}]})";
  const struct {
    const char* on;
    const char* want;
  } cases[] = {{"", "3.00"},           {"2026-01-31", "1.00"}, {"2026-02-01", "no row"}, {"2026-02-28", "no row"},
               {"2026-03-01", "2.00"}, {"2026-05-31", "2.00"}, {"2026-06-01", "3.00"}};
  for (const auto& c : cases) EXPECT_EQ(rate(read(list, PriceDialect::own, c.on), Unit::input), c.want) << c.on;
  EXPECT_EQ(findings(read(list, PriceDialect::own)), "warning m.valid_from: unpriced from 2026-02-01 to 2026-03-01\n");
}

TEST(PriceList, intervals_that_contradict_each_other_are_errors) {
  const struct {
    const char* why;
    const char* rows;
  } cases[] = {
      {"overlap", R"([{"valid_to": "2026-02-02"}, {"valid_from": "2026-02-01"}])"},
      {"two without an end", R"([{"valid_from": "2026-01-01"}, {"valid_from": "2026-02-01"}])"},
      {"the same twice", R"([{"valid_from": "2026-01-01"}, {"valid_from": "2026-01-01"}])"},
      {"ends before it begins", R"({"valid_from": "2026-02-01", "valid_to": "2026-01-01"})"},
      {"ends as it begins", R"({"valid_from": "2026-02-01", "valid_to": "2026-02-01"})"},
      {"no such day", R"({"valid_from": "2026-02-30"})"},
      {"a time without a zone", R"({"valid_from": "2026-02-03T10:00:00"})"},
      {"begins in the future", R"({"valid_from": "2026-12-01"})"},
      {"no rows", "[]"},
  };
  for (const auto& c : cases) {
    const PriceReading reading = read("{\"m\": " + std::string(c.rows) + "}", PriceDialect::own, "2026-11-30");
    EXPECT_TRUE(reading.book.rows.empty()) << c.why;
    EXPECT_NE(findings(reading).find("error m."), std::string::npos) << c.why << findings(reading);
  }
  EXPECT_FALSE(parse_prices("{}", PriceDialect::own, "yesterday"));
}

TEST(PriceDiff, names_what_came_went_and_moved) {
  const PriceBook before = read(R"({"a": {"input_cost_per_token": 1e-6}, "b": {"mode": "chat"},
    "c": {"input_cost_per_token": 2e-6, "output_cost_per_token": 3e-6, "output_cost_per_token_above_200k_tokens": 4e-6,
          "input_cost_per_token_batches": 1e-6}})")
                               .book;
  const PriceBook after = read(R"({"b": {"mode": "chat"}, "d": {"mode": "chat"},
    "c": {"input_cost_per_token": 3e-6, "output_cost_per_token": 3e-6, "input_cost_per_token_batches": 1e-6,
          "cache_read_input_token_cost": 0.5e-6, "regional_processing_uplift_multiplier_eu": 1.1}})")
                              .book;
  std::string seen;
  for (const PriceChange& c : diff_prices(before, after))
    seen += std::string(c.kind == PriceChange::Kind::added     ? "+"
                        : c.kind == PriceChange::Kind::removed ? "-"
                                                               : "~") +
            c.key + "|" + c.field + "|" + c.before + "|" + c.after + "\n";
  // Cache writes follow the input and service tiers the standard, so neither is told twice; the tier above 200k is
  // gone, so that context pays the price below it. A batch of cached tokens paid the batch input price before.
  EXPECT_EQ(seen,
            "-a|||\n"
            "~c|input|2.00|3.00\n"
            "~c|cached_input|2.00|0.50\n"
            "~c|cached_input batch|1.00|0.50\n"
            "~c|output above 200000|4.00|3.00\n"
            "~c|uplift eu|1.00|1.10\n"
            "+d|||\n");
  EXPECT_DOUBLE_EQ(diff_prices(before, after)[1].ratio, 1.5);
  EXPECT_TRUE(diff_prices(after, after).empty());
}

TEST(PriceDiff, a_change_above_ten_times_needs_a_reason) {
  const auto book = [](const char* price, const char* reason) {
    return read_row("\"input_cost_per_token\": \"" + std::string(price) + "\"" + reason, PriceDialect::own).book;
  };
  const PriceBook was = book("3e-6", "");
  EXPECT_TRUE(implausible_changes(was, book("30e-6", "")).empty()) << "exactly ten times";
  EXPECT_FALSE(implausible_changes(was, book("30.000000001e-6", "")).empty());
  EXPECT_FALSE(implausible_changes(was, book("3e-3", "")).empty()) << "per thousand in a per-million field";
  EXPECT_FALSE(implausible_changes(was, book("0.29e-6", "")).empty()) << "and the other way";
  EXPECT_TRUE(implausible_changes(was, book("3e-3", ", \"accept_delta\": \"contract 2026-7\"")).empty());
}

}  // namespace
}  // namespace ace
