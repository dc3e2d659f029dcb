#pragma once
/// A simulated run that is recorded again after it was cut off. What it says is in the log already as far as it came;
/// but whoever reads the log forgets the world where a writer starts, so what moved before has to be said anew.
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "spine/spine.h"

namespace ace {

class Resume {
 public:
  /// Does it matter here? Decisions, what moves the world, and the lives of writers.
  static bool concerns(event::Kind kind);
  /// Events of the log, in its order. @param snapshot of the run
  void hear(const event::Record& record, std::uint64_t snapshot);
  /// What has to be said before this next event of the run: where it first goes on from what the log holds, the last
  /// word on everything that moved until then, in the order in which it was said, each with an ordinal of its own.
  std::vector<event::Record> before(const event::Record& record);

 private:
  /// Kind, what of it, and whose: later events of one key replace earlier ones.
  using Moved = std::tuple<event::Kind, std::uint32_t, std::uint32_t, std::uint32_t>;
  static std::optional<Moved> moved_by(const event::Event& event);

  std::set<event::Key> moves_;       ///< in the log
  std::optional<event::Key> last_;   ///< decision in the log
  std::uint32_t lives_ = 0;          ///< of writers
  bool passed_ = false, on_ = true;  ///< the run came to that decision; nothing new was said yet
  std::uint64_t said_ = 0;
  std::map<Moved, std::pair<std::uint64_t, event::Record>> world_;  ///< with the order
};

}  // namespace ace
