#include "gateway/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <sstream>
#include <thread>

namespace ace::gateway {
namespace {

using ::testing::HasSubstr;

/// Every line as the format has it, each family once with its help and type in front, buckets that only rise.
void expect_well_formed(const std::string& text) {
  const std::regex sample(
      R"re(([a-z_][a-z0-9_]*)(\{([a-z_]+="([^"\\]|\\["\\n])*"(,[a-z_]+="([^"\\]|\\["\\n])*")*)?\})? (-?[0-9.e+-]+|\+Inf|NaN|inf|nan))re");
  std::set<std::string> families;
  std::string family, line;
  double last_bucket = 0.0;
  std::istringstream lines(text);
  while (std::getline(lines, line)) {
    if (line.starts_with("# HELP ")) {
      family = line.substr(7, line.find(' ', 7) - 7);
      EXPECT_TRUE(families.insert(family).second) << family << " twice";
      continue;
    }
    if (line.starts_with("# TYPE ")) {
      EXPECT_TRUE(line.starts_with("# TYPE " + family + " ")) << line;
      continue;
    }
    std::smatch parts;
    ASSERT_TRUE(std::regex_match(line, parts, sample)) << line;
    EXPECT_TRUE(line.starts_with(family)) << line;
    if (line.find("le=\"") != std::string::npos) {
      const double count = std::stod(parts[7]);
      if (line.find("le=\"0.00") == std::string::npos) {
        EXPECT_GE(count, last_bucket) << line;
      }
      last_bucket = count;
    }
  }
  EXPECT_TRUE(text.empty() || text.ends_with('\n'));
}

TEST(Metrics, read_as_prometheus_reads_them) {
  MetricRegistry registry;
  registry.counter("ace_requests_total", "Requests.", {{"operation", "chat_completions"}, {"outcome", "ok"}}).add(3);
  registry.money("ace_cost_usd_total", "Cost.", {{"destination", "gpu"}}).add(1'500'000'001);
  registry.gauge("ace_in_flight", "Now.", [] { return 2.0; });
  registry.gauges("ace_utilization", "Share.", [] {
    return std::vector<MetricRegistry::Sample>{{{{"destination", "gpu"}}, 0.5}};
  });
  Histogram& took = registry.histogram("ace_request_seconds", "Time.", Histogram::kRequest, {{"operation", "chat"}});
  took.observe(Duration{1'250'000});
  took.observe(Duration{1'250'001});
  took.observe(1000 * kSecond);
  const std::string text = registry.expose();
  expect_well_formed(text);
  for (const char* line :
       {"# TYPE ace_requests_total counter\nace_requests_total{operation=\"chat_completions\",outcome=\"ok\"} 3\n",
        "ace_cost_usd_total{destination=\"gpu\"} 1.500000001\n", "ace_in_flight 2\n",
        "ace_utilization{destination=\"gpu\"} 0.5\n",
        "ace_request_seconds_bucket{operation=\"chat\",le=\"0.00125\"} 1\n",
        "ace_request_seconds_bucket{operation=\"chat\",le=\"0.0025\"} 2\n",
        "ace_request_seconds_bucket{operation=\"chat\",le=\"+Inf\"} 3\n",
        "ace_request_seconds_sum{operation=\"chat\"} 1000.002500001\n",
        "ace_request_seconds_count{operation=\"chat\"} 3\n"})
    EXPECT_THAT(text, HasSubstr(line));
}

TEST(Metrics, nothing_in_a_label_can_end_it) {
  MetricRegistry registry;
  registry.counter("ace_x_total", "A \\ and\na line.", {{"model", "a\"} 9\nace_y_total 1\\"}}).add();
  const std::string text = registry.expose();
  expect_well_formed(text);
  EXPECT_EQ(text,
            "# HELP ace_x_total A \\\\ and\\na line.\n# TYPE ace_x_total counter\n"
            "ace_x_total{model=\"a\\\"} 9\\nace_y_total 1\\\\\"} 1\n");
}

TEST(Metrics, one_set_of_labels_is_one_counter_in_whatever_order_they_are_named) {
  MetricRegistry registry;
  Counter& one = registry.counter("ace_x_total", "X.", {{"a", "1"}, {"b", "2"}});
  EXPECT_EQ(&one, &registry.counter("ace_x_total", "X.", {{"b", "2"}, {"a", "1"}}));
  EXPECT_NE(&one, &registry.counter("ace_x_total", "X.", {{"a", "2"}, {"b", "2"}}));
}

TEST(Metrics, lose_no_count_between_threads_and_while_they_are_read) {
  MetricRegistry registry;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&registry, t] {
      Histogram& took = registry.histogram("ace_s", "S.", Histogram::kOverhead);
      for (int i = 0; i < 5'000; ++i) {
        registry.counter("ace_n_total", "N.", {{"t", std::to_string(t % 2)}}).add();
        took.observe(Duration{i * 1000});
      }
    });
  for (int i = 0; i < 20; ++i) expect_well_formed(registry.expose());
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(registry.counter("ace_n_total", "N.", {{"t", "0"}}).value(), 10'000);
  EXPECT_EQ(registry.histogram("ace_s", "S.", Histogram::kOverhead).read().count, 20'000);
}

}  // namespace
}  // namespace ace::gateway
