#include "spine/symbols.h"

#include <algorithm>

#include "core/hash.h"
#include "spine/label.h"

namespace ace::event {

EventId id_from(Instant at, std::string_view what) {
  const auto ms = static_cast<std::uint64_t>(std::max<std::int64_t>(nanos(at), 0) / 1'000'000);
  const std::uint64_t hash = hash_of(what);
  return {ms << 16 | (mix(hash, 1) & 0xffff), hash};
}

void Symbols::hear(const Named& named) {
  numbers_.emplace(std::pair(named.kind, named.name), named.symbol);
  names_.emplace(named.symbol, named.name);
  next_ = std::max(next_, named.symbol + 1);
}

std::uint32_t Symbols::symbol(Named::Kind kind, std::string_view name, Instant at,
                              const std::function<void(Record)>& say) {
  if (name.empty()) return 0;
  std::string label = label_of(name);
  if (const auto known = numbers_.find({kind, label}); known != numbers_.end()) return known->second;
  Named named;
  named.kind = kind;
  named.at = at;
  named.symbol = next_;
  named.name = std::move(label);
  hear(named);
  Record record;
  record.id = id_from(at, std::string(name_of(kind)) + "/" + named.name);
  record.event = named;
  say(std::move(record));
  return named.symbol;
}

std::string_view Symbols::name(std::uint32_t symbol) const {
  const auto found = names_.find(symbol);
  return found == names_.end() ? std::string_view{} : std::string_view(found->second);
}

}  // namespace ace::event
