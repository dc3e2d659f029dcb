#pragma once
/// Fleet files with all they read: as a command finds them, and as a log keeps them so that the very snapshot can be
/// compiled again from its directory alone.
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dispatch/dispatch.h"
#include "spine/spine.h"

namespace ace {

/// One file as it was read, unpacked, nothing expanded.
struct FleetText {
  event::FleetChanged::File::Role role = event::FleetChanged::File::Role::fleet;
  std::string name;  ///< its path
  std::string text;
};

/// A fleet file, the price map beside it if there is one, and what the fleet file reads, in that order. All mistakes
/// are one error, rendered as a person reads them.
/// @param prices null = none
Result<FleetReading> compile_fleet(const FleetText& fleet, const FleetText* prices, const ReadText& read,
                                   const ReadEnv& env);

/// The variables of this process.
std::optional<std::string> environment(const std::string& name);

/// Names of this fleet that a spine could not tell apart from others, one a line with what is wrong; empty = none.
std::string names_not_kept(const Fleet& fleet);

/// That this fleet is in force, with its files by digest. @param files the fleet file first
/// @param number of the snapshot on the spine @param source where the events under it come from
event::Record fleet_changed(const Snapshot& fleet, std::uint64_t number, const std::vector<FleetText>& files,
                            event::FleetChanged::Source source, Instant at);

/// The folder `files` in the directory of a spine: every file of every fleet, under the SHA-256 of its bytes.
class FleetFiles {
 public:
  explicit FleetFiles(const std::string& directory) : folder_(directory + "/files") {}
  /// Writes what is not there yet, durably. @return unavailable
  Result<void> keep(const std::vector<FleetText>& files) const;
  /// Keeps there all that is here. @return corrupt if a file is not what its name says
  Result<void> copy(const FleetFiles& to) const;
  /// @return not_found, or corrupt if the bytes are no longer those of the digest
  [[nodiscard]] Result<std::string> read(const event::FleetChanged::File& file) const;

 private:
  std::string folder_;
};

/// Snapshots of a spine by number, each compiled once, when it is first asked for. Not for several threads at once.
class Snapshots {
 public:
  /// @param directory of the spine
  explicit Snapshots(const std::string& directory) : files_(directory) {}
  /// Those that the log in `directory`, with its archive (or none), tells of. @return as read_log()
  static Result<std::unique_ptr<Snapshots>> read(const std::string& directory, const std::string& archive = {});
  /// Takes note of a FleetChanged; others mean nothing here.
  void hear(const event::Record& record);
  /// The snapshot, which lives as long as this.
  /// @return not_found if no such fleet was recorded or a file of it is missing, corrupt if a file is another or what
  /// it compiles to is; bad_input if it compiles only with a variable of the environment that is not set here
  Result<const Snapshot*> at(std::uint64_t number);
  /// As recorded; null if it was not.
  [[nodiscard]] const event::FleetChanged* changed(std::uint64_t number) const;
  [[nodiscard]] const std::map<std::uint64_t, event::FleetChanged>& recorded() const { return recorded_; }
  [[nodiscard]] std::uint64_t latest() const { return recorded_.empty() ? 0 : recorded_.rbegin()->first; }

 private:
  struct Compiled {
    explicit Compiled(Fleet f) : fleet(std::move(f)), snapshot(fleet) {}
    Fleet fleet;
    Snapshot snapshot;
  };
  Result<std::unique_ptr<Compiled>> compile(std::uint64_t number, const event::FleetChanged& changed) const;
  FleetFiles files_;
  std::map<std::uint64_t, event::FleetChanged> recorded_;
  std::map<std::uint64_t, std::unique_ptr<Compiled>> compiled_;
};

}  // namespace ace
