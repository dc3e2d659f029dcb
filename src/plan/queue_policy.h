#pragma once
/// Who runs next when nobody knows how long a job will take: policies, and a simulator that compares them with one that
/// does know.
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "core/time.h"

namespace ace {

/// A job as the simulator knows it; only SRPT looks at `length`.
struct QueuedJob {
  Duration arrival{};      ///< since the start
  Duration length{};       ///< on its units
  std::int64_t units = 1;  ///< all at a time
  Duration low{}, high{};  ///< what its owner says of its length; zero = nothing
};

enum class QueuePolicy : std::uint8_t {
  fifo,  ///< by arrival; whoever fits into what is left may pass
  srpt,  ///< least remaining unit-time first: the oracle. (Optimal for the mean on one unit: Schrage 1968.)
  /// Multilevel feedback on the unit-time a job has had: level k ends at quantum x 2^k, by arrival within a level.
  /// Source: Tiresias' discretized two-dimensional least attained service, Gu et al., NSDI 2019.
  feedback,
  /// Least remaining of a guess: the low end of the job's interval; once it has had that, twice as much, up to the high
  /// end, and beyond it twice as much each time. A job that says nothing starts from the quantum.
  interval,
};
inline constexpr QueuePolicy kQueuePolicies[] = {QueuePolicy::fifo, QueuePolicy::srpt, QueuePolicy::feedback,
                                                 QueuePolicy::interval};
std::string_view name_of(QueuePolicy policy);

struct QueueOptions {
  std::int64_t units = 1;      ///< that there are
  Duration quantum = kMinute;  ///< of one unit: the first level, and the first guess where nothing is said
  Duration restart{};          ///< a job that was interrupted runs so much longer
};

struct QueueOutcome {
  std::vector<Duration> completion;  ///< by job: from its arrival to its end
  std::int64_t interruptions = 0;
  [[nodiscard]] Duration mean() const;
  [[nodiscard]] Duration quantile(double q) const;  ///< nearest rank; q in (0, 1]
};

/// Runs all jobs. Units are given out anew whenever a job arrives, ends or leaves its level or guess: in the policy's
/// order, each that fits. Ties by position.
/// @param jobs  in order of arrival
/// @return bad_input for a job out of order, without length or units, on more units than there are, or whose high is
///         below its low
Result<QueueOutcome> run_queue(QueuePolicy policy, const QueueOptions& options, std::span<const QueuedJob> jobs);

}  // namespace ace
