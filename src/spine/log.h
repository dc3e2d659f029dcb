#pragma once
/// The log: segments in a directory, written by one writer, each record after the one before it. The only place that
/// decides what is durable, and what may be cut after a crash. docs/SPINE.md.
///
/// Start with `Log::open`, `append` and `commit`.
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/time.h"
#include "spine/checkpoint.h"
#include "spine/disk.h"
#include "spine/keys.h"
#include "spine/segment.h"

namespace ace::spine {

struct LogOptions {
  std::string origin = "ace/spine";  ///< of a log that is made new; a label
  LogId id{};                        ///< likewise: random bytes
  std::uint32_t segment_bytes = 64U << 20;
  std::uint32_t reserve_bytes = 1U << 20;  ///< kept allocated, to say that the disk is full and to end in good order
  Durability durability = Durability::group;
  std::uint64_t checkpoint_records = 100'000;  ///< a signed checkpoint after this many records or this long
  Duration checkpoint_every = kMinute;
  const Signer* signer = nullptr;      ///< no checkpoints without
  std::optional<std::uint64_t> least;  ///< size of the latest checkpoint held outside: a shorter log is a rollback
};

/// What became of one append.
struct Appended {
  enum class Outcome : std::uint8_t {
    created,
    exists,    ///< the same event is there already
    conflict,  ///< another content was there first: kept apart and counted
    too_old,   ///< its time is before what was pruned: nobody can say whether it was there
  } outcome = Outcome::created;
  std::uint64_t sequence = 0;  ///< of the record, or of the one that was there
};
std::string_view name_of(Appended::Outcome outcome);

/// What opening found.
struct Recovery {
  bool created = false;
  std::uint64_t records = 0;
  std::uint64_t bytes_cut = 0;  ///< of a torn tail that was never acknowledged
  std::uint32_t cut_segment = 0, cut_offset = 0;
  std::string cut_because;
  Instant last_word{};    ///< until then, by the clock of its writer, the log is known to be whole
  bool may_lack = false;  ///< it ends in relaxed records and nothing says that its writer stopped in good order
};

/// What is left of segments that were pruned: enough to go on verifying.
struct Pruned {
  std::uint32_t segments = 0;  ///< 1..segments are gone
  Seal rest;                   ///< over all their records
};

class Log {
 public:
  /// Opens the log in `disk`, or makes a new one where there is none. Cuts a torn tail that nobody was told was
  /// durable; whatever else is wrong is refused with its place, and nothing is changed.
  /// @return corrupt, naming segment and offset; check_failed for a rollback; unavailable, out_of_range for the disk
  static Result<Log> open(Disk& disk, const LogOptions& options, Instant now, Recovery& recovery);

  /// Adds an event to the batch. Not durable before commit().
  /// @param bytes of encode() @return unavailable after a failure (open the log again), out_of_range while the disk is
  /// full
  Result<Appended> append(const event::Key& key, std::string_view bytes, Instant now);
  /// An event of the log's owner about itself, named by its place.
  Result<void> append_own(event::Event event, Instant now);
  /// Writes the batch, with a checkpoint if one is due.
  /// @param sync make it durable now; else a later commit does
  Result<void> commit(Instant now, bool sync = true);
  /// A checkpoint over everything before it; part of the next commit. Nothing happens without a signer.
  Result<void> checkpoint(Instant now);
  /// A checkpoint by which the signer hands over to another key; part of the next commit, after which only that key
  /// signs. @param successor outlives the log @return unavailable if the log has no signer or no room
  Result<void> hand_over(const Signer& successor, Instant now);

  [[nodiscard]] std::uint64_t next() const { return next_; }        ///< sequence number of the next record
  [[nodiscard]] std::uint64_t durable() const { return durable_; }  ///< records below it are on the disk
  [[nodiscard]] std::size_t pending_bytes() const { return batch_.size(); }
  [[nodiscard]] const Digest& chain() const { return chain_; }
  [[nodiscard]] Digest root();
  [[nodiscard]] const LogId& id() const { return id_; }
  [[nodiscard]] const std::string& origin() const { return origin_; }
  [[nodiscard]] std::uint64_t conflicts() const { return conflicts_; }
  [[nodiscard]] const std::optional<Error>& failure() const { return failure_; }
  /// The disk is full: only what says so is written, until resume() finds room.
  [[nodiscard]] bool full() const { return full_; }
  Result<void> resume(Instant now);
  [[nodiscard]] const std::string& last_checkpoint() const { return last_note_; }
  /// Removes the segments that ask_to_prune() asked for, if somebody did and they are sealed. The log goes on.
  /// @return as the disk; nothing is lost if it fails
  Result<void> prune_as_asked(Instant now);

  struct Identity {
    LogId id{};
    std::string origin;
  };
  static Result<Identity> identity(Disk& disk);

 private:
  Log(Disk& disk, const LogOptions& options) : disk_(&disk), options_(options), keys_(disk) {}
  Result<void> put_note(const std::string& note, Instant now);
  Result<void> create(Instant now);
  Result<void> recover(Instant now, Recovery& recovery);
  Result<void> recover_sealed(const std::vector<std::uint32_t>& numbers, const Pruned& pruned);
  Result<void> refuse_before(const Pruned& pruned, Instant now);
  Result<void> recover_last(std::uint32_t number, Instant now, Recovery& recovery);
  Result<void> seal_again(File& file, std::string_view segment, std::uint32_t at);
  Result<void> cut(std::string_view segment, const SegmentEnd& end, Recovery& recovery);
  Result<SegmentHead> checked_head(std::string_view bytes, std::uint32_t number) const;
  Result<void> prepare(std::uint64_t bytes);
  Result<void> start_segment(std::uint32_t number, const std::string& from, Instant now);
  Result<void> seal_segment();
  Result<void> roll(Instant now);
  Result<void> make_reserve();
  Result<void> disk_full(Instant now);
  Result<void> put(RecordType type, std::string_view payload, Instant now);
  Result<void> put_own(event::Event event, Instant now);
  Result<void> flush(bool sync);
  Result<std::optional<Appended>> look_up(const event::Key& key, std::string_view bytes);
  Result<std::vector<Address>> places_of(const event::Key& key);
  Result<std::string> record_at(Address address);
  Result<void> restore_keys(std::uint32_t segment);
  Result<void> fail(Error error);
  void note_key(const event::Key& key, Address address);
  void mark_durable();

  Disk* disk_;
  LogOptions options_;
  Keys keys_;
  Sha256 sha_;
  LogId id_{};
  std::string origin_;
  std::unique_ptr<Mapping> acked_;  ///< how much was acknowledged, for the next one who opens
  std::unique_ptr<File> file_;      ///< the segment that grows
  SegmentHead head_;
  std::uint32_t capacity_ = 0, written_ = 0;  ///< bytes of that segment: in all, and written so far
  std::string batch_;                         ///< not written yet
  std::uint64_t next_ = 0, durable_ = 0, conflicts_ = 0;
  std::optional<std::uint64_t> pruned_ms_;  ///< ids up to this time may have been in what was pruned
  Digest chain_{};
  CompactRange tree_, segment_tree_;
  std::uint64_t id_ms_min_ = ~std::uint64_t{0}, id_ms_max_ = 0;
  std::uint64_t checkpoint_size_ = 0;
  std::optional<Instant> checkpoint_at_;
  std::string last_note_;
  bool full_ = false;
  Instant full_since_{};
  std::optional<Error> failure_;
};

Result<Pruned> pruned_of(Disk& disk);  ///< none = 0 segments
/// Removes sealed segments up to and with `last`; what they held stays in the roots.
/// @return bad_input if one of them is not sealed or is the last one
Result<Pruned> prune(Disk& disk, std::uint32_t last);
/// Up to which segment the writer is asked to remove them.
inline constexpr const char* kPruneAsked = "prune";
/// prune() beside a running writer: leaves word in a file of that name; the writer looks within a second, and removes
/// the file.
Result<void> ask_to_prune(Disk& disk, std::uint32_t last);

}  // namespace ace::spine
