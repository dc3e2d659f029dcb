#include "cli/record.h"

#include <fmt/format.h>

#include <ostream>

#include "core/text.h"

namespace ace::cli {

Result<std::unique_ptr<OpenRecording>> OpenRecording::open(const std::string& directory, std::vector<FleetText> files,
                                                           Fleet& fleet, const Snapshot& snapshot,
                                                           event::FleetChanged::Source source,
                                                           const std::string& checkpoint, Context& context) {
  // The directory first, so that the key has a place to lie.
  if (Result<std::unique_ptr<PosixDisk>> made = PosixDisk::open(directory, PosixDisk::Access::own); !made)
    return std::move(made).error();
  Result<spine::Signer> signer = signer_of(directory);
  if (!signer) return std::move(signer).error();
  std::unique_ptr<OpenRecording> open(new OpenRecording(directory, *std::move(signer)));
  spine::StoreOptions options = store_options(open->signer_, spine::Durability::group);
  options.spool_bytes = 32U << 20;
  if (Result<void> known = not_older_than(checkpoint, options); !known) return std::move(known).error();
  Result<std::unique_ptr<Recording>> recording =
      Recording::open(directory, options, open->clock_, std::move(files), fleet.digest, source);
  if (!recording) return std::move(recording).error();
  open->recording_ = *std::move(recording);
  if (const spine::Recovery& found = open->recording_->recovery(); found.bytes_cut > 0)
    *context.err << fmt::format("ace: cut {} bytes at {}, which nobody was told were durable\n", found.bytes_cut,
                                spine::to_text({found.cut_segment, found.cut_offset}));
  fleet.number = open->recording_->number();
  open->recording_->in_force(snapshot);
  return open;
}

Result<Recording::Counts> OpenRecording::close(Context& context) {
  const std::uint64_t number = recording_->number();
  Result<Recording::Counts> counts = recording_->close();
  if (!counts) return counts;
  const auto text = [](std::uint64_t count) { return grouped(static_cast<int128>(count)); };
  *context.err << fmt::format("ace: {} events recorded in {} under fleet snapshot {}, {} were there already\n",
                              text(counts->created), directory_, number, text(counts->exists));
  if (counts->too_old > 0)
    return Error(Errc::bad_input,
                 fmt::format("{} events are older than what was pruned from {}: nobody can say whether "
                             "they were there, so they were not recorded",
                             text(counts->too_old), directory_));
  if (counts->conflict > 0)
    return Error(Errc::conflict, fmt::format("{} events differ from what {} holds under the same ids, and were kept "
                                             "apart (`ace spine tail` shows them): was the same log recorded before "
                                             "with other options or under another fleet file, or changed since?",
                                             text(counts->conflict), directory_));
  return counts;
}

}  // namespace ace::cli
