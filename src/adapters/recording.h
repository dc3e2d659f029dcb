#pragma once
/// Events on their way to a spine: their fleet first, each name before its first use, each event once.
#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "adapters/fleet_files.h"
#include "adapters/resume.h"
#include "adapters/spine_writer.h"
#include "core/names.h"

namespace ace {

class Recording {
 public:
  /// What became of the events.
  struct Counts {
    std::uint64_t created = 0, exists = 0, conflict = 0, too_old = 0;
  };

  /// What append() does while the writer is behind.
  enum class Behind : std::uint8_t { wait, refuse };

  /// Opens the spine in `directory`, or makes one, and reads which names and fleets it holds.
  /// @param clock of the writer; it outlives the recording
  static Result<std::unique_ptr<Recording>> open(const std::string& directory, const spine::StoreOptions& options,
                                                 Clock& clock, Behind behind);

  // For a live shell, which has several fleets one after the other. Not for several threads at once.

  /// Keeps the files of a fleet, durably. May be called while another thread records.
  [[nodiscard]] Result<void> keep(const std::vector<FleetText>& files) const;
  /// A number under which this fleet is in force from now on, and says so.
  /// @param anew a number that nothing was recorded under; else that of the very same fleet from the same source, if
  /// the spine has it @param source a fleet is known apart for each @return as append()
  Result<std::uint64_t> declare(const Snapshot& fleet, const std::vector<FleetText>& files,
                                event::FleetChanged::Source source, Instant at, bool anew);
  /// The number that a name has on this spine; "" has 0. @return as append()
  Result<std::uint32_t> symbol(event::Named::Kind kind, std::string_view name, Instant at);
  /// Puts a record into the spool as it is.
  /// @return as encode(); unavailable if the log failed, its disk is full, or the writer is behind and nobody waits
  Result<void> append(const event::Record& record);
  [[nodiscard]] spine::Health health() { return writer_->health(); }
  /// Of what was appended last. By the thread that appends.
  [[nodiscard]] std::uint64_t position() const { return position_; }
  /// Calls `then` once everything up to that position is settled: durable, or in mode `relaxed` with the kernel. At
  /// once if it is already, else on the writing thread, which it must not hold up; never if the log fails before.
  void when_settled(std::uint64_t position, std::function<void()> then);

  // For a run that has one fleet, and symbols of its own.

  /// The same, for a run on one fleet. @param files of it, the fleet file first; they are kept
  /// @param source where the events come from
  static Result<std::unique_ptr<Recording>> open(const std::string& directory, const spine::StoreOptions& options,
                                                 Clock& clock, std::vector<FleetText> files, std::uint64_t digest,
                                                 event::FleetChanged::Source source);
  /// The number that the fleet has on this spine: that of the very same one, else the next.
  [[nodiscard]] std::uint64_t number() const { return number_; }
  /// Says with the first event that this fleet is in force. @param fleet compiled under number(); it outlives the
  /// recording
  void in_force(const Snapshot& fleet) { fleet_ = &fleet; }
  /// The tables of the symbols that the records hold; they outlive the recording. Symbol 0 of `projects` and `keys` is
  /// none.
  struct Tables {
    const Interner &tenants, &teams, &projects, &keys;
  };
  /// @param stable are masks the same in every run? @see Masker
  void names(const Tables& tables, bool stable);
  /// Hands an event over. @return bad_input for a name whose mask would be another next time; as append()
  Result<void> operator()(event::Record record);

  /// Everything recorded so far is durable when this returns. From any thread.
  Result<void> flush() { return writer_->flush(); }
  /// Everything is durable when this returns.
  Result<Counts> close();
  [[nodiscard]] const spine::Recovery& recovery() const { return writer_->recovery(); }

 private:
  Recording() = default;
  /// What is to be heard of a log beside its names and fleets, while it is read.
  struct Listener {
    std::function<bool(event::Kind)> wants;
    std::function<void(const event::Record&)> hear;  ///< names and fleets too
  };
  static Result<std::unique_ptr<Recording>> open(const std::string& directory, const spine::StoreOptions& options,
                                                 Clock& clock, Behind behind, const Listener& listener);
  /// Names of one kind in the source, and the numbers they have on the spine.
  struct Table {
    event::Named::Kind kind = event::Named::Kind::tenant;
    const Interner* names = nullptr;
    std::vector<std::optional<std::uint32_t>> symbols{};  ///< by symbol of the source
  };
  [[nodiscard]] bool declared(event::Named::Kind kind, const std::string& name) const;
  Result<std::uint32_t> symbol(Table& table, std::uint32_t of_source, Instant at);
  void settle(std::uint64_t position);
  [[nodiscard]] std::optional<std::uint64_t> recorded_as(const std::vector<FleetText>& files, std::uint64_t digest,
                                                         event::FleetChanged::Source source) const;

  std::string directory_;
  std::unique_ptr<SpineWriter> writer_;
  Behind behind_ = Behind::wait;
  std::map<std::uint64_t, event::FleetChanged> fleets_;  ///< that the log tells of
  event::Symbols symbols_;
  std::deque<event::Record> unsaid_;  ///< names that have a number, and could not be written yet
  std::atomic<std::uint64_t> created_{0}, exists_{0}, conflict_{0}, too_old_{0};
  std::uint64_t position_ = 0;  ///< in the spool
  std::mutex waiting_mutex_;
  std::uint64_t settled_ = 0;                                      ///< position
  std::multimap<std::uint64_t, std::function<void()>> waiting_{};  ///< by position
  // Of a run on one fleet.
  std::vector<FleetText> files_;
  event::FleetChanged::Source source_ = event::FleetChanged::Source::simulated;
  std::uint64_t number_ = 1;
  bool known_ = false;  ///< the log says already that this fleet is in force
  const Snapshot* fleet_ = nullptr;
  Table tenants_, teams_, projects_, keys_;
  bool stable_ = false;
  Resume resume_;
};

}  // namespace ace
