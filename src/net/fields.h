#pragma once
/// What requests and responses share: splitting a head into fields, and the fields that frame a message.
#include <optional>

#include "net/characters.h"
#include "net/http.h"

namespace ace::net {

/// Fields that carry framing, identity or authority: none may vanish by nomination, arrive in a trailer, or be spelt
/// with underscores. @param name in any case
bool is_protected(std::string_view name);

/// One line "name: value" without its end.
Fault parse_field(std::string_view line, Field& field);

/// Splits the lines after the first. @param lines from after the first CRLF to the end of the head
Fault parse_fields(std::string_view lines, std::vector<Field>& fields);

/// What the framing fields say, apart from what method and status make of it.
struct FramingFields {
  std::optional<std::uint64_t> length;
  bool chunked = false;
  bool close = false, keep_alive = false;  ///< options of Connection
};

/// Takes one field into account; others than Content-Length, Transfer-Encoding and Connection are ignored.
Fault take_framing(const Field& field, FramingFields& framing);

/// Calls `each` with the items of a list, blanks around them removed. @return whether every item is a token
template <class Each>
bool for_each_token(std::string_view list, Each each) {
  for (;;) {
    const std::size_t comma = list.find(',');
    const std::string_view item = without_blanks(list.substr(0, comma));
    if (item.empty() || !is_all(item, kToken)) return false;
    each(item);
    if (comma == std::string_view::npos) return true;
    list.remove_prefix(comma + 1);
  }
}

}  // namespace ace::net
