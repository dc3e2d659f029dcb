#pragma once
/// URLs of images and files in a request. We never fetch them; an engine behind us may, from inside a private network.
#include <string_view>

namespace ace::wire {

/// Why a URL may not be passed on; null if it may: https to a name or address of the open internet, or inline data of
/// at most 10 MiB. Spellings that two parsers read differently are refused.
const char* refused_media_url(std::string_view url);

}  // namespace ace::wire
