/// The canonical spelling of a value is JSON and its own canonical spelling; blanks around the value and what stands
/// beside it change nothing.
#include <cstdint>

#include "core/check.h"
#include "gateway/canonical.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using ace::gateway::canonical_json;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  ace::wire::Json json;
  if (!json.parse(text)) return 0;
  const std::string once = canonical_json(json.root());
  ace::wire::Json back;
  ACE_CHECK(back.parse(once), "a canonical spelling is no JSON");
  ACE_CHECK(canonical_json(back.root()) == once, "a canonical spelling has another");
  ace::wire::Json blank;
  const std::string blanks = " " + std::string(text) + "\n";
  ACE_CHECK(blank.parse(blanks) && canonical_json(blank.root()) == once, "blanks change what is meant");
  const std::string wrapped = "[" + std::string(text) + ",0]";
  ace::wire::Json other;
  if (other.parse(wrapped))
    ACE_CHECK(canonical_json(other.root()) == "[" + once + ",0]", "a value depends on what is around it");
  return 0;
}
