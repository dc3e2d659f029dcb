#pragma once
/// Inside the readers: what a LiteLLM spend log keeps in its metadata.
#include <memory>
#include <string_view>

#include "core/result.h"
#include "replay/source.h"
#include "trace/remarks.h"

namespace ace {

/// What the metadata say of the row's cost beyond its tokens.
struct LiteLlmExtras {
  /// Part of `spend` that no token explains: built-in tools, and the margin that the proxy's owner put on top.
  /// Nano-USD.
  std::int64_t beyond_tokens_nano = 0;
};

/// Reads the token classes of `usage_object` and the parts of `cost_breakdown` from the metadata JSON; free text in it
/// is not looked at, and of prices only what is not zero and has no place in a row, which is remarked.
///
/// Shapes: docs.litellm.ai/docs/proxy/logging_spec (CostBreakdown), and the usage objects of OpenAI
/// (prompt_tokens_details, completion_tokens_details) and Anthropic (cache_creation) that LiteLLM passes on; their
/// prompt_tokens includes what was read from and written to a cache.
class LiteLlmMetadata {
 public:
  LiteLlmMetadata();
  ~LiteLlmMetadata();
  /// @return bad_input if it is no JSON object or a count in it is not one
  Result<LiteLlmExtras> read(std::string_view json, Arrival& row, Remarks& remarks);

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

/// "acompletion": are such calls billed by the tokens of their usage alone? Others are billed by images, seconds,
/// characters, pages or searches.
bool billed_by_tokens(std::string_view call_type);

}  // namespace ace
