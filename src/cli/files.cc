#include "cli/files.h"

#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "trace/trace.h"

namespace ace::cli {

Result<std::string> read_file(const std::string& path) {
  Result<std::unique_ptr<ByteInput>> file = open_file(path);
  if (!file) return std::move(file).error();
  const std::unique_ptr<ByteInput> bytes = decompressed(std::move(*file));
  std::string text;
  std::vector<char> buffer(1 << 16);
  while (true) {
    const Result<std::size_t> got = bytes->read(buffer);
    if (!got) return Error(got.error()).with("reading " + path);
    if (*got == 0) return text;
    text.append(buffer.data(), *got);
  }
}

Result<void> apart(const std::string& option, const std::string& output, const std::vector<std::string>& inputs) {
  if (output.empty() || output == "-") return {};
  for (const std::string& input : inputs) {
    std::error_code absent;
    if (input.empty() || input == "-" || !std::filesystem::equivalent(output, input, absent) || absent) continue;
    return Error(Errc::bad_input, option + ": " + output + " is an input of this command (" + input +
                                      "), which would be gone; name another file");
  }
  return {};
}

Result<void> write_file(const std::string& path, std::string_view text) {
  if (path == "-") {
    std::cout << text;
    return {};
  }
  const std::string beside = path + ".part";
  std::ofstream file(beside, std::ios::binary | std::ios::trunc);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  if (!file) return Error(Errc::unavailable, "cannot write " + path + ": is the folder there, and is there room?");
  std::error_code failed;
  std::filesystem::rename(beside, path, failed);
  if (failed) return Error(Errc::unavailable, "cannot write " + path + ": " + failed.message());
  return {};
}

Result<FleetReading> load_fleet(const std::string& path, const std::string& prices_path, std::vector<FleetText>* kept) {
  using Role = event::FleetChanged::File::Role;
  Result<std::string> text = read_file(path);
  if (!text) return std::move(text).error().with("loading the fleet");
  std::vector<FleetText> files = {{Role::fleet, path, *std::move(text)}};
  if (!prices_path.empty()) {
    Result<std::string> map = read_file(prices_path);
    if (!map) return std::move(map).error().with("loading the price map");
    files.push_back({Role::prices, prices_path, *std::move(map)});
  }
  std::vector<FleetText> read_too;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  const ReadText read = [&](const std::string& relative) {
    Result<std::string> found = read_file((folder / relative).string());
    if (found && kept != nullptr) read_too.push_back({Role::series, relative, *found});
    return found;
  };
  Result<FleetReading> reading =
      compile_fleet(files.front(), files.size() > 1 ? &files.back() : nullptr, read, environment);
  if (reading && kept != nullptr) {
    *kept = std::move(files);
    std::move(read_too.begin(), read_too.end(), std::back_inserter(*kept));
  }
  return reading;
}

}  // namespace ace::cli
