/// Which hosts ACE may be told to call. A fleet file is configuration, yet a typo or a borrowed snippet must not make
/// the gateway hand its keys to a metadata service.
#include <fmt/format.h>

#include <algorithm>

#include "core/ip.h"
#include "fleet/values.h"

namespace ace::fleet_file {
namespace {

bool all_of_class(std::string_view s, std::string_view allowed) {
  return !s.empty() && s.find_first_not_of(allowed) == std::string_view::npos;
}

/// How far a host of a URL reaches; null if it is neither a name nor a plain address.
using MaybeReach = std::optional<Reach>;

MaybeReach reach_of_name(std::string_view host) {
  if (host == "localhost") return Reach::local;
  if (host == "metadata" || host == "metadata.google.internal" || host == "instance-data") return Reach::forbidden;
  const bool names = std::all_of(host.begin(), host.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
           c == '_';
  });
  if (!names || host.find("..") != std::string_view::npos || host.front() == '.') return std::nullopt;
  // 2852039166, 0xA9FEA9FE and 0251.0376.0251.0376 are addresses to many clients: only plain dotted quads are read.
  const std::string_view last = host.substr(host.rfind('.') == std::string_view::npos ? 0 : host.rfind('.') + 1);
  if (all_of_class(last, "0123456789") || last.substr(0, 2) == "0x") return std::nullopt;
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
  MaybeReach reach;
  if (!authority.empty() && authority.front() == '[') {
    const std::size_t close = authority.find(']');
    if (close == std::string_view::npos) return std::nullopt;
    host = authority.substr(1, close - 1);
    port = authority.substr(close + 1);
    if (const std::optional<Ip> ip = parse_ip(host); ip && ip->v6) reach = reach_of(*ip);
  } else {
    host = authority.substr(0, authority.find(':'));
    port = authority.substr(host.size());
    if (host.empty()) return std::nullopt;
    if (host.back() == '.') {
      why = {"a host without a trailing dot", fmt::format("write \"{}\"", host.substr(0, host.size() - 1))};
      return std::nullopt;
    }
    const std::optional<Ip> ip = parse_ip(host);
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
  if (!reach) {
    why.expected = "a URL with a host name or a plain address";
    return std::nullopt;
  }
  switch (*reach) {
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
