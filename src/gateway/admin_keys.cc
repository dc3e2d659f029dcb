/// The admin API about keys.
#include <fmt/format.h>

#include <algorithm>

#include "core/text.h"
#include "gateway/admin_route.h"

namespace ace::gateway {
namespace {

using Json = nlohmann::ordered_json;
using Answer = Admin::Answer;
using Asked = Admin::Asked;

Json or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }
Json or_null(std::int64_t limit) { return limit > 0 ? Json(limit) : Json(); }

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
          {"revoked", key.revoked ? Json(to_rfc3339(*key.revoked)) : Json()},
          {"tenant", or_null(key.tenant)},
          {"team", or_null(key.team)},
          {"project", or_null(key.project)},
          {"models", key.models},
          {"operations", operations},
          {"compliance", or_null(key.compliance)},
          {"slo", or_null(key.slo)},
          {"requests_per_minute", or_null(key.rpm)},
          {"tokens_per_minute", or_null(key.tpm)},
          {"concurrency", or_null(key.concurrency)},
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

/// Reads the members of a body, keeps the first thing that is wrong.
class Members {
 public:
  explicit Members(const Json& body) : body_(body) {}
  void text(const char* name, std::string& into) {
    if (const Json* value = take(name)) {
      if (!value->is_string() || value->get_ref<const std::string&>().size() > 256)
        wrong(name, "a text of at most 256 bytes");
      else
        into = value->get<std::string>();
    }
  }
  void texts(const char* name, std::vector<std::string>& into) {
    if (const Json* value = take(name)) {
      bool good = value->is_array();
      for (std::size_t i = 0; good && i < value->size(); ++i) good = (*value)[i].is_string();
      if (!good) return wrong(name, "a list of texts");
      into = value->get<std::vector<std::string>>();
    }
  }
  void limit(const char* name, std::int64_t& into) {
    if (const Json* value = take(name)) {
      if (!value->is_number_integer() || value->get<std::int64_t>() < 1) return wrong(name, "a whole number from 1 on");
      into = value->get<std::int64_t>();
    }
  }
  void seconds(const char* name, std::optional<Duration>& into) {
    std::int64_t whole = -1;
    if (const Json* value = take(name)) {
      if (value->is_number_integer()) whole = value->get<std::int64_t>();
      if (whole < 0 || whole > 3'153'600'000) return wrong(name, "seconds, from 0 to a hundred years");
      into = whole * kSecond;
    }
  }
  void wrong(std::string_view name, std::string_view expected) {
    if (what.empty()) what = fmt::format("{}: expected {}", name, expected);
  }
  /// What nobody asked for.
  void done() {
    for (const auto& [name, value] : body_.items())
      if (std::find(known_.begin(), known_.end(), name) == known_.end() && what.empty())
        what = fmt::format("{}: no such member; there are {}", name.substr(0, 64), listed(known_));
  }
  std::string what;  ///< "" = all is well

 private:
  const Json* take(const char* name) {
    known_.emplace_back(name);
    const auto at = body_.is_object() ? body_.find(name) : body_.end();
    return at == body_.end() || at->is_null() ? nullptr : &*at;
  }
  const Json& body_;
  std::vector<std::string> known_;
};

Answer make(const Asked& asked) {
  if (asked.keys() == nullptr) return no_file();
  Key key;
  std::string role = "client";
  std::vector<std::string> operations;
  std::optional<Duration> expires;
  Members members(asked.body);
  members.text("role", role);
  members.text("tenant", key.tenant);
  members.text("team", key.team);
  members.text("project", key.project);
  members.text("name", key.name);
  members.texts("models", key.models);
  members.texts("operations", operations);
  members.text("compliance", key.compliance);
  members.text("slo", key.slo);
  members.limit("requests_per_minute", key.rpm);
  members.limit("tokens_per_minute", key.tpm);
  members.limit("concurrency", key.concurrency);
  members.seconds("expires_in_seconds", expires);
  members.done();
  if (role != "client" && role != "admin") members.wrong("role", "client or admin");
  if (role == "client" && key.tenant.empty()) members.wrong("tenant", "who is charged");
  for (const std::string& name : operations) {
    const std::size_t before = key.operations.size();
    for (std::size_t i = 0; i < wire::kOperations; ++i)
      if (name_of(static_cast<wire::Operation>(i)) == name) key.operations.push_back(static_cast<wire::Operation>(i));
    if (key.operations.size() == before) members.wrong("operations", "names such as chat_completions");
  }
  if (!members.what.empty()) return refusal(400, "invalid", members.what);
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
  Members members(asked.body);
  members.seconds("overlap_seconds", overlap);
  members.done();
  if (!members.what.empty()) return refusal(400, "invalid", members.what);
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
