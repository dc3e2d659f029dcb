#include "wire/media.h"

#include <algorithm>

#include "core/ip.h"

namespace ace::wire {
namespace {

constexpr std::size_t kDataMost = 10 * 1024 * 1024;

bool is_name(std::string_view host) {
  return !host.empty() && host.front() != '.' && host.front() != '-' &&
         std::all_of(host.begin(), host.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
         });
}

}  // namespace

const char* refused_media_url(std::string_view url) {
  if (url.substr(0, 5) == "data:") return url.size() <= kDataMost ? nullptr : "inline data of more than 10 MiB";
  if (url.substr(0, 8) != "https://") return "expected an https URL or inline data";
  for (const char c : url) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= 0x20 || byte >= 0x7f || c == '\\') return "a URL with blanks, control bytes, backslashes or raw UTF-8";
  }
  std::string_view host = url.substr(8, url.substr(8).find_first_of("/?#"));
  if (host.find('@') != std::string_view::npos) return "a URL with a user before its host";
  if (!host.empty() && host.front() == '[') {
    const std::size_t close = host.find(']');
    const auto ip = close == std::string_view::npos ? std::nullopt : parse_ip(host.substr(1, close - 1));
    return ip && reach_of(*ip) == Reach::open ? nullptr : "an address that is not of the open internet";
  }
  host = host.substr(0, host.find(':'));
  if (const auto ip = parse_ip(host))
    return reach_of(*ip) == Reach::open ? nullptr : "an address that is not of the open internet";
  if (!is_name(host)) return "expected a host name";
  // 0x7f000001, 017700000001 and 2130706433 are addresses to many clients; names end in letters.
  const std::string_view top = host.substr(host.rfind('.') == std::string_view::npos ? 0 : host.rfind('.') + 1);
  if (top.empty() || (top.front() >= '0' && top.front() <= '9')) return "a host that may be an address in disguise";
  if (host.find('.') == std::string_view::npos || top == "local" || top == "internal" || top == "localhost")
    return "a host of a private network";
  return nullptr;
}

}  // namespace ace::wire
