#include "replay/load_curves.h"

#include <algorithm>

namespace ace {

std::vector<LoadCurve> load_curves(const Snapshot& fleet, const Statement& statement, const LoadSeries& series,
                                   std::size_t models_max) {
  struct Demanded {
    ModelId id;
    std::int64_t requests = 0, prompt = 0, output = 0;
    SloId slo;
  };
  std::vector<Demanded> models(fleet.fleet().models.size());
  std::int64_t all_tokens = 0;
  for (const UsageLine& line : statement.usage) {
    if (!line.destination.valid()) continue;
    Demanded& model = models[line.model.value];
    model.id = line.model;
    model.slo = line.slo;
    model.requests += static_cast<std::int64_t>(line.requests);
    model.prompt += line.input + line.cached;
    model.output += line.output;
    all_tokens += line.input + line.cached + line.output;
  }
  std::erase_if(models, [](const Demanded& m) { return m.requests == 0; });
  std::stable_sort(models.begin(), models.end(),
                   [](const Demanded& a, const Demanded& b) { return a.prompt + a.output > b.prompt + b.output; });
  if (models.size() > models_max) models.resize(models_max);

  std::vector<std::int64_t> loads;
  for (const SeriesBucket& bucket : series.buckets()) loads.push_back(bucket.arrived_tokens);
  std::sort(loads.begin(), loads.end());
  std::vector<LoadCurve> curves;
  if (loads.empty() || all_tokens == 0) return curves;
  const Live live(fleet);
  for (const Demanded& model : models) {
    const double share = static_cast<double>(model.prompt + model.output) / static_cast<double>(all_tokens);
    Request request;
    request.model = model.id;
    request.slo = model.slo;
    request.prompt = Tokens{model.prompt / model.requests};
    request.predicted.output_mean = static_cast<double>(model.output) / static_cast<double>(model.requests);
    request.predicted.output_p90 = 2.0 * request.predicted.output_mean;
    const SupplyCurve curve = supply_curve(fleet, live, request, statement.from);
    for (const auto& [name, percent] : {std::pair{"p50", std::size_t{50}}, std::pair{"p95", std::size_t{95}}}) {
      const std::size_t rank = std::max<std::size_t>((loads.size() * percent + 99) / 100, 1);  // nearest rank
      const double tokens = static_cast<double>(loads[rank - 1]);
      curves.push_back({name, tokens / to_seconds(series.width()) * share, curve});
    }
  }
  return curves;
}

}  // namespace ace
