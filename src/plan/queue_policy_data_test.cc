/// Real job lengths: how far from the oracle a scheduler is that does not know them.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/csv.h"
#include "core/money.h"
#include "core/rng.h"
#include "fleet/data_testing.h"
#include "plan/queue_policy.h"

namespace ace {
namespace {

Duration seconds(std::string_view text) { return *parse_decimal(trim(text), 0) * kSecond; }

/// Intervals as owners give them: a factor of up to two either way, and one in five far too low.
void guess(std::vector<QueuedJob>& jobs, Rng& rng) {
  for (QueuedJob& j : jobs) {
    const double length = to_seconds(j.length) * (rng.chance(0.2) ? 0.1 : 1.0);
    j.low = from_seconds(length * (0.5 + 0.5 * rng.uniform()));
    j.high = from_seconds(length * (1.0 + rng.uniform()));
  }
}

/// Mean completion time and mean wait, in seconds.
struct Means {
  double completion = 0.0, wait = 0.0;
};
Means means_of(QueuePolicy policy, const QueueOptions& options, const std::vector<QueuedJob>& jobs) {
  const QueueOutcome outcome = *run_queue(policy, options, jobs);
  double work = 0.0;
  for (const QueuedJob& j : jobs) work += to_seconds(j.length);
  const double completion = to_seconds(outcome.mean());
  return {completion, completion - work / static_cast<double>(jobs.size())};
}

TEST(QueuePolicyData, tiresias_sixty_jobs) {
  const std::string text = data_text("tiresias/60_job.csv");
  CsvTable table = *CsvTable::open(text);
  std::vector<QueuedJob> jobs;
  for (CsvRow row; *table.next(row);)
    jobs.push_back({seconds(row.fields[*table.column("submit_time")]),
                    seconds(row.fields[*table.column("duration")]),
                    *parse_decimal(row.fields[*table.column("num_gpu")], 0),
                    {},
                    {}});
  ASSERT_EQ(jobs.size(), 60U);
  std::stable_sort(jobs.begin(), jobs.end(),
                   [](const QueuedJob& a, const QueuedJob& b) { return a.arrival < b.arrival; });
  Rng rng(1, "guesses");
  guess(jobs, rng);
  QueueOptions options;
  options.units = 8;
  // Lengths of minutes, much alike: who has had the most says little, and feedback interrupts for nothing. An interval,
  // if one in five is far too low, comes within 13% of knowing.
  const double oracle = means_of(QueuePolicy::srpt, options, jobs).completion;
  EXPECT_NEAR(means_of(QueuePolicy::fifo, options, jobs).completion / oracle, 1.402, 0.001);
  EXPECT_NEAR(means_of(QueuePolicy::feedback, options, jobs).completion / oracle, 1.593, 0.001);
  EXPECT_NEAR(means_of(QueuePolicy::interval, options, jobs).completion / oracle, 1.126, 0.001);
}

TEST(QueuePolicyData, a_thousand_lengths_of_yarn) {
  const std::string text = data_text("tiresias/yarn-gput1000.csv");
  CsvTable table = *CsvTable::open(text);
  std::vector<Duration> lengths;
  for (CsvRow row; *table.next(row);) lengths.push_back(seconds(row.fields[0]));
  ASSERT_EQ(lengths.size(), 1001U);
  Rng rng(1, "arrivals");
  rng.shuffle(std::span(lengths));
  QueueOptions options;
  options.units = 64;
  std::vector<QueuedJob> jobs;
  double at = 0.0;
  for (const Duration length : lengths) {  // one every ten minutes: more than 64 GPUs can keep up with
    at += rng.exponential(600.0);
    jobs.push_back({from_seconds(at), length, 1, {}, {}});
  }
  guess(jobs, rng);
  // From two minutes to two years, half of them below 38 minutes: here it says nearly all.
  const double least = means_of(QueuePolicy::srpt, options, jobs).wait;
  EXPECT_NEAR(means_of(QueuePolicy::fifo, options, jobs).wait / least, 5.732, 0.001);
  EXPECT_NEAR(means_of(QueuePolicy::feedback, options, jobs).wait / least, 1.134, 0.001);
  EXPECT_NEAR(means_of(QueuePolicy::interval, options, jobs).wait / least, 1.0, 0.001);
}

}  // namespace
}  // namespace ace
