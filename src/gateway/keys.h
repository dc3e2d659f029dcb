#pragma once
/// Keys of those who may use the gateway: how they look, who holds them, what they may do. Only digests are kept.
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/result.h"
#include "core/time.h"
#include "wire/dialect.h"

namespace ace::gateway {

enum class Role : std::uint8_t {
  client,  ///< asks models: ace_sk_...
  admin,   ///< steers the gateway: ace_ak_...; never asks models
};

/// "ace_sk_" or "ace_ak_", 32 base62 characters (190 bits), and six of their CRC-32: whoever scans texts for lost keys
/// knows one when they see it, and a typing error is told from a guess.
/// @param entropy  256 bits that nobody can foresee
std::string make_key(Role role, std::span<const std::uint8_t, 32> entropy);
/// The role of a text that has the form of a key and its checksum; null for any other.
std::optional<Role> role_of(std::string_view key);

/// SHA-256. A key has 190 random bits, so nothing slower is needed: there are no likely keys to try.
using KeyDigest = std::array<std::uint8_t, 32>;
KeyDigest digest_of(std::string_view key);
/// "k_" and eight digits of another digest: what logs and ledgers call the key. Says nothing of it.
std::string key_id_of(std::string_view key);

/// One holder. It has two secrets while they are being exchanged.
struct Key {
  struct Secret {
    KeyDigest digest{};
    Instant from = Instant::min(), until = Instant::max();  ///< valid in [from, until)
    friend bool operator==(const Secret&, const Secret&) = default;
  };
  std::string id;    ///< stable: exchanging its secret leaves limits, budgets and bills where they are
  std::string name;  ///< for people; may be empty
  Role role = Role::client;
  std::vector<Secret> secrets{};
  std::optional<Instant> revoked{};

  std::string tenant{}, team{}, project{};    ///< who is charged; a client has a tenant
  std::vector<std::string> models{};          ///< as the fleet names them; empty: all
  std::vector<wire::Operation> operations{};  ///< empty: all
  std::string compliance{};                   ///< a rule of the fleet that its requests are held to; can only tighten
  std::string slo{};                          ///< class of the fleet; empty: the tenant's
  std::int64_t rpm = 0, tpm = 0, concurrency = 0;  ///< 0: no limit
  friend bool operator==(const Key&, const Key&) = default;

  [[nodiscard]] bool may(wire::Operation operation) const;
  [[nodiscard]] bool may_ask(std::string_view model) const;
};

/// Why a key does not open. Whoever presented it is told only that it does not; a log may say more.
enum class KeyRefusal : std::uint8_t { none_given, malformed, unknown, not_yet, expired, revoked, wrong_role };
std::string_view name_of(KeyRefusal why);

/// All keys. Immutable once in force: a reload makes another.
class KeyRing {
 public:
  /// @return bad_input telling every mistake with its place
  static Result<KeyRing> read(std::string_view yaml, const std::string& file);
  /// What read() reads, sorted by id.
  [[nodiscard]] std::string write() const;

  /// The holder of a key. Takes the same time for every key of the right form that opens nothing.
  [[nodiscard]] std::variant<const Key*, KeyRefusal> find(std::string_view presented, Role role, Instant now) const;

  [[nodiscard]] const std::vector<Key>& keys() const { return keys_; }
  [[nodiscard]] const Key* at(std::string_view id) const;
  /// @return conflict if the id or a digest is there already
  Result<void> add(Key key);
  /// A second secret; the ones before it end after `overlap`. @return not_found, conflict
  Result<void> rotate(std::string_view id, std::string_view new_key, Duration overlap, Instant now);
  /// @return not_found
  Result<void> revoke(std::string_view id, Instant now);

 private:
  Result<void> index();
  struct Entry {
    KeyDigest digest;
    std::uint32_t key;
  };
  std::vector<Key> keys_;         ///< by id
  std::vector<Entry> by_digest_;  ///< sorted
};

}  // namespace ace::gateway
