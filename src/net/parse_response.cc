#include "net/characters.h"
#include "net/fields.h"

namespace ace::net {
namespace {

Fault parse_status_line(std::string_view line, ResponseHead& head) {
  if (line.size() < 12 || line.substr(0, 7) != "HTTP/1." || line[8] != ' ') return Fault::bad_start_line;
  if (line[7] != '0' && line[7] != '1') return Fault::unsupported_version;
  head.minor = line[7] - '0';
  head.status = 0;
  for (const char c : line.substr(9, 3)) {
    if (c < '0' || c > '9') return Fault::bad_start_line;
    head.status = head.status * 10 + (c - '0');
  }
  if (line.size() > 12 && (line[12] != ' ' || !is_all(line.substr(13), kValue))) return Fault::bad_start_line;
  // 101 would end HTTP on this connection, and nothing here asks for it.
  return head.status < 100 || head.status > 599 || head.status == 101 ? Fault::bad_status : Fault::none;
}

}  // namespace

Fault parse_response(std::string_view bytes, const Limits& limits, bool to_head, ResponseHead& head) {
  const std::size_t line_end = bytes.find("\r\n");
  if (line_end == std::string_view::npos) return Fault::bad_line_end;
  if (const Fault fault = parse_status_line(bytes.substr(0, line_end), head); fault != Fault::none) return fault;
  if (const Fault fault = parse_fields(bytes.substr(line_end + 2), head.fields); fault != Fault::none) return fault;
  FramingFields framing;
  for (const Field& field : head.fields) {
    if (const Fault fault = take_framing(field, framing); fault != Fault::none) return fault;
  }
  if (framing.chunked && framing.length) return Fault::length_conflict;
  if (framing.chunked && head.minor == 0) return Fault::bad_transfer_coding;

  head.length = framing.length.value_or(0);
  head.keep_alive = !framing.close && (head.minor == 1 || framing.keep_alive);
  const bool never = head.status < 200 || head.status == 204;
  if (never || to_head || head.status == 304) {
    if (never && (framing.chunked || head.length > 0)) return Fault::body_not_allowed;
    head.framing = Framing::none;
    head.length = 0;
  } else if (framing.chunked) {
    head.framing = Framing::chunked;
  } else if (framing.length) {
    head.framing = Framing::length;
    if (head.length > limits.body_bytes) return Fault::body_too_large;
  } else {
    head.framing = Framing::until_close;
    head.keep_alive = false;
  }
  return Fault::none;
}

}  // namespace ace::net
