#pragma once
/// Inside the providers: what the fleet file says of a destination's API, and the parts that several APIs share.
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/provider.h"
#include "net/write_head.h"

namespace ace {

/// How one destination is called.
struct Contact {
  Api api = Api::openai;
  net::Origin origin;
  std::string path;  ///< in front of the targets; empty = what the API has
  Secret key, key_id, session_token;
  std::string api_version, region, project, organization;
  std::uint32_t operations = 0;    ///< by position of wire::Operation: answered without translation
  std::vector<std::string> paths;  ///< that are handed on unread
  std::string cache_field;
  bool committed = false;  ///< units that are paid for, used or not
};

constexpr std::uint32_t bit_of(wire::Operation operation) { return 1U << static_cast<unsigned>(operation); }

/// What all have in common.
class HttpUpstream : public Upstream {
 public:
  explicit HttpUpstream(Contact contact) : contact_(std::move(contact)) {}
  [[nodiscard]] const net::Origin& origin() const override { return contact_.origin; }
  [[nodiscard]] bool speaks(wire::Operation operation) const override;
  [[nodiscard]] bool passes(std::string_view path) const override;
  [[nodiscard]] Prepared pass(const Unread& unread) const override;
  [[nodiscard]] Refusal refusal(int status, std::span<const net::Field> fields, std::string_view body, Instant now,
                                wire::Json& json) const override;
  [[nodiscard]] Told told(std::span<const net::Field> fields, Instant now) const override;

 protected:
  [[nodiscard]] bool has(wire::Operation operation) const { return (contact_.operations & bit_of(operation)) != 0; }
  /// What stands there in the place of a client's "/v1"; nothing where an API has no such place.
  [[nodiscard]] virtual std::optional<std::string> base() const { return std::nullopt; }
  /// The lines that say who we are, with the key.
  virtual void write_own_fields(std::string& fields) const = 0;
  Contact contact_;
};

/// The lines that every call has: what is sent, what is wanted, who asks.
void write_common_fields(net::HeadWriter& head, const Ask& ask);
/// `authorization: Bearer KEY`, if there is a key.
void write_bearer(std::string& fields, const Secret& key);

/// A text as part of a path or a query: all but unreserved characters (RFC 3986, 2.3) as %XX.
std::string percent_encoded(std::string_view text);

wire::WireError unspoken(wire::Operation operation);

std::unique_ptr<Upstream> openai_upstream(Contact contact);  ///< also azure_openai and vertex
std::unique_ptr<Upstream> anthropic_upstream(Contact contact);
std::unique_ptr<Upstream> bedrock_upstream(Contact contact);

}  // namespace ace
