#pragma once
/// A small document from a web server, whole: price catalogs, histories, availability logs.
#include <chrono>
#include <cstddef>
#include <string>

#include "core/result.h"
#include "fleet/fleet.h"

namespace ace {

/// Fetches with a GET on a loop of its own and waits for it. No redirect is followed: whoever serves the feed is who
/// was named.
/// @param most  bytes of the body
/// @return unavailable, naming the host and what happened (no answer, another status than 200), out_of_range beyond
///         `most`
Result<std::string> fetch_feed(const Endpoint& from, std::chrono::nanoseconds patience = std::chrono::seconds{30},
                               std::size_t most = std::size_t{64} << 20);

}  // namespace ace
