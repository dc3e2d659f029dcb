#pragma once
/// Small files whole, for subcommands.
#include <string>
#include <vector>

#include "adapters/fleet_files.h"
#include "core/result.h"
#include "fleet/fleet.h"

namespace ace::cli {

/// The text of a file, unpacked if it is gzip or zstd; "-" is standard input. @return unavailable, naming the file
Result<std::string> read_file(const std::string& path);
/// Is what is about to be written none of the files it is made from, by whatever name? Empty names and "-" are no
/// files.
/// @param option  what names it, for the message  @return bad_input naming both
Result<void> apart(const std::string& option, const std::string& output, const std::vector<std::string>& inputs);
/// Writes beside the file and renames, so that a reader never sees half of it. "-" is standard output.
Result<void> write_file(const std::string& path, std::string_view text);

/// Reads a fleet file with its price maps. All mistakes are one error, rendered as a person reads them.
/// @param prices_path an additional price map, or empty
/// @param kept filled with every file that was read, for a spine to keep; null = not wanted
Result<FleetReading> load_fleet(const std::string& path, const std::string& prices_path,
                                std::vector<FleetText>* kept = nullptr);

}  // namespace ace::cli
