#include "dispatch/feasible.h"

namespace ace {
namespace {

constexpr std::uint32_t kModalities = kText | kImage | kAudio | kVideo | kReasoning;
constexpr std::uint32_t kToolUse = kTools | kJsonSchema;

/// What the class of a request asks of hardware; null where it asks nothing.
const Requirements* hardware_of(const Snapshot& fleet, const Request& request) {
  if (!request.slo.valid()) return nullptr;
  const Requirements& needs = fleet.fleet().slo_classes[request.slo.value].hardware;
  return needs.none() ? nullptr : &needs;
}

/// An API does not say what it runs on, so it cannot satisfy any. A switched NVLink is an NVLink.
Exclusion hardware_exclusion(const Requirements& needs, const Destination& at) {
  if (at.vram_bytes < needs.vram_bytes_min) return Exclusion::vram;
  const Accelerator* gpu = needs.accelerator_family.empty() ? nullptr : find_accelerator(at.accelerator);
  if (!needs.accelerator_family.empty() && (gpu == nullptr || gpu->family != needs.accelerator_family))
    return Exclusion::accelerator;
  const bool linked = needs.interconnect.empty() || at.interconnect == needs.interconnect ||
                      (needs.interconnect == "nvlink" && at.interconnect == "nvswitch");
  return linked ? Exclusion::none : Exclusion::interconnect;
}

/// May the answer take as long as batch and flex services take?
bool waits(const Snapshot& fleet, const Request& request) {
  return request.batch || (request.slo.valid() && fleet.fleet().slo_classes[request.slo.value].deferrable());
}

Exclusion capability_exclusion(const Snapshot& fleet, const Request& request, const Offer& offer) {
  // Not `prompt + output > context`, which could overflow.
  if (request.max_output.value > offer.context_max.value - request.prompt.value) return Exclusion::context;
  if (offer.output_max.value > 0 && request.max_output > offer.output_max) return Exclusion::output;
  const std::uint32_t lacking = request.needs & ~offer.capabilities;
  if ((lacking & kModalities) != 0) return Exclusion::modality;
  if ((lacking & kToolUse) != 0) return Exclusion::tools;
  const Destination& at = fleet.fleet().destinations[offer.destination.value];
  if (const Requirements* needs = hardware_of(fleet, request))
    if (const Exclusion why = hardware_exclusion(*needs, at); why != Exclusion::none) return why;
  return only_for_deferrable(at.service) && !waits(fleet, request) ? Exclusion::service : Exclusion::none;
}

/// Is the request within what every offer of the range can do?
bool within_all(const Snapshot& fleet, const Request& request, const OfferRange& range) {
  return hardware_of(fleet, request) == nullptr && (!range.slow || waits(fleet, request)) &&
         request.max_output.value <= range.context_min.value - request.prompt.value &&
         request.max_output <= range.output_min && (request.needs & ~range.common) == 0;
}

}  // namespace

Exclusion fixed_exclusion(const Snapshot& fleet, const Request& request, OfferId id) {
  const Offer& offer = fleet[id];
  if (const Exclusion why = fleet.compliance(request.compliance, request.data_class, offer.destination);
      why != Exclusion::none)
    return why;
  if (const Exclusion why = capability_exclusion(fleet, request, offer); why != Exclusion::none) return why;
  return static_cast<Exclusion>(fleet.fixed_exclusions(request.compliance)[id.value]);  // only `unpriced` is left
}

void bar(const Snapshot& fleet, const Request& request, const OfferRange& range, const std::vector<OfferId>& attempted,
         Lot* lots, std::array<std::uint32_t, kExclusions>& counts) {
  const std::size_t first = range.first.value / kLot, n = range.lots();
  const bool data_allowed = fleet.data_class_allowed(request.compliance, request.data_class);
  if (data_allowed && within_all(fleet, request, range)) {
    const std::span<const std::uint64_t> barred = fleet.barred(request.compliance);
    for (std::size_t l = 0; l < n; ++l) lots[l] = {.barred = barred[first + l]};
    const auto& known = fleet.barred_counts(request.compliance, range.model);
    for (std::size_t why = 0; why < kExclusions; ++why) counts[why] += known[why];
  } else {
    for (std::size_t l = 0; l < n; ++l) lots[l] = {};
    const std::span<const std::uint8_t> fixed = fleet.fixed_exclusions(request.compliance);
    for (std::uint32_t i = range.first.value; i < range.first.value + range.count; ++i) {
      // Compliance comes before capability, so what it says stands as compiled, unless the data class is not allowed.
      auto why = static_cast<Exclusion>(fixed[i]);
      if (!data_allowed || why == Exclusion::none || why == Exclusion::unpriced)
        why = fixed_exclusion(fleet, request, OfferId{i});
      if (why == Exclusion::none) continue;
      lots[i / kLot - first].barred |= std::uint64_t{1} << i % kLot;
      ++counts[static_cast<std::size_t>(why)];
    }
  }
  for (const OfferId offer : attempted)
    if (offer >= range.first && offer.value < range.first.value + range.count)
      lots[offer.value / kLot - first].attempted |= std::uint64_t{1} << offer.value % kLot;
}

}  // namespace ace
