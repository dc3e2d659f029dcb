#pragma once
/// The Merkle tree of RFC 6962, section 2.1, from its definition.
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "verify/hash.h"

namespace ace::verify {

/// The perfect subtrees over leaves [begin, end), left to right, each as large as its place allows.
class Tree {
 public:
  explicit Tree(std::uint64_t begin = 0) : begin_(begin), end_(begin) {}
  /// @return nothing unless `nodes` are as many as cover [begin, end)
  static std::optional<Tree> from(std::uint64_t begin, std::uint64_t end, std::span<const Hash> nodes);

  void add_leaf(Hasher& hasher, const Hash& leaf) { add(hasher, 1, leaf); }
  /// Joins the tree over the leaves that follow. @param next begins where this one ends
  void join(Hasher& hasher, const Tree& next);
  /// @return the root; of a tree from leaf 0 alone
  [[nodiscard]] Hash root(Hasher& hasher) const;
  [[nodiscard]] std::uint64_t end() const { return end_; }
  [[nodiscard]] std::vector<Hash> nodes() const;  ///< left to right
  friend bool operator==(const Tree&, const Tree&) = default;

 private:
  struct Subtree {
    std::uint64_t begin = 0, size = 0;
    Hash hash{};
    friend bool operator==(const Subtree&, const Subtree&) = default;
  };
  void add(Hasher& hasher, std::uint64_t size, const Hash& hash);

  std::uint64_t begin_ = 0, end_ = 0;
  std::vector<Subtree> subtrees_;
};

/// The root that follows from this proof of inclusion (RFC 6962, 2.1.1), every digest used.
/// @return nothing if the proof has not as many digests as this leaf needs
std::optional<Hash> root_from_inclusion(Hasher& hasher, const Hash& leaf, std::uint64_t index, std::uint64_t size,
                                        std::span<const Hash> proof);

/// Whether the tree of `from` leaves with root `older` is the beginning of that of `to` leaves with root `newer`
/// (2.1.2). An empty tree is the beginning of each; its proof is empty.
bool consistent(Hasher& hasher, std::uint64_t from, std::uint64_t to, const Hash& older, const Hash& newer,
                std::span<const Hash> proof);

}  // namespace ace::verify
