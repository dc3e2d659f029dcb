#include "trace/window.h"

#include <cstring>

#include <fmt/core.h>

namespace ace {
namespace {
constexpr std::size_t kPiece = 256U << 10;  // one read: large enough for the kernel, small enough for L2
}

Window::Window(std::unique_ptr<ByteInput> input, std::size_t record_max)
    : input_(std::move(input)), record_max_(record_max), capacity_(2 * kPiece) {
  buffer_ = std::make_unique<char[]>(capacity_ + kPadding);
}

void Window::make_room() {
  if (begin_ > 0) {
    std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ + kPiece <= capacity_) return;
  capacity_ *= 2;
  auto larger = std::make_unique<char[]>(capacity_ + kPadding);
  std::memcpy(larger.get(), buffer_.get(), end_);
  buffer_ = std::move(larger);
}

Result<bool> Window::more() {
  if (ended_) return false;
  if (end_ - begin_ > record_max_) {
    return Error(Errc::out_of_range, fmt::format("a line is longer than {} bytes", record_max_));
  }
  make_room();
  const Result<std::size_t> got = input_->read({buffer_.get() + end_, kPiece});
  if (!got) return got.error();
  ended_ = *got == 0;
  end_ += *got;
  return !ended_;
}

Result<void> Window::rewind() {
  begin_ = end_ = 0;
  ended_ = false;
  return input_->rewind();
}

}  // namespace ace
