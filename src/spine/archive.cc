#include "spine/archive.h"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <optional>

#include "spine/log.h"
#include "spine/log_files.h"
#include "spine/segment.h"

namespace ace::spine {
namespace {

constexpr std::string_view kPacked = ".zst";
constexpr std::uint64_t kUnpackedMax = 1U << 30;
constexpr int kLevel = 3;

/// The segment of which this is the archived copy.
std::optional<std::uint32_t> packed_segment(const std::string& name) {
  if (!name.ends_with(kPacked)) return std::nullopt;
  return segment_number(name.substr(0, name.size() - kPacked.size()));
}

/// Bytes as a file that is only read.
class BytesFile : public File {
 public:
  explicit BytesFile(std::string bytes) : bytes_(std::move(bytes)) {}
  Result<std::uint64_t> size() override { return bytes_.size(); }
  Result<std::string> read(std::uint64_t offset, std::size_t length) override {
    return offset < bytes_.size() ? bytes_.substr(offset, length) : std::string();
  }
  Result<void> write(std::uint64_t, std::string_view) override { return only_read(); }
  Result<void> allocate(std::uint64_t) override { return only_read(); }
  Result<void> truncate(std::uint64_t) override { return only_read(); }
  Result<void> sync() override { return only_read(); }

 private:
  static Error only_read() { return Error(Errc::unavailable, "an archive is only read"); }
  std::string bytes_;
};

Result<std::string> read_packed(Disk& disk, std::uint32_t number) {
  const std::string name = segment_name(number) + std::string(kPacked);
  const Result<std::string> bytes = read_whole(disk, name);
  if (!bytes) return bytes;
  Result<std::string> whole = unpacked(*bytes);
  if (!whole) return std::move(whole).error().with(name);
  return whole;
}

/// Where the records of a log stand between two segments.
struct Standing {
  std::uint64_t next = 0;
  Digest chain{};
};

class Archiver {
 public:
  Archiver(Disk& log, Disk& to) : log_(log), to_(to) {}

  Result<Archived> run() {
    const Result<Log::Identity> identity = Log::identity(log_);
    if (!identity) return Error(identity.error()).with("archiving the log");
    id_ = identity->id;
    Result<void> done = begin();
    if (!done) return std::move(done).error().with("archiving the log");
    const Result<std::vector<std::string>> names = log_.list();
    if (!names) return Error(names.error());
    std::uint32_t newest = 0;
    for (const std::string& name : *names) newest = std::max(newest, segment_number(name).value_or(0));
    for (std::uint32_t number = archived_.last + 1; number <= newest; ++number) {
      const Result<bool> copied = copy(number);
      if (!copied) return Error(copied.error()).with("archiving the log");
      if (!*copied) break;  // the one that grows
    }
    return archived_;
  }

 private:
  /// The archive is of this log, and continues where it ends; an empty one begins where the log does.
  Result<void> begin() {
    const Result<std::vector<std::string>> names = to_.list();
    if (!names) return Error(names.error());
    for (const std::string& name : *names) archived_.last = std::max(archived_.last, packed_segment(name).value_or(0));
    const Result<Pruned> pruned = pruned_of(log_);
    if (!pruned) return Error(pruned.error());
    const Result<std::string> ours = read_whole(log_, kIdentity), theirs = read_whole(to_, kIdentity);
    if (!ours) return Error(ours.error());
    if (theirs && *theirs != *ours) return Error(Errc::conflict, "the archive is of another log");
    if (!theirs && theirs.error().code() != Errc::not_found) return Error(theirs.error());
    if (archived_.last == 0) return begin_empty(*ours, *pruned);
    if (!theirs) return Error(Errc::corrupt, "the archive has lost its file \"log\"");
    if (pruned->segments > archived_.last)
      return Error(Errc::conflict, fmt::format("segments {} to {} were removed without being archived; archive to an "
                                               "empty directory, which then begins behind them",
                                               archived_.last + 1, pruned->segments));
    const Result<Pruned> before = pruned_of(to_);
    if (!before) return Error(before.error());
    archived_.first = before->segments + 1;
    const Result<std::string> last = read_packed(to_, archived_.last);
    if (!last) return Error(last.error());
    return follow(archived_.last, *last, false);
  }

  Result<void> begin_empty(const std::string& identity, const Pruned& pruned) {
    if (pruned.segments != 0) {
      const Result<std::string> rest = read_whole(log_, kPruned);
      if (!rest) return Error(rest.error());
      if (Result<void> done = write_whole(to_, kPruned, *rest); !done) return done;
    }
    archived_.first = pruned.segments + 1;
    archived_.last = pruned.segments;
    standing_ = {pruned.rest.end, pruned.segments == 0 ? chain_start(sha_, id_) : pruned.rest.chain};
    return write_whole(to_, kIdentity, identity);
  }

  /// Moves the standing behind a sealed segment, every record checked. @param check that it follows where we stand
  Result<void> follow(std::uint32_t number, std::string_view bytes, bool check) {
    const Result<SegmentHead> head = head_from(bytes, number);
    if (!head) return Error(head.error());
    if (head->log != id_) return Error(Errc::corrupt, to_text({number, 0}) + ": this segment is of another log");
    if (check && (head->first != standing_.next || head->chain != standing_.chain))
      return Error(Errc::corrupt, to_text({number, 0}) + ": this segment does not follow the one before it");
    const Result<SegmentEnd> end = walk(sha_, bytes, *head, [](const Frame&, const Digest&) { return Result<void>(); });
    if (!end) return Error(end.error());
    if (end->wrong) return *end->wrong;
    if (end->kind != SegmentEnd::Kind::sealed)
      return Error(Errc::corrupt, fmt::format("segment {} has no seal", number));
    standing_ = {end->next, end->chain};
    return {};
  }

  /// @return false if it is not sealed
  Result<bool> copy(std::uint32_t number) {
    Result<std::unique_ptr<File>> file = log_.open(segment_name(number), false);
    if (!file) return std::move(file).error();
    const Result<std::optional<Seal>> seal = seal_at_end(**file, number);
    if (!seal) return Error(seal.error());
    if (!*seal) return false;
    const Result<std::string> bytes = read_whole(log_, segment_name(number));
    if (!bytes) return Error(bytes.error());
    if (Result<void> done = follow(number, *bytes, true); !done) return std::move(done).error();
    const std::string small = packed(*bytes);
    if (Result<void> done = write_whole(to_, segment_name(number) + std::string(kPacked), small); !done)
      return std::move(done).error();
    const Result<std::string> again = read_packed(to_, number);
    if (!again) return Error(again.error());
    if (*again != *bytes)
      return Error(Errc::unavailable,
                   fmt::format("segment {} reads back as other bytes: the archive's disk fails", number));
    archived_.last = number;
    ++archived_.added;
    archived_.bytes += bytes->size();
    archived_.bytes_packed += small.size();
    return true;
  }

  Disk &log_, &to_;
  LogId id_{};
  Sha256 sha_;
  Standing standing_;
  Archived archived_;
};

Error only_read() { return Error(Errc::unavailable, "a log is only read together with its archive"); }

}  // namespace

std::string packed(std::string_view bytes) {
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  const std::unique_ptr<ZSTD_CCtx, std::size_t (*)(ZSTD_CCtx*)> context(ZSTD_createCCtx(), ZSTD_freeCCtx);
  ACE_CHECK(context != nullptr, "no memory for zstd");
  (void)ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, kLevel);
  (void)ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  const std::size_t size = ZSTD_compress2(context.get(), out.data(), out.size(), bytes.data(), bytes.size());
  ACE_CHECK(ZSTD_isError(size) == 0, "zstd has room for every input");
  out.resize(size);
  return out;
}

Result<std::string> unpacked(std::string_view bytes) {
  // Piece by piece: what the frame says of its size is believed only once it is there.
  const std::unique_ptr<ZSTD_DCtx, std::size_t (*)(ZSTD_DCtx*)> context(ZSTD_createDCtx(), ZSTD_freeDCtx);
  ACE_CHECK(context != nullptr, "no memory for zstd");
  std::string out, room(ZSTD_DStreamOutSize(), '\0');
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  std::size_t left = 1;
  while (left != 0) {
    ZSTD_outBuffer piece{room.data(), room.size(), 0};
    const std::size_t read_before = in.pos;
    left = ZSTD_decompressStream(context.get(), &piece, &in);
    if (ZSTD_isError(left) != 0)
      return Error(Errc::corrupt, std::string("expected a sound zstd frame: ") + ZSTD_getErrorName(left));
    out.append(room.data(), piece.pos);
    if (out.size() > kUnpackedMax)
      return Error(Errc::corrupt, fmt::format("expected a zstd frame of at most {} bytes", kUnpackedMax));
    if (left != 0 && piece.pos == 0 && in.pos == read_before)
      return Error(Errc::corrupt, "expected a sound zstd frame: it ends too early");
  }
  if (in.pos != in.size) return Error(Errc::corrupt, "expected one zstd frame, and something follows it");
  return out;
}

Result<Archived> archive(Disk& log, Disk& to) { return Archiver(log, to).run(); }

Result<void> archive_holds(Disk& log, Disk& archived, std::uint32_t first, std::uint32_t last) {
  for (std::uint32_t number = first; number <= last; ++number) {
    const Result<std::string> ours = read_whole(log, segment_name(number)), theirs = read_packed(archived, number);
    if (!ours) return Error(ours.error());
    if (!theirs || *theirs != *ours)
      return Error(Errc::check_failed,
                   fmt::format("the archive does not hold segment {}: {}; run `ace spine archive` first", number,
                               theirs ? "its bytes are others" : theirs.error().what()));
  }
  return {};
}

Result<std::vector<std::string>> ArchivedDisk::list() {
  Result<std::vector<std::string>> names = log_.list();
  const Result<std::vector<std::string>> more = archived_.list();
  if (!names) return names;
  if (!more) return more;
  for (const std::string& name : *more)
    if (const auto number = packed_segment(name)) names->push_back(segment_name(*number));
  std::sort(names->begin(), names->end());
  names->erase(std::unique(names->begin(), names->end()), names->end());
  return names;
}

Result<std::unique_ptr<File>> ArchivedDisk::open(const std::string& name, bool create) {
  if (create) return only_read();
  if (name == kPruned) {  // what the archive begins behind
    const Result<std::vector<std::string>> names = archived_.list();
    if (!names) return Error(names.error());
    const bool holds =
        std::any_of(names->begin(), names->end(), [](const std::string& n) { return packed_segment(n).has_value(); });
    return (holds ? archived_ : log_).open(name, false);
  }
  Result<std::unique_ptr<File>> file = log_.open(name, false);
  if (file || file.error().code() != Errc::not_found) return file;
  const auto number = segment_number(name);
  if (!number) return file;
  Result<std::string> bytes = read_packed(archived_, *number);
  if (!bytes && bytes.error().code() == Errc::not_found) return file;
  if (!bytes) return std::move(bytes).error();
  return std::unique_ptr<File>(std::make_unique<BytesFile>(*std::move(bytes)));
}

Result<void> ArchivedDisk::rename(const std::string&, const std::string&) { return only_read(); }
Result<void> ArchivedDisk::remove(const std::string&) { return only_read(); }
Result<void> ArchivedDisk::sync_directory() { return only_read(); }
Result<std::unique_ptr<Mapping>> ArchivedDisk::map(const std::string&, std::uint64_t) { return only_read(); }

}  // namespace ace::spine
