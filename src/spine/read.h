#pragma once
/// Reading a log from its first record to its last, everything checked on the way: what the ledger is folded from, and
/// `ace spine verify`. Needs no writer and changes nothing.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "spine/log.h"

namespace ace::spine {

struct ReadOptions {
  std::uint64_t from = 0;        ///< sequence number; segments that end before it are skipped by their seals
  std::optional<PublicKey> key;  ///< verify the signature of each checkpoint with it, and with those it handed over to
  bool follow_torn_tail = true;  ///< a torn tail is where the log ends; else it is an error
};

struct LogSummary {
  LogId id{};
  std::string origin;
  std::uint32_t segments = 0, first_segment = 0, pruned_segments = 0;
  std::uint64_t first = 0, next = 0;  ///< sequence numbers of the first record still there, and after the last
  std::uint64_t bytes = 0;            ///< of records, heads and seals
  std::uint64_t events = 0, conflicts = 0, checkpoints = 0;  ///< read
  std::uint64_t payload_bytes = 0;                           ///< of the events
  std::uint64_t relaxed = 0;                                 ///< events acknowledged before they were durable
  Digest chain{}, root{};
  std::optional<Checkpoint> last_checkpoint;
  std::string last_note;
  std::optional<PublicKey> successor;  ///< to whom was handed over last
  std::optional<Error> torn;           ///< what stands where the log ends, if it is not nothing
};

/// Visits every record in order. Each segment is checked as a whole before its first record is visited, so nobody sees
/// a record of a segment that is damaged; checkpoints must agree with the tree and the chain at their place.
/// @param visit an error of it stops the reading and is returned
/// @return corrupt with segment and offset, check_failed for a signature
Result<LogSummary> read_log(Disk& disk, const ReadOptions& options,
                            const std::function<Result<void>(const Frame&)>& visit);

}  // namespace ace::spine
