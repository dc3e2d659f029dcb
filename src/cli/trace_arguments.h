#pragma once
/// How to read a request log, as the command line says it: the same for `ace trace` and for every replay.
#include <memory>
#include <string>
#include <vector>

#include "cli/cli.h"
#include "trace/trace.h"

namespace ace::cli {

struct FormatArguments {
  std::string format, columns, tz, salt_file, on_bad_row = "fail", delimiter = ",";
  bool sort = false;
};
void add_format_arguments(CLI::App& command, FormatArguments& arguments);

/// @return bad_input if it is neither one character nor "\\t", a tab
Result<char> delimiter_from(const FormatArguments& arguments);

/// The arguments as options of open_trace(), with masks under the key of the salt file, or a random one.
/// @param fleet its model, tenant and team names need no mask; null = none is declared
/// @param models further names that need none
/// @return bad_input naming the option, or as read_file() for the salt
Result<ReadOptions> read_options(const FormatArguments& arguments, const Fleet* fleet,
                                 const std::vector<std::string>& models = {});

/// Takes whole numbers from 0 to 2^64 - 1 and nothing that a parser would wrap around.
CLI::Validator whole_number();

/// Takes finite numbers from 0 up, or above 0. CLI11's own take NaN, and say the largest double in 309 digits.
CLI::Validator number_from_zero();
CLI::Validator number_above_zero();

/// Is it the directory of an event spine?
bool is_spine(const std::string& path);
/// Its requests in order of time. @return as PosixDisk::open()
Result<std::unique_ptr<RequestSource>> open_spine(const std::string& directory, const std::string& archive,
                                                  SpineTrace::Options options);

/// Says on stderr which rows a source left out, and what else deserves a look.
void say_what_was_left_out(const RequestSource& source, Context& context);

}  // namespace ace::cli
