#pragma once
/// An event spine as one more log of requests: who asked for what, as it was admitted, and what came of it.
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "replay/source.h"

namespace ace {

namespace spine {
class Disk;
}
namespace event {
struct Record;
}

/// Reads a spine segment by segment, so memory grows with what is in flight, not with the log. Requests come in the
/// order in which they ended: sorted() puts them in order of time.
///
/// Of each request: what was admitted, and of its end the output of the model that was asked for, token classes, cached
/// tokens and what it cost. Prefix blocks are not on a spine. One that was not served has no output that could be
/// replayed: it is marked as failed. One without an end is left out and counted.
class SpineTrace : public RequestSource {
 public:
  struct Options {
    std::optional<std::uint64_t> snapshot;  ///< only requests under this fleet
    /// Also told of every record, in the order of the log; for who wants to know what really happened.
    std::function<Result<void>(const event::Record&)> each;
  };
  SpineTrace(std::unique_ptr<spine::Disk> disk, Options options);
  ~SpineTrace() override;

  Result<std::size_t> next(std::span<Arrival> batch) override;
  Result<void> rewind() override;
  [[nodiscard]] const Interner& models() const override;
  [[nodiscard]] const Interner& tenants() const override;
  [[nodiscard]] const Interner& teams() const override;
  [[nodiscard]] const Interner& projects() const override;
  [[nodiscard]] const Interner& keys() const override;
  [[nodiscard]] std::string format() const override { return "ACE event spine"; }
  [[nodiscard]] std::vector<SkippedRows> skipped() const override;
  [[nodiscard]] std::vector<std::string> notes() const override;
  [[nodiscard]] double progress() const override;

 private:
  struct State;
  Result<void> read_segment();
  std::unique_ptr<spine::Disk> disk_;
  Options options_;
  std::unique_ptr<State> state_;
};

}  // namespace ace
