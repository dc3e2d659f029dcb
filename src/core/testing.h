#pragma once
/// Property tests: a law over many seeds. A failure prints the seed; ACE_SEED=n reruns that one alone.
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include "core/rng.h"

namespace ace {

template <class Law>
void for_each_seed(int seeds, Law law) {
  if (const char* only = std::getenv("ACE_SEED")) {
    Rng rng(std::strtoull(only, nullptr, 10), "property");
    law(rng);
    return;
  }
  for (int seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE("rerun with ACE_SEED=" + std::to_string(seed));
    Rng rng(static_cast<std::uint64_t>(seed), "property");
    law(rng);
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace ace
