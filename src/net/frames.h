#pragma once
/// Memory of coroutine frames. A request runs through a dozen of them, of the same few sizes each time: what one gives
/// back the next takes, without the allocator. One store for each thread; frames do not change threads.
#include <array>
#include <cstddef>
#include <new>
#include <utility>

namespace ace::net {

class FrameStore {
 public:
  static FrameStore& of_this_thread() {
    thread_local FrameStore store;
    return store;
  }
  FrameStore() = default;
  FrameStore(const FrameStore&) = delete;
  FrameStore& operator=(const FrameStore&) = delete;
  ~FrameStore() {
    for (Free* list : lists_) {
      while (list != nullptr) ::operator delete(std::exchange(list, list->next));
    }
  }

  void* take(std::size_t size) {
    const std::size_t kind = kind_of(size);
    if (kind >= kKinds) return ::operator new(size);
    if (Free* first = lists_[kind]) {
      lists_[kind] = first->next;
      --counts_[kind];
      return first;
    }
    return ::operator new((kind + 1) * kStep);
  }
  /// @param size as it was taken
  void give(void* frame, std::size_t size) {
    const std::size_t kind = kind_of(size);
    if (kind >= kKinds || counts_[kind] >= kKept) return ::operator delete(frame);
    lists_[kind] = new (frame) Free{lists_[kind]};
    ++counts_[kind];
  }

 private:
  struct Free {
    Free* next;
  };
  static constexpr std::size_t kStep = 64, kKinds = 32, kKept = 256;  ///< up to 2 KiB; at most 256 of a kind
  static std::size_t kind_of(std::size_t size) { return (size - 1) / kStep; }
  std::array<Free*, kKinds> lists_{};
  std::array<std::size_t, kKinds> counts_{};
};

}  // namespace ace::net
