#pragma once
/// Where a worker leaves an event before the first byte goes to its client: a ring in a mapped file, which outlives the
/// process. One worker puts, one writer takes. What is taken is in the log; what is not is there after a crash.
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "spine/disk.h"
#include "spine/record.h"

namespace ace::spine {

class Spool {
 public:
  /// Head page and ring; nothing is ever allocated after opening.
  static constexpr std::uint64_t kHead = 4096;
  /// Opens or makes the file. What the last owner left in it can be read with peek().
  /// @param bytes of the ring, a multiple of 8; one that is there keeps its size @return corrupt if the file is no
  /// spool
  static Result<std::unique_ptr<Spool>> open(Disk& disk, const std::string& name, std::uint64_t bytes);

  /// For the worker. @return the position after the entry, or 0 if there is no room (the writer is behind)
  std::uint64_t offer(const event::Key& key, std::string_view bytes);
  /// For the writer: the entry at `position`, if there is one. The strings are overwritten.
  /// @return the position after it, or 0
  std::uint64_t peek(std::uint64_t position, event::Key& key, std::string& bytes) const;
  /// For the writer: everything before `position` is in the log, durable.
  void drained(std::uint64_t position);
  [[nodiscard]] std::uint64_t head() const { return head_.load(std::memory_order_acquire); }
  [[nodiscard]] std::uint64_t tail() const { return tail_.load(std::memory_order_acquire); }

 private:
  explicit Spool(std::unique_ptr<Mapping> mapping);
  void copy_in(std::uint64_t position, std::string_view bytes);
  void copy_out(std::uint64_t position, char* to, std::size_t length) const;
  std::uint64_t sound(std::uint64_t position, event::Key& key, std::string& bytes) const;

  std::unique_ptr<Mapping> mapping_;
  char* ring_ = nullptr;
  std::uint64_t capacity_ = 0;
  std::atomic<std::uint64_t> head_{0}, tail_{0};
};

}  // namespace ace::spine
