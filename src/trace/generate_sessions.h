#pragma once
/// Conversations of one client: which earlier prompt a request goes on from, and so which blocks it shares.
#include <cstdint>
#include <vector>

#include "core/rng.h"
#include "trace/profile.h"

namespace ace {

/// Called in time order. The arrival process and the token lengths are not touched: among the conversations that are
/// due (their think time is over), a continuing request takes the longest one that fits into its own prompt.
class Sessions {
 public:
  Sessions(const PrefixSpec& spec, Rng rng) : spec_(spec), rng_(rng) {}
  /// Appends the prefix blocks of this request to `out`. @param next_block number of the next unused block, advanced
  void attach(std::int64_t at, std::int32_t prompt, std::uint32_t& next_block, std::vector<std::uint32_t>& out);

 private:
  struct Session {
    std::int64_t due = 0;
    std::vector<std::uint32_t> blocks;  ///< whole ones only
  };
  PrefixSpec spec_;
  Rng rng_;
  std::vector<std::uint32_t> system_;
  std::vector<Session> sessions_;
  std::size_t oldest_ = 0;
};

}  // namespace ace
