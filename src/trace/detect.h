#pragma once
/// Which format this is, told by its first bytes.
#include <string_view>

#include "trace/rows.h"

namespace ace {

/// @param head the first bytes, enough for a header line or a first object @param delimiter of CSV
/// @return bad_input saying what was seen and how to say it with --format and --columns
Result<TraceFormat> detect(std::string_view head, char delimiter);

/// What each known format calls its columns or members; for the generic ones, what we write ourselves.
/// @pre neither servegen nor openai_usage, which are no lists of requests
std::vector<Column> known_columns(TraceFormat format);
std::string_view title_of(TraceFormat format);

}  // namespace ace
