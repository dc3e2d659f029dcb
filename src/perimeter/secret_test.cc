#include "perimeter/secret.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <new>
#include <ostream>
#include <type_traits>

namespace ace {
namespace {

template <class T>
concept Streams = requires(std::ostream& out, const T& value) { out << value; };

TEST(Secret, cannot_be_printed_or_compared) {
  static_assert(!Streams<Secret>);
  static_assert(!fmt::is_formattable<Secret>::value);
  static_assert(!std::is_convertible_v<Secret, std::string_view>);
  static_assert(!std::equality_comparable<Secret>);
  EXPECT_EQ(Secret("hunter2").reveal(), "hunter2");
}

TEST(Secret, leaves_nothing_where_it_was_moved_from_or_ended) {
  // A text this short lies in the object itself, where it can be looked for.
  alignas(Secret) std::array<std::byte, sizeof(Secret)> place{};
  const auto holds = [&](std::string_view text) {
    return std::string_view(reinterpret_cast<const char*>(place.data()), place.size()).find(text) !=
           std::string_view::npos;
  };
  auto* secret = new (place.data()) Secret("hunter2");
  ASSERT_TRUE(holds("hunter2"));
  const Secret moved = std::move(*secret);
  EXPECT_EQ(moved.reveal(), "hunter2");
  EXPECT_FALSE(holds("hunter2"));
  EXPECT_TRUE(secret->empty());
  *secret = moved;
  EXPECT_TRUE(holds("hunter2"));
  *secret = Secret("other");
  EXPECT_FALSE(holds("hunter2"));
  EXPECT_FALSE(holds("ter2")) << "the end of a longer one";
  secret->~Secret();
  EXPECT_FALSE(holds("other"));
}

}  // namespace
}  // namespace ace
