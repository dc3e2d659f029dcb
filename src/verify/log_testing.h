#pragma once
/// Logs for the tests of this room, written by the spine's own writer.
#include <map>
#include <string>
#include <vector>

#include "spine/record_testing.h"
#include "spine/spine.h"
#include "verify/verify.h"

namespace ace::verify {

/// The files of a log, and what its writer says of it.
struct Written {
  std::map<std::string, std::string> files;
  PublicKey key{};
  std::string note;  ///< the last checkpoint
  std::uint64_t next = 0;
  Hash chain{}, root{};
};

inline const spine::Signer& test_signer() {
  static const spine::Signer signer = *spine::Signer::from_seed(std::string(32, 's'));
  return signer;
}

/// The smallest segments that there are, so that some hundred events fill several; a batch every third event and a
/// checkpoint every 8 records.
/// @param prune removes this many segments from the front
inline Written written_log(Rng& rng, int events, std::uint32_t prune = 0, const std::string& origin = "acme/spine") {
  spine::MemoryDisk disk;
  Written written;
  {
    spine::LogOptions options;
    options.origin = origin;
    for (std::uint8_t& byte : options.id) byte = static_cast<std::uint8_t>(rng.below(256));
    options.segment_bytes = 4 * spine::kSealMax;
    options.reserve_bytes = 2 * spine::kSealMax;
    options.checkpoint_records = 8;
    options.signer = &test_signer();
    const Instant now = instant(1'800'000'000'000'000'000);
    spine::Recovery recovery;
    Result<spine::Log> log = spine::Log::open(disk, options, now, recovery);
    ACE_CHECK(log.has_value(), "the log of a test cannot be opened");
    for (int i = 0; i < events; ++i) {
      const event::Record record = event::gen::record(rng);
      const Result<std::string> bytes = event::encode(record);
      ACE_CHECK(bytes.has_value(), "a generated event cannot be written");
      ACE_CHECK(log->append(event::key_of(record), *bytes, now).has_value(), "the log of a test refused an event");
      if (i % 3 == 0) ACE_CHECK(log->commit(now).has_value(), "the log of a test refused a batch");
    }
    ACE_CHECK(log->checkpoint(now).has_value() && log->commit(now).has_value(), "the log of a test refused to end");
    written.note = log->last_checkpoint();
    written.next = log->next();
    written.chain = log->chain();
    written.root = log->root();
  }
  if (prune != 0) ACE_CHECK(spine::prune(disk, prune).has_value(), "the log of a test cannot be pruned");
  const Result<std::vector<std::string>> names = disk.list();
  for (const std::string& name : *names) written.files[name] = disk.bytes(name);
  written.key = test_signer().public_key();
  return written;
}

inline Finding check(const std::map<std::string, std::string>& files, const Pins& pins = {}) {
  const Result<Finding> found = check_log(
      [&]() -> Result<std::vector<std::string>> {
        std::vector<std::string> names;
        for (const auto& [name, bytes] : files) names.push_back(name);
        return names;
      },
      [&](const std::string& name) -> Result<std::string> {
        const auto file = files.find(name);
        if (file == files.end()) return Error(Errc::not_found, name);
        return file->second;
      },
      pins);
  ACE_CHECK(found.has_value(), "reading from memory failed");
  return *found;
}

}  // namespace ace::verify
