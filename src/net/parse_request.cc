#include <array>

#include "net/characters.h"
#include "net/fields.h"

namespace ace::net {
namespace {

constexpr std::array<std::string_view, 7> kMethods = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"};

Fault parse_version(std::string_view text, int& minor) {
  if (text.size() != 8 || text.substr(0, 5) != "HTTP/" || text[6] != '.' || text[5] < '0' || text[5] > '9' ||
      text[7] < '0' || text[7] > '9') {
    return Fault::bad_version;
  }
  minor = text[7] - '0';
  return text[5] == '1' && minor <= 1 ? Fault::none : Fault::unsupported_version;
}

bool valid_port(std::string_view digits) {
  unsigned value = 0;
  if (digits.empty() || digits.size() > 5) return false;
  for (const char c : digits) {
    if (c < '0' || c > '9') return false;
    value = value * 10 + static_cast<unsigned>(c - '0');
  }
  return value > 0 && value <= 65535;
}

bool valid_host(std::string_view text) {
  std::string_view port;
  if (!text.empty() && text.front() == '[') {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos || close < 3) return false;
    for (const char c : text.substr(1, close - 1)) {
      if (hex_value(c) < 0 && c != ':' && c != '.') return false;
    }
    port = text.substr(close + 1);
  } else {
    const std::size_t colon = text.find(':');
    const std::string_view host = text.substr(0, colon);
    if (host.empty() || !is_all(host, kHost)) return false;
    port = colon == std::string_view::npos ? std::string_view() : text.substr(colon);
  }
  return port.empty() || (port.front() == ':' && valid_port(port.substr(1)));
}

/// A path and query: only characters of a URI, every % before two hex digits, no control byte hidden behind one.
bool valid_path(std::string_view target) {
  bool query = false;
  for (std::size_t i = 0; i < target.size(); ++i) {
    const char c = target[i];
    if (c == '?') query = true;
    if ((kCharacters[static_cast<unsigned char>(c)] & kTarget) == 0 && !(query && (c == '[' || c == ']'))) return false;
    if (c != '%') continue;
    if (i + 2 >= target.size()) return false;
    const int high = hex_value(target[i + 1]), low = hex_value(target[i + 2]);
    if (high < 0 || low < 0) return false;
    const int byte = high * 16 + low;
    if (byte == 0 || (!query && (byte < 0x20 || byte == 0x7f))) return false;
  }
  return true;
}

/// Brings the target into origin form.
Fault take_target(std::string_view target, RequestHead& head) {
  if (target.substr(0, 7) == "http://" || target.substr(0, 8) == "https://") {
    const std::string_view rest = target.substr(target.find("//") + 2);
    const std::size_t path = rest.find_first_of("/?#");
    if (rest.substr(0, path) != head.host) return Fault::misdirected;
    target = path == std::string_view::npos ? std::string_view("/") : rest.substr(path);
  }
  if (target == "*" && head.method == "OPTIONS") {
    head.target = target;
    return Fault::none;
  }
  if (target.empty() || target.front() != '/' || !valid_path(target)) return Fault::bad_target;
  head.target = target;
  return Fault::none;
}

bool has_body_always(std::string_view method) { return method == "POST" || method == "PUT" || method == "PATCH"; }

}  // namespace

Fault parse_request(std::string_view bytes, const Limits& limits, RequestHead& head) {
  const std::size_t line_end = bytes.find("\r\n");
  if (line_end == std::string_view::npos) return Fault::bad_line_end;
  const std::string_view line = bytes.substr(0, line_end);
  const std::size_t first = line.find(' '), last = line.rfind(' ');
  if (first == std::string_view::npos || first == 0 || last <= first + 1) return Fault::bad_start_line;
  head.method = line.substr(0, first);
  if (!is_all(head.method, kToken)) return Fault::bad_start_line;
  if (const Fault fault = parse_version(line.substr(last + 1), head.minor); fault != Fault::none) return fault;
  bool known = false;
  for (const std::string_view method : kMethods) known |= head.method == method;
  if (!known) return Fault::unknown_method;

  if (const Fault fault = parse_fields(bytes.substr(line_end + 2), head.fields); fault != Fault::none) return fault;
  head.host = {};
  head.expect_continue = false;
  FramingFields framing;
  for (const Field& field : head.fields) {
    if (const Fault fault = take_framing(field, framing); fault != Fault::none) return fault;
    if (equals_ignoring_case(field.name, "host")) {
      if (!head.host.empty() || !valid_host(field.value)) return Fault::bad_host;
      head.host = field.value;
    } else if (equals_ignoring_case(field.name, "expect")) {
      if (!equals_ignoring_case(field.value, "100-continue")) return Fault::bad_expectation;
      head.expect_continue = head.minor == 1;
    } else if (equals_ignoring_case(field.name, "content-encoding")) {
      if (!equals_ignoring_case(field.value, "identity")) return Fault::unsupported_encoding;
    }
  }
  if (head.host.empty() && head.minor == 1) return Fault::bad_host;
  if (const Fault fault = take_target(line.substr(first + 1, last - first - 1), head); fault != Fault::none)
    return fault;

  if (framing.chunked && framing.length) return Fault::length_conflict;
  if (framing.chunked && head.minor == 0) return Fault::bad_transfer_coding;
  head.length = framing.length.value_or(0);
  head.framing = framing.chunked ? Framing::chunked : framing.length ? Framing::length : Framing::none;
  if (head.framing == Framing::none && has_body_always(head.method)) return Fault::length_required;
  if ((head.method == "GET" || head.method == "HEAD") && (framing.chunked || head.length > 0))
    return Fault::body_not_allowed;
  if (head.length > limits.body_bytes) return Fault::body_too_large;
  head.keep_alive = !framing.close && (head.minor == 1 || framing.keep_alive);
  return Fault::none;
}

}  // namespace ace::net
