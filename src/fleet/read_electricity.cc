/// `electricity:` of the fleet file.
#include <fmt/format.h>

#include "fleet/reading.h"

namespace ace::fleet_file {

void read_electricity(Reading& reading, const Place& at) {
  if (!at) return;
  Findings& findings = reading.findings;
  Map map(findings, at);
  if (!map.readable()) return;
  Electricity& electricity = reading.fleet.electricity;
  reading.read_fx(map.get("fx"));
  if (const auto pue = findings.value<std::int64_t>(map.get("pue"), parse_ratio_ppm)) {
    if (*pue < 1'000'000 || *pue > 3'000'000)
      findings.mistake(map.get("pue"), fmt::format("expected a PUE from 1 to 3, got \"{}\"", map.get("pue").text()));
    electricity.pue = static_cast<double>(*pue) / 1e6;
  }
  const Place price = map.get("price");
  if (price) {
    if (const auto flat = reading.per_kwh(price)) electricity.flat = *flat;
  } else {
    findings.mistake(at, "neither a price nor a series", "write price: \"0.12 USD/kWh\" or series: FILE");
  }
  map.done();
}

}  // namespace ace::fleet_file
