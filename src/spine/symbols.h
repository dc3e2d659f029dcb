#pragma once
/// Numbers that stand for names on a log: the same name has the same number for as long as the log lives.
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "spine/record.h"

namespace ace::event {

class Symbols {
 public:
  /// A name that the log holds already.
  void hear(const Named& named);
  /// The symbol of a name; "" is 0. A name that has none yet gets the next number, and `say` the record to write before
  /// its first use; the record's id follows from kind and name.
  std::uint32_t symbol(Named::Kind kind, std::string_view name, Instant at, const std::function<void(Record)>& say);
  /// The name of a symbol; nothing for 0 and for numbers never heard of.
  [[nodiscard]] std::string_view name(std::uint32_t symbol) const;

 private:
  std::map<std::pair<Named::Kind, std::string>, std::uint32_t> numbers_;
  std::map<std::uint32_t, std::string> names_;
  std::uint32_t next_ = 1;
};

/// An id for an event that has none of its own, which follows from what it says: the same again is the same event.
EventId id_from(Instant at, std::string_view what);

}  // namespace ace::event
