#include "net/body.h"

#include <algorithm>

#include "core/check.h"
#include "net/characters.h"
#include "net/fields.h"

namespace ace::net {

void BodyDecoder::start(Framing framing, std::uint64_t length) {
  total_ = 0;
  left_ = length;
  digits_ = trailer_bytes_ = trailer_fields_ = 0;
  line_.clear();
  fault_ = Fault::none;
  switch (framing) {
    case Framing::none:
      state_ = State::done;
      return;
    case Framing::length:
      state_ = length == 0 ? State::done : State::counted;
      return;
    case Framing::chunked:
      left_ = 0;
      state_ = State::size;
      return;
    case Framing::until_close:
      state_ = State::until_close;
      return;
  }
}

BodyDecoder::Step BodyDecoder::fail(std::size_t consumed, Fault fault) {
  state_ = State::failed;
  fault_ = fault;
  return {consumed, {}, fault, false};
}

Fault BodyDecoder::take_size_digit(char c) {
  const int digit = hex_value(c);
  if (digit >= 0) {
    if (++digits_ > 16) return Fault::bad_chunk;
    left_ = left_ * 16 + static_cast<std::uint64_t>(digit);
    return Fault::none;
  }
  if (c != '\r' || digits_ == 0) return Fault::bad_chunk;
  state_ = State::size_end;
  return Fault::none;
}

Fault BodyDecoder::take_trailer_byte(char c) {
  if (++trailer_bytes_ > limits_->line_bytes) return Fault::bad_trailer;
  line_ += c;
  if (c != '\n') return Fault::none;
  if (line_.size() < 2 || line_[line_.size() - 2] != '\r') return Fault::bad_line_end;
  line_.resize(line_.size() - 2);
  if (line_.empty()) {
    state_ = State::done;
    return Fault::none;
  }
  Field field;
  if (parse_field(line_, field) != Fault::none || is_protected(field.name) || ++trailer_fields_ > limits_->fields)
    return Fault::bad_trailer;
  line_.clear();
  return Fault::none;
}

BodyDecoder::Step BodyDecoder::next(std::string_view input) {
  std::size_t at = 0;
  while (state_ != State::done && at < input.size()) {
    switch (state_) {
      case State::counted: {
        const std::size_t size = static_cast<std::size_t>(std::min<std::uint64_t>(left_, input.size() - at));
        left_ -= size;
        if (left_ == 0) state_ = State::done;
        return {at + size, input.substr(at, size), Fault::none, done()};
      }
      case State::until_close:
        total_ += input.size() - at;
        if (total_ > limits_->body_bytes) return fail(at, Fault::body_too_large);
        return {input.size(), input.substr(at), Fault::none, false};
      case State::size:
        if (const Fault fault = take_size_digit(input[at++]); fault != Fault::none) return fail(at, fault);
        break;
      case State::size_end:
        if (input[at++] != '\n') return fail(at, Fault::bad_chunk);
        if (left_ > limits_->body_bytes - total_) return fail(at, Fault::body_too_large);
        total_ += left_;
        state_ = left_ == 0 ? State::trailer : State::chunk;
        digits_ = 0;
        break;
      case State::chunk: {
        const std::size_t size = static_cast<std::size_t>(std::min<std::uint64_t>(left_, input.size() - at));
        left_ -= size;
        if (left_ == 0) state_ = State::chunk_end_cr;
        return {at + size, input.substr(at, size), Fault::none, false};
      }
      case State::chunk_end_cr:
        if (input[at++] != '\r') return fail(at, Fault::bad_chunk);
        state_ = State::chunk_end_lf;
        break;
      case State::chunk_end_lf:
        if (input[at++] != '\n') return fail(at, Fault::bad_chunk);
        state_ = State::size;
        break;
      case State::trailer:
        if (const Fault fault = take_trailer_byte(input[at++]); fault != Fault::none) return fail(at, fault);
        break;
      case State::failed:
        return fail(at, fault_);
      case State::done:
        break;
    }
  }
  return {at, {}, state_ == State::failed ? fault_ : Fault::none, done()};
}

ChunkHead::ChunkHead(std::uint64_t size) {
  ACE_CHECK(size > 0, "a chunk of no bytes would end the body");
  begin_ = bytes_.size();
  bytes_[--begin_] = '\n';
  bytes_[--begin_] = '\r';
  for (; size > 0; size /= 16) bytes_[--begin_] = "0123456789abcdef"[size % 16];
}

}  // namespace ace::net
