#include "spine/segment.h"

#include <fmt/format.h>

#include "core/little_endian.h"
#include "core/zeros.h"
#include "spine/crc32c.h"

namespace ace::spine {
using namespace little_endian;
namespace {

constexpr std::string_view kHeadMagic = "ACESEG01";
constexpr std::uint32_t kNoFooter = 8;

Error bad(std::uint32_t segment, std::uint32_t offset, std::string_view what) {
  return Error(Errc::corrupt, fmt::format("{}: {}", to_text({segment, offset}), what));
}

}  // namespace

std::string segment_name(std::uint32_t number) { return fmt::format("{:08}.seg", number); }

std::optional<std::uint32_t> segment_number(const std::string& name) {
  if (name.size() != 12 || !name.ends_with(".seg")) return std::nullopt;
  std::uint32_t number = 0;
  for (const char c : name.substr(0, 8)) {
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + static_cast<std::uint32_t>(c - '0');
  }
  return number;
}

std::string to_bytes(const SegmentHead& head) {
  std::string bytes(kHeadMagic);
  put(bytes, std::uint32_t{kFormat});
  put(bytes, std::uint32_t{0});
  bytes.append(reinterpret_cast<const char*>(head.log.data()), head.log.size());
  put(bytes, head.number);
  put(bytes, std::uint32_t{0});
  put(bytes, head.first);
  bytes.append(view(head.chain));
  put(bytes, head.created_ns);
  bytes.resize(kSegmentHead, '\0');
  const std::uint32_t crc = crc32c(std::string_view(bytes).substr(16));
  std::memcpy(bytes.data() + 12, &crc, sizeof crc);
  return bytes;
}

Result<SegmentHead> head_from(std::string_view bytes, std::uint32_t number) {
  if (bytes.size() < kSegmentHead) return bad(number, 0, "the file ends within its head");
  bytes = bytes.substr(0, kSegmentHead);
  if (!bytes.starts_with(kHeadMagic)) return bad(number, 0, "expected the head of a segment, got other bytes");
  if (const auto version = get<std::uint32_t>(bytes, 8); version > kFormat)
    return Error(Errc::bad_input,
                 fmt::format("{}: format {} is newer than this program", to_text({number, 0}), version));
  if (get<std::uint32_t>(bytes, 8) != kFormat || crc32c(bytes.substr(16)) != get<std::uint32_t>(bytes, 12))
    return bad(number, 0, "the head fails its checksum");
  SegmentHead head;
  std::memcpy(head.log.data(), bytes.data() + 16, head.log.size());
  head.number = get<std::uint32_t>(bytes, 32);
  head.first = get<std::uint64_t>(bytes, 40);
  head.chain = digest_from(bytes.substr(48, 32));
  head.created_ns = get<std::int64_t>(bytes, 80);
  if (head.number != number) return bad(number, 0, fmt::format("it is segment {} under another name", head.number));
  return head;
}

std::string to_bytes(const Seal& seal) {
  std::string bytes;
  put(bytes, seal.first);
  put(bytes, seal.end);
  bytes.append(view(seal.chain));
  put(bytes, seal.id_ms_min);
  put(bytes, seal.id_ms_max);
  put(bytes, std::uint64_t{seal.tree.nodes().size()});
  for (const Digest& node : seal.tree.nodes()) bytes.append(view(node));
  put(bytes, std::uint64_t{frame_size(bytes.size() + kNoFooter)});
  return bytes;
}

Result<Seal> seal_from(std::string_view payload) {
  const Error wrong(Errc::corrupt, "a seal that does not hold together");
  if (payload.size() < 80) return wrong;
  Seal seal;
  seal.first = get<std::uint64_t>(payload, 0);
  seal.end = get<std::uint64_t>(payload, 8);
  seal.chain = digest_from(payload.substr(16, 32));
  seal.id_ms_min = get<std::uint64_t>(payload, 48);
  seal.id_ms_max = get<std::uint64_t>(payload, 56);
  const auto count = get<std::uint64_t>(payload, 64);
  if (seal.end < seal.first || count > 126 || payload.size() != 80 + 32 * count) return wrong;
  std::vector<Digest> nodes;
  for (std::size_t i = 0; i < count; ++i) nodes.push_back(digest_from(payload.substr(72 + 32 * i, 32)));
  Result<CompactRange> tree = CompactRange::from(seal.first, seal.end, std::move(nodes));
  if (!tree) return wrong;
  seal.tree = *std::move(tree);
  return seal;
}

Result<std::optional<Seal>> seal_at_end(File& file, std::uint32_t number) {
  const Result<std::uint64_t> size = file.size();
  if (!size) return Error(size.error());
  if (*size < kSegmentHead + 8 || *size > 0xffff'ffffU) return std::optional<Seal>();
  const std::uint64_t from = std::max<std::uint64_t>(kSegmentHead, *size < kSealMax ? 0 : *size - kSealMax);
  const Result<std::string> tail = file.read(from, *size - from);
  if (!tail) return Error(tail.error());
  if (tail->size() < 8) return std::optional<Seal>();
  const auto length = get<std::uint64_t>(*tail, tail->size() - 8);
  if (length < kFrameHeader + 80 || length > tail->size() || length % 8 != 0) return std::optional<Seal>();
  const Result<Frame> frame = frame_from(std::string_view(*tail).substr(tail->size() - length),
                                         {number, static_cast<std::uint32_t>(*size - length)});
  if (!frame || frame->type != RecordType::seal) return std::optional<Seal>();
  Result<Seal> seal = seal_from(frame->payload);
  if (!seal) return std::move(seal).error().with(to_text(frame->address));
  if (beginning_of(seal->chain) != frame->previous || frame->sequence != seal->end)
    return bad(number, frame->address.offset, "the seal contradicts itself");
  return std::optional<Seal>(*std::move(seal));
}

Result<SegmentEnd> walk(Sha256& sha, std::string_view segment, const SegmentHead& head,
                        const std::function<Result<void>(const Frame&, const Digest& chain)>& visit) {
  SegmentEnd end;
  end.next = head.first;
  end.chain = head.chain;
  end.tree = CompactRange(head.first);
  end.batch_start = kSegmentHead;
  std::size_t at = kSegmentHead;
  const auto stop = [&](Error error) {
    end.kind = SegmentEnd::Kind::bad;
    end.wrong = std::move(error);
  };
  while (true) {
    end.offset = static_cast<std::uint32_t>(at);
    const std::string_view rest = segment.substr(std::min(at, segment.size()));
    if (rest.size() < kFrameHeader || get<std::uint32_t>(rest, 0) == 0) {
      const std::size_t dirt = first_not_zero(rest);
      if (dirt == rest.npos) break;
      stop(bad(head.number, static_cast<std::uint32_t>(at + dirt),
               "expected zeros after the last record, got other bytes"));
      break;
    }
    const Result<Frame> frame = frame_from(rest, {head.number, end.offset});
    if (!frame) {
      stop(frame.error());
      break;
    }
    if (frame->sequence != end.next || frame->previous != beginning_of(end.chain)) {
      stop(bad(head.number, end.offset,
               frame->sequence != end.next
                   ? fmt::format("expected record {}, got record {}", end.next, frame->sequence)
                   : std::string("the chain is broken: this record does not follow the one before it")));
      break;
    }
    if (frame->type == RecordType::seal) {
      const Result<Seal> seal = seal_from(frame->payload);
      const std::string_view behind = rest.substr(frame_size(frame->payload.size()));
      if (!seal || seal->first != head.first || seal->end != end.next || seal->chain != end.chain ||
          seal->tree != end.tree) {
        stop(bad(head.number, end.offset, "the seal does not fit the records before it"));
      } else if (first_not_zero(behind) != behind.npos) {
        stop(bad(head.number, end.offset, "there are bytes behind the seal"));
      } else {
        end.kind = SegmentEnd::Kind::sealed;
      }
      break;
    }
    const Digest leaf = leaf_hash(sha, frame->bytes);
    end.chain = chain_next(sha, end.chain, leaf);
    end.tree.append(sha, leaf);
    if (frame->first_of_batch) end.batch_start = end.offset;
    ++end.next;
    at += frame_size(frame->payload.size());
    if (Result<void> seen = visit(*frame, end.chain); !seen) return std::move(seen).error();
  }
  return end;
}

bool later_batch(std::string_view segment, std::uint32_t number, std::uint32_t offset) {
  for (std::size_t at = offset; at + kFrameHeader <= segment.size(); at += 8) {
    if (get<std::uint32_t>(segment, at) != kMagic) continue;
    const Result<Frame> frame = frame_from(segment.substr(at), {number, static_cast<std::uint32_t>(at)});
    if (frame && (frame->first_of_batch || frame->type == RecordType::seal)) return true;
  }
  return false;
}

}  // namespace ace::spine
