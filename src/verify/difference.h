#pragma once
/// What the checks of this room say and are told.
#include <cstdint>
#include <string>

namespace ace::verify {

/// The first thing that is not as it must be.
struct Difference {
  std::string file;
  std::uint64_t offset = 0;  ///< of the record it is in; in free space and heads, of the byte or field itself
  std::string expected, got;
  bool newer = false;  ///< sound bytes in a format of a later version: nothing here can say more of them
  friend bool operator==(const Difference&, const Difference&) = default;
};
/// "00000001.seg, offset 512: expected ..., got ..."
std::string to_text(const Difference& difference);

/// What a record should say and what it says.
struct Mismatch {
  std::string expected, got;
};

/// A checkpoint that was kept elsewhere.
struct Held {
  std::string name;  ///< what to call it when it does not fit
  std::string note;
};

}  // namespace ace::verify
