#include "core/text.h"
#include "replay/analysis.h"

namespace ace {

Resolver::Resolver(const Snapshot& fleet, const RequestSource& source, const Naming& naming, std::size_t tenants_max)
    : fleet_(&fleet.fleet()), source_(&source), naming_(&naming), tenants_max_(tenants_max) {}

std::optional<Demand> Resolver::operator()(const Arrival& arrival) {
  if (arrival.model >= models_.size()) models_.resize(arrival.model + 1);
  ModelSlot& model = models_[arrival.model];
  if (!model.resolved) {
    model.resolved = true;
    std::string name = source_->models()[arrival.model];
    if (!naming_->model.empty()) name = naming_->model;
    for (const auto& [from, to] : naming_->model_map)
      if (from == name) {
        name = to;
        break;
      }
    if (const auto found = fleet_->model(name)) model.model = *found;
    if (name.empty() && fleet_->models.size() == 1) model.model = ModelId{0};  // nothing else it could be
  }
  ++model.requests;
  if (!model.model.valid()) return std::nullopt;

  if (arrival.tenant >= tenants_.size()) tenants_.resize(arrival.tenant + 1);
  TenantSlot& tenant = tenants_[arrival.tenant];
  if (!tenant.resolved) {
    tenant.resolved = true;
    tenant.slo = fleet_->default_slo;
    if (const auto found = fleet_->tenant(source_->tenants()[arrival.tenant])) {
      const Tenant& declared = fleet_->tenants[found->value];
      tenant.tenant = *found;
      if (declared.slo.valid()) tenant.slo = declared.slo;
      tenant.compliance = declared.compliance;
      tenant.data_class = declared.data_class;
    }
    tenant.symbol = arrival.tenant;
    if (!tenant.tenant.valid() && ++undeclared_ > tenants_max_) {
      if (folded_++ == 0) others_ = arrival.tenant;
      tenant.symbol = others_;
    }
  }
  Demand demand;
  demand.arrival = arrival;
  demand.arrival.tenant = tenant.symbol;
  demand.model = model.model;
  demand.tenant = tenant.tenant;
  demand.slo = tenant.slo;
  demand.compliance = tenant.compliance;
  demand.data_class = tenant.data_class;
  return demand;
}

std::vector<std::pair<std::string, std::uint64_t>> Resolver::unknown() const {
  std::vector<std::pair<std::string, std::uint64_t>> names;
  for (std::uint32_t m = 0; m < models_.size(); ++m)
    if (models_[m].resolved && !models_[m].model.valid()) names.emplace_back(source_->models()[m], models_[m].requests);
  return names;
}

std::vector<std::string> Resolver::tenants() const {
  std::vector<std::string> names;
  for (std::uint32_t symbol = 0; symbol < source_->tenants().size(); ++symbol)
    names.push_back(source_->tenants()[symbol]);
  if (folded_ > 1) names[others_] = "(" + grouped(folded_) + " more tenants)";
  return names;
}

}  // namespace ace
