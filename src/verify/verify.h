#pragma once
/// Checks a spine from its bytes: framing, checksums, addresses, sequence, chain, tree, seals, checkpoints.
/// Written from docs/SPINE.md; calls nothing of the code that writes it.
///
/// Start with `check_log`.
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "verify/derive.h"
#include "verify/difference.h"
#include "verify/hash.h"
#include "verify/note.h"
#include "verify/proof.h"
#include "verify/tree.h"

namespace ace::verify {

/// What is known from elsewhere. Without it a log can only be held against itself.
struct Pins {
  /// Must have signed every checkpoint from its first one on, until it hands over to another, which then must. Where
  /// there are others before its first, that one must be the hand-over to it.
  std::optional<PublicKey> key;
  std::vector<Held> held;  ///< checkpoints kept outside, which this log must continue
  /// Read together with its archive, which holds what was removed: the file `pruned` of the log itself, which must say
  /// of those segments what they are.
  std::optional<std::string> archived;
};

struct Summary {
  std::string origin;  ///< the log's name
  std::uint32_t segments = 0, pruned_segments = 0;
  std::uint64_t first = 0, next = 0;  ///< sequence numbers read, end excluded
  std::uint64_t events = 0, conflicts = 0, checkpoints = 0;
  std::uint64_t signatures = 0;  ///< verified, of checkpoints in the log and outside
  std::uint64_t bytes = 0;       ///< read
  Hash chain{}, root{};          ///< at the end
};

struct Finding {
  Summary summary;
  std::optional<Difference> difference;  ///< none: everything holds
  /// The end of the last batch is torn or still being written. Nobody was told that it is durable: no record behind it
  /// opens a batch, and `acked` says that less was acknowledged. Opening the log for writing cuts it.
  std::optional<Difference> unfinished;
};

/// An event whose record was found sound. What it points to lasts for the call.
struct Entry {
  const std::string& file;
  std::uint64_t offset = 0;
  std::uint64_t sequence = 0;
  std::string_view payload;
};
/// Told every event, in order; says what of it is not as it must be. An error ends the check.
using HearEvent = std::function<Result<std::optional<Mismatch>>(const Entry& entry)>;

/// The bytes of one file. @return not_found if it is not there; any other error ends the check
using ReadFile = std::function<Result<std::string>(const std::string& name)>;

/// Checks a whole log, one file in memory at a time. `acked` is read before the segments, so that a log in use can be
/// checked.
/// @param names lists the files of the directory, in any order
/// @param hear may be empty
/// @return an error only if `read` or `hear` failed
Result<Finding> check_log(const std::function<Result<std::vector<std::string>>()>& names, const ReadFile& read,
                          const Pins& pins, const HearEvent& hear = {});

}  // namespace ace::verify
