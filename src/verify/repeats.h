#pragma once
/// Whether a log holds an event twice: its writer promises that no key is there a second time.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "core/result.h"
#include "verify/difference.h"

namespace ace::verify {

/// Tenant, id, kind and ordinal of an event, as bytes; nothing if these are no event. docs/SPINE.md, "Events".
std::optional<std::string> key_of(std::string_view payload);

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
  std::vector<std::uint64_t> hashes_;  ///< of all keys; after suspected() of those that came twice, sorted
  std::unordered_set<std::string> keys_;
};

}  // namespace ace::verify
