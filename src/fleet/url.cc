/// Which hosts ACE may be told to call. A fleet file is configuration, yet a typo or a borrowed snippet must not make
/// the gateway hand its keys to a metadata service.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "fleet/values.h"

namespace ace::fleet_file {
namespace {

using Ip4 = std::array<unsigned, 4>;

bool all_of_class(std::string_view s, std::string_view allowed) {
  return !s.empty() && s.find_first_not_of(allowed) == std::string_view::npos;
}

std::optional<Ip4> dotted_quad(std::string_view host) {
  Ip4 ip{};
  for (std::size_t part = 0; part < 4; ++part) {
    const std::size_t dot = host.find('.');
    const std::string_view digits = host.substr(0, dot);
    if (!all_of_class(digits, "0123456789") || digits.size() > 3 || (digits.size() > 1 && digits.front() == '0'))
      return std::nullopt;
    for (const char c : digits) ip[part] = ip[part] * 10 + static_cast<unsigned>(c - '0');
    if (ip[part] > 255 || (part < 3) == (dot == std::string_view::npos)) return std::nullopt;
    host = dot == std::string_view::npos ? std::string_view() : host.substr(dot + 1);
  }
  return ip;
}

enum class Reach { open, local, private_range, forbidden, malformed };

Reach reach_of(Ip4 ip) {
  if (ip[0] == 127) return Reach::local;
  if (ip[0] == 169 && ip[1] == 254) return Reach::forbidden;                                  // link-local, metadata
  if (ip == Ip4{100, 100, 100, 200} || ip == Ip4{168, 63, 129, 16}) return Reach::forbidden;  // Alibaba, Azure
  if (ip[0] == 0 || ip[0] >= 224) return Reach::forbidden;                                    // this net, multicast
  if (ip[0] == 10 || (ip[0] == 172 && ip[1] >= 16 && ip[1] < 32) || (ip[0] == 192 && ip[1] == 168) ||
      (ip[0] == 100 && ip[1] >= 64 && ip[1] < 128))
    return Reach::private_range;
  return Reach::open;
}

Reach reach_of_ip6(std::string host) {
  std::transform(host.begin(), host.end(), host.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  if (!all_of_class(host, "0123456789abcdef:.")) return Reach::malformed;
  if (host == "::1") return Reach::local;
  if (host.substr(0, 2) == "::") return Reach::forbidden;  // unspecified, and IPv4 in disguise
  const std::string_view head = std::string_view(host).substr(0, host.find(':'));
  if (head.size() == 4 && head[0] == 'f' && head[1] == 'e' && head[2] >= '8') return Reach::forbidden;  // fe80-feff
  if (head.size() == 4 && head.substr(0, 2) == "ff") return Reach::forbidden;
  if (head == "64") return Reach::forbidden;  // 64:ff9b::/96, IPv4 behind NAT64
  if (host == "fd00:ec2::254" || host == "fd20:ce::254") return Reach::forbidden;
  if (head.size() == 4 && (head.substr(0, 2) == "fc" || head.substr(0, 2) == "fd")) return Reach::private_range;
  return Reach::open;
}

Reach reach_of_name(std::string_view host) {
  if (host == "localhost") return Reach::local;
  if (host == "metadata" || host == "metadata.google.internal" || host == "instance-data") return Reach::forbidden;
  const bool names = std::all_of(host.begin(), host.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
           c == '_';
  });
  if (!names || host.find("..") != std::string_view::npos || host.front() == '.') return Reach::malformed;
  // 2852039166, 0xA9FEA9FE and 0251.0376.0251.0376 are addresses to many clients: only plain dotted quads are read.
  const std::string_view last = host.substr(host.rfind('.') == std::string_view::npos ? 0 : host.rfind('.') + 1);
  if (all_of_class(last, "0123456789") || last.substr(0, 2) == "0x") return Reach::malformed;
  return Reach::open;
}

}  // namespace

std::optional<std::string> parse_url(std::string_view text, bool allow_private, Misread& why) {
  why = {"an https URL, e.g. \"https://api.example.com\"", ""};
  const bool https = text.substr(0, 8) == "https://", http = text.substr(0, 7) == "http://";
  if (!https && !http) return std::nullopt;
  if (text.find_first_of(" \t\"'<>\\") != std::string_view::npos) return std::nullopt;
  const std::string_view rest = text.substr(https ? 8 : 7);
  const std::string_view authority = rest.substr(0, rest.find_first_of("/?#"));
  if (authority.find('@') != std::string_view::npos) {
    why = {"a URL without user and password", "name the key's variable instead: key: {env: NAME}"};
    return std::nullopt;
  }
  std::string_view host = authority, port;
  Reach reach = Reach::malformed;
  if (!authority.empty() && authority.front() == '[') {
    const std::size_t close = authority.find(']');
    if (close == std::string_view::npos) return std::nullopt;
    host = authority.substr(1, close - 1);
    port = authority.substr(close + 1);
    reach = reach_of_ip6(std::string(host));
  } else {
    host = authority.substr(0, authority.find(':'));
    port = authority.substr(host.size());
    if (host.empty()) return std::nullopt;
    if (host.back() == '.') {
      why = {"a host without a trailing dot", fmt::format("write \"{}\"", host.substr(0, host.size() - 1))};
      return std::nullopt;
    }
    const std::optional<Ip4> ip = dotted_quad(host);
    reach = ip ? reach_of(*ip) : reach_of_name(host);
  }
  if (!port.empty()) {
    const std::string_view digits = port.substr(1);
    if (port.front() != ':' || !all_of_class(digits, "0123456789") || digits.size() > 5 ||
        *parse_decimal(digits, 0) > 65535 || *parse_decimal(digits, 0) == 0) {
      why.expected = "a URL whose port is between 1 and 65535";
      return std::nullopt;
    }
  }
  switch (reach) {
    case Reach::malformed:
      why.expected = "a URL with a host name or a plain address";
      return std::nullopt;
    case Reach::forbidden:
      why = {"a host that is not link-local, multicast or a metadata service", "no setting allows these addresses"};
      return std::nullopt;
    case Reach::private_range:
      if (!allow_private) {
        why = {"a public host", "if this private address is meant, add `allow_private: true` to the provider"};
        return std::nullopt;
      }
      break;
    case Reach::open:
      if (http) {
        why = {"https for a host that is not this machine", fmt::format("write \"https://{}\"", rest)};
        return std::nullopt;
      }
      break;
    case Reach::local:
      break;
  }
  return std::string(text);
}

}  // namespace ace::fleet_file
