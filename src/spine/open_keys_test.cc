#include "spine/open_keys.h"

#include <gtest/gtest.h>

#include <map>

#include "core/testing.h"

namespace ace::spine {
namespace {

TEST(OpenKeys, find_what_was_added_oldest_first_and_nothing_else) {
  for_each_seed(200, [](Rng& rng) {
    OpenKeys keys;
    std::map<Fingerprint, std::vector<Address>> expected;
    const std::uint64_t different = 1 + rng.below(3000);
    // Few homes, so that many keys share one and the runs between free slots go round the end.
    const auto key = [&](std::uint64_t i) { return Fingerprint{i % 7 == 0 ? ~std::uint64_t{0} : i % 50, i / 50 * 50}; };
    const std::uint64_t events = rng.below(4000);
    for (std::uint32_t i = 0; i < events; ++i) {
      const Fingerprint k = key(rng.below(different));
      const Address address{1, 512 + i};
      keys.add(k, address);
      expected[k].push_back(address);
    }
    EXPECT_EQ(keys.size(), events);
    for (std::uint64_t i = 0; i < different + 10; ++i) {
      std::vector<Address> places{{9, 9}};  // what is there stays
      keys.find(key(i), places);
      std::vector<Address> want{{9, 9}};
      if (const auto found = expected.find(key(i)); found != expected.end())
        want.insert(want.end(), found->second.begin(), found->second.end());
      ASSERT_EQ(places, want);
    }
    std::uint64_t seen = 0;
    keys.each([&](const Fingerprint&, Address) { ++seen; });
    EXPECT_EQ(seen, events);
    keys.clear();
    std::vector<Address> none;
    keys.find(key(0), none);
    EXPECT_TRUE(none.empty());
  });
}

}  // namespace
}  // namespace ace::spine
