#include "cli/spine.h"

#include <charconv>
#include <filesystem>
#include <random>

#include "adapters/durable_file.h"
#include "cli/files.h"

namespace ace::cli {

Result<void> take_over(const std::string& directory) {
  const Result<std::string> next = read_file(next_key_of(directory));
  if (!next) return Error(next.error());
  if (Result<void> written = write_durably(signing_key_of(directory), *next); !written)
    return std::move(written).error().with("the signing key");
  std::error_code ignored;  // what stays is the key that signs already
  std::filesystem::remove(next_key_of(directory), ignored);
  return {};
}

Result<spine::Signer> signer_of(const std::string& directory) {
  std::error_code none;
  if (!std::filesystem::exists(next_key_of(directory), none)) return signer_at(signing_key_of(directory));
  const Result<spine::Signer> next = signer_at(next_key_of(directory));
  if (!next) return Error(next.error());
  const Result<std::unique_ptr<PosixDisk>> disk = PosixDisk::open(directory, PosixDisk::Access::read);
  if (!disk) return Error(disk.error());
  const Result<spine::LogSummary> log =
      spine::read_log(**disk, {}, [](const spine::Frame&) -> Result<void> { return {}; });
  if (!log) return Error(log.error()).with("looking whether the signing key was handed over");
  if (log->successor == next->public_key())
    if (Result<void> taken = take_over(directory); !taken) return std::move(taken).error();
  return signer_at(signing_key_of(directory));
}

spine::StoreOptions store_options(const spine::Signer& signer, spine::Durability durability) {
  spine::StoreOptions options;
  options.log.signer = &signer;
  options.log.durability = durability;
  std::random_device random;  // the log's id is drawn once, when it is made
  for (auto& byte : options.log.id) byte = static_cast<std::uint8_t>(random() & 0xff);
  return options;
}

Result<void> not_older_than(const std::string& file, spine::StoreOptions& options) {
  if (file.empty()) return {};
  const Result<std::string> note = read_file(file);
  if (!note) return Error(note.error()).with("loading the checkpoint");
  const Result<spine::Checkpoint> checkpoint = spine::checkpoint_from(*note, options.log.signer->public_key());
  if (!checkpoint) return Error(Errc::bad_input, file + ": " + checkpoint.error().what());
  options.log.least = checkpoint->size;
  return {};
}

Result<spine::PublicKey> public_key_from(const std::string& text) {
  spine::PublicKey key{};
  bool good = text.size() == 2 * key.size();
  for (std::size_t i = 0; good && i < key.size(); ++i) {
    const char* const end = text.data() + 2 * i + 2;
    const auto [read, error] = std::from_chars(text.data() + 2 * i, end, key[i], 16);
    good = error == std::errc() && read == end;
  }
  if (good) return key;
  return Error(Errc::bad_input,
               "--key: expected the 64 hexadecimal digits that `ace spine checkpoint` prints, got \"" + text + "\"");
}

Result<event::EventId> event_id_from(const std::string& text) {
  const std::string digits = text.substr(text.find('_') + 1);  // npos + 1 is the whole text
  const Result<RequestId> id = request_id_from("req_" + digits);
  if (!id) return Error(Errc::bad_input, "expected an id of 26 base32 characters, got \"" + text.substr(0, 64) + "\"");
  return event::EventId{id->high, id->low};
}

void add_spine(CLI::App& app, Context& context) {
  CLI::App* spine = app.add_subcommand("spine", "The event log: look at it, check it, keep it");
  spine->require_subcommand(1);
  add_spine_read(*spine, context);
  add_spine_prove(*spine, context);
  add_spine_admin(*spine, context);
  add_spine_append(*spine, context);
}

}  // namespace ace::cli
