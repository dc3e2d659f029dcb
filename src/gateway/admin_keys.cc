/// The admin API about keys.
#include "gateway/admin_body.h"

namespace ace::gateway {
namespace {

using Json = nlohmann::ordered_json;
using Answer = Admin::Answer;
using Asked = Admin::Asked;

Json limit_or_null(std::int64_t limit) { return limit > 0 ? Json(limit) : Json(); }

Json view_of(const Asked& asked, const Key& key) {
  const Limits::Left left = asked.limits().left(key, asked.now);
  std::vector<std::string_view> operations;
  for (const wire::Operation operation : key.operations) operations.push_back(name_of(operation));
  Json secrets = Json::array();
  for (const Key::Secret& secret : key.secrets)
    secrets.push_back({{"from", secret.from == Instant::min() ? Json() : Json(to_rfc3339(secret.from))},
                       {"until", secret.until == Instant::max() ? Json() : Json(to_rfc3339(secret.until))}});
  return {{"id", key.id},
          {"name", key.name},
          {"role", key.role == Role::admin ? "admin" : "client"},
          {"secrets", secrets},
          {"revoked", or_null(key.revoked)},
          {"tenant", or_null(key.tenant)},
          {"team", or_null(key.team)},
          {"project", or_null(key.project)},
          {"models", key.models},
          {"operations", operations},
          {"compliance", or_null(key.compliance)},
          {"slo", or_null(key.slo)},
          {"requests_per_minute", limit_or_null(key.rpm)},
          {"tokens_per_minute", limit_or_null(key.tpm)},
          {"concurrency", limit_or_null(key.concurrency)},
          {"requests_left", left.requests ? Json(*left.requests) : Json()},
          {"tokens_left", left.tokens ? Json(*left.tokens) : Json()},
          {"in_flight", left.running}};
}

Answer no_file() { return refusal(409, "conflict", "no file of keys is configured: ace.yaml says keys: PATH"); }

Answer list(const Asked& asked) {
  if (asked.keys() == nullptr) return no_file();
  Json all = Json::array();
  const std::shared_ptr<const KeyRing> ring = asked.keys()->ring();
  for (const Key& key : ring->keys()) all.push_back(view_of(asked, key));
  return {200, Json({{"keys", all}})};
}

Answer make(const Asked& asked) {
  if (asked.keys() == nullptr) return no_file();
  Key key;
  std::string role = "client";
  std::vector<std::string> operations;
  std::optional<Duration> expires;
  BodyReader body(asked.body);
  body.text("role", role);
  body.text("tenant", key.tenant);
  body.text("team", key.team);
  body.text("project", key.project);
  body.text("name", key.name);
  body.texts("models", key.models);
  body.texts("operations", operations);
  body.text("compliance", key.compliance);
  body.text("slo", key.slo);
  body.limit("requests_per_minute", key.rpm);
  body.limit("tokens_per_minute", key.tpm);
  body.limit("concurrency", key.concurrency);
  body.seconds("expires_in_seconds", expires);
  body.done();
  if (role != "client" && role != "admin") body.wrong("role", "client or admin");
  if (role == "client" && key.tenant.empty()) body.wrong("tenant", "who is charged");
  for (const std::string& name : operations) {
    const std::size_t before = key.operations.size();
    for (std::size_t i = 0; i < wire::kOperations; ++i)
      if (name_of(static_cast<wire::Operation>(i)) == name) key.operations.push_back(static_cast<wire::Operation>(i));
    if (key.operations.size() == before) body.wrong("operations", "names such as chat_completions");
  }
  if (auto refused = body.refused()) return *std::move(refused);
  key.role = role == "admin" ? Role::admin : Role::client;
  const std::string secret = new_key(key.role);
  key.id = key_id_of(secret);
  key.secrets = {{digest_of(secret), asked.now, expires ? asked.now + *expires : Instant::max()}};
  // What the file cannot hold, such as a name that is none, is refused before it is in there.
  const Result<void> changed = asked.keys()->change([&](KeyRing& ring) -> Result<void> {
    if (Result<void> added = ring.add(key); !added) return added;
    const Result<KeyRing> readable = KeyRing::read(ring.write(), "the new key");
    return readable ? Result<void>() : readable.error();
  });
  if (!changed) return refusal(changed.error());
  return {201, Json({{"id", key.id}, {"key", secret}})};
}

Answer rotate(const Asked& asked) {
  if (asked.keys() == nullptr) return no_file();
  std::optional<Duration> overlap = kDay;
  BodyReader body(asked.body);
  body.seconds("overlap_seconds", overlap);
  body.done();
  if (auto refused = body.refused()) return *std::move(refused);
  std::string secret;
  const Result<void> changed = asked.keys()->change([&](KeyRing& ring) -> Result<void> {
    const Key* key = ring.at(asked.parameter);
    secret = new_key(key != nullptr ? key->role : Role::client);
    return ring.rotate(asked.parameter, secret, *overlap, asked.now);
  });
  if (!changed) return refusal(changed.error());
  return {200, Json({{"id", asked.parameter}, {"key", secret}})};
}

Answer revoke(const Asked& asked) {
  if (asked.keys() == nullptr) return no_file();
  const Result<void> changed =
      asked.keys()->change([&](KeyRing& ring) { return ring.revoke(asked.parameter, asked.now); });
  if (!changed) return refusal(changed.error());
  return {200, Json({{"id", asked.parameter}, {"revoked", to_rfc3339(asked.now)}})};
}

constexpr std::string_view kShown =
    R"({"type":"object","required":["id","key"],"properties":{"id":{"type":"string"},"key":{"type":"string","description":"shown this once"}}})";

}  // namespace

std::vector<Admin::Route> key_routes() {
  return {
      {.method = "GET",
       .path = "/v1/keys",
       .summary = "All keys, what they may do and what they have left; never their secrets",
       .answers =
           R"({"type":"object","required":["keys"],"properties":{"keys":{"type":"array","items":{"type":"object","required":["id","name","role","secrets","revoked","tenant","models","operations","requests_per_minute","tokens_per_minute","concurrency","in_flight"]}}}})",
       .run = list},
      {.method = "POST",
       .path = "/v1/keys",
       .summary = "A new key",
       .body =
           R"({"type":"object","properties":{"role":{"enum":["client","admin"]},"tenant":{"type":"string"},"team":{"type":"string"},"project":{"type":"string"},"name":{"type":"string"},"models":{"type":"array","items":{"type":"string"}},"operations":{"type":"array","items":{"type":"string"}},"compliance":{"type":"string"},"slo":{"type":"string"},"requests_per_minute":{"type":"integer","minimum":1},"tokens_per_minute":{"type":"integer","minimum":1},"concurrency":{"type":"integer","minimum":1},"expires_in_seconds":{"type":"integer","minimum":0}}})",
       .answers = kShown,
       .run = make},
      {.method = "POST",
       .path = "/v1/keys/{id}/rotate",
       .summary = "A new secret for a key; the old one goes on for overlap_seconds, a day if it is not said",
       .body = R"({"type":"object","properties":{"overlap_seconds":{"type":"integer","minimum":0}}})",
       .answers = kShown,
       .run = rotate},
      {.method = "DELETE",
       .path = "/v1/keys/{id}",
       .summary = "Ends a key for good",
       .answers =
           R"({"type":"object","required":["id","revoked"],"properties":{"id":{"type":"string"},"revoked":{"type":"string"}}})",
       .run = revoke},
  };
}

}  // namespace ace::gateway
