/// Whatever lies in the file of a segment, reading it ends, and what it shows as sound is: each record fits its place,
/// its number follows, and writing it again gives the same bytes.
#include <cstdint>
#include <string>

#include "spine/spine.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ace;
  using namespace ace::spine;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  Sha256 sha;
  SegmentHead head;
  head.number = 1;
  if (const Result<SegmentHead> read = head_from(bytes, 1)) head = *read;
  std::uint64_t next = head.first;
  std::uint32_t at = kSegmentHead;
  (void)walk(sha, bytes, head, [&](const Frame& frame, const Digest&) -> Result<void> {
    ACE_CHECK(frame.sequence == next++ && frame.address.offset == at,
              "a record that does not follow was shown as sound");
    std::string again;
    append_frame(again, frame);
    ACE_CHECK(bytes.substr(at, again.size()) == again, "a record is not what it says");
    at += static_cast<std::uint32_t>(again.size());
    if (const Result<event::Record> record = event::decode(frame.payload)) (void)event::key_of(*record);
    return {};
  });
  // The same bytes as an event: what decodes encodes, and decodes to the same again.
  if (const Result<event::Record> record = event::decode(bytes)) {
    if (const Result<std::string> once = event::encode(*record)) {
      const Result<event::Record> twice = event::decode(*once);
      ACE_CHECK(twice.has_value() && *event::encode(*twice) == *once, "an event changes when it is written again");
    }
  }
  return 0;
}
