#include "spine/frame.h"

#include <algorithm>

#include "core/little_endian.h"
#include "spine/crc32c.h"

namespace ace::spine {
using namespace little_endian;
namespace {
constexpr std::string_view kChain("\2", 1);
}

std::string_view name_of(Durability durability) {
  switch (durability) {
    case Durability::strict:
      return "strict";
    case Durability::group:
      return "group";
    case Durability::relaxed:
      return "relaxed";
  }
  return "unknown";
}

std::string to_text(Address address) {
  return "segment " + std::to_string(address.segment) + ", offset " + std::to_string(address.offset);
}

void append_frame(std::string& out, const Frame& f) {
  const std::size_t start = out.size();
  ACE_CHECK(f.payload.size() <= kPayloadMax, "a record larger than its limit");
  put(out, kMagic);
  put(out, std::uint32_t{0});
  put(out, static_cast<std::uint32_t>(f.payload.size()));
  put(out, static_cast<std::uint8_t>(f.type));
  put(out, kFormat);
  put(out, static_cast<std::uint16_t>((f.first_of_batch ? 1U : 0U) | static_cast<unsigned>(f.durability) << 1));
  put(out, f.sequence);
  put(out, f.address.segment);
  put(out, f.address.offset);
  put(out, f.previous);
  out.append(f.payload);
  const std::uint32_t crc = crc32c(std::string_view(out).substr(start + 8));
  std::memcpy(out.data() + start + 4, &crc, sizeof crc);
  out.resize(start + frame_size(f.payload.size()), '\0');
}

Result<Frame> frame_from(std::string_view bytes, Address address) {
  const auto at = [&] { return " at " + to_text(address); };
  if (bytes.size() < kFrameHeader) return Error(Errc::truncated, "the log ends within a record" + at());
  if (get<std::uint32_t>(bytes, 0) != kMagic)
    return Error(Errc::corrupt, "expected a record" + at() + ", got other bytes");
  const auto length = get<std::uint32_t>(bytes, 8);
  if (length > kPayloadMax)
    return Error(Errc::corrupt, "a record" + at() + " says it holds " + std::to_string(length) + " bytes");
  if (bytes.size() < frame_size(length)) return Error(Errc::truncated, "the log ends within the record" + at());
  Frame f;
  f.bytes = bytes.substr(0, kFrameHeader + length);
  f.payload = f.bytes.substr(kFrameHeader);
  const std::string_view padding = bytes.substr(f.bytes.size(), frame_size(length) - f.bytes.size());
  if (crc32c(f.bytes.substr(8)) != get<std::uint32_t>(bytes, 4) || padding.find_first_not_of('\0') != padding.npos)
    return Error(Errc::corrupt, "the record" + at() + " fails its checksum");
  f.version = get<std::uint8_t>(bytes, 13);
  if (f.version > kFormat)
    return Error(Errc::bad_input, "the record" + at() + " is of format " + std::to_string(f.version) +
                                      ", newer than this program; use the version of ace that wrote it");
  const auto type = get<std::uint8_t>(bytes, 12);
  if (type < 1 || type > 4)
    return Error(Errc::bad_input,
                 "the record" + at() + " is of type " + std::to_string(type) + ", which this program does not know");
  f.type = static_cast<RecordType>(type);
  const auto flags = get<std::uint16_t>(bytes, 14);
  f.first_of_batch = (flags & 1) != 0;
  if (flags >> 1 > 2) return Error(Errc::corrupt, "the record" + at() + " has flags that do not exist");
  f.durability = static_cast<Durability>(flags >> 1);
  f.sequence = get<std::uint64_t>(bytes, 16);
  f.address = {get<std::uint32_t>(bytes, 24), get<std::uint32_t>(bytes, 28)};
  if (f.address != address)
    return Error(Errc::corrupt,
                 "the record" + at() + " was written for " + to_text(f.address) + ": a misplaced or stale write");
  f.previous = get<std::uint64_t>(bytes, 32);
  return f;
}

Digest chain_start(Sha256& sha, const LogId& log) {
  return sha({"ace spine", std::string_view(reinterpret_cast<const char*>(log.data()), log.size())});
}
Digest chain_next(Sha256& sha, const Digest& before, const Digest& leaf) {
  return sha({kChain, view(before), view(leaf)});
}
std::uint64_t beginning_of(const Digest& chain) { return get<std::uint64_t>(view(chain), 0); }

}  // namespace ace::spine
