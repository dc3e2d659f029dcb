/// Whatever a profile holds: reading it twice gives the same, what was read has no fault, and written out and read
/// again it is equal.
#include <cstddef>
#include <cstdint>

#include "core/check.h"
#include "trace/profile.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const ace::Result<ace::Profile> read = ace::parse_profile(text, "p");
  const ace::Result<ace::Profile> twice = ace::parse_profile(text, "p");
  ACE_CHECK(read.has_value() == twice.has_value(), "reading twice gave two answers");
  if (!read) {
    ACE_CHECK(read.error() == twice.error(), "reading twice gave two errors");
    return 0;
  }
  ACE_CHECK(ace::faults_of(*read).empty(), "a profile was read that has faults");
  const ace::Result<ace::Profile> again = ace::parse_profile(ace::to_yaml(*read), "p");
  ACE_CHECK(again && *again == *read, "a profile changed on the way out and in");
  return 0;
}
