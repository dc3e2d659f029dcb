#pragma once
/// The body of an HTTP/1.1 message: decoded from pieces of any size without a copy, and framed again.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "net/http.h"

namespace ace::net {

/// Undoes the framing of one body. Chunk extensions are refused and trailers are read and dropped.
class BodyDecoder {
 public:
  /// @param limits outlives the decoder
  explicit BodyDecoder(const Limits& limits) : limits_(&limits) {}
  void start(Framing framing, std::uint64_t length);

  struct Step {
    std::size_t consumed = 0;
    std::string_view data;  ///< part of the body, lying within `input`
    Fault fault = Fault::none;
    bool done = false;  ///< what follows `consumed` is no longer of this message
  };
  /// Goes on to the next piece of data, the end, a fault, or the end of the input, whichever comes first. An input that
  /// was not wholly consumed without the end being reached is given again from there.
  Step next(std::string_view input);

  /// Whether the message is complete if the peer now closes.
  [[nodiscard]] bool complete_at_close() const { return state_ == State::done || state_ == State::until_close; }
  [[nodiscard]] bool done() const { return state_ == State::done; }

 private:
  enum class State : std::uint8_t {
    done,
    counted,  ///< left_ bytes of a body with a length
    until_close,
    size,      ///< digits of a chunk's size
    size_end,  ///< LF after it
    chunk,     ///< left_ bytes of a chunk
    chunk_end_cr,
    chunk_end_lf,
    trailer,  ///< a line of the trailer section
    failed,
  };
  Step fail(std::size_t consumed, Fault fault);
  Fault take_size_digit(char c);
  Fault take_trailer_byte(char c);

  const Limits* limits_;
  State state_ = State::done;
  Fault fault_ = Fault::none;
  std::uint64_t left_ = 0, total_ = 0;
  std::size_t digits_ = 0, trailer_bytes_ = 0, trailer_fields_ = 0;
  std::string line_;
};

/// The line before a chunk of so many bytes, "1f4\r\n". After the bytes comes "\r\n", at the end of all kLastChunk.
class ChunkHead {
 public:
  /// @param size positive: a chunk of no bytes would end the body
  explicit ChunkHead(std::uint64_t size);
  [[nodiscard]] std::string_view text() const { return {bytes_.data() + begin_, bytes_.size() - begin_}; }

 private:
  std::array<char, 18> bytes_;
  std::size_t begin_;
};
inline constexpr std::string_view kChunkEnd = "\r\n";
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";

}  // namespace ace::net
