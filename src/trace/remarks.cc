#include "trace/remarks.h"

#include <algorithm>
#include <limits>

#include <fmt/core.h>

#include "core/money.h"

namespace ace {

void Remarks::see(std::string_view name, std::int64_t amount, std::string_view unit, std::string_view becomes) {
  auto entry = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.name == name; });
  if (entry == entries_.end()) {
    if (entries_.size() == kNamesMax) {
      ++others_;
      return;
    }
    entry = entries_.insert(entry, {std::string(name.substr(0, 80)), std::string(unit), std::string(becomes)});
  }
  ++entry->rows;
  if (__builtin_add_overflow(entry->amount, amount, &entry->amount))
    entry->amount = std::numeric_limits<std::int64_t>::max();
}

std::vector<std::string> Remarks::notes() const {
  std::vector<std::string> notes;
  for (const Entry& e : entries_) {
    std::string how_much;
    if (e.unit == "nano-USD")
      how_much = fmt::format(", {} USD together", to_decimal(Usd{e.amount}));
    else if (!e.unit.empty())
      how_much = fmt::format(", {} {} together", e.amount, e.unit);
    notes.push_back(fmt::format("{}: in {} rows{}; {}", e.name, e.rows, how_much, e.becomes));
  }
  if (others_ > 0) notes.push_back(fmt::format("{} more fields that carry money have no place in a replay", others_));
  return notes;
}

}  // namespace ace
