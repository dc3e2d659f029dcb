/// No changed byte of a log is accepted where its key and a statement of its end are known from elsewhere, and bytes of
/// any kind are read without harm. The input is a list of edits to a sound log; checksums of records are put right
/// afterwards, so that what refuses an edit is the chain and not the checksum.
#include <algorithm>
#include <cstring>

#include "verify/log_testing.h"
#include "verify/segment.h"

namespace {

using ace::verify::Written;

struct Sound {
  Written log;
  std::string statement;  ///< of the very end, as an outside checkpoint would have it
};

const Sound& sound() {
  static const Sound made = [] {
    ace::Rng rng(11, "fuzz");
    Sound s{ace::verify::written_log(rng, 90), ""};
    s.statement = to_note(ace::spine::Checkpoint{"acme/spine", s.log.next, s.log.root, s.log.chain, ace::Instant{}},
                          ace::verify::test_signer());
    return s;
  }();
  return made;
}

/// What nothing protects but the checksum: when a segment was made, the flags of a seal; and how many zeros follow.
std::string protected_part(std::string bytes) {
  if (bytes.size() >= 512) bytes.replace(12, 4, 4, '\0').replace(80, 8, 8, '\0');
  for (std::size_t at = 512; at + 40 <= bytes.size(); at += 8)
    if (bytes.compare(at, 4, "ACE1") == 0 && bytes[at + 12] == 4) bytes.replace(at + 4, 4, 4, '\0')[at + 14] = 0;
  const std::size_t last = bytes.find_last_not_of('\0');
  return bytes.substr(0, last == bytes.npos ? 0 : last + 1);
}

void mend_checksums(std::string& bytes) {
  for (std::size_t at = 512; at + 40 <= bytes.size(); at += 8) {
    std::uint32_t length = 0;
    std::memcpy(&length, bytes.data() + at + 8, sizeof length);
    if (bytes.compare(at, 4, "ACE1") != 0 || length > bytes.size() || at + 40 + length > bytes.size()) continue;
    const std::uint32_t crc = ace::verify::checksum(std::string_view(bytes).substr(at + 8, 32 + length));
    std::memcpy(bytes.data() + at + 4, &crc, sizeof crc);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::map<std::string, std::string> files = sound().log.files;
  if (size < 1) return 0;
  std::string& bytes = files[ace::verify::segment_name(1 + data[0] % 2)];
  const bool mend = (data[0] & 2) != 0;
  if ((data[0] & 4) != 0) {  // bytes of any kind behind a good head
    bytes.resize(512);
    bytes.append(reinterpret_cast<const char*>(data + 1), size - 1);
  } else {
    for (std::size_t at = 1; at + 6 <= size; at += 6) {
      std::uint16_t place = 0, other = 0;
      std::memcpy(&place, data + at + 1, sizeof place);
      std::memcpy(&other, data + at + 3, sizeof other);
      const std::size_t from = place % (bytes.size() + 1), to = other % (bytes.size() + 1);
      switch (data[at] % 5) {
        case 0:
          if (from < bytes.size()) bytes[from] = static_cast<char>(bytes[from] ^ data[at + 5]);
          break;
        case 1:
          bytes.erase(from / 8 * 8, data[at + 5] * std::size_t{8});
          break;
        case 2:
          bytes.insert(from / 8 * 8, bytes.substr(to / 8 * 8, data[at + 5] * std::size_t{8}));
          break;
        case 3:
          if (from != 0) bytes.resize(from);
          break;
        default: {
          const auto begin = bytes.begin();
          const auto low = static_cast<std::ptrdiff_t>(std::min(from, to)),
                     high = static_cast<std::ptrdiff_t>(std::max(from, to));
          const std::ptrdiff_t count =
              std::min<std::ptrdiff_t>({data[at + 5], high - low, static_cast<std::ptrdiff_t>(bytes.size()) - high});
          std::swap_ranges(begin + low, begin + low + count, begin + high);
        }
      }
    }
  }
  if (mend) mend_checksums(bytes);
  bool changed = false;
  for (const auto& [name, was] : sound().log.files)
    changed = changed || protected_part(files[name]) != protected_part(was);
  ace::verify::Pins pins;
  pins.key = sound().log.key;
  pins.held = {{"statement", sound().statement}};
  const ace::verify::Finding found = ace::verify::check(files, pins);
  ACE_CHECK(!changed || found.difference || found.unfinished, "changed bytes were accepted");
  if (found.difference && files.contains(found.difference->file))
    ACE_CHECK(found.difference->offset <= files[found.difference->file].size(), "a difference outside of its file");
  return 0;
}
