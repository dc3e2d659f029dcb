#include "cli/files.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

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

Result<FleetReading> load_fleet(const std::string& path, const std::string& prices_path) {
  Result<std::string> text = read_file(path);
  if (!text) return std::move(text).error().with("loading the fleet");
  PriceBook prices;
  std::vector<std::string> warnings;
  if (!prices_path.empty()) {
    Result<std::string> map = read_file(prices_path);
    if (!map) return std::move(map).error().with("loading the price map");
    Result<PriceReading> reading = parse_prices(*map, PriceDialect::community);
    if (!reading) return std::move(reading).error().with("loading the price map " + prices_path);
    prices = std::move(reading->book);
    for (const PriceFinding& f : reading->findings)
      if (f.error)
        warnings.push_back(prices_path + ": " + f.row + ": " + f.field + ": " + f.what + " (the row stays unpriced)");
  }
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  const ReadText read = [&](const std::string& relative) { return read_file((folder / relative).string()); };
  const ReadEnv env = [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    if (value == nullptr) return std::nullopt;
    return std::string(value);
  };
  FleetReading reading = parse_fleet(*text, path, prices, read, env);
  reading.warnings.insert(reading.warnings.begin(), warnings.begin(), warnings.end());
  if (!reading.mistakes.empty()) return Error(Errc::bad_input, describe(reading.mistakes));
  return reading;
}

}  // namespace ace::cli
