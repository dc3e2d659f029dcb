#include "verify/tree.h"

#include <algorithm>
#include <bit>

#include "core/check.h"

namespace ace::verify {
namespace {

Hash joined(Hasher& hasher, const Hash& left, const Hash& right) {
  return hasher({std::string_view("\1", 1), view(left), view(right)});
}

/// Leaves in the left half of a tree of n: the largest power of two below n. @param n at least 2
std::uint64_t left_of(std::uint64_t n) { return std::bit_floor(n - 1); }

/// Takes the last digest of a proof: its end is nearest to the root.
std::optional<Hash> take(std::span<const Hash>& proof) {
  if (proof.empty()) return std::nullopt;
  const Hash last = proof.back();
  proof = proof.first(proof.size() - 1);
  return last;
}

struct Roots {
  Hash older{}, newer{};
};

/// SUBPROOF(m, D[n], b) of RFC 6962 read backwards: what both roots must be. @param whole b: the older tree is known
std::optional<Roots> roots_from(Hasher& hasher, std::uint64_t m, std::uint64_t n, bool whole, const Hash& older,
                                std::span<const Hash>& proof) {
  if (m == n) {
    if (whole) return Roots{older, older};
    const std::optional<Hash> both = take(proof);
    return both ? std::optional(Roots{*both, *both}) : std::nullopt;
  }
  const std::uint64_t k = left_of(n);
  const std::optional<Hash> other = take(proof);
  if (!other) return std::nullopt;
  if (m <= k) {
    const std::optional<Roots> left = roots_from(hasher, m, k, whole, older, proof);
    if (!left) return std::nullopt;
    return Roots{left->older, joined(hasher, left->newer, *other)};
  }
  const std::optional<Roots> right = roots_from(hasher, m - k, n - k, false, older, proof);
  if (!right) return std::nullopt;
  return Roots{joined(hasher, *other, right->older), joined(hasher, *other, right->newer)};
}

std::optional<Hash> up(Hasher& hasher, const Hash& leaf, std::uint64_t index, std::uint64_t size,
                       std::span<const Hash>& proof) {
  if (size == 1) return leaf;
  const std::optional<Hash> other = take(proof);
  if (!other) return std::nullopt;
  const std::uint64_t k = left_of(size);
  const bool left = index < k;
  const std::optional<Hash> below =
      left ? up(hasher, leaf, index, k, proof) : up(hasher, leaf, index - k, size - k, proof);
  if (!below) return std::nullopt;
  return left ? joined(hasher, *below, *other) : joined(hasher, *other, *below);
}

}  // namespace

std::optional<Tree> Tree::from(std::uint64_t begin, std::uint64_t end, std::span<const Hash> nodes) {
  Tree tree(begin);
  for (const Hash& node : nodes) {
    if (tree.end_ >= end) return std::nullopt;
    std::uint64_t size = std::bit_floor(end - tree.end_);
    if (tree.end_ != 0) size = std::min(size, std::uint64_t{1} << std::countr_zero(tree.end_));
    tree.subtrees_.push_back({tree.end_, size, node});
    tree.end_ += size;
  }
  if (tree.end_ != end) return std::nullopt;
  return tree;
}

void Tree::add(Hasher& hasher, std::uint64_t size, const Hash& hash) {
  Subtree last{end_, size, hash};
  end_ += size;
  while (!subtrees_.empty() && subtrees_.back().size == last.size && subtrees_.back().begin % (2 * last.size) == 0) {
    last = {subtrees_.back().begin, 2 * last.size, joined(hasher, subtrees_.back().hash, last.hash)};
    subtrees_.pop_back();
  }
  subtrees_.push_back(last);
}

void Tree::join(Hasher& hasher, const Tree& next) {
  ACE_CHECK(next.begin_ == end_, "trees that do not meet");
  for (const Subtree& subtree : next.subtrees_) add(hasher, subtree.size, subtree.hash);
}

std::vector<Hash> Tree::nodes() const {
  std::vector<Hash> nodes;
  for (const Subtree& subtree : subtrees_) nodes.push_back(subtree.hash);
  return nodes;
}

Hash Tree::root(Hasher& hasher) const {
  ACE_CHECK(begin_ == 0, "only a tree from leaf 0 has a root");
  if (subtrees_.empty()) return hasher({});
  Hash root = subtrees_.back().hash;
  for (std::size_t i = subtrees_.size() - 1; i-- > 0;) root = joined(hasher, subtrees_[i].hash, root);
  return root;
}

std::optional<Hash> root_from_inclusion(Hasher& hasher, const Hash& leaf, std::uint64_t index, std::uint64_t size,
                                        std::span<const Hash> proof) {
  if (index >= size) return std::nullopt;
  const std::optional<Hash> root = up(hasher, leaf, index, size, proof);
  return proof.empty() ? root : std::nullopt;
}

bool consistent(Hasher& hasher, std::uint64_t from, std::uint64_t to, const Hash& older, const Hash& newer,
                std::span<const Hash> proof) {
  if (from > to) return false;
  if (from == 0) return proof.empty() && older == hasher({}) && (to != 0 || newer == older);
  const std::optional<Roots> roots = roots_from(hasher, from, to, true, older, proof);
  return roots && proof.empty() && roots->older == older && roots->newer == newer;
}

}  // namespace ace::verify
