#include "core/ip.h"

#include <arpa/inet.h>

#include <algorithm>

namespace ace {
namespace {

std::optional<Ip> parse_dotted_quad(std::string_view text) {
  Ip ip;
  for (std::size_t part = 0; part < 4; ++part) {
    const std::size_t dot = text.find('.');
    const std::string_view digits = text.substr(0, dot);
    if (digits.empty() || digits.size() > 3 || (digits.size() > 1 && digits.front() == '0')) return std::nullopt;
    unsigned value = 0;
    for (const char c : digits) {
      if (c < '0' || c > '9') return std::nullopt;
      value = value * 10 + static_cast<unsigned>(c - '0');
    }
    if (value > 255 || (part < 3) == (dot == std::string_view::npos)) return std::nullopt;
    ip.bytes[part] = static_cast<std::uint8_t>(value);
    text = dot == std::string_view::npos ? std::string_view() : text.substr(dot + 1);
  }
  return ip;
}

bool starts_with(const Ip& ip, std::initializer_list<std::uint8_t> prefix) {
  return std::equal(prefix.begin(), prefix.end(), ip.bytes.begin());
}

Reach reach_of_v4(const Ip& ip) {
  const auto& b = ip.bytes;
  if (b[0] == 127) return Reach::local;
  if (b[0] == 169 && b[1] == 254) return Reach::forbidden;  // link-local, metadata
  if (starts_with(ip, {100, 100, 100, 200}) || starts_with(ip, {168, 63, 129, 16}))
    return Reach::forbidden;                              // metadata of Alibaba and Azure
  if (b[0] == 0 || b[0] >= 224) return Reach::forbidden;  // this net, multicast, reserved
  if (b[0] == 10 || (b[0] == 172 && b[1] >= 16 && b[1] < 32) || (b[0] == 192 && b[1] == 168) ||
      (b[0] == 100 && b[1] >= 64 && b[1] < 128))
    return Reach::private_range;
  return Reach::open;
}

Reach reach_of_v6(const Ip& ip) {
  const auto& b = ip.bytes;
  const auto zeros = static_cast<std::size_t>(
      std::find_if(b.begin(), b.end(), [](std::uint8_t byte) { return byte != 0; }) - b.begin());
  if (zeros == 15 && b[15] == 1) return Reach::local;
  if (zeros >= 8) return Reach::forbidden;                                 // unspecified, IPv4 mapped or compatible
  if (starts_with(ip, {0x00, 0x64, 0xff, 0x9b})) return Reach::forbidden;  // IPv4 behind NAT64
  if (starts_with(ip, {0x20, 0x02})) return Reach::forbidden;              // IPv4 behind 6to4
  if (b[0] == 0xfe && b[1] >= 0x80) return Reach::forbidden;               // link-local, site-local
  if (b[0] == 0xff) return Reach::forbidden;                               // multicast
  if (ip == *parse_ip("fd00:ec2::254") || ip == *parse_ip("fd20:ce::254")) return Reach::forbidden;  // metadata
  if ((b[0] & 0xfe) == 0xfc) return Reach::private_range;
  return Reach::open;
}

}  // namespace

std::optional<Ip> parse_ip(std::string_view text) {
  if (text.find(':') == std::string_view::npos) return parse_dotted_quad(text);
  const std::string terminated(text);
  Ip ip;
  ip.v6 = true;
  if (terminated.find('\0') != std::string::npos || inet_pton(AF_INET6, terminated.c_str(), ip.bytes.data()) != 1)
    return std::nullopt;
  return ip;
}

Reach reach_of(const Ip& ip) { return ip.v6 ? reach_of_v6(ip) : reach_of_v4(ip); }

}  // namespace ace
