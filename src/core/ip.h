#pragma once
/// IP addresses and how far they reach: which of them ACE may be told to call.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ace {

struct Ip {
  std::array<std::uint8_t, 16> bytes{};  ///< of an IPv4 address the first four
  bool v6 = false;
  friend bool operator==(const Ip&, const Ip&) = default;
};

/// Four plain decimal numbers, or IPv6 in any of its spellings (without zone). Other spellings that some clients take
/// for an address (2852039166, 0xA9FEA9FE, 0251.0376.0251.0376) are none.
std::optional<Ip> parse_ip(std::string_view text);

enum class Reach : std::uint8_t {
  open,
  local,          ///< this machine
  private_range,  ///< RFC 1918, RFC 6598, unique local
  forbidden,      ///< link-local, metadata services, multicast, unspecified, and IPv4 within IPv6
};
Reach reach_of(const Ip& ip);

}  // namespace ace
