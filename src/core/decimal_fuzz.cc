/// A decimal that is read must be the one that was written: printing an amount and reading it back changes nothing, a
/// sign in front negates it, and a zero more behind the point does not matter.
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/check.h"
#include "core/money.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  const ace::Result<std::int64_t> value = ace::parse_decimal(text, 9);
  if (!value) return 0;
  const std::string printed = to_decimal(ace::Usd{*value});
  const ace::Result<std::int64_t> again = ace::parse_decimal(printed, 9);
  ACE_CHECK(again && *again == *value, "an amount changed on its way through text");
  const ace::Result<std::int64_t> longer = ace::parse_decimal(printed + "0", 9);
  ACE_CHECK(longer && *longer == *value, "a zero behind the last decimal changed the amount");
  if (text[0] != '-' && text[0] != '+') {
    const ace::Result<std::int64_t> negative = ace::parse_decimal("-" + text, 9);
    ACE_CHECK(negative && *negative == -*value, "a minus sign did not negate");
  }
  const ace::Result<std::int64_t> shifted = ace::parse_decimal(text, 8);
  ACE_CHECK(!shifted || *shifted * 10 == *value, "one decimal fewer is not a tenth");
  return 0;
}
