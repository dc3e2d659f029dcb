#include "core/ids.h"

#include "core/int128.h"

namespace ace {
namespace {
constexpr std::string_view kAlphabet = "0123456789abcdefghjkmnpqrstvwxyz";
}

std::string to_base32(std::uint64_t high, std::uint64_t low) {
  uint128 value = uint128{high} << 64 | low;
  std::string text(26, '0');
  for (std::size_t i = 26; i-- > 0; value >>= 5) text[i] = kAlphabet[static_cast<std::size_t>(value & 31)];
  return text;
}

Result<RequestId> request_id_from(std::string_view text) {
  const Error bad(Errc::bad_input,
                  "expected req_ and 26 base32 characters, got \"" + std::string(text.substr(0, 64)) + "\"");
  if (!text.starts_with("req_") || text.size() != 30 || text[4] > '7') return bad;
  uint128 value = 0;
  for (const char c : text.substr(4)) {
    const std::size_t digit = kAlphabet.find(c);
    if (digit == std::string_view::npos) return bad;
    value = value << 5 | digit;
  }
  return RequestId{static_cast<std::uint64_t>(value >> 64), static_cast<std::uint64_t>(value)};
}

RequestId make_request_id(Instant at, Rng& rng) {
  const auto ms = static_cast<std::uint64_t>(nanos(at) / 1'000'000);
  return {ms << 16 | (rng.next() & 0xffff), rng.next()};
}

}  // namespace ace
