#pragma once
/// Whether a log holds an event twice: its writer promises that no key is there a second time.
#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "verify/difference.h"

namespace ace::verify {

/// Both halves of the id of an event, its tenant, ordinal and kind.
using EventKey = std::array<std::uint64_t, 5>;
/// @return nothing if these are no event. docs/SPINE.md, "Events"
std::optional<EventKey> key_of(std::string_view payload);

/// First every event is heard, at 8 bytes each. Where two of these hashes are equal, whoever asked goes through the log
/// once more, and only events of those hashes are compared in full.
class Repeats {
 public:
  void hear(std::string_view payload);
  /// Ends the first pass. @return false if no event can be there twice
  bool suspected();
  /// Of the second pass. @return the event, if it was there before
  std::optional<Mismatch> hear_again(std::string_view payload);

 private:
  /// Of all keys, by their first byte, so that what is sorted at once stays in cache.
  std::array<std::vector<std::uint64_t>, 256> hashes_;
  std::vector<std::uint64_t> twice_;  ///< those that came more than once, sorted
  std::set<EventKey> keys_;
};

}  // namespace ace::verify
