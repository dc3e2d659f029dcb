/// A salt file gives the same key whatever blanks an editor leaves around its digits, its errors tell nothing of it but
/// its length, and whatever identity comes, its token has our alphabet alone.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/check.h"
#include "perimeter/perimeter.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  const ace::Result<ace::MaskKey> key = ace::key_from(text);
  if (!key) {
    // An error may know how long the salt is and whether it was meant as digits, and nothing else of it.
    const ace::Result<ace::MaskKey> other = ace::key_from(std::string(size, '~'));
    const std::size_t digits = text.size() - std::min(text.size(), text.find_first_not_of(" \t\r\n"));
    bool told = !other && key.error() == other.error();
    for (std::size_t n = 1; n <= digits && !told; ++n) {
      const ace::Result<ace::MaskKey> zeros = ace::key_from(std::string(n, '0'));
      told = !zeros && key.error() == zeros.error();
    }
    ACE_CHECK(told, "an error tells of the salt's contents");
  } else if (size == 64 && text.find_first_not_of("0123456789abcdefABCDEF") == std::string::npos) {
    const ace::Result<ace::MaskKey> again = ace::key_from(" " + text + "\r\n");
    ACE_CHECK(again && *again == *key, "blanks around the digits changed the key");
  }
  ace::Masker masker(key.value_or(ace::MaskKey{}));
  const std::string token = masker.token(text);
  ACE_CHECK(token == masker.token(text), "the memo changed a token");
  ACE_CHECK(text.empty() ? token.empty() : token.size() == 12 && token.starts_with("t_"), "a token of another shape");
  ACE_CHECK(text.empty() || token.find_first_not_of("0123456789abcdefghjkmnpqrstvwxyz", 2) == std::string::npos,
            "a token leaves its alphabet");
  return 0;
}
