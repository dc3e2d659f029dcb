#pragma once
/// Requests as CSV or JSON lines, in the columns that the generic readers take without a mapping.
#include <cstdint>

#include "core/result.h"
#include "replay/source.h"
#include "trace/binary.h"

namespace ace {

/// Which columns a CSV has beyond at, model, tenant, prompt and output. JSON lines hold what is stated, row by row.
struct TextColumns {
  bool team = true;
  bool owners = true;   ///< project, api_key
  bool usage = true;    ///< reasoning, cached, cache_write
  bool parts = true;    ///< cache_write_1h, audio_prompt, image_prompt, audio_output, image_output
  bool limit = true;    ///< max_output
  bool outcome = true;  ///< needs, failed, cache_hit, cost_usd, ttft_us, duration_us
  bool batch = true;
  bool blocks = true;
};

/// Writes what is left of the source. Names that a spreadsheet would take for a formula get a leading apostrophe.
/// @return rows written, or the first error of either side
Result<std::uint64_t> write_csv(RequestSource& source, const ByteSink& sink, const TextColumns& columns = {});
Result<std::uint64_t> write_jsonl(RequestSource& source, const ByteSink& sink);

}  // namespace ace
