#pragma once
/// A column of values by offer that vector code may read in whole cache lines.
#include <cstddef>
#include <cstring>
#include <new>
#include <vector>

namespace ace {

/// Memory that begins at a cache line and ends at the end of one, the rest of it zero: what lies beside the last offer
/// can be loaded (its lanes count for nothing), and no load straddles two lines, which would cost a third of the
/// bandwidth of the second-level cache.
template <class T>
struct WholeLines {
  using value_type = T;
  static constexpr std::size_t kLine = 64;

  WholeLines() = default;
  template <class U>
  explicit WholeLines(const WholeLines<U>&) {}  // what std::allocator_traits needs to rebind

  T* allocate(std::size_t n) {
    const std::size_t bytes = (n * sizeof(T) + kLine - 1) / kLine * kLine;
    void* lines = ::operator new(bytes, std::align_val_t{kLine});
    std::memset(lines, 0, bytes);
    return static_cast<T*>(lines);
  }
  void deallocate(T* lines, std::size_t) { ::operator delete(lines, std::align_val_t{kLine}); }
  friend bool operator==(const WholeLines&, const WholeLines&) { return true; }
};

template <class T>
using Column = std::vector<T, WholeLines<T>>;

}  // namespace ace
