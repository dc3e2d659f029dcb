/// Deciding allocates nothing: every operator new of this test program is counted.
#include <atomic>
#include <cstdlib>
#include <new>

#include "core/testing.h"
#include "dispatch/generate_testing.h"

namespace {
std::atomic<std::size_t> g_allocations{0};
void* counted(std::size_t size) {
  g_allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
}  // namespace

// Columns begin at cache lines.
void* operator new(std::size_t size, std::align_val_t alignment) {
  g_allocations.fetch_add(1, std::memory_order_relaxed);
  const auto line = static_cast<std::size_t>(alignment);
  if (void* memory = std::aligned_alloc(line, (size + line - 1) / line * line)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void* operator new(std::size_t size) { return counted(size); }
void* operator new[](std::size_t size) { return counted(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace ace {
namespace {

TEST(Allocation, is_counted_here) {
  const std::size_t before = g_allocations.load();
  const std::vector<int> one(1000);
  EXPECT_EQ(g_allocations.load() - before, one.size() / 1000);
}

TEST(Decide, allocates_nothing) {
  const Instant now = instant(1'780'000'000'000'000'000);
  for_each_seed(300, [&](Rng& rng) {
    const auto fleet = gen::fleet(rng, 80);
    const Snapshot snapshot(*fleet);
    const Live live = gen::live(rng, snapshot, now);
    Scratch scratch(snapshot);
    for (int i = 0; i < 10; ++i) {
      const Request request = gen::request(rng, *fleet);
      const std::size_t before = g_allocations.load();
      const Decision decision = decide(snapshot, live, request, now, scratch);
      ASSERT_EQ(g_allocations.load(), before);
      if (decision.chosen.valid() && scratch.attempted.size() < 3) scratch.attempted.push_back(decision.chosen);
    }
  });
}

}  // namespace
}  // namespace ace
