#pragma once
/// Which prompt prefixes a cache holds: bounded, by blocks of equal prefix. One class, three uses: what the dispatcher
/// believes of a destination, what a replayed destination really holds, and what the all-API world would have had (h0).
#include <cstdint>
#include <memory>
#include <span>

#include "core/time.h"
#include "core/units.h"

namespace ace {

class PrefixIndex {
 public:
  struct Rules {
    Tokens block{512};       ///< prompt tokens per block of the stream
    Tokens min_prefix{0};    ///< shorter matches are no hit
    Tokens granularity{1};   ///< hits are multiples of this many tokens
    Duration ttl{0};         ///< a block not used for so long is gone; 0 = never
    std::size_t blocks_max = 1 << 16;  ///< least recently used blocks leave first
  };
  explicit PrefixIndex(const Rules& rules);
  ~PrefixIndex();
  PrefixIndex(PrefixIndex&&) noexcept;
  PrefixIndex& operator=(PrefixIndex&&) noexcept;

  /// Tokens of the unbroken cached prefix of a prompt that consists of these blocks, never more than `prompt`.
  [[nodiscard]] Tokens matched(std::span<const std::uint32_t> blocks, Tokens prompt, Instant now) const;
  /// The prompt was computed here: its blocks are cached now, as of `now`. Times do not go back.
  void insert(std::span<const std::uint32_t> blocks, Instant now);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ace
