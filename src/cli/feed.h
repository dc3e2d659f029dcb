#pragma once
/// Documents that a command reads from a file or from a web server.
#include <string>

#include "core/result.h"

namespace ace::cli {

/// The text of a file (as read_file() does) or of what an http(s) URL names, unpacked if it is gzip or zstd. https, or
/// http on this machine and in private networks. @return bad_input for a URL that ACE would not call, unavailable
Result<std::string> read_feed(const std::string& path_or_url);

}  // namespace ace::cli
