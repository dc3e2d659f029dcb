#include "spine/merkle.h"

#include <gtest/gtest.h>

#include "core/testing.h"

namespace ace {
namespace {

/// MTH of RFC 6962, 2.1, as it stands there.
Digest naive_root(Sha256& sha, std::span<const Digest> leaves) {
  if (leaves.empty()) return sha({});
  if (leaves.size() == 1) return leaves[0];
  std::size_t k = 1;
  while (k * 2 < leaves.size()) k *= 2;
  return node_hash(sha, naive_root(sha, leaves.first(k)), naive_root(sha, leaves.subspan(k)));
}

class Naive : public SubtreeSource {
 public:
  Sha256 sha;
  std::vector<Digest> leaves;
  Result<Digest> subtree(std::uint64_t begin, std::uint64_t end) override {
    return naive_root(sha, std::span(leaves).subspan(begin, end - begin));
  }
};

/// Bytes written as hexadecimal.
std::string unhex(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  return bytes;
}

TEST(Merkle, roots_are_those_of_certificate_transparency) {
  // The eight leaves and roots of the test vectors of the CT log implementation (merkletree tests, RFC 6962).
  const std::string_view inputs[] = {
      "", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"};
  const std::string_view roots[] = {"6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
                                    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
                                    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
                                    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
                                    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
                                    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
                                    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
                                    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328"};
  Sha256 sha;
  CompactRange range;
  EXPECT_EQ(to_hex(view(range.root(sha))), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  for (std::size_t i = 0; i < 8; ++i) {
    range.append(sha, leaf_hash(sha, unhex(inputs[i])));
    EXPECT_EQ(to_hex(view(range.root(sha))), roots[i]) << i + 1 << " leaves";
  }
}

TEST(Merkle, ranges_join_to_the_tree_and_proofs_hold_for_every_size) {
  Naive naive;
  for (std::uint64_t i = 0; i < 70; ++i) naive.leaves.push_back(leaf_hash(naive.sha, std::to_string(i)));
  const auto root = [&](std::uint64_t n) { return naive_root(naive.sha, std::span(naive.leaves).first(n)); };
  for (std::uint64_t size = 0; size <= 70; ++size) {
    for (std::uint64_t cut = 0; cut <= size; ++cut) {
      CompactRange head, tail(cut);
      for (std::uint64_t i = 0; i < cut; ++i) head.append(naive.sha, naive.leaves[i]);
      for (std::uint64_t i = cut; i < size; ++i) tail.append(naive.sha, naive.leaves[i]);
      ASSERT_EQ(*CompactRange::from(cut, size, tail.nodes()), tail);
      ASSERT_TRUE(head.append(naive.sha, tail));
      ASSERT_EQ(head.root(naive.sha), root(size));

      const auto consistent = consistency_proof(naive, cut, size);
      ASSERT_TRUE(consistent);
      EXPECT_EQ(verify_consistency(naive.sha, cut, size, root(cut), root(size), *consistent), cut > 0 || size == 0)
          << cut << " in " << size;
      if (cut == size) continue;
      const auto included = inclusion_proof(naive, cut, size);
      ASSERT_TRUE(included);
      EXPECT_TRUE(verify_inclusion(naive.sha, naive.leaves[cut], cut, size, *included, root(size)))
          << cut << " in " << size;
    }
  }
}

TEST(Merkle, a_proof_with_any_bit_any_digest_or_any_number_changed_is_refused) {
  for_each_seed(300, [](Rng& rng) {
    Naive naive;
    const std::uint64_t to = 2 + rng.below(60), from = 1 + rng.below(to - 1), index = rng.below(to);
    for (std::uint64_t i = 0; i < to; ++i) naive.leaves.push_back(leaf_hash(naive.sha, std::to_string(rng.next())));
    const Digest old_root = naive_root(naive.sha, std::span(naive.leaves).first(from));
    const Digest root = naive_root(naive.sha, naive.leaves);
    std::vector<Digest> consistent = *consistency_proof(naive, from, to), included = *inclusion_proof(naive, index, to);
    const auto holds = [&] {
      return verify_consistency(naive.sha, from, to, old_root, root, consistent) ||
             verify_inclusion(naive.sha, naive.leaves[index], index, to, included, root);
    };
    ASSERT_TRUE(holds());
    for (auto* proof : {&consistent, &included}) {
      auto& other = proof == &consistent ? included : consistent;
      const std::vector<Digest> kept = other;
      other.assign(100, Digest{});  // so that only the changed one could hold
      const std::vector<Digest> whole = *proof;
      for (std::size_t n = 0; n < whole.size(); ++n) {
        (*proof)[n][rng.below(32)] ^= static_cast<std::uint8_t>(1U << rng.below(8));
        EXPECT_FALSE(holds()) << "digest " << n;
        *proof = whole;
        proof->erase(proof->begin() + static_cast<std::ptrdiff_t>(n));
        EXPECT_FALSE(holds()) << "without digest " << n;
        *proof = whole;
      }
      proof->push_back(Digest{});
      EXPECT_FALSE(holds()) << "one digest more";
      *proof = whole;
      other = kept;
    }
    EXPECT_FALSE(verify_inclusion(naive.sha, naive.leaves[index], index + to, to, included, root));
    EXPECT_FALSE(verify_consistency(naive.sha, 0, to, naive.sha({}), root, {}));
  });
}

}  // namespace
}  // namespace ace
