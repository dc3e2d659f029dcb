/// The files beside the segments come from a disk. Whatever `keys` and `acked`, `pruned`, `log` or a spool hold,
/// opening ends, with a log or with its refusal; a log that opens reads back whole, and knows every event that it
/// holds.
#include <cstring>
#include <map>

#include "spine/record_testing.h"
#include "spine/spine.h"

namespace {

using namespace ace;

constexpr Instant kNow = instant(1'800'000'000'000'000'000), kLater = kNow + std::chrono::hours{1};
const char* const kNames[] = {"00000001.keys", "acked", "pruned", "log", "spool-000", "00000002.keys"};

struct Sound {
  std::map<std::string, std::string> files;
  std::vector<std::pair<event::Key, std::string>> events;
};

spine::StoreOptions options() {
  spine::StoreOptions o;
  o.log.segment_bytes = 4 * spine::kSealMax;
  o.log.reserve_bytes = 2 * spine::kSealMax;
  o.spool_bytes = 4096;
  return o;
}

Sound made(bool pruned) {
  Sound sound;
  spine::MemoryDisk disk;
  {
    const auto store = *spine::Store::open(disk, options(), kNow);
    Rng rng(13, "files");
    for (int i = 0; i < 400; ++i) {
      event::Record record = event::gen::record_of(3, rng);
      const Instant now = kNow + static_cast<std::int64_t>(i) * kSecond;
      const RequestId id = make_request_id(now, rng);
      record.id = {id.high, id.low};
      std::get<event::FirstToken>(record.event).id = id;
      sound.events.emplace_back(event::key_of(record), *event::encode(record));
      const auto& [key, bytes] = sound.events.back();
      ACE_CHECK(store->spool(0).offer(key, bytes) != 0 && store->drain(now).has_value(), "an event was refused");
    }
  }
  if (pruned) ACE_CHECK(spine::prune(disk, 1).has_value(), "the log of a test cannot be pruned");
  const std::vector<std::string> names = *disk.list();
  for (const std::string& name : names) sound.files[name] = disk.bytes(name);
  return sound;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Sound kSound[] = {made(false), made(true)};
  if (size < 2) return 0;
  const Sound& sound = kSound[data[0] & 1];
  const std::string name = kNames[data[1] % std::size(kNames)];
  spine::MemoryDisk disk;
  for (const auto& [other, bytes] : sound.files) disk.put(other, bytes);
  const auto there = sound.files.find(name);
  std::string bytes = there == sound.files.end() ? "" : there->second;
  if ((data[0] & 2) != 0) {  // bytes of any kind
    bytes.assign(reinterpret_cast<const char*>(data + 2), size - 2);
  } else {
    for (std::size_t at = 2; at + 4 <= size; at += 4) {
      std::uint16_t place = 0;
      std::memcpy(&place, data + at, sizeof place);
      if (bytes.empty()) break;
      if (data[at + 3] == 0xff)
        bytes.resize(place % bytes.size());
      else
        bytes[place % bytes.size()] = static_cast<char>(data[at + 2]);
    }
  }
  disk.put(name, bytes);
  const Result<std::unique_ptr<spine::Store>> store = spine::Store::open(disk, options(), kLater);
  if (!store) {
    ACE_CHECK(!store.error().what().empty(), "a refusal says why");
    return 0;
  }
  const auto read = spine::read_log(disk, {}, [](const spine::Frame&) { return Result<void>(); });
  ACE_CHECK(read.has_value() && !read->torn, "a log that was opened does not read");
  // A spool or a list with another content and a right checksum is beyond this: there is none among random bytes.
  if (name != "00000001.keys" && name != "00000002.keys") return 0;
  for (std::size_t i = 0; i < sound.events.size(); i += 17) {
    const auto& [key, event] = sound.events[i];
    const Result<spine::Appended> again = (*store)->log().append(key, event, kLater);
    ACE_CHECK(again.has_value() && (again->outcome == spine::Appended::Outcome::exists ||
                                    (again->outcome == spine::Appended::Outcome::too_old && (data[0] & 1) != 0)),
              "an event that is there was not known again");
  }
  return 0;
}
