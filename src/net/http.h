#pragma once
/// HTTP/1.1 message heads (RFC 9112, 9110), strict: what two readers could understand differently is refused.
/// Pure: bytes in, values out. Views borrow from the buffer that was parsed.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "net/fault.h"

namespace ace::net {

/// How much of a message is read before it is refused. Counts are inclusive.
struct Limits {
  std::size_t line_bytes = 8 * 1024;            ///< of the first line or one field, without its CRLF
  std::size_t head_bytes = 32 * 1024;           ///< of the whole head, with the empty line that ends it
  std::size_t fields = 100;                     ///< of the head; as many again in a trailer section
  std::uint64_t body_bytes = 10 * 1024 * 1024;  ///< after chunked coding is undone
};
inline constexpr Limits kRequestLimits{};
inline constexpr Limits kResponseLimits{
    .line_bytes = 16 * 1024, .head_bytes = 64 * 1024, .fields = 200, .body_bytes = 64 * 1024 * 1024};

struct Field {
  std::string_view name, value;  ///< as sent; the value without blanks around it
  friend bool operator==(const Field&, const Field&) = default;
};

/// How the end of a body is found.
enum class Framing : std::uint8_t { none, length, chunked, until_close };

struct RequestHead {
  std::string_view method;
  std::string_view target;  ///< origin form, or "*"; never decoded
  std::string_view host;    ///< for checks alone: never part of a path or of an authorisation
  int minor = 1;            ///< of HTTP/1.x
  std::vector<Field> fields;
  Framing framing = Framing::none;
  std::uint64_t length = 0;  ///< with Framing::length
  bool keep_alive = true;
  bool expect_continue = false;  ///< the client waits for a 100 before it sends the body

  /// The target without its query.
  [[nodiscard]] std::string_view path() const { return target.substr(0, target.find('?')); }
};

struct ResponseHead {
  int status = 0;
  int minor = 1;
  std::vector<Field> fields;
  Framing framing = Framing::none;
  std::uint64_t length = 0;
  bool keep_alive = true;
};

/// Finds the end of a head in a buffer that grows, looking at each byte once. A limit is noticed when it is crossed,
/// not when the line is complete, and how the bytes were cut changes nothing.
class HeadScanner {
 public:
  /// @param limits outlives the scanner
  explicit HeadScanner(const Limits& limits) : limits_(&limits) {}

  struct Scan {
    Fault fault = Fault::none;
    std::size_t length = 0;  ///< of the head with the empty line that ends it; 0 if more bytes are needed
  };
  /// @param buffer starts with the head; at every call at least what it held at the call before
  Scan scan(std::string_view buffer);
  void reset() { line_start_ = at_ = lines_ = 0; }

 private:
  const Limits* limits_;
  std::size_t line_start_ = 0, at_ = 0, lines_ = 0;
};

/// Reads a complete head, as HeadScanner measured it. `head`'s buffers are reused; after a fault it holds nonsense.
/// The methods are GET, HEAD, POST, PUT, PATCH, DELETE and OPTIONS. A target in absolute form must name the host that
/// Host names. Hop-by-hop fields stay among `fields`: who forwards sends what it means to, never what it was sent.
/// @param limits body_bytes is held against Content-Length
Fault parse_request(std::string_view bytes, const Limits& limits, RequestHead& head);

/// The same for a response.
/// @param to_head whether the request's method was HEAD, whose response has no body
Fault parse_response(std::string_view bytes, const Limits& limits, bool to_head, ResponseHead& head);

/// The first field of this name. @param name in small letters @return null if there is none
const Field* find(std::span<const Field> fields, std::string_view name);

/// Does `text` equal `small`, which has only small letters, when case is ignored?
bool equals_ignoring_case(std::string_view text, std::string_view small);

/// Whether Connection nominates this field as one of this hop alone. @param name in any case
bool is_nominated(std::span<const Field> fields, std::string_view name);

}  // namespace ace::net
