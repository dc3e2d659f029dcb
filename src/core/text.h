#pragma once
/// Text that we write: numbers and lists for people, strings for JSON; and how far two words are apart.
#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/int128.h"

namespace ace {

/// The items with commas between. (Not fmt::join: at -O3 GCC 12 sees an overflow in it that is not there.)
/// @param at_most items shown; the rest is counted
template <class Items>
std::string listed(const Items& items, std::size_t at_most = static_cast<std::size_t>(-1)) {
  std::string out;
  std::size_t shown = 0;
  for (const auto& item : items) {
    if (shown == at_most) return out + fmt::format(" and {} more", items.size() - shown);
    if (shown++ > 0) out += ", ";
    out += fmt::format("{}", item);
  }
  return out;
}

/// "1,204,180": digits in groups of three.
std::string grouped(int128 value);

/// A text as a JSON string with its quotes. `<` is escaped too, so that it may stand inside a page. @param text UTF-8
std::string json_text(std::string_view text);

/// Edits between two words: insert, delete, replace, swap of neighbours (optimal string alignment), case of ASCII
/// letters ignored. Only the first 64 characters of each take part. O(|a| |b|).
std::size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace ace
