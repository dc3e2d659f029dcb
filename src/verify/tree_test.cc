#include "verify/tree.h"

#include <gtest/gtest.h>

#include "core/testing.h"
#include "spine/spine.h"
#include "verify/note.h"

namespace ace::verify {
namespace {

class Leaves : public SubtreeSource {
 public:
  explicit Leaves(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) leaves.push_back(leaf_hash(sha_, std::to_string(i)));
  }
  Result<Digest> subtree(std::uint64_t begin, std::uint64_t end) override {
    CompactRange range;
    for (std::uint64_t i = begin; i < end; ++i) range.append(sha_, leaves[i]);
    return range.root(sha_);
  }
  std::vector<Digest> leaves;

 private:
  Sha256 sha_;
};

TEST(Hash, is_that_of_its_standard) {
  EXPECT_EQ(hex(view(Hasher()({"a", "bc"}))), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(checksum("123456789"), 0xe306'9283U);            // the usual check value
  EXPECT_EQ(checksum(std::string(32, '\0')), 0x8a91'36aaU);  // RFC 3720, B.4
  EXPECT_EQ(checksum(std::string(32, '\xff')), 0x62a8'ab43U);
  const std::vector<std::pair<std::string, std::string>> kRfc4648 = {
      {"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foob", "Zm9vYg=="}, {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : kRfc4648) {
    EXPECT_EQ(base64(bytes), text);
    EXPECT_EQ(from_base64(text), bytes);
  }
  for (const char* wrong : {"Zg", "Zg=", "Zh==", "Zg===", "=", "Zm9v\n", "Zm 9v", "Zg==Zg=="})
    EXPECT_FALSE(from_base64(wrong)) << wrong;
}

TEST(Tree, has_the_roots_of_certificate_transparency) {
  // RFC 6962 as its reference implementation tests it: these eight leaves, the root after each.
  const std::vector<std::string> kLeaves = {"",         std::string(1, '\0'), "\x10", "\x20\x21", "\x30\x31", "@ABC",
                                            "PQRSTUVW", "`abcdefghijklmno"};
  const std::vector<std::string> kRoots = {"6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
                                           "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
                                           "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
                                           "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
                                           "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
                                           "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
                                           "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
                                           "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328"};
  Hasher hasher;
  Tree tree;
  EXPECT_EQ(tree.root(hasher), hasher({}));
  for (std::size_t i = 0; i < kLeaves.size(); ++i) {
    tree.add_leaf(hasher, hasher({std::string_view("\0", 1), kLeaves[i]}));
    EXPECT_EQ(hex(view(tree.root(hasher))), kRoots[i]) << i + 1 << " leaves";
  }
}

TEST(Tree, joined_of_parts_is_the_tree_of_all) {
  for_each_seed(100, [](Rng& rng) {
    Hasher hasher;
    const Leaves source(rng.below(80));
    Tree all, joined;
    for (std::uint64_t at = 0; at < source.leaves.size();) {
      Tree part(at);
      for (std::uint64_t left = rng.below(20) + 1; left > 0 && at < source.leaves.size(); --left, ++at) {
        part.add_leaf(hasher, source.leaves[at]);
        all.add_leaf(hasher, source.leaves[at]);
      }
      EXPECT_EQ(Tree::from(joined.end(), at, part.nodes()), part);
      joined.join(hasher, part);
    }
    EXPECT_EQ(joined, all);
  });
}

TEST(Proof, holds_as_the_spine_makes_it_and_with_nothing_changed) {
  Hasher hasher;
  constexpr std::uint64_t kMost = 34;
  Leaves source(kMost);
  std::vector<Hash> roots = {hasher({})};
  for (std::uint64_t n = 1; n <= kMost; ++n) roots.push_back(*source.subtree(0, n));
  for (std::uint64_t n = 1; n <= kMost; ++n) {
    for (std::uint64_t i = 0; i < n; ++i) {
      std::vector<Hash> proof = *inclusion_proof(source, i, n);
      EXPECT_EQ(root_from_inclusion(hasher, source.leaves[i], i, n, proof), roots[n]);
      EXPECT_NE(root_from_inclusion(hasher, source.leaves[(i + 1) % kMost], i, n, proof), roots[n]);
      for (Hash& hash : proof) {
        hash[3] ^= 1;
        EXPECT_NE(root_from_inclusion(hasher, source.leaves[i], i, n, proof), roots[n]);
        hash[3] ^= 1;
      }
      proof.push_back(roots[0]);
      EXPECT_FALSE(root_from_inclusion(hasher, source.leaves[i], i, n, proof)) << "one too many";
      proof.pop_back();
      if (proof.empty()) continue;
      proof.pop_back();
      EXPECT_NE(root_from_inclusion(hasher, source.leaves[i], i, n, proof), roots[n]) << "one too few";
    }
    for (std::uint64_t m = 1; m <= n; ++m) {
      std::vector<Hash> proof = *consistency_proof(source, m, n);
      EXPECT_TRUE(consistent(hasher, m, n, roots[m], roots[n], proof)) << m << " of " << n;
      EXPECT_EQ(consistent(hasher, m, n, roots[n], roots[n], proof), m == n);
      EXPECT_FALSE(consistent(hasher, m, n, roots[m], roots[m - 1], proof));
      for (Hash& hash : proof) {
        hash[31] ^= 128;
        EXPECT_FALSE(consistent(hasher, m, n, roots[m], roots[n], proof)) << m << " of " << n;
        hash[31] ^= 128;
      }
      proof.push_back(roots[0]);
      EXPECT_FALSE(consistent(hasher, m, n, roots[m], roots[n], proof)) << "one too many";
    }
  }
  EXPECT_FALSE(root_from_inclusion(hasher, roots[1], 1, 1, {}));
  EXPECT_FALSE(root_from_inclusion(hasher, roots[1], 0, 0, {}));
  EXPECT_TRUE(consistent(hasher, 0, 5, roots[0], roots[5], {}));
  EXPECT_FALSE(consistent(hasher, 0, 5, roots[1], roots[5], {}));
  EXPECT_FALSE(consistent(hasher, 5, 4, roots[5], roots[4], {}));
}

}  // namespace
}  // namespace ace::verify
