#pragma once
/// One request and the means to answer it, as the server hands it to what serves it.
#include <optional>
#include <string>
#include <string_view>

#include "net/http.h"
#include "net/loop.h"
#include "net/stream.h"

namespace ace::net {

class Exchange {
 public:
  virtual ~Exchange() = default;
  [[nodiscard]] virtual const RequestHead& head() const = 0;
  [[nodiscard]] virtual const PeerName& peer() const = 0;
  [[nodiscard]] virtual Loop& loop() const = 0;
  /// Fires when the client has gone away, in any phase after its request has arrived. One that ends its side of the
  /// connection (a half-close) counts as gone: it cannot be told from one that is.
  [[nodiscard]] virtual Cancel& gone() = 0;

  struct Body {
    Io io = Io::ok;
    Fault fault = Fault::none;  ///< if io is ok
    std::string bytes;
    [[nodiscard]] bool ok() const { return io == Io::ok && fault == Fault::none; }
  };
  /// The whole body, at most Limits::body_bytes; sends the 100 that the client may be waiting for. Memory follows what
  /// has come, never what was announced. With a fault only refuse() is left to answer with, without ok nothing.
  virtual Task<Body> read_body() = 0;

  /// A whole answer. @param fields lines made by HeadWriter; what frames the message is added
  virtual Task<Io> respond(int status, std::string_view fields, std::string_view body) = 0;
  /// Answers a fault in the words of the Handler and closes.
  virtual Task<Io> refuse(Fault fault) = 0;

  /// A streamed answer: begin, pieces, end. Each piece is on its way when write returns; the head goes with the first.
  /// What cannot be finished is dropped with its connection, so that no client takes it for the whole.
  /// @param length of the body if it is known, else it goes out in chunks; end() before it is reached cuts the answer
  virtual Task<Io> begin(int status, std::string_view fields, std::optional<std::uint64_t> length) = 0;
  /// @param piece not empty
  virtual Task<Io> write(std::string_view piece) = 0;
  virtual Task<Io> end() = 0;

  /// For who plays a broken peer: bytes of the connection as they stand, after what begin() has prepared or in place of
  /// it. Whatever else is done with this exchange, its connection is not kept. @param bytes may be empty
  virtual Task<Io> write_raw(std::string_view bytes) = 0;
};

/// What serves requests: one for each loop, or shared if it is safe to share.
class Handler {
 public:
  virtual ~Handler() = default;
  /// Answers the request, once; an exchange that is left without an answer is given a 500.
  virtual Task<> serve(Exchange& exchange) = 0;
  /// The body of an error that the server answers by itself, before or instead of serve(). @param path empty if unknown
  /// @return JSON
  virtual std::string error_body(Fault fault, std::string_view path);
  /// A connection was refused or lost before serve(); for counters.
  virtual void rejected(Fault) {}
};

}  // namespace ace::net
