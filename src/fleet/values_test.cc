#include "fleet/values.h"

#include <gtest/gtest.h>

namespace ace::fleet_file {
namespace {

TEST(ParseAmount, reads_money_per_something_exactly) {
  const struct {
    const char* text;
    std::int64_t nano;
    std::vector<std::string> per;
  } cases[] = {
      {"1.90 USD/h/gpu", 1'900'000'000, {"h", "gpu"}}, {"260 USD/month/unit", 260'000'000'000, {"month", "unit"}},
      {"0.12 USD/kWh", 120'000'000, {"kWh"}},          {"-0.05 USD/Mtok", -50'000'000, {"Mtok"}},
      {"0.000000001 USD/Mtok", 1, {"Mtok"}},           {"20USD/h", 20'000'000'000, {"h"}},
      {" 3 USD / h ", 3'000'000'000, {"h"}},
  };
  for (const auto& c : cases) {
    Misread why;
    const auto got = parse_amount(c.text, "1 USD/h", why);
    ASSERT_TRUE(got) << c.text;
    EXPECT_EQ(*got, (Amount{c.nano, "USD", c.per})) << c.text;
  }
}

TEST(ParseAmount, says_what_to_write_instead) {
  const struct {
    const char* text;
    const char* mend;
  } cases[] = {
      {"0,60 USD/Mtok", "write \"0.60 USD/Mtok\""},
      {"1,200.50 USD/h", "write \"1200.50 USD/h\""},
      {"1,200 USD/h", "write \"1200 USD/h\""},
      {"0.60", "add the unit: \"0.60 USD/Mtok\""},
      {"$0.60", "write the currency after the number: \"0.60 USD/Mtok\""},
      {"USD 0.60/Mtok", "write the currency after the number: \"0.60 USD/Mtok\""},
      {"free", "write e.g. \"0.60 USD/Mtok\""},
      {"", "write e.g. \"0.60 USD/Mtok\""},
      {"1e-3 USD/Mtok", "write e.g. \"0.60 USD/Mtok\""},
      {"nan USD/Mtok", "write e.g. \"0.60 USD/Mtok\""},
      {"0.0000000001 USD/Mtok", "write e.g. \"0.60 USD/Mtok\""},
      {"0.60 usd/Mtok", "write e.g. \"0.60 USD/Mtok\""},
      {"0.60 USD//Mtok", "write e.g. \"0.60 USD/Mtok\""},
      {"99999999999 USD/Mtok", "write e.g. \"0.60 USD/Mtok\""},
  };
  for (const auto& c : cases) {
    Misread why;
    EXPECT_FALSE(parse_amount(c.text, "0.60 USD/Mtok", why)) << c.text;
    EXPECT_EQ(why.mend, c.mend) << c.text;
  }
}

TEST(ParseDuration, is_exact_and_needs_its_unit) {
  const struct {
    const char* text;
    std::int64_t nano;
  } good[] = {{"800ms", 800'000'000},
              {"24h", 86'400'000'000'000},
              {"30d", 2'592'000'000'000'000},
              {"1.5s", 1'500'000'000},
              {"0s", 0},
              {"5 m", 300'000'000'000},
              {"7ns", 7},
              {"0.25us", 250}};
  Misread why;
  for (const auto& c : good) {
    ASSERT_TRUE(parse_duration(c.text, why)) << c.text;
    EXPECT_EQ(nanos(*parse_duration(c.text, why)), c.nano) << c.text;
  }
  for (const char* bad : {"800", "-5s", "1.5ns", "1e3ms", "12:34:56", "ms", "", "5 parsecs", "99999999999d", "+5s"})
    EXPECT_FALSE(parse_duration(bad, why)) << bad;
  EXPECT_FALSE(parse_duration("800", why));
  EXPECT_EQ(why.mend, "add the unit: \"800ms\" or \"800s\"");
}

TEST(ParseCount, takes_plain_digits_only) {
  Misread why;
  EXPECT_EQ(parse_count("2000000", why), 2'000'000);
  EXPECT_EQ(parse_count("-3", why), -3);
  EXPECT_EQ(parse_count("0", why), 0);
  for (const char* bad : {"1e3", "017", "0x10", "1.0", "", "12:34:56", "+1", " 1", "99999999999999999999", "no"})
    EXPECT_FALSE(parse_count(bad, why)) << bad;
  EXPECT_FALSE(parse_count("2_000_000", why));
  EXPECT_EQ(why.mend, "write 2000000");
}

TEST(ParsePercent, wants_the_sign) {
  Misread why;
  EXPECT_EQ(parse_percent_ppm("80%", why), 800'000);
  EXPECT_EQ(parse_percent_ppm("99.95%", why), 999'500);
  EXPECT_EQ(parse_percent_ppm("-1%", why), -10'000);  // its range is the caller's business
  EXPECT_FALSE(parse_percent_ppm("0.8", why));
  EXPECT_EQ(why.mend, "write \"80%\"");
  EXPECT_FALSE(parse_percent_ppm("80", why));
  EXPECT_EQ(why.mend, "add the unit: \"80%\"");
  EXPECT_EQ(parse_ratio_ppm("0.8", why), 800'000);
  EXPECT_EQ(parse_ratio_ppm("80%", why), 800'000);
  EXPECT_FALSE(parse_ratio_ppm("0,8", why));
  EXPECT_EQ(why.mend, "write \"0.8\"");
}

TEST(ParseNodes, expands_ranges_up_to_the_cap) {
  Misread why;
  EXPECT_EQ(parse_nodes("n[1-3]", 100, why), (std::vector<std::string>{"n1", "n2", "n3"}));
  EXPECT_EQ(parse_nodes("gpu[08-10,20]-a", 100, why),
            (std::vector<std::string>{"gpu08-a", "gpu09-a", "gpu10-a", "gpu20-a"}));
  EXPECT_EQ(parse_nodes("login", 100, why), (std::vector<std::string>{"login"}));
  for (const char* bad :
       {"n[3-1]", "n[1-", "n[]", "n[a-b]", "n[1-4", "n[1-200]", "", "n[1-3][1-2]", "n[1-999999999]", "a b"})
    EXPECT_FALSE(parse_nodes(bad, 100, why)) << bad;
}

TEST(ParseMinutes, stays_within_the_day) {
  Misread why;
  EXPECT_EQ(parse_minutes("08:00-20:30", why)->to, 1230);
  EXPECT_EQ(parse_minutes("00:00-24:00", why)->to, 1440);
  for (const char* bad : {"00:00-24:30", "8:00-20:00", "08:00", "25:00-26:00", "08:60-09:00", "08:00-08:00", ""})
    EXPECT_FALSE(parse_minutes(bad, why)) << bad;
  EXPECT_FALSE(parse_minutes("22:00-06:00", why));
  EXPECT_EQ(why.mend, "split it at midnight: \"22:00-24:00\" and \"00:00-06:00\"");
  EXPECT_EQ(parse_days("mon-fri", why), 0b0011111);
  EXPECT_EQ(parse_days("sat-mon", why), 0b1100001);
  EXPECT_FALSE(parse_days("monday", why));
}

TEST(ParseDate, knows_the_calendar) {
  Misread why;
  EXPECT_TRUE(parse_date("2028-02-29", why));
  for (const char* bad : {"2026-02-29", "2026-13-01", "26-01-01", "2026/01/01", "yesterday"})
    EXPECT_FALSE(parse_date(bad, why)) << bad;
}

TEST(ParseUrl, refuses_what_could_send_a_key_astray) {
  const struct {
    const char* url;
    bool allow_private, want;
  } cases[] = {
      {"https://api.example.com/v1", false, true},
      {"https://api.example.com:8443", false, true},
      {"http://localhost:8000/v1", false, true},
      {"http://127.0.0.1:8000", false, true},
      {"http://[::1]:8000", false, true},
      {"https://10.1.2.3", true, true},
      {"http://10.1.2.3:8000", true, true},
      {"https://10.1.2.3", false, false},
      {"https://192.168.0.1", false, false},
      {"https://172.20.0.1", false, false},
      {"https://100.64.0.1", false, false},
      {"https://[fd12::1]", false, false},
      {"http://api.example.com", false, false},
      {"https://u:p@host.example", true, false},
      {"https://169.254.169.254", true, false},
      {"https://169.254.1.1", true, false},
      {"https://[fe80::1]", true, false},
      {"https://[::ffff:169.254.169.254]", true, false},
      {"https://[fd00:ec2::254]", true, false},
      {"https://metadata.google.internal", true, false},
      {"https://2852039166", true, false},
      {"https://0xa9fea9fe", true, false},
      {"https://0251.0376.0251.0376", true, false},
      {"https://api.example.com.", true, false},
      {"https://api.example.com:0", true, false},
      {"https://api.example.com:99999", true, false},
      {"https://", true, false},
      {"ftp://api.example.com", true, false},
      {"api.example.com", true, false},
      {"https://a b", true, false},
      {"https://0.0.0.0", true, false},
      {"https://exa_mple..com", true, false},
      {"http://vllm:8000/v1", true, true},
      {"http://vllm:8000/v1", false, false},
      {"http://pool-a.inference.svc.cluster.local:8000", true, true},
      {"http://api.example.com", true, false},
      {"https://api.example.com/v1?api-version=1", true, false},
      {"https://api.example.com/v1#x", true, false},
      {"https://api.example.com/a/../b", true, false},
      {"https://api.example.com//v1", true, false},
  };
  for (const auto& c : cases) {
    Misread why;
    EXPECT_EQ(parse_url(c.url, c.allow_private, why).has_value(), c.want) << c.url << ": " << why.expected;
  }
}

TEST(ParseUrl, takes_a_url_apart) {
  const struct {
    const char* url;
    Endpoint want;
  } cases[] = {
      {"https://api.example.com", {true, "api.example.com", 443, "", true}},
      {"https://api.example.com:8443/openai/v1/", {true, "api.example.com", 8443, "/openai/v1", true}},
      {"http://[::1]:8000", {false, "::1", 8000, "", true}},
      {"http://localhost", {false, "localhost", 80, "", true}},
  };
  for (const auto& c : cases) {
    Misread why;
    EXPECT_EQ(parse_url(c.url, true, why), c.want) << c.url << ": " << why.expected;
  }
}

}  // namespace
}  // namespace ace::fleet_file
