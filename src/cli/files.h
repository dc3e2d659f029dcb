#pragma once
/// Small files whole, for subcommands.
#include <string>

#include "core/result.h"
#include "fleet/fleet.h"

namespace ace::cli {

/// The text of a file, unpacked if it is gzip or zstd; "-" is standard input. @return unavailable, naming the file
Result<std::string> read_file(const std::string& path);
/// Writes beside the file and renames, so that a reader never sees half of it. "-" is standard output.
Result<void> write_file(const std::string& path, std::string_view text);

/// Reads a fleet file with its price maps. All mistakes are one error, rendered as a person reads them.
/// @param prices_path an additional price map, or empty
Result<FleetReading> load_fleet(const std::string& path, const std::string& prices_path);

}  // namespace ace::cli
