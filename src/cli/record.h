#pragma once
/// Runs and logs that go onto a spine.
#include <memory>
#include <string>

#include "adapters/recording.h"
#include "cli/spine.h"

namespace ace::cli {

/// A recording with what it needs of the world: a clock, and the key that signs its checkpoints.
class OpenRecording {
 public:
  /// @param fleet that the files compile to; it gets the number that it has on this spine
  /// @param snapshot of it @param source where the events come from @param checkpoint a file, see not_older_than()
  static Result<std::unique_ptr<OpenRecording>> open(const std::string& directory, std::vector<FleetText> files,
                                                     Fleet& fleet, const Snapshot& snapshot,
                                                     event::FleetChanged::Source source, const std::string& checkpoint,
                                                     Context& context);
  Recording& operator*() { return *recording_; }
  Recording* operator->() { return recording_.get(); }
  /// Closes it and says on stderr what became of the events.
  /// @return conflict if other contents were there under the same ids
  Result<Recording::Counts> close(Context& context);

 private:
  explicit OpenRecording(std::string directory, spine::Signer signer)
      : directory_(std::move(directory)), signer_(std::move(signer)) {}
  std::string directory_;
  WallClock clock_;
  spine::Signer signer_;
  std::unique_ptr<Recording> recording_;
};

}  // namespace ace::cli
