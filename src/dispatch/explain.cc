#include "dispatch/weigh.h"

namespace ace {

std::vector<Candidate> explain(const Snapshot& fleet, const Live& live, const Request& request, Instant now,
                               Scratch& scratch) {
  std::vector<Candidate> candidates;
  candidates.reserve(fleet.candidates(request.model).size());
  const Weighing weighing(fleet, live, request, now, scratch);
  weighing.each([&](OfferId offer, Exclusion why, const Terms& terms) { candidates.push_back({offer, why, terms}); });
  return candidates;
}

std::span<const Lot> admissible(const Snapshot& fleet, const Live& live, const Request& request, Instant now,
                                Scratch& scratch) {
  const Weighing weighing(fleet, live, request, now, scratch);
  return scratch.lots;
}

}  // namespace ace
