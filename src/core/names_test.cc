#include "core/names.h"

#include <gtest/gtest.h>

#include <optional>

namespace ace {
namespace {

TEST(NameTable, sorts_by_bytes_so_that_a_smaller_index_is_a_smaller_name) {
  const NameTable names({"together", "azure", "own", "azure", "\xc3\xa4", "Own"});
  EXPECT_EQ(names.all(), (std::vector<std::string>{"Own", "azure", "own", "together", "\xc3\xa4"}));
  for (std::uint32_t i = 0; i < names.size(); ++i) EXPECT_EQ(names.find(names[i]), i);
  for (const char* absent : {"", "az", "azure ", "zzz", "\xff"}) EXPECT_EQ(names.find(absent), std::nullopt) << absent;
  EXPECT_EQ(NameTable().find("own"), std::nullopt);
  EXPECT_EQ(names, NameTable({"own", "Own", "\xc3\xa4", "together", "azure"}));
}

TEST(Interner, numbers_names_as_they_first_appear) {
  Interner names;
  EXPECT_EQ(names("b"), 0U);
  EXPECT_EQ(names("a"), 1U);
  EXPECT_EQ(names("b"), 0U);
  EXPECT_EQ(names(""), 2U);
  EXPECT_EQ(names.size(), 3U);
  EXPECT_EQ(names[1], "a");
}

TEST(Interner, keeps_its_numbers_when_it_grows_is_copied_or_is_moved) {
  std::optional<Interner> original(std::in_place);
  for (int i = 0; i < 5'000; ++i) EXPECT_EQ((*original)("name-" + std::to_string(i)), static_cast<std::uint32_t>(i));
  Interner copy(*original);
  Interner assigned;
  assigned("other");
  assigned = *original;
  original.reset();  // a copy that viewed the strings of the original would now read freed memory
  Interner moved(std::move(copy));
  for (int i = 0; i < 5'000; ++i) {
    const std::string name = "name-" + std::to_string(i);
    EXPECT_EQ(moved(name), static_cast<std::uint32_t>(i));
    EXPECT_EQ(assigned(name), static_cast<std::uint32_t>(i));
  }
  EXPECT_EQ(moved("new"), 5'000U);
  EXPECT_EQ(assigned("new"), 5'000U);
}

}  // namespace
}  // namespace ace
