/// What we take for JSON, simdjson takes for JSON, and the other way round, but for limits; and a text put together
/// again from the parts that we found reads back as the same parts.
#include <cstdint>

#include "core/check.h"
#include "wire/json_testing.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ace::wire;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  ACE_CHECK(disagreement(text).empty(), "another parser judges otherwise");
  Json json;
  if (!json.parse(text)) return 0;
  const std::string again = put_together(json.root());
  Json back;
  ACE_CHECK(back.parse(again) && put_together(back.root()) == again, "the parts do not make the whole");
  return 0;
}
