/// Whatever a LiteLLM configuration says: what comes of it is a fleet file that reads without a mistake.
#include <string>

#include "adapters/litellm_config.h"
#include "core/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const ace::LitellmImport made = ace::import_litellm(text, "config.yaml", {});
  ACE_CHECK(made.mistakes.empty() || made.fleet.empty(), "a fleet file from what could not be read");
  for (const ace::LitellmFinding& f : made.findings) ACE_CHECK(!f.what.empty(), "a finding that says nothing");
  if (made.fleet.empty()) return 0;
  if (made.fleet.find("${") == std::string::npos) {  // else it depends on what the variables hold
    const ace::FleetReading reading = ace::parse_fleet(made.fleet, "fleet.yaml", {}, {}, {});
    ACE_CHECK(reading.mistakes.empty(), ace::describe(reading.mistakes).c_str());
  }
  return 0;
}
