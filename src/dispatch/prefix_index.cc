#include "dispatch/prefix_index.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "core/check.h"
#include "core/hash.h"

namespace ace {
namespace {

constexpr std::uint32_t kNil = 0xffff'ffff;
constexpr std::size_t kTableMin = 64;

}  // namespace

struct PrefixIndex::State {
  struct Node {
    std::uint64_t key = 0;
    std::int64_t used_ns = 0;
    std::uint32_t newer = kNil, older = kNil;
  };

  explicit State(const Rules& wanted) : rules(wanted), table(kTableMin, kNil) {
    ACE_CHECK(rules.block.value > 0 && rules.granularity.value > 0, "a prefix block holds tokens");
    ACE_CHECK(rules.blocks_max < kNil, "node numbers are 32 bits wide");
  }

  [[nodiscard]] std::size_t home(std::uint64_t key) const { return key & (table.size() - 1); }
  [[nodiscard]] std::size_t next(std::size_t slot) const { return (slot + 1) & (table.size() - 1); }

  [[nodiscard]] std::uint32_t find(std::uint64_t key) const {
    for (std::size_t slot = home(key); table[slot] != kNil; slot = next(slot))
      if (nodes[table[slot]].key == key) return table[slot];
    return kNil;
  }

  void place(std::uint32_t node) {
    std::size_t slot = home(nodes[node].key);
    while (table[slot] != kNil) slot = next(slot);
    table[slot] = node;
  }

  /// Linear probing without tombstones: what follows in the same run moves up where its home allows.
  void erase(std::uint64_t key) {
    std::size_t hole = home(key);
    while (nodes[table[hole]].key != key) hole = next(hole);
    for (std::size_t slot = next(hole); table[slot] != kNil; slot = next(slot)) {
      const std::size_t from_home = (slot - home(nodes[table[slot]].key)) & (table.size() - 1);
      const std::size_t from_hole = (slot - hole) & (table.size() - 1);
      if (from_home < from_hole) continue;
      table[hole] = table[slot];
      hole = slot;
    }
    table[hole] = kNil;
  }

  void unlink(std::uint32_t n) {
    const Node& node = nodes[n];
    (node.newer == kNil ? newest : nodes[node.newer].older) = node.older;
    (node.older == kNil ? oldest : nodes[node.older].newer) = node.newer;
  }

  void link_newest(std::uint32_t n) {
    nodes[n].newer = kNil;
    nodes[n].older = newest;
    (newest == kNil ? oldest : nodes[newest].newer) = n;
    newest = n;
  }

  /// Not used for longer than the time to live: its place may be taken before there is no other.
  [[nodiscard]] bool gone(std::uint32_t n, std::int64_t now_ns) const {
    return n != kNil && rules.ttl.count() > 0 && now_ns - nodes[n].used_ns > rules.ttl.count();
  }

  void touch(std::uint64_t key, std::int64_t now_ns) {
    std::uint32_t n = find(key);
    if (n != kNil) {
      unlink(n);
    } else if (nodes.size() < rules.blocks_max && !gone(oldest, now_ns)) {
      n = static_cast<std::uint32_t>(nodes.size());
      nodes.emplace_back().key = key;
      if (2 * nodes.size() > table.size()) {
        table.assign(2 * table.size(), kNil);
        for (std::uint32_t i = 0; i < nodes.size(); ++i) place(i);
      } else {
        place(n);
      }
    } else {
      n = oldest;
      unlink(n);
      erase(nodes[n].key);
      nodes[n].key = key;
      place(n);
    }
    nodes[n].used_ns = now_ns;
    link_newest(n);
  }

  Rules rules;
  std::vector<Node> nodes;
  std::vector<std::uint32_t> table;  ///< node numbers; a power of two, at most half full
  std::uint32_t newest = kNil, oldest = kNil;
};

PrefixIndex::PrefixIndex(const Rules& rules) : state_(std::make_unique<State>(rules)) {}
PrefixIndex::~PrefixIndex() = default;
PrefixIndex::PrefixIndex(PrefixIndex&&) noexcept = default;
PrefixIndex& PrefixIndex::operator=(PrefixIndex&&) noexcept = default;

Tokens PrefixIndex::matched(std::span<const std::uint32_t> blocks, Tokens prompt, Instant now,
                            std::uint64_t scope) const {
  const State& s = *state_;
  std::int64_t unbroken = 0;
  for (const std::uint32_t block : blocks) {
    const std::uint32_t n = s.find(mix(scope, block));
    if (n == kNil) break;
    if (s.gone(n, nanos(now))) break;
    ++unbroken;
  }
  const std::int64_t tokens = std::min(unbroken * s.rules.block.value, prompt.value);
  const std::int64_t whole = tokens / s.rules.granularity.value * s.rules.granularity.value;
  return Tokens{whole >= s.rules.min_prefix.value ? whole : 0};
}

void PrefixIndex::insert(std::span<const std::uint32_t> blocks, Instant now, std::uint64_t scope) {
  State& s = *state_;
  if (s.rules.blocks_max == 0) return;
  // Of a prompt longer than the whole cache only the head can stay.
  for (std::size_t i = std::min(blocks.size(), s.rules.blocks_max); i > 0; --i)
    s.touch(mix(scope, blocks[i - 1]), nanos(now));
}

void PrefixIndex::clear() {
  State& s = *state_;
  s.nodes.clear();
  s.table.assign(kTableMin, kNil);
  s.newest = s.oldest = kNil;
}

std::size_t PrefixIndex::size() const { return state_->nodes.size(); }

}  // namespace ace
