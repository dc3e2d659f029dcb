#include "dispatch/kin.h"

#include <algorithm>
#include <span>

namespace ace {
namespace {

template <class Id, class Thing, class Same>
std::vector<Id> kin_of(const std::vector<Thing>& before, const std::vector<Thing>& now, Same same) {
  std::vector<Id> kin;
  for (const Thing& thing : now) {
    const auto found = std::find_if(before.begin(), before.end(),
                                    [&](const Thing& old) { return old.name == thing.name && same(old, thing); });
    kin.push_back(found == before.end() ? Id{} : Id{static_cast<std::uint32_t>(found - before.begin())});
  }
  return kin;
}

bool same_promise(const SloClass& a, const SloClass& b) {
  return a.ttft == b.ttft && a.tpot == b.tpot && a.deadline == b.deadline && a.epsilon == b.epsilon;
}

/// Without numbers of other things, and without money.
Destination bare(Destination d) {
  d.declared = 0;
  d.provider = {};
  d.native_spill.reset();
  d.amortization_hourly = d.commitment_hourly = Usd{};
  d.rental.reset();
  for (Serving& serving : d.serving) {
    serving.model = {};
    serving.price.reset();
  }
  return d;
}

}  // namespace

Kin::Kin(const Snapshot& before, const Snapshot& now) {
  const Fleet &a = before.fleet(), &b = now.fleet();
  const auto any = [](const auto&, const auto&) { return true; };
  models = kin_of<ModelId>(a.models, b.models, any);
  tenants = kin_of<TenantId>(a.tenants, b.tenants, any);
  slo_classes = kin_of<SloId>(a.slo_classes, b.slo_classes, same_promise);
  destinations = kin_of<DestinationId>(a.destinations, b.destinations, [&](const Destination& x, const Destination& y) {
    const auto same_model = [&](const Serving& s, const Serving& t) {
      return a.models[s.model.value].name == b.models[t.model.value].name;
    };
    return a.providers[x.provider.value] == b.providers[y.provider.value] && bare(x) == bare(y) &&
           std::equal(x.serving.begin(), x.serving.end(), y.serving.begin(), y.serving.end(), same_model);
  });
  for (const Offer& offer : now.offers()) {
    const ModelId model = models[offer.model.value];
    OfferId same;
    for (const OfferId o : model.valid() ? before.candidates(model) : std::span<const OfferId>()) {
      const Offer& old = before[o];
      if (old.model == model && old.destination == destinations[offer.destination.value] &&
          old.profile == offer.profile)
        same = o;
    }
    offers.push_back(same);
  }
}

}  // namespace ace
