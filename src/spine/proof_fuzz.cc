/// Notes and proofs come from whoever hands them over. No note is believed that our key did not sign, and no proof
/// holds for a root that is not the tree's.
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "spine/spine.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ace;
  static const spine::Signer signer = *spine::Signer::from_seed(std::string(32, 'f'));
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  ACE_CHECK(!spine::checkpoint_from(bytes, signer.public_key()), "a note that nobody signed was believed");
  if (const Result<spine::Checkpoint> read = spine::unverified_checkpoint(bytes)) {
    const std::string note = spine::to_note(*read, signer);
    ACE_CHECK(*spine::checkpoint_from(note, signer.public_key()) == *read, "a checkpoint changes when it is signed");
  }
  if (size < 16) return 0;
  Sha256 sha;
  std::vector<Digest> proof;
  for (std::size_t at = 16; at + 32 <= size && proof.size() < 130; at += 32)
    proof.push_back(digest_from(bytes.substr(at, 32)));
  std::uint64_t a = 0, b = 0;
  std::memcpy(&a, data, 8);
  std::memcpy(&b, data + 8, 8);
  Digest root{};
  root.fill(0x5a);  // of no tree
  ACE_CHECK(!verify_inclusion(sha, leaf_hash(sha, bytes), a, b, proof, root), "a proof of inclusion in no tree holds");
  Digest older = root;
  older[0] ^= 1;
  ACE_CHECK(!verify_consistency(sha, a, b, older, root, proof), "a proof of consistency with no tree holds");
  return 0;
}
