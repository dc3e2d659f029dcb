#include <gtest/gtest.h>

#include "fleet/price_list_testing.h"

namespace ace {
namespace {

using fixture::findings;
using fixture::rate;
using fixture::read;
using fixture::read_row;

/// Ten days at 2 USD per million, then 3; later somebody found that the first days should have been 2.50.
const std::string kCorrected = R"({"m": [
  {"valid_from": "2026-01-01", "valid_to": "2026-02-01", "input_cost_per_token": 2e-6},
  {"valid_from": "2026-02-01", "input_cost_per_token": 3e-6},
  {"valid_from": "2026-01-11", "valid_to": "2026-01-21", "input_cost_per_token": 2.5e-6, "recorded": "2026-03-05",
   "reason": "invoice 17"}]})";

TEST(PriceVersions, of_the_past_are_corrected_by_new_ones_and_old_events_keep_theirs) {
  const struct {
    const char *on, *known, *want, *why;
  } cases[] = {{"2026-01-05", "", "2.00", "before the corrected days"},
               {"2026-01-11", "", "2.50", "the first corrected day"},
               {"2026-01-20", "", "2.50", "the last"},
               {"2026-01-21", "", "2.00", "behind them"},
               {"2026-01-15", "2026-01-15", "2.00", "an event keeps the version that was known when it was booked"},
               {"2026-01-15", "2026-03-04", "2.00", "the day before it was recorded"},
               {"2026-01-15", "2026-03-05", "2.50", "the day on which it was"},
               {"2026-02-07", "", "3.00", "another interval"},
               {"", "", "3.00", "now"}};
  for (const auto& c : cases) {
    const Result<PriceReading> reading = parse_prices(kCorrected, PriceDialect::own, c.on, c.known);
    ASSERT_TRUE(reading) << c.why;
    EXPECT_EQ(findings(*reading), "") << c.why;
    EXPECT_EQ(rate(*reading, Unit::input), c.want) << c.why;
  }
  EXPECT_FALSE(parse_prices(kCorrected, PriceDialect::own, "", "yesterday"));
}

TEST(PriceVersions, tell_what_must_be_booked_for_corrected_days) {
  const PriceReading reading = read(kCorrected, PriceDialect::own);
  ASSERT_EQ(reading.revisions.size(), 1U);
  const PriceRevision& r = reading.revisions[0];
  EXPECT_EQ(r.from + " " + r.to + " " + r.after.reason, "2026-01-11 2026-01-21 invoice 17");
  // 1,000,001 prompt tokens: booked at 2.000002 USD, right is 2.5000025 USD.
  EXPECT_EQ(*price_correction(Usage(Tokens{1'000'001}, {}, {}), r), Usd{500'000'500});
  // Days that had no price are corrected by all of it; days still to come when it was recorded by nothing.
  const PriceReading late = read(R"({"m": [{"valid_from": "2026-02-01", "input_cost_per_token": 3e-6},
    {"valid_from": "2026-01-01", "input_cost_per_token": 1e-6, "recorded": "2026-02-11", "reason": "forgotten"}]})",
                                 PriceDialect::own);
  ASSERT_EQ(late.revisions.size(), 2U) << findings(late);
  EXPECT_EQ(late.revisions[0].from + " " + late.revisions[0].to, "2026-01-01 2026-02-01");
  EXPECT_EQ(*price_correction(Usage(Tokens{1'000'000}, {}, {}), late.revisions[0]), Usd{1'000'000'000});
  EXPECT_EQ(late.revisions[1].from + " " + late.revisions[1].to, "2026-02-01 2026-02-11");
  EXPECT_EQ(*price_correction(Usage(Tokens{1'000'000}, {}, {}), late.revisions[1]), Usd{-2'000'000'000});
}

TEST(PriceVersions, that_overlap_without_a_word_or_correct_without_a_reason_are_errors) {
  const auto twice = [](const std::string& more) {
    return findings(read(R"({"m": [{"valid_from": "2026-01-01", "input_cost_per_token": 2e-6},
      {"valid_from": "2026-01-11", "input_cost_per_token": 3e-6)" +
                             more + "}]}",
                         PriceDialect::own));
  };
  EXPECT_NE(twice("").find("two versions hold on 2026-01-11"), std::string::npos);
  EXPECT_NE(twice(R"(, "recorded": "2026-01-11", "reason": "x")").find("two versions hold"), std::string::npos)
      << "recorded when it began: no correction";
  EXPECT_NE(twice(R"(, "recorded": "2026-02-01")").find("says why in reason"), std::string::npos);
  EXPECT_EQ(twice(R"(, "recorded": "2026-02-01", "reason": "x")"), "");
  EXPECT_NE(twice(R"(, "recorded": "soon", "reason": "x")").find("expected a day"), std::string::npos);
}

TEST(PriceVersions, that_were_in_force_are_never_edited) {
  const std::string before = R"({"m": [{"valid_from": "2026-01-01", "input_cost_per_token": 2e-6}]})";
  const struct {
    const char *why, *after, *says;
  } cases[] = {
      {"nothing changed", R"({"m": [{"valid_from": "2026-01-01", "input_cost_per_token": 2e-6}]})", ""},
      {"an open version ends where the next begins",
       R"({"m": [{"valid_from": "2026-01-01", "valid_to": "2026-03-01", "input_cost_per_token": 2e-6},
                 {"valid_from": "2026-03-01", "input_cost_per_token": 3e-6}]})",
       ""},
      {"a correction beside it",
       R"({"m": [{"valid_from": "2026-01-01", "input_cost_per_token": 2e-6}, {"valid_from": "2026-01-11",
          "recorded": "2026-03-01", "reason": "x", "input_cost_per_token": 3e-6}]})",
       ""},
      {"its source mended", R"({"m": [{"valid_from": "2026-01-01", "input_cost_per_token": 2e-6, "source": "page"}]})",
       ""},
      {"another figure", R"({"m": [{"valid_from": "2026-01-01", "input_cost_per_token": 3e-6}]})", "edited in place"},
      {"gone", R"({"m": [{"valid_from": "2026-01-02", "input_cost_per_token": 2e-6}]})", "is gone"},
  };
  for (const auto& c : cases) {
    std::string said;
    for (const PriceFinding& f : rewritten_history(read(before, PriceDialect::own), read(c.after, PriceDialect::own)))
      said += f.what;
    EXPECT_EQ(said.empty(), *c.says == '\0') << c.why << ": " << said;
    EXPECT_NE(said.find(c.says), std::string::npos) << c.why << ": " << said;
  }
}

TEST(OffPeakPrices, are_refused_where_they_differ_and_never_averaged_or_dropped) {
  const std::string row = R"("input_cost_per_token": 2e-6, "output_cost_per_token": 4e-6, "off_peak_pricing": )";
  const PriceReading differs = read_row(row + R"({"hours_utc": "16:30-00:30", "input_cost_per_token": 1e-6})");
  EXPECT_TRUE(differs.book.rows.empty()) << "unpriced: one price for all hours would be wrong at some";
  EXPECT_NE(findings(differs).find("error m.off_peak_pricing: input_cost_per_token differs at some hours"),
            std::string::npos)
      << findings(differs);
  for (const char* same :
       {R"({"hours_utc": "16:30-00:30", "input_cost_per_token": 0.000002})", "{}", "null",
        R"({"windows": [{"hours_utc": ["00:00-01:00"], "weekdays": [1]}], "weekday_timezone": "UTC"})"}) {
    const PriceReading kept = read_row(row + same);
    EXPECT_EQ(findings(kept), "") << same;
    EXPECT_EQ(rate(kept, Unit::input), "2.00") << same;
  }
  EXPECT_TRUE(read_row(row + R"({"hours_utc": "1-2", "output_cost_per_reasoning_token": 1e-6})").book.rows.empty())
      << "a price that the row itself does not list";
  EXPECT_NE(findings(read_row(row + R"({"holiday_surcharge": 2})")).find("holiday_surcharge"), std::string::npos);
}

}  // namespace
}  // namespace ace
