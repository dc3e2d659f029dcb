/// A notice is read or refused, never half: what is read can be written as the cloud writes it and is read the same.
#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string_view>

#include "adapters/eviction_notice.h"
#include "core/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ace;
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  if (const Result<EvictionNotice> notice = parse_aws_action(body)) {
    const std::string again =
        fmt::format(R"({{"action":"{}","time":"{}"}})", name_of(notice->what), to_rfc3339(notice->gone));
    ACE_CHECK(parse_aws_action(again).value() == *notice, "a notice of aws is read otherwise than it was");
  }
  const Result<std::optional<EvictionNotice>> first = parse_azure_events(body, "vm_0", instant(0));
  if (first && *first) ACE_CHECK(body.find("Events") != std::string_view::npos, "an event out of nothing");
  (void)parse_gcp_preempted(body).has_value();
  return 0;
}
