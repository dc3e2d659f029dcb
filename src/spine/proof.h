#pragma once
/// Proofs about a log that need no log to be checked, as text: that a record is in it (C2SP tlog-proof), and that it
/// continues what it was (the body of C2SP tlog-witness's add-checkpoint). docs/SPINE.md, "Proofs".
///
/// Start with `LogTree::read`.
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "spine/read.h"

namespace ace::spine {

/// The tree of a log as it lies on the disk, from leaf hashes that are computed once. 32 bytes for each record.
class LogTree : public SubtreeSource {
 public:
  /// Reads the whole log. @param visit as read_log() has it @return as read_log
  static Result<LogTree> read(Disk& disk, const std::function<Result<void>(const Frame&)>& visit);
  /// Of records that were pruned, only the subtrees that a proof about later records needs are known.
  /// @return out_of_range for what is not there any more, or not yet
  Result<Digest> subtree(std::uint64_t begin, std::uint64_t end) override;
  [[nodiscard]] const LogSummary& summary() const { return summary_; }
  /// Whether the log once was what this checkpoint says. @return check_failed if not, out_of_range if nobody can say
  Result<void> agrees(const Checkpoint& checkpoint);

 private:
  LogSummary summary_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, Digest> pruned_;  ///< by [begin, end)
  std::vector<Digest> leaves_;                                        ///< from summary_.first on
  Sha256 sha_;
};

/// That record `index` is in the tree of a checkpoint. Its header and payload are in the `extra` line, so that the text
/// says by itself what it proves.
/// @param note of a checkpoint @return bad_input if it is of an earlier log, else as LogTree::agrees
Result<std::string> prove_inclusion(LogTree& tree, std::uint64_t index, std::string_view record,
                                    const std::string& note);

/// That the log of the newer checkpoint begins with that of the older one, which is not in the text.
/// @return bad_input if they are the wrong way round, else as LogTree::agrees
Result<std::string> prove_consistency(LogTree& tree, const std::string& older, const std::string& newer);

}  // namespace ace::spine
