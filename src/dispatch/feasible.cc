#include "dispatch/feasible.h"

#include <cstring>

namespace ace {
namespace {

constexpr std::uint32_t kModalities = kText | kImage | kAudio | kVideo | kReasoning;
constexpr std::uint32_t kToolUse = kTools | kJsonSchema;

/// Hardware that a request asks for; an API does not say what it runs on, so it cannot satisfy any.
Exclusion hardware_exclusion(const Requirements& needs, const Destination& at) {
  const Accelerator* gpu = find_accelerator(at.accelerator);
  if (needs.vram_bytes_min > 0.0 && (gpu == nullptr || gpu->vram_bytes < needs.vram_bytes_min)) return Exclusion::vram;
  if (!needs.accelerator_family.empty() && (gpu == nullptr || gpu->family != needs.accelerator_family))
    return Exclusion::accelerator;
  if (!needs.interconnect.empty() && at.interconnect != needs.interconnect) return Exclusion::interconnect;
  return Exclusion::none;
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
  if (request.requirements != nullptr)
    if (const Exclusion why = hardware_exclusion(*request.requirements, at); why != Exclusion::none) return why;
  return only_for_deferrable(at.service) && !waits(fleet, request) ? Exclusion::service : Exclusion::none;
}

/// Is the request within what every offer of the range can do?
bool within_all(const Snapshot& fleet, const Request& request, const OfferRange& range) {
  return request.requirements == nullptr && (!range.slow || waits(fleet, request)) &&
         request.max_output.value <= range.context_min.value - request.prompt.value &&
         request.max_output <= range.output_min && (request.needs & ~range.common) == 0;
}

constexpr std::uint8_t code(Exclusion why) { return static_cast<std::uint8_t>(why); }

template <class Word>
Word word_at(const std::uint8_t* bytes) {
  Word word;
  std::memcpy(&word, bytes, sizeof word);
  return word;
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

void exclude(const Snapshot& fleet, const Live& live, const Request& request, const OfferRange& range,
             const std::vector<OfferId>& attempted, std::uint8_t* excluded) {
  const std::size_t first = range.first.value, n = range.count;
  if (within_all(fleet, request, range) && fleet.data_class_allowed(request.compliance, request.data_class)) {
    std::memcpy(excluded, fleet.fixed_exclusions(request.compliance).data() + first, n);
  } else {
    for (std::uint32_t i = 0; i < n; ++i)
      excluded[i] = code(fixed_exclusion(fleet, request, OfferId{range.first.value + i}));
  }

  const std::uint8_t* running = live.running.data() + first;
  const std::uint8_t* resident = live.resident.data() + first;
  const auto step = [&](std::size_t i) {
    if (excluded[i] != 0) return;
    if (running[i] == 0)
      excluded[i] = code(Exclusion::not_running);
    else if (resident[i] == 0)
      excluded[i] = code(Exclusion::not_resident);
  };
  constexpr std::uint64_t ones = 0x0101'0101'0101'0101;
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8) {  // eight at a time: nearly always all are up
    if ((word_at<std::uint64_t>(running + i) & word_at<std::uint64_t>(resident + i)) == ones) continue;
    for (std::size_t k = 0; k < 8; ++k) step(i + k);
  }
  for (; i < n; ++i) step(i);

  for (const OfferId offer : attempted) {
    if (offer < range.first || offer.value >= range.first.value + range.count) continue;
    std::uint8_t& e = excluded[offer.value - range.first.value];
    if (e == 0) e = code(Exclusion::attempted);
  }
}

}  // namespace ace
