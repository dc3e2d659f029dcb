#include "net/inbox.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/check.h"

namespace ace::net {

Inbox::Inbox(Stream& stream, std::size_t first, std::size_t most)
    : stream_(&stream), capacity_(std::min(first, most)), most_(most) {
  buffer_.reset(new char[capacity_]);
  op_.done = [this] { finished(); };
}

bool Inbox::make_room() {
  if (begin_ == end_) begin_ = end_ = 0;
  if (end_ < capacity_) return true;
  if (begin_ > 0) {
    std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    return true;
  }
  if (capacity_ == most_) return false;
  const std::size_t larger = std::min(capacity_ * 2, most_);
  std::unique_ptr<char[]> grown(new char[larger]);
  std::memcpy(grown.get(), buffer_.get(), end_);
  buffer_ = std::move(grown);
  capacity_ = larger;
  return true;
}

/// @return whether the read is over already
bool Inbox::start() {
  reading_ = true;
  if (!stream_->start_read(buffer_.get() + end_, capacity_ - end_, op_)) return false;
  reading_ = false;
  return true;
}

bool Inbox::start_or_ended() {
  ACE_CHECK(!waiting_, "two wait for the same bytes");
  if (ended_ != Io::ok) return true;
  if (reading_) return false;
  ACE_CHECK(make_room(), "reading into a full inbox");
  if (!start()) return false;
  if (op_.result.status == Io::ok) {
    end_ += op_.result.bytes;
  } else {
    ended_ = op_.result.status;
  }
  return true;
}

void Inbox::finished() {
  reading_ = false;
  for (;;) {
    if (op_.result.status == Io::ok) {
      end_ += op_.result.bytes;
    } else {
      ended_ = op_.result.status;
    }
    if (waiting_) {
      std::exchange(waiting_, nullptr).resume();
      return;
    }
    if (!on_gone_) return;
    if (ended_ != Io::ok) {
      std::exchange(on_gone_, nullptr)();
      return;
    }
    if (!make_room() || !start()) return;
  }
}

void Inbox::watch(std::function<void()> on_gone) {
  if (ended_ != Io::ok) {
    on_gone();
    return;
  }
  on_gone_ = std::move(on_gone);
  if (reading_ || !make_room()) return;
  if (start()) finished();
}

}  // namespace ace::net
