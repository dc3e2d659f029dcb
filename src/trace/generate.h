#pragma once
/// The generator: many renewal processes merged into one stream of requests in time order, from a seed.
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "core/result.h"
#include "replay/source.h"
#include "trace/generate_gaps.h"
#include "trace/generate_tokens.h"
#include "trace/profile.h"

namespace ace {

struct GenerateOptions {
  std::uint64_t seed = 1;
  double scale = 1.0;                                               ///< multiplies every rate; positive
  std::uint64_t limit = std::numeric_limits<std::uint64_t>::max();  ///< requests, then the end
  std::int32_t first_day = 1;  ///< days of the profile, from 1; both ends belong to it
  std::int32_t last_day = std::numeric_limits<std::int32_t>::max();
};

/// A stretch of time in which one client's rate and lengths stay as they are.
struct PaceWindow {
  std::int64_t from = 0;    ///< ns since the epoch
  std::int64_t length = 0;  ///< ns
  double rate_per_s = 0.0;
  Gaps gaps;
  const TokenTable* prompt = nullptr;
  const TokenTable* output = nullptr;
  std::uint64_t number = 0;  ///< of this window for its client
  bool fresh = true;         ///< the process starts anew (in equilibrium), with draws of its own; else it goes on
};

/// Where one client's windows come from, in order. What a window points to stays until the next call.
class WindowFeed {
 public:
  virtual ~WindowFeed() = default;
  virtual bool next(PaceWindow& window) = 0;
  virtual void rewind() = 0;
};

/// One sender of requests, as the engine sees it.
struct ClientSpec {
  std::string name;
  std::string team;
  std::string model;
  double correlation = 0.0;
  std::vector<std::int32_t> max_output;
  double batch = 0.0;
  PrefixSpec prefix;
  std::unique_ptr<WindowFeed> feed;
};

/// Merges the clients. Memory grows with clients and remembered conversations, not with the length of the run.
/// @param from  nothing before this instant is given out (ns since the epoch)
std::unique_ptr<RequestSource> merge_clients(std::vector<ClientSpec> clients, std::string format, std::int64_t from,
                                             const GenerateOptions& options);

/// A stream of requests as the profile describes it; the same seed gives the same bytes on every machine.
/// @return bad_input if the profile or the options are not usable
Result<std::unique_ptr<RequestSource>> generate(const Profile& profile, const GenerateOptions& options);

/// Requests the profile stands for between two instants, before any draw: the integral of its rate.
double expected_requests(const Profile& profile, Instant from, Instant to);

}  // namespace ace
