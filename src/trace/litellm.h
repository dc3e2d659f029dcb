#pragma once
/// Inside the readers: what a LiteLLM spend log keeps in its metadata.
#include <memory>
#include <string_view>

#include "core/result.h"
#include "replay/source.h"

namespace ace {

/// Reads cached, cache-write and reasoning tokens from `usage_object` of the metadata JSON. Prices and free text in it
/// are not looked at.
class LiteLlmMetadata {
 public:
  LiteLlmMetadata();
  ~LiteLlmMetadata();
  /// @return bad_input if it is no JSON object or a count in it is not one
  Result<void> read(std::string_view json, Arrival& row);

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace ace
