/// What reads as a file of keys reads again, as the same keys, from what is written of it; no text is taken for a key
/// that is not spelt as one.
#include <cstdint>

#include "core/check.h"
#include "gateway/keys.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ace::gateway;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (role_of(text)) ACE_CHECK(size == 45 && text.starts_with("ace_"), "this is no key");
  const ace::Result<KeyRing> ring = KeyRing::read(text, "keys.yaml");
  if (!ring) return 0;
  const std::string written = ring->write();
  const ace::Result<KeyRing> again = KeyRing::read(written, "keys.yaml");
  ACE_CHECK(again.has_value() && again->keys() == ring->keys(), "what is written is not what was read");
  ACE_CHECK(again->write() == written, "written differently the second time");
  return 0;
}
