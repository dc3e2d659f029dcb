#pragma once
/// Divisible work in steps of bounded room, each job within a window and at a bounded pace: a maximum flow.
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ace {

/// Which job works how much in which step. Amounts are whole numbers of one unit (unit-milliseconds here), so that
/// "does it fit" has an exact answer.
///
///   source -- work --> job -- at most `most` --> step of its window -- room --> sink
///
/// The work that each set of steps can take is a polymatroid, so opening steps one after the other, each as full as it
/// gets by moving what was placed before, never takes from a step opened earlier: opened by ascending price, the flow
/// is one of least cost among the largest. Source: Megiddo 1974 (lexicographic flows); Edmonds 1970 (greedy).
/// That a step's amounts can be run side by side within it, each job on no more units than it may: McNaughton 1959.
class StepFlow {
 public:
  struct Job {
    std::size_t first = 0, last = 0;  ///< steps [first, last)
    std::int64_t most = 0;            ///< in one step
    std::int64_t work = 0;
  };

  /// No step has room yet.
  explicit StepFlow(std::size_t steps);

  /// A job with nothing placed. @param reach  last may be moved up to here; 0 = it stays
  std::size_t add(const Job& job, std::size_t reach = 0);
  /// Gives a step more room and moves as much work that lies nowhere yet into it as any arrangement could.
  void open(std::size_t step, std::int64_t room);
  /// Places as much of one job as any arrangement could, moving other jobs but taking nothing from them.
  /// @return what lies nowhere after that
  std::int64_t place(std::size_t job);
  /// Takes room from a step for good, if as much work can be placed without it. @return whether it could; if not,
  /// nothing is lost, though work may lie elsewhere
  bool reserve(std::size_t step, std::int64_t amount);
  /// Takes a job out.
  void remove(std::size_t job);
  /// Moves the end of a job's window. @param last  between the present one and its reach
  void extend(std::size_t job, std::size_t last);

  [[nodiscard]] std::size_t steps() const { return limit_.size(); }
  [[nodiscard]] std::int64_t unplaced(std::size_t job) const { return jobs_[job].unplaced; }
  [[nodiscard]] std::int64_t at(std::size_t job, std::size_t step) const;
  [[nodiscard]] std::int64_t load(std::size_t step) const { return load_[step]; }
  [[nodiscard]] std::int64_t room(std::size_t step) const { return limit_[step]; }

 private:
  struct Node : Job {
    std::size_t offset = 0;  ///< of its first step in placed_
    std::size_t reach = 0;
    std::int64_t unplaced = 0;
    std::uint64_t seen = 0;  ///< by the search of this number
    std::size_t via = 0;     ///< step through which it was found
    std::size_t level = 0;   ///< moves away from the step that is filled
    std::size_t arc = 0;     ///< step to try next
  };
  struct Step {
    std::uint64_t seen = 0;
    std::size_t via = 0;             ///< job through which it was found
    std::size_t level = 0, arc = 0;  ///< as of a job; arc = position in live_
  };
  [[nodiscard]] bool covers(const Node& job, std::size_t step) const { return step >= job.first && step < job.last; }
  std::int64_t& placed(const Node& job, std::size_t step) { return placed_[job.offset + step - job.first]; }
  [[nodiscard]] std::int64_t spare(std::size_t step) const { return limit_[step] - load_[step]; }
  void push(Node& job, std::size_t step, std::int64_t amount);
  void fill_directly(std::size_t step);
  bool find_levels(std::size_t step);
  std::int64_t bring_into(std::size_t step, std::int64_t want);
  std::int64_t free_of(Node& job, std::int64_t want);
  bool send(std::size_t job);
  /// One job on a path moves work from one step to another; the first of a path brings in what lies nowhere.
  struct Hop {
    std::size_t job, leaves, enters;
  };
  bool move(const std::vector<Hop>& path);

  std::vector<Node> jobs_;
  std::vector<Step> steps_;
  std::vector<std::int64_t> limit_, load_, placed_;
  std::vector<bool> opened_;
  std::vector<std::size_t> live_;  ///< jobs that a search may still find; one that fails ends those that it saw
  std::int64_t waiting_ = 0;       ///< unplaced work of all jobs
  bool stale_ = false;             ///< what failed searches have proved holds no more
  std::uint64_t search_ = 0;
};

}  // namespace ace
