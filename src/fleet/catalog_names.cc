/// The many names of one GPU.
#include <algorithm>
#include <iterator>

#include "fleet/catalog.h"

namespace ace {
namespace {

struct Alias {
  std::string_view name, canonical;
};
// Sorted by name; compared in lower case with "(", ")" and blanks dropped and "gb" cut to "g". Sources: SkyPilot's
// catalogs v8 (names differ between clouds: H100, H100-SXM, H100-NVLINK, H100-MEGA), the-full-stack cloud GPU tables.
constexpr Alias kAliases[] = {
    {"a100", "a100-40g"},  // SkyPilot: A100 is the 40 GB one, A100-80GB the other
    {"a10040g", "a100-40g"},
    {"a10080g", "a100-80g"},
    {"a10g24g", "a10g"},
    {"a4048g", "a40"},
    {"gh20096g", "gh200"},
    {"h100", "h100-80g"},
    {"h10080g", "h100-80g"},
    {"h100hgx80g", "h100-80g"},
    {"h100mega", "h100-80g"},  // the same GPU with more network
    {"h10080gmega", "h100-80g"},
    {"h100nvlink", "h100-pcie"},  // PCIe cards in bridged pairs (Hyperstack's H100-80G-PCIe-NVLink)
    {"h100pcie", "h100-pcie"},
    {"h100pcie80g", "h100-pcie"},
    {"h100sxm", "h100-80g"},
    {"h100sxm5", "h100-80g"},
    {"h200141g", "h200"},
    {"h200sxm", "h200"},
    {"l424g", "l4"},
    {"l40s48g", "l40s"},
    {"rtx6000", "rtx-pro-6000"},  // G4 machines
    {"rtxpro6000", "rtx-pro-6000"},
    {"t416g", "t4"},
    {"v100", "v100-16g"},
    {"v10016g", "v100-16g"},
    {"v10032g", "v100-32g"},
};

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

std::string canonical_accelerator(std::string_view name) {
  std::string plain, dashed;
  for (const char raw : name) {
    const char c = lower(raw);
    const bool separator = c == ' ' || c == '-' || c == '_' || c == '(' || c == ')';
    if (!separator) plain += c;
    if (!separator)
      dashed += c;
    else if (!dashed.empty() && dashed.back() != '-')
      dashed += '-';
  }
  while (!dashed.empty() && dashed.back() == '-') dashed.pop_back();
  for (std::size_t at = plain.find("gb"); at != std::string::npos; at = plain.find("gb", at + 1))
    plain.erase(at + 1, 1);
  const auto found =
      std::find_if(std::begin(kAliases), std::end(kAliases), [&](const Alias& alias) { return alias.name == plain; });
  return found == std::end(kAliases) ? dashed : std::string(found->canonical);
}

}  // namespace ace
