#pragma once
/// ACE_CHECK: a broken invariant of ours, never the world's fault. Active in release builds too.
#include <cstdio>
#include <cstdlib>

#define ACE_CHECK(condition, why)                                                                      \
  do {                                                                                                 \
    if (!(condition)) [[unlikely]] {                                                                   \
      std::fprintf(stderr, "%s:%d: broken invariant: %s (%s)\n", __FILE__, __LINE__, why, #condition); \
      std::abort();                                                                                    \
    }                                                                                                  \
  } while (false)
