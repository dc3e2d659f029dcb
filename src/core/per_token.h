#pragma once
/// The pace of an answer.
#include <cstdint>

#include "core/time.h"

namespace ace {

/// Time per output token after the first; 0 for a single one.
inline Duration per_token(Duration total, std::int64_t tokens) {
  return tokens > 1 ? total / (tokens - 1) : Duration{0};
}

}  // namespace ace
