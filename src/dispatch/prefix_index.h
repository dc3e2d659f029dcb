#pragma once
/// Which prompt prefixes a cache holds: bounded, by blocks of equal prefix. One class, three uses: what the dispatcher
/// believes of a destination, what a replayed destination really holds, and what the all-API world would have had (h0).
#include <cstdint>
#include <memory>
#include <span>

#include "core/time.h"
#include "core/units.h"

namespace ace {

/// An open-addressing table of block keys with the order of last use threaded through it. O(1) per block,
/// deterministic. Memory: at most 64 bytes per block held (a node of 24 in an array that doubles, up to four table
/// slots of 4), never more than `blocks_max` blocks and, with a time to live, than were alive at once.
class PrefixIndex {
 public:
  struct Rules {
    Tokens block{512};                 ///< prompt tokens per block of the stream
    Tokens min_prefix{0};              ///< shorter matches are no hit
    Tokens granularity{1};             ///< hits are multiples of this many tokens
    Duration ttl{0};                   ///< a block not used for so long is gone; 0 = never
    std::size_t blocks_max = 1 << 16;  ///< least recently used blocks leave first
  };
  explicit PrefixIndex(const Rules& rules);
  ~PrefixIndex();
  PrefixIndex(PrefixIndex&&) noexcept;
  PrefixIndex& operator=(PrefixIndex&&) noexcept;

  /// Tokens of the unbroken cached prefix of a prompt that consists of these blocks, never more than `prompt`.
  /// @param scope whose cache it is, where one index holds several that share nothing (tenants at a provider)
  [[nodiscard]] Tokens matched(std::span<const std::uint32_t> blocks, Tokens prompt, Instant now,
                               std::uint64_t scope = 0) const;
  /// The prompt was computed here: its blocks are cached now, as of `now`. Times do not go back. The head of a prompt
  /// counts as used after its tail, so that room is made from the tail and what stays is a prefix.
  void insert(std::span<const std::uint32_t> blocks, Instant now, std::uint64_t scope = 0);
  /// Everything is gone: the replicas that held it were stopped or lost.
  void clear();
  [[nodiscard]] std::size_t size() const;  ///< blocks held, expired ones included

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ace
