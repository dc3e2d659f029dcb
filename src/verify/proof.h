#pragma once
/// Proofs about a log, checked without the log: C2SP tlog-proof for one record, and the body of C2SP tlog-witness's
/// add-checkpoint for two checkpoints. docs/SPINE.md, "Proofs".
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "verify/difference.h"
#include "verify/hash.h"

namespace ace::verify {

/// What a proof that holds says.
struct Proven {
  enum class What : std::uint8_t {
    record,        ///< this record is in the log of the checkpoint
    continuation,  ///< the log of the checkpoint begins with that of the older one
  } what = What::record;
  std::string origin;
  std::uint64_t size = 0;  ///< records that the signed checkpoint is over
  Hash root{};
  std::uint64_t index = 0;  ///< of the record, or size of the older checkpoint
  std::uint8_t type = 0;    ///< of the record: 1 event, 2 checkpoint, 3 conflict
  std::string payload;      ///< of the record
};

struct ProofFinding {
  Proven proven;
  std::optional<Difference> difference;  ///< none: it holds; its offset is that of the line
};

/// @param key must have signed the checkpoint in the proof, and the older one
/// @param older of a continuation: the checkpoint that is continued; not looked at for a record
ProofFinding check_proof(const std::string& name, std::string_view bytes, const PublicKey& key,
                         const std::optional<Held>& older);

}  // namespace ace::verify
