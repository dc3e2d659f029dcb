#include "plan/step_flow.h"

#include <algorithm>
#include <numeric>

#include "core/testing.h"

namespace ace {
namespace {

struct World {
  std::vector<StepFlow::Job> jobs;
  std::vector<std::int64_t> room;
  std::vector<std::size_t> order;  // in which the steps are opened
};

World random_world(Rng& rng) {
  World w;
  const auto steps = static_cast<std::size_t>(rng.between(1, 6));
  for (std::size_t s = 0; s < steps; ++s) w.room.push_back(rng.between(0, 8));
  for (std::int64_t j = rng.between(1, 7); j > 0; --j) {
    const auto first = static_cast<std::size_t>(rng.below(steps));
    const auto last = first + 1 + static_cast<std::size_t>(rng.below(steps - first));
    w.jobs.push_back({first, last, rng.between(0, 5), rng.between(0, 12)});
  }
  w.order.resize(steps);
  std::iota(w.order.begin(), w.order.end(), std::size_t{0});
  rng.shuffle(std::span(w.order));
  return w;
}

/// The most that these steps can take together, by Ford and Fulkerson over all cuts: for each subset S of them, the
/// room of S and, of each job, the lesser of its work and what the steps outside of S let it do.
std::int64_t most_into(const World& w, const std::vector<std::size_t>& steps) {
  std::int64_t least = INT64_MAX;
  for (std::uint64_t subset = 0; subset < (std::uint64_t{1} << steps.size()); ++subset) {
    std::int64_t cut = 0;
    for (std::size_t i = 0; i < steps.size(); ++i)
      if ((subset >> i & 1) != 0) cut += w.room[steps[i]];
    for (const StepFlow::Job& job : w.jobs) {
      std::int64_t outside = 0;
      for (std::size_t i = 0; i < steps.size(); ++i)
        if ((subset >> i & 1) == 0 && steps[i] >= job.first && steps[i] < job.last) outside += job.most;
      cut += std::min(job.work, outside);
    }
    least = std::min(least, cut);
  }
  return least;
}

void expect_consistent(const World& w, const StepFlow& flow) {
  std::vector<std::int64_t> load(flow.steps());
  for (std::size_t j = 0; j < w.jobs.size(); ++j) {
    std::int64_t placed = 0;
    for (std::size_t s = 0; s < flow.steps(); ++s) {
      const std::int64_t x = flow.at(j, s);
      EXPECT_GE(x, 0);
      EXPECT_LE(x, w.jobs[j].most);
      if (s < w.jobs[j].first || s >= w.jobs[j].last) {
        EXPECT_EQ(x, 0);
      }
      placed += x;
      load[s] += x;
    }
    EXPECT_EQ(placed + flow.unplaced(j), w.jobs[j].work);
  }
  for (std::size_t s = 0; s < flow.steps(); ++s) {
    EXPECT_EQ(load[s], flow.load(s));
    EXPECT_LE(load[s], flow.room(s));
  }
}

TEST(StepFlow, a_job_makes_way_for_one_that_can_go_nowhere_else) {
  StepFlow flow(2);
  const std::size_t free = flow.add({0, 2, 4, 4}), bound = flow.add({0, 1, 4, 3});
  flow.open(0, 4);  // the bound one first: it has no freedom left
  EXPECT_EQ(flow.at(bound, 0), 3);
  EXPECT_EQ(flow.at(free, 0), 1);
  const std::size_t late = flow.add({0, 1, 4, 1});
  EXPECT_EQ(flow.place(late), 1);  // nowhere yet
  flow.open(1, 4);
  EXPECT_EQ(flow.unplaced(free) + flow.unplaced(late), 0);
}

TEST(StepFlow, opened_in_any_order_every_step_is_as_full_as_it_can_be_beside_those_before) {
  for_each_seed(3000, [](Rng& rng) {
    const World w = random_world(rng);
    StepFlow flow(w.room.size());
    for (const StepFlow::Job& job : w.jobs) flow.add(job);
    std::vector<std::size_t> opened;
    std::int64_t before = 0;
    for (const std::size_t step : w.order) {
      flow.open(step, w.room[step]);
      opened.push_back(step);
      const std::int64_t most = most_into(w, opened);
      std::int64_t placed = 0;
      for (const std::size_t s : opened) placed += flow.load(s);
      EXPECT_EQ(placed, most);
      EXPECT_EQ(flow.load(step), most - before);
      before = most;
    }
    expect_consistent(w, flow);
  });
}

TEST(StepFlow, jobs_placed_one_by_one_come_to_the_same_total) {
  for_each_seed(3000, [](Rng& rng) {
    const World w = random_world(rng);
    StepFlow flow(w.room.size());
    for (const std::size_t step : w.order) flow.open(step, w.room[step]);
    for (const StepFlow::Job& job : w.jobs) flow.place(flow.add(job));
    std::int64_t placed = 0;
    for (std::size_t s = 0; s < flow.steps(); ++s) placed += flow.load(s);
    EXPECT_EQ(placed, most_into(w, w.order));
    expect_consistent(w, flow);
  });
}

TEST(StepFlow, a_reservation_takes_what_can_be_spared_and_loses_nothing) {
  for_each_seed(2000, [](Rng& rng) {
    World w = random_world(rng);
    StepFlow flow(w.room.size());
    for (const StepFlow::Job& job : w.jobs) flow.add(job);
    for (const std::size_t step : w.order) flow.open(step, w.room[step]);
    for (int i = 0; i < 4; ++i) {
      const auto step = static_cast<std::size_t>(rng.below(w.room.size()));
      const std::int64_t amount = rng.between(0, 4);
      World without = w;
      without.room[step] -= amount;
      const bool can = without.room[step] >= 0 && most_into(without, w.order) == most_into(w, w.order);
      EXPECT_EQ(flow.reserve(step, amount), can);
      if (can) w = without;
      expect_consistent(w, flow);
    }
  });
}

TEST(StepFlow, a_longer_window_helps_and_a_job_that_goes_leaves_its_room) {
  StepFlow flow(3);
  for (std::size_t s = 0; s < 3; ++s) flow.open(s, 2);
  const std::size_t first = flow.add({0, 1, 2, 2}), second = flow.add({0, 1, 2, 3}, 3);
  EXPECT_EQ(flow.place(first), 0);
  EXPECT_EQ(flow.place(second), 3);
  flow.extend(second, 2);
  EXPECT_EQ(flow.place(second), 1);
  flow.remove(first);
  EXPECT_EQ(flow.place(second), 0);
  EXPECT_EQ(flow.at(second, 0), 1);
}

}  // namespace
}  // namespace ace
