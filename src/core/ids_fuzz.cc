/// A request id that is read is one that we would write, byte for byte.
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/check.h"
#include "core/ids.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  if (const ace::Result<ace::RequestId> id = ace::request_id_from(text))
    ACE_CHECK(to_string(*id) == text, "an id has two spellings");
  // The same bytes as digits, so that the grammar is met often.
  std::string digits = "req_";
  for (std::size_t i = 0; i < 26; ++i)
    digits += "0123456789abcdefghjkmnpqrstvwxyz"[i < size ? data[i] % (i == 0 ? 8 : 32) : 0];
  const ace::Result<ace::RequestId> id = ace::request_id_from(digits);
  ACE_CHECK(id && to_string(*id) == digits, "an id changed on its way through text");
  return 0;
}
