#pragma once
/// Why an HTTP message is refused: the status to answer with and a stable code for logs and error bodies.
#include <cstdint>
#include <string_view>

namespace ace::net {

enum class Fault : std::uint8_t {
  none,
  bad_line_end,         ///< a line that does not end in CRLF, or a CR or LF within one
  bad_start_line,       ///< a request or status line that is not one
  bad_version,          ///< something else than HTTP/x.y
  unsupported_version,  ///< HTTP, but neither 1.0 nor 1.1
  unknown_method,
  bad_target,      ///< forbidden bytes, broken or encoded control bytes, or a form that is not for servers
  misdirected,     ///< an absolute target for another host than Host
  line_too_long,   ///< the request line
  head_too_large,  ///< a field or all of them
  too_many_fields,
  bad_field,            ///< a name or value with forbidden bytes, or space before the colon
  obsolete_fold,        ///< a field continued on the next line
  underscore_twin,      ///< a name that becomes one of ours when `_` is read as `-`
  bad_host,             ///< Host missing, twice, or not host[:port]
  bad_connection,       ///< a Connection field that is no list of tokens, or nominates a field that must not vanish
  bad_length,           ///< a Content-Length that is not one number
  length_conflict,      ///< more than one statement of the body's length
  bad_transfer_coding,  ///< anything but one `chunked`
  length_required,
  body_not_allowed,  ///< a body where the method or status has none
  body_too_large,
  bad_expectation,
  unsupported_encoding,  ///< a request body that is compressed
  bad_chunk,             ///< a chunk's size, its extension, or what should end it
  bad_trailer,
  bad_status,  ///< outside 100 to 599, or 101
  truncated,   ///< the peer closed inside a message
  too_slow,    ///< a head or body that did not come in time
  unanswered,  ///< ours: what serves requests left one without an answer
};

/// Status a server answers this fault with (a client treats every fault as a broken peer).
int status_of(Fault fault);
/// "length_conflict": stable, for error bodies, logs and metrics.
std::string_view name_of(Fault fault);
/// What was expected, for a person.
std::string_view meaning_of(Fault fault);

}  // namespace ace::net
