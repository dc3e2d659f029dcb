#include "cli/verify_log.h"

#include <fmt/format.h>

#include <charconv>
#include <memory>
#include <ostream>

#include "adapters/posix_disk.h"
#include "cli/files.h"
#include "verify/verify.h"

namespace ace::cli {
namespace {

Result<verify::PublicKey> key_from(const std::string& text) {
  verify::PublicKey key{};
  bool good = text.size() == 2 * key.size();
  for (std::size_t i = 0; good && i < key.size(); ++i) {
    const char* const end = text.data() + 2 * i + 2;
    const auto [read, error] = std::from_chars(text.data() + 2 * i, end, key[i], 16);
    good = error == std::errc() && read == end;
  }
  if (!good) return Error(Errc::bad_input, "--key: expected 64 hexadecimal digits, got \"" + text + "\"");
  return key;
}

Result<verify::Pins> pins_of(const LogArguments& arguments) {
  verify::Pins pins;
  if (!arguments.key.empty()) {
    const Result<verify::PublicKey> key = key_from(arguments.key);
    if (!key) return Error(key.error());
    pins.key = *key;
  }
  if (!arguments.checkpoints.empty() && !pins.key)
    return Error(Errc::bad_input, "--checkpoint proves nothing without the key that signed it: give --key");
  for (const std::string& path : arguments.checkpoints) {
    Result<std::string> note = read_file(path);
    if (!note) return std::move(note).error().with("loading a checkpoint");
    pins.held.push_back({path, *std::move(note)});
  }
  return pins;
}

}  // namespace

Result<void> verify_log(const std::string& directory, const LogArguments& arguments, Context& context) {
  const Result<verify::Pins> pins = pins_of(arguments);
  if (!pins) return Error(pins.error());
  const Result<std::unique_ptr<PosixDisk>> disk = PosixDisk::open(directory, PosixDisk::Access::read);
  if (!disk) return Error(disk.error());
  const Result<verify::Finding> found = verify::check_log(
      [&] { return (*disk)->list(); }, [&](const std::string& name) { return spine::read_whole(**disk, name); }, *pins);
  if (!found) return Error(found.error()).with("verifying " + directory);
  if (found->difference) return Error(Errc::check_failed, directory + ": " + to_text(*found->difference));
  const verify::Summary& s = found->summary;
  *context.out << fmt::format("verified: {} records of {} from {} on, in {} segments and {} bytes\n", s.next - s.first,
                              s.origin, s.first, s.segments, s.bytes);
  *context.out << fmt::format(
      "checkpoints  {} in the log, {} outside; {}\n", s.checkpoints, pins->held.size(),
      pins->key ? fmt::format("{} signatures hold", s.signatures) : "signatures not checked (no --key)");
  *context.out << fmt::format("root         {}\nchain        {}\n", verify::hex(verify::view(s.root)),
                              verify::hex(verify::view(s.chain)));
  if (found->unfinished)
    *context.out << "unfinished   " << to_text(*found->unfinished) << "; it was not acknowledged\n";
  return {};
}

}  // namespace ace::cli
