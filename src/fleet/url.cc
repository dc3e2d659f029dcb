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
  // Names that no public zone has (RFC 6762, RFC 8375, ICANN's .internal, and those of Kubernetes).
  const bool inside = last == host || last == "local" || last == "internal" || last == "svc" || last == "lan" ||
                      host.ends_with(".home.arpa");
  return inside ? Reach::private_range : Reach::open;
}

/// The path without its last slash; nothing where a query begins or a part of it could be read in two ways.
std::optional<std::string> path_of(std::string_view text) {
  while (!text.empty() && text.back() == '/') text.remove_suffix(1);
  if (text.find_first_of("?#%;") != std::string_view::npos) return std::nullopt;
  for (const std::string_view part : {"//", "/./", "/../"}) {
    if ((std::string(text) + "/").find(part) != std::string::npos) return std::nullopt;
  }
  return std::string(text);
}

}  // namespace

std::optional<Endpoint> parse_url(std::string_view text, bool allow_private, Misread& why) {
  why = {"an https URL, e.g. \"https://api.example.com\"", ""};
  const bool https = text.substr(0, 8) == "https://", http = text.substr(0, 7) == "http://";
  if (!https && !http) return std::nullopt;
  if (text.size() > 2048 || text.find_first_of(" \t\"'<>\\") != std::string_view::npos) return std::nullopt;
  const std::string_view rest = text.substr(https ? 8 : 7);
  const std::string_view authority = rest.substr(0, rest.find_first_of("/?#"));
  if (authority.find('@') != std::string_view::npos) {
    why = {"a URL without user and password", "name the key's variable instead: key: {env: NAME}"};
    return std::nullopt;
  }
  const std::optional<std::string> path = path_of(rest.substr(authority.size()));
  if (!path) {
    why.expected = "a URL without query, fragment and empty or dotted parts of a path";
    return std::nullopt;
  }
  Endpoint endpoint{.tls = https,
                    .host = {},
                    .port = https ? std::uint16_t{443} : std::uint16_t{80},
                    .path = *path,
                    .allow_private = allow_private};
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
    const bool plain = port.front() == ':' && all_of_class(digits, "0123456789") && digits.size() <= 5;
    const std::int64_t number = plain ? *parse_decimal(digits, 0) : 0;
    if (number < 1 || number > 65535) {
      why.expected = "a URL whose port is between 1 and 65535";
      return std::nullopt;
    }
    endpoint.port = static_cast<std::uint16_t>(number);
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
        why = {"a public host", "if this private host is meant, add `allow_private: true` to the provider"};
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
  endpoint.host = host;
  return endpoint;
}

}  // namespace ace::fleet_file
