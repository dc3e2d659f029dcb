#pragma once
/// Dates as HTTP and RFC 1123 write them.
#include <optional>
#include <string_view>

#include "core/time.h"

namespace ace {

/// "Sun, 06 Nov 1994 08:49:37 GMT", the one form that is still written. A leap second is the second before it.
std::optional<Instant> read_http_date(std::string_view text);

}  // namespace ace
