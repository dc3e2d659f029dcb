#pragma once
/// A run's events on their way to a spine: its fleet first, each name before its first use, each event once.
#include <atomic>
#include <functional>
#include <memory>
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

  /// Opens the spine in `directory`, or makes one, and reads which names and fleets it holds. Keeps the files.
  /// @param files of the fleet that runs, the fleet file first
  /// @param clock of the writer; it outlives the recording
  /// @param source where the events come from; a fleet is known apart for each
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
  /// Hands an event over; waits while the writer is behind.
  /// @return bad_input for a name whose mask would be another next time; as encode(); unavailable if the log failed
  Result<void> operator()(event::Record record);
  /// Everything is durable when this returns.
  Result<Counts> close();
  [[nodiscard]] const spine::Recovery& recovery() const { return writer_->recovery(); }

 private:
  Recording() = default;
  /// Names of one kind in the source, and the numbers they have on the spine.
  struct Table {
    event::Named::Kind kind = event::Named::Kind::tenant;
    const Interner* names = nullptr;
    std::vector<std::optional<std::uint32_t>> symbols{};  ///< by symbol of the source
  };
  [[nodiscard]] bool declared(event::Named::Kind kind, const std::string& name) const;
  Result<std::uint32_t> symbol(Table& table, std::uint32_t of_source, Instant at);
  Result<void> append(const event::Record& record);

  std::unique_ptr<SpineWriter> writer_;
  std::vector<FleetText> files_;
  event::FleetChanged::Source source_ = event::FleetChanged::Source::simulated;
  std::uint64_t number_ = 1;
  bool known_ = false;  ///< the log says already that this fleet is in force
  const Snapshot* fleet_ = nullptr;
  event::Symbols symbols_;
  Table tenants_, teams_, projects_, keys_;
  bool stable_ = false;
  Resume resume_;
  std::atomic<std::uint64_t> created_{0}, exists_{0}, conflict_{0}, too_old_{0};
};

}  // namespace ace
