#include "plan/queue_policy.h"

#include <numeric>

#include "core/testing.h"

namespace ace {
namespace {

QueuedJob job(std::int64_t arrival_min, std::int64_t length_min, std::int64_t units = 1) {
  return {arrival_min * kMinute, length_min * kMinute, units, {}, {}};
}

std::vector<std::int64_t> minutes(QueuePolicy policy, const std::vector<QueuedJob>& jobs, QueueOptions options = {}) {
  std::vector<std::int64_t> out;
  const QueueOutcome outcome = *run_queue(policy, options, jobs);
  for (const Duration d : outcome.completion) out.push_back(d / kMinute);
  return out;
}

TEST(QueuePolicy, each_serves_in_its_own_order) {
  // Ten minutes at 0, two at 1, one at 2, on one unit.
  const std::vector<QueuedJob> jobs = {job(0, 10), job(1, 2), job(2, 1)};
  EXPECT_EQ(minutes(QueuePolicy::fifo, jobs), (std::vector<std::int64_t>{10, 11, 11}));
  // 1..3 the second (at 2 it has 1 left, a tie by position), 3..4 the third, then the first.
  EXPECT_EQ(minutes(QueuePolicy::srpt, jobs), (std::vector<std::int64_t>{13, 2, 2}));
  // The first has had its minute by 1; the second gets one to 2, the third one to 3 and ends; then level 1, where the
  // first has a minute to go (3..4) and the second ends at 5.
  EXPECT_EQ(minutes(QueuePolicy::feedback, jobs), (std::vector<std::int64_t>{13, 4, 1}));
}

TEST(QueuePolicy, a_job_that_does_not_fit_lets_others_pass) {
  QueueOptions four;
  four.units = 4;
  EXPECT_EQ(minutes(QueuePolicy::fifo, {job(0, 10, 3), job(0, 5, 4), job(0, 5, 1)}, four),
            (std::vector<std::int64_t>{10, 15, 5}));
}

TEST(QueuePolicy, an_interruption_costs_a_restart) {
  QueueOptions options;
  options.restart = 3 * kMinute;
  const std::vector<QueuedJob> jobs = {job(0, 10), job(1, 2)};
  const QueueOutcome outcome = *run_queue(QueuePolicy::srpt, options, jobs);
  EXPECT_EQ(outcome.interruptions, 1);
  EXPECT_EQ(outcome.completion[0], 15 * kMinute);
}

TEST(QueuePolicy, a_guess_that_was_too_low_doubles) {
  // The first says 1 to 2 minutes and takes 8; the second says nothing wrong: 3. After 2 minutes the first guesses 4,
  // 2 of them left, and goes on to 4; then 8, 4 left, and the second's 3 come first.
  std::vector<QueuedJob> jobs = {job(0, 8), job(0, 3)};
  jobs[0].low = kMinute, jobs[0].high = 2 * kMinute;
  jobs[1].low = jobs[1].high = 3 * kMinute;
  EXPECT_EQ(minutes(QueuePolicy::interval, jobs), (std::vector<std::int64_t>{11, 7}));
}

TEST(QueuePolicy, what_cannot_be_is_said) {
  const QueueOptions one;
  for (const std::vector<QueuedJob>& jobs :
       {std::vector<QueuedJob>{job(0, 0)}, {job(0, 1, 2)}, {job(1, 1), job(0, 1)}, {job(0, 1, 0)}})
    EXPECT_FALSE(run_queue(QueuePolicy::fifo, one, jobs));
  QueueOptions none;
  none.units = 0;
  EXPECT_FALSE(run_queue(QueuePolicy::fifo, none, {}));
  EXPECT_TRUE(run_queue(QueuePolicy::fifo, one, {}));
}

std::vector<QueuedJob> random_jobs(Rng& rng, std::int64_t units) {
  std::vector<QueuedJob> jobs;
  Duration at{};
  for (std::int64_t n = rng.between(1, 30); n > 0; --n) {
    at += from_seconds(rng.exponential(600.0));
    QueuedJob j{
        at, from_seconds(1.0 + rng.exponential(rng.chance(0.2) ? 3000.0 : 200.0)), rng.between(1, units), {}, {}};
    j.low = from_seconds(to_seconds(j.length) * (0.3 + 0.7 * rng.uniform()));
    j.high = from_seconds(to_seconds(j.length) * (1.0 + 2.0 * rng.uniform()));
    jobs.push_back(j);
  }
  return jobs;
}

TEST(QueuePolicy, on_one_unit_nothing_beats_the_oracle_and_all_end_together) {
  for_each_seed(500, [](Rng& rng) {
    const std::vector<QueuedJob> jobs = random_jobs(rng, 1);
    const QueueOutcome best = *run_queue(QueuePolicy::srpt, {}, jobs);
    const auto ends = [&](const QueueOutcome& o) {
      Duration last{};
      for (std::size_t j = 0; j < jobs.size(); ++j) last = std::max(last, jobs[j].arrival + o.completion[j]);
      return last;
    };
    for (const QueuePolicy policy : kQueuePolicies) {
      const QueueOutcome o = *run_queue(policy, {}, jobs);
      EXPECT_GE(o.mean(), best.mean()) << name_of(policy);
      EXPECT_EQ(ends(o), ends(best)) << name_of(policy);  // work is conserved
      for (std::size_t j = 0; j < jobs.size(); ++j) EXPECT_GE(o.completion[j], jobs[j].length);
    }
  });
}

TEST(QueuePolicy, exact_intervals_are_the_oracle) {
  for_each_seed(300, [](Rng& rng) {
    std::vector<QueuedJob> jobs = random_jobs(rng, 4);
    for (QueuedJob& j : jobs) j.low = j.high = j.length;
    QueueOptions options;
    options.units = 4;
    EXPECT_EQ(run_queue(QueuePolicy::interval, options, jobs)->completion,
              run_queue(QueuePolicy::srpt, options, jobs)->completion);
  });
}

}  // namespace
}  // namespace ace
