/// The facts of the published ServeGen tables, and that what we generate keeps them.
#include <zlib.h>

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "trace/servegen.h"

namespace ace {
namespace {

std::string unpacked(const std::string& path) {
  std::string text;
  const gzFile file = ::gzopen(path.c_str(), "rb");
  EXPECT_NE(file, nullptr) << path;
  if (file == nullptr) return text;
  char bytes[1 << 16];
  for (int n = 0; (n = ::gzread(file, bytes, sizeof bytes)) > 0;) text.append(bytes, static_cast<std::size_t>(n));
  ::gzclose(file);
  return text;
}

std::shared_ptr<const Servegen> tables_of(const std::string& name) {
  const std::string base = std::string(ACE_DATA) + "/servegen/" + name;
  auto tables = parse_servegen(unpacked(base + "_rates.csv.gz"), unpacked(base + "_token_stats.csv"));
  EXPECT_TRUE(tables) << tables.error().what();
  return std::make_shared<const Servegen>(std::move(*tables));
}

TEST(ServegenData, has_the_published_facts) {
  const struct {
    const char* name;
    std::size_t clients, windows, absent, days;
    double mean, max, min, busiest;
  } cases[] = {{"m-large", 162, 99839, 15, 14, 195.844, 582.992, 48.3517, 0.1605},
               {"m-small", 43, 40095, 5, 14, 1196.36, 3879.51, 391.273, 0.2988},
               {"deepseek-r1", 73, 3111, 0, 1, 16.0147, 42.52, 4.31167, 0.2859}};
  for (const auto& c : cases) {
    const auto tables = tables_of(c.name);
    EXPECT_EQ(tables->clients.size(), c.clients) << c.name;
    EXPECT_EQ(pooled_of(*tables).clients, c.absent) << c.name;
    std::size_t windows = 0;
    std::vector<double> total(c.days * 144), by_client;
    for (const ServegenClient& client : tables->clients) {
      windows += client.rates.size();
      double all = 0.0;
      for (const ServegenRate& rate : client.rates) {
        total[static_cast<std::size_t>(rate.second / 600)] += rate.rate_per_s;
        all += rate.rate_per_s;
      }
      by_client.push_back(all);
    }
    std::erase(total, 0.0);  // the facts are over windows in which anything came
    double sum = 0.0;
    for (const double rate : total) sum += rate;
    EXPECT_EQ(windows, c.windows) << c.name;
    EXPECT_NEAR(sum / static_cast<double>(total.size()), c.mean, 1e-3 * c.mean) << c.name;
    EXPECT_NEAR(*std::max_element(total.begin(), total.end()), c.max, 1e-5 * c.max) << c.name;
    EXPECT_NEAR(*std::min_element(total.begin(), total.end()), c.min, 1e-5 * c.min) << c.name;
    EXPECT_NEAR(*std::max_element(by_client.begin(), by_client.end()) / sum, c.busiest, 1e-4) << c.name;
  }
}

TEST(ServegenData, generates_each_client_at_its_published_rate) {
  const auto tables = tables_of("m-large");
  ServegenOptions options;
  options.generate.last_day = 2;
  auto source = generate(tables, options);
  ASSERT_TRUE(source);
  std::vector<double> counts(tables->clients.size());
  std::vector<Arrival> batch(4096);
  double all = 0.0;
  std::int64_t before = 0;
  while (const std::size_t n = *(*source)->next(batch)) {
    for (const Arrival& a : std::span(batch).first(n)) {
      ++counts[a.tenant];
      ASSERT_GE(nanos(a.at), before);
      before = nanos(a.at);
    }
    all += static_cast<double>(n);
  }
  double expected_all = 0.0, variance_all = 0.0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    // A stationary renewal process of coefficient c has a count of variance about c^2 n in a window of n expected
    // requests, plus (c^4 - 1) / 6 or so from where it is cut (Cox 1962, 4.5).
    double expected = 0.0, variance = 0.0;
    for (const ServegenRate& rate : tables->clients[i].rates) {
      if (rate.second >= 2 * 86400) break;
      const double cv = cv_of(rate.family, rate.shape);
      expected += rate.rate_per_s * 600;
      variance += rate.rate_per_s * 600 * std::max(cv * cv, 1.0) + cv * cv * cv * cv / 6.0;
    }
    EXPECT_NEAR(counts[i], expected, 4 * std::sqrt(variance) + 4) << "client " << tables->clients[i].number;
    expected_all += expected;
    variance_all += variance;
  }
  EXPECT_NEAR(all, expected_all, 4 * std::sqrt(variance_all));
}

}  // namespace
}  // namespace ace
