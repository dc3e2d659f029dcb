#include "spine/merkle.h"

#include <bit>

namespace ace {
namespace {

constexpr std::string_view kLeaf("\0", 1), kNode("\1", 1);

/// k of RFC 6962: the largest power of two below n. @param n at least 2
std::uint64_t split(std::uint64_t n) { return std::bit_floor(n - 1); }

Result<void> path(SubtreeSource& tree, std::uint64_t index, std::uint64_t begin, std::uint64_t end,
                  std::vector<Digest>& out) {
  if (end - begin == 1) return {};
  const std::uint64_t middle = begin + split(end - begin);
  const bool left = index < middle;
  Result<void> below = left ? path(tree, index, begin, middle, out) : path(tree, index, middle, end, out);
  if (!below) return below;
  Result<Digest> other = left ? tree.subtree(middle, end) : tree.subtree(begin, middle);
  if (!other) return std::move(other).error();
  out.push_back(*other);
  return {};
}

Result<void> subproof(SubtreeSource& tree, std::uint64_t from, std::uint64_t begin, std::uint64_t end, bool whole,
                      std::vector<Digest>& out) {
  const std::uint64_t n = end - begin;
  if (from == n) {
    if (whole) return {};
    Result<Digest> all = tree.subtree(begin, end);
    if (!all) return std::move(all).error();
    out.push_back(*all);
    return {};
  }
  const std::uint64_t middle = split(n);
  const bool left = from <= middle;
  Result<void> below = left ? subproof(tree, from, begin, begin + middle, whole, out)
                            : subproof(tree, from - middle, begin + middle, end, false, out);
  if (!below) return below;
  Result<Digest> other = left ? tree.subtree(begin + middle, end) : tree.subtree(begin, begin + middle);
  if (!other) return std::move(other).error();
  out.push_back(*other);
  return {};
}

}  // namespace

std::uint64_t perfect_size(std::uint64_t begin, std::uint64_t end) {
  const std::uint64_t fits = std::bit_floor(end - begin);
  return begin == 0 ? fits : std::min(fits, begin & (~begin + 1));
}

Digest leaf_hash(Sha256& sha, std::string_view record) { return sha({kLeaf, record}); }
Digest node_hash(Sha256& sha, const Digest& left, const Digest& right) { return sha({kNode, view(left), view(right)}); }

Result<CompactRange> CompactRange::from(std::uint64_t begin, std::uint64_t end, std::vector<Digest> nodes) {
  std::size_t needed = 0;
  for (std::uint64_t at = begin; at < end; at += perfect_size(at, end)) ++needed;
  if (end < begin || nodes.size() != needed)
    return Error(Errc::bad_input, "a range of the tree: expected " + std::to_string(needed) + " digests, got " +
                                      std::to_string(nodes.size()));
  CompactRange range(begin);
  range.end_ = end;
  range.nodes_ = std::move(nodes);
  return range;
}

/// Puts a perfect subtree of `size` leaves at the end and joins what has become perfect.
void CompactRange::push(Sha256& sha, std::uint64_t size, const Digest& node) {
  nodes_.push_back(node);
  end_ += size;
  // Two neighbours of `size` leaves are one of 2 x size where that begins at a multiple of itself, inside the range.
  while (end_ % (2 * size) == 0 && end_ - begin_ >= 2 * size) {
    const Digest joined = node_hash(sha, nodes_[nodes_.size() - 2], nodes_.back());
    nodes_.pop_back();
    nodes_.back() = joined;
    size *= 2;
  }
}

void CompactRange::append(Sha256& sha, const Digest& leaf) { push(sha, 1, leaf); }

Result<void> CompactRange::append(Sha256& sha, const CompactRange& next) {
  if (next.begin_ != end_) return Error(Errc::bad_input, "joining ranges of the tree: they do not meet");
  std::uint64_t at = next.begin_;
  for (const Digest& node : next.nodes_) {
    const std::uint64_t size = perfect_size(at, next.end_);
    push(sha, size, node);
    at += size;
  }
  return {};
}

Digest CompactRange::root(Sha256& sha) const {
  ACE_CHECK(begin_ == 0, "only a range from 0 has a root");
  if (nodes_.empty()) return sha({});
  Digest root = nodes_.back();
  for (std::size_t i = nodes_.size() - 1; i-- > 0;) root = node_hash(sha, nodes_[i], root);
  return root;
}

Result<std::vector<Digest>> inclusion_proof(SubtreeSource& tree, std::uint64_t index, std::uint64_t size) {
  if (index >= size) return Error(Errc::out_of_range, "a proof of inclusion: the tree has no such leaf");
  std::vector<Digest> proof;
  if (Result<void> done = path(tree, index, 0, size, proof); !done) return std::move(done).error();
  return proof;
}

Result<std::vector<Digest>> consistency_proof(SubtreeSource& tree, std::uint64_t from, std::uint64_t to) {
  if (from > to) return Error(Errc::out_of_range, "a proof of consistency: the older tree is the larger one");
  std::vector<Digest> proof;
  if (from == 0) return proof;
  if (Result<void> done = subproof(tree, from, 0, to, true, proof); !done) return std::move(done).error();
  return proof;
}

bool verify_inclusion(Sha256& sha, const Digest& leaf, std::uint64_t index, std::uint64_t size,
                      std::span<const Digest> proof, const Digest& root) {
  if (index >= size) return false;
  std::uint64_t fn = index, sn = size - 1;
  Digest r = leaf;
  for (const Digest& p : proof) {
    if (sn == 0) return false;
    if ((fn & 1) != 0 || fn == sn) {
      r = node_hash(sha, p, r);
      if ((fn & 1) == 0) {
        const int zeros = std::countr_zero(fn);  // fn == sn != 0 here
        fn >>= zeros;
        sn >>= zeros;
      }
    } else {
      r = node_hash(sha, r, p);
    }
    fn >>= 1;
    sn >>= 1;
  }
  return sn == 0 && r == root;
}

bool verify_consistency(Sha256& sha, std::uint64_t from, std::uint64_t to, const Digest& root_from,
                        const Digest& root_to, std::span<const Digest> proof) {
  if (from > to) return false;
  if (from == to) return proof.empty() && root_from == root_to && (from != 0 || root_from == sha({}));
  if (from == 0 || proof.empty()) return false;
  std::vector<Digest> whole;
  if (std::has_single_bit(from)) whole.push_back(root_from);  // its root is itself a node of the newer tree
  whole.insert(whole.end(), proof.begin(), proof.end());
  std::uint64_t fn = from - 1, sn = to - 1;
  while ((fn & 1) != 0) {
    fn >>= 1;
    sn >>= 1;
  }
  Digest fr = whole.front(), sr = whole.front();
  for (std::size_t i = 1; i < whole.size(); ++i) {
    if (sn == 0) return false;
    if ((fn & 1) != 0 || fn == sn) {
      fr = node_hash(sha, whole[i], fr);
      sr = node_hash(sha, whole[i], sr);
      if ((fn & 1) == 0) {
        const int zeros = fn == 0 ? 64 : std::countr_zero(fn);
        fn = zeros == 64 ? 0 : fn >> zeros;
        sn = zeros == 64 ? 0 : sn >> zeros;
      }
    } else {
      sr = node_hash(sha, sr, whole[i]);
    }
    fn >>= 1;
    sn >>= 1;
  }
  return sn == 0 && fr == root_from && sr == root_to;
}

}  // namespace ace
