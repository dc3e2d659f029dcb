/// Whatever lies in an archive, it is either refused or holds what it says; what was packed is unpacked to the same.
#include <cstdint>
#include <string>

#include "spine/spine.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ace;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const Result<std::string> held = spine::unpacked(bytes)) {
    ACE_CHECK(*spine::unpacked(spine::packed(*held)) == *held, "an archive holds other bytes than it was given");
  }
  ACE_CHECK(*spine::unpacked(spine::packed(bytes)) == bytes, "an archive holds other bytes than it was given");
  return 0;
}
