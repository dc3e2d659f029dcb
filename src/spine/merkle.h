#pragma once
/// The Merkle tree over all records, as Certificate Transparency has it: an append-only log in one digest.
/// Source: RFC 6962, section 2.1 (leaf prefix 0x00, node prefix 0x01).
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "spine/digest.h"

namespace ace {

Digest leaf_hash(Sha256& sha, std::string_view record);
Digest node_hash(Sha256& sha, const Digest& left, const Digest& right);

/// Leaves of the largest perfect subtree that begins at `begin` and ends by `end`. @param end above `begin`
std::uint64_t perfect_size(std::uint64_t begin, std::uint64_t end);

/// The perfect subtrees that cover leaves [begin, end), left to right: all of them that anyone needs to know.
/// From 0 it is at most 64 digests; from elsewhere at most 126.
class CompactRange {
 public:
  CompactRange() = default;
  explicit CompactRange(std::uint64_t begin) : begin_(begin), end_(begin) {}
  /// @return bad_input unless `nodes` are as many as cover [begin, end)
  static Result<CompactRange> from(std::uint64_t begin, std::uint64_t end, std::vector<Digest> nodes);

  void append(Sha256& sha, const Digest& leaf);
  /// Joins a range that begins where this one ends.
  /// @return bad_input if it begins elsewhere
  Result<void> append(Sha256& sha, const CompactRange& next);
  [[nodiscard]] std::uint64_t begin() const { return begin_; }
  [[nodiscard]] std::uint64_t end() const { return end_; }
  [[nodiscard]] const std::vector<Digest>& nodes() const { return nodes_; }
  /// Of a range from 0: the root of RFC 6962; SHA-256 of nothing where there is no leaf.
  [[nodiscard]] Digest root(Sha256& sha) const;
  friend bool operator==(const CompactRange&, const CompactRange&) = default;

 private:
  void push(Sha256& sha, std::uint64_t size, const Digest& node);
  std::uint64_t begin_ = 0, end_ = 0;
  std::vector<Digest> nodes_;
};

/// Digests of perfect subtrees, for proofs: whole ones of leaves [first, first + 2^level).
class SubtreeSource {
 public:
  virtual ~SubtreeSource() = default;
  /// Of the tree hash over leaves [begin, end), which need not be perfect.
  virtual Result<Digest> subtree(std::uint64_t begin, std::uint64_t end) = 0;
};

/// That leaf `index` is in the tree of `size` leaves (RFC 6962, 2.1.1). @return out_of_range if it is not
Result<std::vector<Digest>> inclusion_proof(SubtreeSource& tree, std::uint64_t index, std::uint64_t size);
/// That the tree of `from` leaves is the beginning of the one of `to` (2.1.2). @return out_of_range unless from <= to
Result<std::vector<Digest>> consistency_proof(SubtreeSource& tree, std::uint64_t from, std::uint64_t to);

/// Every digest of the proof takes part, and none may be left over (RFC 9162, 2.1.3.2).
bool verify_inclusion(Sha256& sha, const Digest& leaf, std::uint64_t index, std::uint64_t size,
                      std::span<const Digest> proof, const Digest& root);
/// Source: RFC 9162, 2.1.4.2. An empty beginning proves nothing and is refused unless both are empty.
bool verify_consistency(Sha256& sha, std::uint64_t from, std::uint64_t to, const Digest& root_from,
                        const Digest& root_to, std::span<const Digest> proof);

}  // namespace ace
