#pragma once
/// Reads HTTP messages from pieces as a connection does, and keeps what they say, so that tests and fuzz targets can
/// compare one way of cutting the bytes with another.
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/rng.h"
#include "net/body.h"
#include "net/http.h"

namespace ace::net {

/// One message, all its parts owned.
struct ReadMessage {
  std::string start;  ///< "POST /v1/x" or "200"
  std::vector<std::pair<std::string, std::string>> fields;
  std::string body;
  int minor = 1;  ///< of HTTP/1.x
  bool keep_alive = false;
  friend bool operator==(const ReadMessage&, const ReadMessage&) = default;
};

struct Transcript {
  std::vector<ReadMessage> messages;  ///< complete ones
  Fault fault = Fault::none;
  bool inside = false;  ///< the bytes ended within a message
  friend bool operator==(const Transcript&, const Transcript&) = default;
};

enum class Side { requests, responses };

inline Transcript read_messages(Side side, std::span<const std::string_view> pieces, const Limits& limits) {
  Transcript out;
  std::string buffer;
  HeadScanner scanner(limits);
  BodyDecoder decoder(limits);
  RequestHead request;
  ResponseHead response;
  ReadMessage message;
  bool in_body = false;
  for (const std::string_view piece : pieces) {
    buffer += piece;
    for (;;) {
      if (!in_body) {
        const HeadScanner::Scan scan = scanner.scan(buffer);
        out.fault = scan.fault;
        if (scan.length == 0) break;
        const std::string_view head(buffer.data(), scan.length);
        message = {};
        std::span<const Field> fields;
        if (side == Side::requests) {
          out.fault = parse_request(head, limits, request);
          if (out.fault != Fault::none) break;
          message.start = std::string(request.method) + " " + std::string(request.target);
          fields = request.fields;
          message.keep_alive = request.keep_alive;
          message.minor = request.minor;
          decoder.start(request.framing, request.length);
        } else {
          out.fault = parse_response(head, limits, false, response);
          message.start = std::to_string(response.status);
          fields = response.fields;
          message.keep_alive = response.keep_alive;
          message.minor = response.minor;
          decoder.start(response.framing, response.length);
        }
        if (out.fault != Fault::none) break;
        for (const Field& field : fields) message.fields.emplace_back(field.name, field.value);
        buffer.erase(0, scan.length);
        scanner.reset();
        in_body = true;
      }
      const BodyDecoder::Step step = decoder.next(buffer);
      message.body += step.data;
      buffer.erase(0, step.consumed);
      out.fault = step.fault;
      if (step.done) {
        out.messages.push_back(message);
        in_body = false;
        if (buffer.empty()) break;
      } else if (step.fault != Fault::none || buffer.empty()) {
        break;
      }
    }
    if (out.fault != Fault::none) break;
  }
  out.inside = in_body || !buffer.empty();
  if (out.fault != Fault::none) out.inside = true;
  return out;
}

/// A text cut at random into pieces, some of them empty.
inline std::vector<std::string_view> cut_at_random(std::string_view text, Rng& rng) {
  std::vector<std::string_view> pieces;
  while (!text.empty()) {
    const std::size_t size = rng.below(rng.chance(0.5) ? 4 : text.size() + 1);
    pieces.push_back(text.substr(0, size));
    text.remove_prefix(std::min(size, text.size()));
  }
  return pieces;
}

}  // namespace ace::net
