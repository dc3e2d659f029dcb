/// Allocations that fail when they are told to. A file of its own: where the compiler sees through both sides, it takes
/// new and delete for strangers.
#include <cstdlib>
#include <new>

#include "machine.h"

namespace {
thread_local std::uint64_t allocation_fails = 0, allocation_count = 0;
}

// Every allocation of the process comes by here, so that the n-th can be made to fail.
void* operator new(std::size_t size) {
  if (++allocation_count == allocation_fails) throw std::bad_alloc();
  if (void* made = std::malloc(size == 0 ? 1 : size)) return made;
  throw std::bad_alloc();
}
void* operator new[](std::size_t size) { return operator new(size); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }

namespace ace::sim {

void fail_allocation(std::uint64_t number) {
  allocation_count = 0;
  allocation_fails = number;
}
std::uint64_t allocations() { return allocation_count; }
Unharmed::Unharmed() : fails_(allocation_fails), count_(allocation_count) { allocation_fails = 0; }
Unharmed::~Unharmed() {
  allocation_fails = fails_;
  allocation_count = count_;
}

}  // namespace ace::sim
