#pragma once
/// A signed statement of what the log was: how many records, their Merkle root, the head of the chain, when. The text
/// is a signed note as tiled transparency logs publish it (C2SP tlog-checkpoint and signed-note), so that other
/// people's witnesses can read it.
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/result.h"
#include "core/time.h"
#include "spine/digest.h"

namespace ace::spine {

using PublicKey = std::array<std::uint8_t, 32>;

struct Checkpoint {
  std::string origin;      ///< the log's name, a label
  std::uint64_t size = 0;  ///< records before it
  Digest root{};           ///< of the tree over them
  Digest chain{};          ///< after the last of them
  Instant at{};
  std::optional<PublicKey> successor{};  ///< a hand-over: the key that signs from here on; it signed this one too
  friend bool operator==(const Checkpoint&, const Checkpoint&) = default;
};

/// An Ed25519 key that signs. The secret never leaves it but by to_pem().
class Signer {
 public:
  /// From 32 secret bytes (RFC 8032). @return bad_input if there are not 32
  static Result<Signer> from_seed(std::string_view seed);
  /// A new key from OpenSSL's generator of random numbers.
  static Signer generate();
  /// PKCS #8, as `openssl genpkey -algorithm ed25519` writes it. @return bad_input if it is none
  static Result<Signer> from_pem(std::string_view pem);
  [[nodiscard]] std::string to_pem() const;
  [[nodiscard]] PublicKey public_key() const;
  [[nodiscard]] std::string sign(std::string_view text) const;  ///< 64 bytes
  Signer(Signer&&) noexcept;
  Signer& operator=(Signer&&) noexcept;
  ~Signer();

 private:
  struct State;
  explicit Signer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

bool verify_signature(const PublicKey& key, std::string_view text, std::string_view signature);

/// The note:
///     ORIGIN
///     SIZE                     decimal
///     ROOT                     base64
///     chain CHAIN              base64
///     time NANOSECONDS         decimal
///     successor KEY            base64; of a hand-over alone
///                              an empty line
///     -- ORIGIN SIGNATURE      base64 of key id (4 bytes) and signature (64); the dash is U+2014
/// The signature is over everything before the empty line, its last line end included.
std::string to_note(const Checkpoint& checkpoint, const Signer& signer);
/// The same, that hands over to another key: signed by both, the new one to show that somebody has it.
std::string to_hand_over(Checkpoint checkpoint, const Signer& signer, const Signer& successor);

/// Reads and verifies a note. Other lines of signatures (witnesses) are passed over.
/// @param key pinned by whoever verifies; never taken from the log itself
/// @return corrupt if it is no note, check_failed if this key did not sign it
Result<Checkpoint> checkpoint_from(std::string_view note, const PublicKey& key);
/// Without looking at the signature. @return corrupt if it is no note
Result<Checkpoint> unverified_checkpoint(std::string_view note);

}  // namespace ace::spine
