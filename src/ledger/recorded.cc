#include "ledger/recorded.h"

#include <algorithm>

namespace ace {

using Source = event::FleetChanged::Source;

Grade grade_of(Source source) {
  switch (source) {
    case Source::live:
      return Grade::measured;
    case Source::observed:
      return Grade::observed;
    case Source::simulated:
    case Source::shadow:
      break;
  }
  return Grade::modelled;
}

Settled settle_recorded(const Settler& settler, Source source, const event::Admitted& admitted,
                        const event::Decided* decided, std::span<const event::Attempted> attempts,
                        const event::Completed& completed) {
  const Snapshot& fleet = settler.snapshot();
  event::Decided at;
  if (decided != nullptr)
    at = *decided;
  else
    at.decision.chosen = completed.offer;
  at.cheapest_payg = {};
  const bool ran = completed.outcome == event::Outcome::served || completed.outcome == event::Outcome::client_abort;
  if (ran && completed.offer.valid() && fleet[completed.offer].tier != Tier::payg)
    at.cheapest_payg = event::cheapest_payg(fleet, admitted, fleet[completed.offer].model, completed.usage);
  std::vector<event::Attempted> known;
  const auto nowhere = [](const event::Attempted& a) { return !a.offer.valid(); };
  const bool some_nowhere = std::any_of(attempts.begin(), attempts.end(), nowhere);
  if (some_nowhere) {
    std::remove_copy_if(attempts.begin(), attempts.end(), std::back_inserter(known), nowhere);
    attempts = known;
  }
  Settled settled =
      settler.settle(admitted, at, attempts, completed, source == Source::observed ? Costs::logged : Costs::priced);
  if (some_nowhere) settled.by_prices.reset();
  settled.grade = grade_of(source);
  return settled;
}

}  // namespace ace
