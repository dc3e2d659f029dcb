#include "adapters/aws_signature.h"

#include <fmt/format.h>

#include "adapters/provider_parts.h"
#include "core/check.h"
#include "perimeter/perimeter.h"
#include "spine/spine.h"

namespace ace {
namespace {

std::string sha256_hex(std::string_view text) { return to_hex(view(Sha256()({text}))); }

std::string encoded_path(std::string_view path) {
  std::string out;
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    out += percent_encoded(path.substr(0, slash));
    if (slash == std::string_view::npos) break;
    out += '/';
    path.remove_prefix(slash + 1);
  }
  return out;
}

}  // namespace

std::string aws_date(Instant now) {
  const Civil c = civil_of(now);
  return fmt::format("{:04}{:02}{:02}T{:02}{:02}{:02}Z", c.year, c.month, c.day, c.hour, c.minute, c.second);
}

std::string aws_authorization(const AwsKey& key, const AwsCall& call, Instant now) {
  std::string lines, names;
  std::string_view before;
  for (const auto& [name, value] : call.fields) {
    ACE_CHECK(before < name, "fields are signed in the order of their names");
    lines += fmt::format("{}:{}\n", name, value);
    names += fmt::format("{}{}", names.empty() ? "" : ";", name);
    before = name;
  }
  const std::string request = fmt::format("{}\n{}\n{}\n{}\n{}\n{}", call.method, encoded_path(call.path), call.query,
                                          lines, names, sha256_hex(call.body));
  const std::string date = aws_date(now), day = date.substr(0, 8);
  const std::string scope = fmt::format("{}/{}/{}/aws4_request", day, key.region, key.service);
  const std::string text = fmt::format("AWS4-HMAC-SHA256\n{}\n{}\n{}", date, scope, sha256_hex(request));
  const Secret first("AWS4" + std::string(key.secret));
  std::array<std::uint8_t, 32> signing = hmac_sha256(first.reveal(), day);
  for (const std::string_view part : {key.region, key.service, std::string_view("aws4_request")})
    signing = hmac_sha256(view(signing), part);
  return fmt::format("AWS4-HMAC-SHA256 Credential={}/{}, SignedHeaders={}, Signature={}", key.id, scope, names,
                     to_hex(view(hmac_sha256(view(signing), text))));
}

}  // namespace ace
