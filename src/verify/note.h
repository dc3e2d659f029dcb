#pragma once
/// A checkpoint as a signed note (C2SP tlog-checkpoint), docs/SPINE.md.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "verify/hash.h"

namespace ace::verify {

struct Note {
  std::string_view origin;             ///< the log's name
  std::uint64_t size = 0;              ///< records before it
  Hash root{}, chain{};                ///< over them, and after them
  std::optional<PublicKey> successor;  ///< the key that signs from here on, if this one hands over
  std::string_view text;               ///< what is signed
  std::string_view signatures;         ///< the lines behind it
};

/// @return nothing if it is not written as docs/SPINE.md has it; whether a signature holds is not looked at
std::optional<Note> note_from(std::string_view bytes);

/// Whether one of the signature lines is of this key, by the log's own name, and holds.
bool signed_by(const PublicKey& key, const Note& note);

}  // namespace ace::verify
