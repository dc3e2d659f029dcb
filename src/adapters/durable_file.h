#pragma once
/// Files that are there whole or not at all, also after the power went.
#include <string>
#include <string_view>

#include "core/result.h"

namespace ace {

/// Writes beside the path first, syncs, renames, and syncs the directory. Readable and writable by the owner alone.
/// @return unavailable
Result<void> write_durably(const std::string& path, std::string_view bytes);

}  // namespace ace
