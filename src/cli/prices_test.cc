#include <cstdio>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "cli/command_testing.h"
#include "cli/prices_text.h"

namespace ace::cli {
namespace {

constexpr const char* kList = R"({
  "acme/big": {"litellm_provider": "acme", "mode": "chat", "max_input_tokens": 1000000, "input_cost_per_token": 3e-06,
    "output_cost_per_token": 1.5e-05, "cache_read_input_token_cost": 3e-07, "input_cost_per_token_batches": 1.5e-06,
    "input_cost_per_token_above_200k_tokens": 6e-06, "regional_processing_uplift_multiplier_eu": 1.1,
    "file_search_cost_per_1k_calls": 0.0025},
  "acme/none": {"mode": "chat"}})";

class PricesCommand : public ::testing::Test {
 protected:
  /// A file that lives as long as the test.
  std::string file(const std::string& name, const std::string& text) {
    const std::string path = ::testing::TempDir() + "ace_prices_" + name;
    std::ofstream(path, std::ios::binary) << text;
    files_.push_back(path);
    return path;
  }
  ~PricesCommand() override {
    for (const std::string& path : files_) std::remove(path.c_str());
  }
  /// Runs "prices" with these arguments. @return the exit code; texts in out_ and err_
  int run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "prices");
    const CommandRun ran = run_command(add_prices, arguments);
    out_.str(ran.out);
    err_.str(ran.err);
    return ran.code;
  }
  std::ostringstream out_, err_;

 private:
  std::vector<std::string> files_;
};

TEST_F(PricesCommand, show_prints_a_row_tier_by_tier) {
  const std::string list = file("list.json", kList);
  EXPECT_EQ(run({"show", "acme/big", "--prices", list}), 0) << err_.str();
  EXPECT_EQ(out_.str(),
            "acme/big\n"
            "  provider              acme\n"
            "  mode                  chat\n"
            "  context tokens        1,000,000\n"
            "  in the EU, times      1.10\n"
            "\n"
            "  USD per million                               standard           batch\n"
            "  input                                             3.00            1.50\n"
            "  cached_input                                      0.30            0.30\n"
            "  cache_write                                       3.00            1.50\n"
            "  cache_write_1h                                    3.00            1.50\n"
            "  output                                           15.00           15.00\n"
            "  reasoning                                        15.00           15.00\n"
            "  image_input                                       3.00            1.50\n"
            "  prompts above 200,000 tokens\n"
            "  input                                             6.00            6.00\n"
            "  cached_input                                      0.30            0.30\n"
            "  cache_write                                       6.00            6.00\n"
            "  cache_write_1h                                    6.00            6.00\n"
            "  output                                           15.00           15.00\n"
            "  reasoning                                        15.00           15.00\n"
            "  image_input                                       6.00            6.00\n"
            "  not counted in a request's usage\n"
            "  file_search_cost_per_1k_calls                  2500.00\n");
  EXPECT_EQ(run({"show", "acme/none", "--prices", list}), 0);
  EXPECT_NE(out_.str().find("unpriced"), std::string::npos);
}

TEST_F(PricesCommand, show_prints_json_with_money_as_decimal_strings) {
  EXPECT_EQ(run({"show", "acme/big", "--json", "--prices", file("list.json", kList)}), 0) << err_.str();
  const std::string json = out_.str();
  for (const char* part :
       {R"("key":"acme/big")", R"("context_max_tokens":1000000)", R"("uplift_factor_eu":"1.10")", R"("priced":true)",
        R"({"prompt_above_tokens":0,"usd_per_million":{"standard":{"input":"3.00","cached_input":"0.30")",
        R"({"prompt_above_tokens":200000,"usd_per_million":{"standard":{"input":"6.00")", R"("batch":{"input":"1.50")",
        R"("other_usd_per_million":{"file_search_cost_per_1k_calls":"2500.00"})"})
    EXPECT_NE(json.find(part), std::string::npos) << part << " in " << json;
}

TEST_F(PricesCommand, show_of_an_unknown_model_suggests_its_like) {
  EXPECT_EQ(run({"show", "BIG", "--prices", file("list.json", kList)}), 2);
  EXPECT_NE(err_.str().find("did you mean acme/big"), std::string::npos) << err_.str();
  EXPECT_EQ(out_.str(), "");
}

TEST_F(PricesCommand, check_says_yes_no_or_that_it_could_not) {
  EXPECT_EQ(run({"check", file("list.json", kList)}), 0);
  EXPECT_EQ(out_.str(), "2 rows, 1 priced, 1 unpriced; 0 errors, 0 warnings\n");
  const std::string bad = file("bad.json", R"({"a": {"input_cost_per_token": -1, "odd_fee": 2}, "b": {}})");
  EXPECT_EQ(run({"check", bad}), 1);
  EXPECT_EQ(out_.str(),
            "error    a: input_cost_per_token: a price is not negative, got \"-1\"\n"
            "warning  a: odd_fee: unknown price; it is not used\n"
            "1 rows, 0 priced, 1 unpriced; 1 errors, 1 warnings\n");
  EXPECT_EQ(run({"check", "--json", bad}), 1);
  EXPECT_EQ(out_.str().find(R"({"rows":1,"priced":0,"unpriced":1,"errors":1,"warnings":1,"findings":[{"severity":)"),
            0U);
  EXPECT_EQ(run({"check", file("broken.json", "{")}), 2);
  EXPECT_EQ(run({"check", "/nowhere/prices.json"}), 3);
  EXPECT_EQ(run({"check"}), 2);
  EXPECT_EQ(run({"check", "--on", "tomorrow", file("list.json", kList)}), 2);
}

TEST_F(PricesCommand, check_against_the_version_before_wants_a_reason_for_a_jump) {
  const std::string before = file("before.json", R"({"a": {"input_cost_per_token": "3e-6"}})");
  const std::string jump = file("jump.json", R"({"a": {"input_cost_per_token": "3e-3"}})");
  const std::string meant =
      file("meant.json", R"({"a": {"input_cost_per_token": "3e-3", "accept_delta": "new contract"}})");
  EXPECT_EQ(run({"check", "--own", jump, "--previous", before}), 1);
  EXPECT_NE(out_.str().find("error    a: input: moved from 3.00 to 3000.00"), std::string::npos) << out_.str();
  EXPECT_EQ(run({"check", "--own", meant, "--previous", before}), 0) << out_.str();
}

TEST_F(PricesCommand, diff_tells_what_came_went_and_moved) {
  const std::string a =
      file("a.json", R"({"x": {"input_cost_per_token": 2e-6}, "y": {}, "z": {"input_cost_per_token": 0}})");
  const std::string b = file("b.json", R"({"x": {"input_cost_per_token": 3e-6}, "w": {}, "z": {}})");
  EXPECT_EQ(run({"diff", a, b}), 0);
  EXPECT_EQ(out_.str(),
            "added    w\n"
            "changed  x: input: 2.00 -> 3.00 (x1.5)\n"
            "removed  y\n"
            "changed  z: input: 0.00 -> unpriced\n"
            "1 added, 1 removed, 2 prices changed (USD per million)\n");
  EXPECT_EQ(run({"diff", "--exit-code", a, b}), 1);
  EXPECT_EQ(run({"diff", "--exit-code", a, a}), 0);
  EXPECT_EQ(run({"diff", "--json", a, b}), 0);
  EXPECT_NE(
      out_.str().find(
          R"({"kind":"changed","key":"x","field":"input","before_usd_per_million":"2.00","after_usd_per_million":"3.00"})"),
      std::string::npos)
      << out_.str();
  EXPECT_NE(out_.str().find(R"("before_usd_per_million":"0.00","after_usd_per_million":null)"), std::string::npos);
}

TEST_F(PricesCommand, corrections_tell_what_was_booked_and_what_is_right) {
  const std::string list =
      file("ours.json", R"({"acme/big": [{"valid_from": "2026-01-01", "input_cost_per_token": 2e-6},
    {"valid_from": "2026-01-11", "valid_to": "2026-01-21", "input_cost_per_token": 2.5e-6, "recorded": "2026-03-05",
     "reason": "invoice 17"}]})");
  EXPECT_EQ(run({"corrections", list}), 0) << err_.str();
  EXPECT_EQ(out_.str(),
            "acme/big  2026-01-11 to 2026-01-21, recorded 2026-03-05: invoice 17\n"
            "  input                                             2.00 -> 2.50\n"
            "1 corrections of past prices (USD per million)\n");
  EXPECT_EQ(run({"corrections", list, "--json"}), 0);
  EXPECT_EQ(out_.str(),
            R"({"corrections":[{"key":"acme/big","from":"2026-01-11","to":"2026-01-21","recorded":"2026-03-05",)"
            R"("reason":"invoice 17","changes":[{"kind":"changed","key":"acme/big","field":"input",)"
            R"("before_usd_per_million":"2.00","after_usd_per_million":"2.50"}]}]})"
            "\n");
  EXPECT_EQ(run({"show", "acme/big", "--prices", list, "--own", "--on", "2026-01-15", "--known-on", "2026-01-15"}), 0);
  EXPECT_NE(out_.str().find("2.00"), std::string::npos) << "as it was booked";
  EXPECT_EQ(run({"corrections", file("none.json", "{}")}), 0);
  EXPECT_EQ(out_.str(), "0 corrections of past prices (USD per million)\n");
}

}  // namespace
}  // namespace ace::cli
