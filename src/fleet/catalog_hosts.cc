#include "fleet/catalog_hosts.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace ace {
namespace {

struct Family {
  std::string_view prefix;       // of machine types whose name ends in the number of GPUs and a "g"
  std::string_view accelerator;  // as the vendor calls it
};
constexpr std::array<Family, 9> kFamilies = {{{"a2-highgpu-", "A100"},
                                              {"a2-megagpu-", "A100"},
                                              {"a2-ultragpu-", "A100-80GB"},
                                              {"a3-highgpu-", "H100"},
                                              {"a3-edgegpu-", "H100"},
                                              {"a3-megagpu-", "H100-MEGA"},
                                              {"a3-ultragpu-", "H200"},
                                              {"a4-highgpu-", "B200"},
                                              {"a4x-highgpu-", "GB200"}}};
// Types named by their vCPUs.
struct Sized {
  std::string_view machine, accelerator;
  std::int64_t count;
};
constexpr std::array<Sized, 8> kSized = {{{"g2-standard-4", "L4", 1},
                                          {"g2-standard-8", "L4", 1},
                                          {"g2-standard-12", "L4", 1},
                                          {"g2-standard-16", "L4", 1},
                                          {"g2-standard-32", "L4", 1},
                                          {"g2-standard-24", "L4", 2},
                                          {"g2-standard-48", "L4", 4},
                                          {"g2-standard-96", "L4", 8}}};

}  // namespace

std::optional<BuiltIn> built_in(std::string_view machine) {
  for (const Sized& sized : kSized)
    if (machine == sized.machine) return BuiltIn{canonical_accelerator(sized.accelerator), sized.count};
  for (const Family& family : kFamilies) {
    if (!machine.starts_with(family.prefix)) continue;
    const std::string_view size = machine.substr(family.prefix.size());
    std::int64_t count = 0;
    const auto [end, error] = std::from_chars(size.data(), size.data() + size.size(), count);
    if (error != std::errc{} || std::string_view(end, size.data() + size.size()) != "g" || count < 1 || count > 16)
      break;
    return BuiltIn{canonical_accelerator(family.accelerator), count};
  }
  return std::nullopt;
}

bool of_gpu_family(std::string_view machine) {
  constexpr std::array<std::string_view, 6> prefixes = {"a2-", "a3-", "a4-", "a4x-", "g2-", "g4-"};
  return std::any_of(prefixes.begin(), prefixes.end(), [&](std::string_view p) { return machine.starts_with(p); });
}

Result<RentalOffer> with_accelerators(const RentalOffer& host, const std::vector<RentalOffer>& accelerators) {
  const std::optional<BuiltIn> parts = built_in(host.instance);
  if (!parts) return Error(Errc::not_found, "it is not known which accelerators the machine holds");
  const RentalOffer* found = nullptr;
  bool exact = false;  // the zone's own row is better than the region's
  for (const RentalOffer& row : accelerators) {
    if (row.accelerator != parts->accelerator || row.region != host.region || row.cloud != host.cloud) continue;
    if (row.gpu_thousandths != parts->count * 1000) continue;
    const bool same_zone = row.zone == host.zone;
    if (!same_zone && !row.zone.empty()) continue;
    if (found != nullptr && (exact || !same_zone)) continue;
    found = &row;
    exact = same_zone;
  }
  if (found == nullptr)
    return Error(Errc::not_found,
                 "no row prices " + std::to_string(parts->count) + " x " + parts->accelerator + " there");
  RentalOffer whole = host;
  whole.accelerator = parts->accelerator;
  whole.gpu_thousandths = parts->count * 1000;
  const auto sum = [](const std::optional<Usd>& a, const std::optional<Usd>& b) {
    return a && b ? std::optional(*a + *b) : std::nullopt;
  };
  whole.on_demand = sum(host.on_demand, found->on_demand);
  whole.spot = sum(host.spot, found->spot);
  if (!whole.on_demand && !whole.spot) return Error(Errc::not_found, "host and accelerators have no price in common");
  return whole;
}

}  // namespace ace
