#include <algorithm>

#include <fmt/format.h>

#include "core/csv.h"
#include "core/time.h"
#include "ledger/chargeback.h"

namespace ace {

Result<std::vector<By>> grouping_from(std::string_view names) {
  std::vector<By> by;
  while (!names.empty()) {
    const std::string_view name = names.substr(0, names.find(','));
    names.remove_prefix(std::min(names.size(), name.size() + 1));
    std::string all;
    bool found = false;
    for (std::size_t k = 1; k < kBys; ++k) {  // kind is always one
      all += (all.empty() ? "" : ", ") + std::string(name_of(static_cast<By>(k)));
      if (name != name_of(static_cast<By>(k))) continue;
      by.push_back(static_cast<By>(k));
      found = true;
    }
    if (!found)
      return Error(Errc::bad_input, "expected keys of " + all + ", got \"" + std::string(name.substr(0, 64)) + "\"");
  }
  std::sort(by.begin(), by.end());
  by.erase(std::unique(by.begin(), by.end()), by.end());
  return by;
}

std::string chargeback_csv(const std::vector<ChargeLine>& lines, const std::vector<By>& by, const Fleet& fleet,
                           const SymbolNames& names) {
  const auto key = [&](const ChargeLine& line, By one) -> std::string {
    switch (one) {
      case By::kind:
        return std::string(name_of(line.kind));
      case By::hour:
        return line.hour ? to_rfc3339(instant(*line.hour * nanos(kHour))) : "";
      case By::tenant:
        return line.tenant ? csv_text(names.tenant(*line.tenant)) : "";
      case By::team:
        return line.team ? csv_text(names.team(*line.team)) : "";
      case By::project:
        return line.project ? csv_text(names.project(*line.project)) : "";
      case By::model:
        return line.model.valid() ? csv_text(fleet.models[line.model.value].name) : "";
      case By::destination:
        return line.destination.valid() ? csv_text(fleet.destinations[line.destination.value].name) : "";
      case By::slo:
        return line.slo.valid() ? csv_text(fleet.slo_classes[line.slo.value].name) : "";
    }
    return "";
  };
  std::string out = "kind";
  for (const By one : by) out += "," + std::string(name_of(one));
  out +=
      ",requests,input_tokens,cached_tokens,cache_write_tokens,audio_input_tokens,image_input_tokens,"
      "video_input_tokens,output_tokens,reasoning_tokens,audio_output_tokens,image_output_tokens,baseline_usd,"
      "marginal_usd,charged_usd,fixed_usd,hosts_usd,idle_usd,adjusted_usd,total_usd\n";
  for (const ChargeLine& line : lines) {
    out += key(line, By::kind);
    for (const By one : by) out += "," + key(line, one);
    const TokenParts& p = line.parts;
    out += fmt::format(",{},{},{},{},{},{},{},{},{},{},{}", line.requests, line.input - p.of_input(), line.cached,
                       p.cache_write, p.audio_input, p.image_input, p.video_input, line.output - p.of_output(),
                       p.reasoning, p.audio_output, p.image_output);
    for (const Usd amount :
         {line.baseline, line.marginal, line.charged, line.fixed, line.hosts, line.idle, line.adjusted, line.total()})
      out += "," + to_decimal(amount);
    out += '\n';
  }
  return out;
}

}  // namespace ace
