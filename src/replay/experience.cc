#include "replay/experience.h"

namespace ace {
namespace {

void count(Experience& all, const Ended& end) {
  ++all.requests;
  if (end.outcome == event::Outcome::cache_hit) {
    ++all.cache_hits;
    return;
  }
  if (end.outcome == event::Outcome::not_served) return;
  ++all.served;
  all.slo_met += end.slo_met ? 1 : 0;
  all.spilled += end.spilled ? 1 : 0;
  if (end.cost)
    all.cost += *end.cost;
  else
    ++all.unpriced;
  if (end.ttft.count() > 0) all.ttft_us.add(end.ttft.count() / 1'000);
  if (end.tpot.count() > 0) all.tpot_us.add(end.tpot.count() / 1'000);
}

std::string destination_of(const Snapshot& fleet, OfferId offer) {
  return offer.valid() ? fleet.fleet().destinations[fleet[offer].destination.value].name : std::string();
}

/// Are all indices of a request within the snapshot?
Result<void> belongs(const Snapshot& fleet, const event::Admitted& admitted,
                     const std::vector<event::Attempted>& attempts, const event::Completed& completed) {
  const auto wrong = [](const char* what) {
    return Error(Errc::corrupt, std::string("a request has ") + what + " that its snapshot does not have");
  };
  const auto offered = [&](OfferId offer) { return !offer.valid() || offer.value < fleet.offers().size(); };
  if (admitted.requested.value >= fleet.fleet().models.size()) return wrong("a model");
  if (admitted.slo.value >= fleet.fleet().slo_classes.size()) return wrong("an SLO class");
  if (admitted.compliance.valid() && admitted.compliance.value >= fleet.fleet().compliance.size())
    return wrong("a compliance rule");
  if (admitted.declared_tenant.valid() && admitted.declared_tenant.value >= fleet.fleet().tenants.size())
    return wrong("a tenant");
  bool fine = offered(completed.offer);
  for (const event::Attempted& attempt : attempts) fine = fine && offered(attempt.offer) && offered(attempt.billed_as);
  return fine ? Result<void>() : wrong("an offer");
}

}  // namespace

void Experiences::add(const std::string& model, const std::string& destination, const Ended& end) {
  count(total_, end);
  count(parts_[{model, destination}], end);
}

void Experiences::add(const Snapshot& fleet, const Settled& settled) {
  Ended end;
  end.outcome = settled.completed.outcome;
  if (settled.excluded != Reason::unpriced) end.cost = settled.chain.c[4];
  end.ttft = settled.completed.ttft;
  end.tpot = settled.completed.tpot;
  end.slo_met = settled.completed.slo_met;
  end.spilled = settled.spilled;
  add(fleet.fleet().models[settled.admitted.requested.value].name, destination_of(fleet, settled.billed_offer()), end);
}

Result<void> Realised::hear(const event::Record& record) {
  if (options_.only && record.snapshot != *options_.only) return {};
  if (const auto* fixed = std::get_if<event::FixedCost>(&record.event)) {
    seen_.add_fixed(fixed->amount);
  } else if (const auto* admitted = std::get_if<event::Admitted>(&record.event)) {
    if (admitted->at >= options_.from && admitted->at < options_.to)
      open_.insert_or_assign(admitted->id, Open{*admitted, std::nullopt, {}});
  } else if (const auto* decided = std::get_if<event::Decided>(&record.event)) {
    if (const auto found = open_.find(decided->id); found != open_.end()) found->second.decided = *decided;
  } else if (const auto* attempted = std::get_if<event::Attempted>(&record.event)) {
    if (const auto found = open_.find(attempted->id); found != open_.end())
      found->second.attempts.push_back(*attempted);
  } else if (const auto* completed = std::get_if<event::Completed>(&record.event)) {
    const auto found = open_.find(completed->id);
    if (found == open_.end()) return {};
    const Open open = std::move(found->second);
    open_.erase(found);
    return end(record.snapshot, open, *completed);
  }
  return {};
}

Result<void> Realised::end(std::uint64_t number, const Open& open, const event::Completed& completed) {
  const Result<const Snapshot*> snapshot = options_.snapshot(number);
  if (!snapshot) return Error(snapshot.error());
  const Snapshot& fleet = **snapshot;
  if (Result<void> fine = belongs(fleet, open.admitted, open.attempts, completed); !fine) return fine;
  ++snapshots_[number];
  const Settler& settler = settlers_.try_emplace(number, fleet).first->second;
  if (open.decided) {
    ++decided_;
    if (open.decided->decision.chosen.valid() && open.decided->decision.chosen.value >= fleet.offers().size())
      return Error(Errc::corrupt, "a decision chose an offer that its snapshot does not have");
    seen_.add(fleet, settler.settle(open.admitted, *open.decided, open.attempts, completed));
    return {};
  }
  Ended end{completed.outcome, std::nullopt, completed.ttft, completed.tpot, completed.slo_met, false};
  if (completed.observed_cost_nano >= 0)
    end.cost = Usd{completed.observed_cost_nano};
  else if (completed.offer.valid())
    end.cost = settler.paid(open.attempts);
  seen_.add(fleet.fleet().models[open.admitted.requested.value].name, destination_of(fleet, completed.offer), end);
  return {};
}

}  // namespace ace
