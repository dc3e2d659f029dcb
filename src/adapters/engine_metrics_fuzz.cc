/// Any text: counts are in bounds, and series that are not known change nothing.
#include <string>

#include "adapters/engine_metrics.h"
#include "core/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const ace::Result<ace::EngineLoad> got = ace::read_engine_metrics(text);
  const ace::Result<ace::EngineLoad> more =
      ace::read_engine_metrics("# a comment\nup{job=\"x\"} 1\n" + text + "\nvllm:prompt_tokens_total 7\n");
  ACE_CHECK(got.has_value() == more.has_value(), "other series changed whether there are any");
  if (!got) return 0;
  ACE_CHECK(*got == *more, "other series changed the load");
  ACE_CHECK(got->running >= 0 && got->waiting >= 0 && got->kv_share >= 0.0 && got->kv_share <= 1.0, "out of bounds");
  return 0;
}
