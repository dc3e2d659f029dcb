#pragma once
/// Requests that mean the same have the same bytes here: what the answer cache looks up.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "wire/json.h"
#include "wire/request.h"

namespace ace::gateway {

/// A JSON value in one spelling: members sorted by name, no blanks, strings with their escapes undone and done again in
/// one way, numbers as digits and a power of ten (1, 1.0 and 10e-1 are one; beyond 10^(10^15) as they stand).
std::string canonical_json(wire::JsonValue value);

/// Whether the same question may be given the same answer again. Not with tools, images, audio or files, what the
/// provider keeps or continues, several choices; and, with `sampled` false, only where the client asked for no
/// randomness (temperature 0; embeddings).
bool is_cacheable(const wire::Request& request, wire::JsonValue body, bool sampled);

using CacheKey = std::array<std::uint8_t, 32>;

/// SHA-256 of who asks, what is asked and how it is to be answered. Of the body everything counts but who the user is,
/// what the provider is to note down, and hints for its cache; a member that is null counts as absent, as the APIs have
/// it.
/// @param scope  what must not be shared: the tenant, and the rule of compliance that its request was held to
CacheKey cache_key_of(std::string_view scope, const wire::Request& request, wire::JsonValue body);

}  // namespace ace::gateway
