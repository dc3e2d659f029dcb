#include "dispatch/curve.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "dispatch/roofline.h"
#include "dispatch/weigh.h"

namespace ace {
namespace {

constexpr double kEndless = std::numeric_limits<double>::infinity();

Throughput of_gpus(const Offer& offer, std::int64_t units, double knee, double prompt, double output) {
  const ServerProfile& p = *offer.profile;
  const double batch =
      std::min(static_cast<double>(p.batch_max), static_cast<double>(p.kv_tokens_max) / (prompt + output));
  const auto rate = [&](double n) {  // of one replica
    const double kv = n * (prompt + output / 2.0);
    return n / (output * step_seconds(p, n, kv) + n * prompt / p.prefill_tokens_per_s);
  };
  const double replicas = static_cast<double>(offer.replicas_per_unit * units);
  const double at_knee = std::min(rate(knee * batch), knee * p.prefill_tokens_per_s / std::max(1.0, prompt));
  return {at_knee * replicas, rate(batch) * replicas};
}

Throughput of_api(const Destination& at, const Offer& offer, double prompt, double output) {
  double requests = kEndless;
  const Serving& s = *offer.serving;
  if (s.ptu) requests = CommitmentMeter(*s.ptu).rate() / (prompt + s.ptu->output_ratio * output);
  if (s.gsu) requests = CommitmentMeter(*s.gsu).rate() / (prompt + s.gsu->output_ratio * output);
  if (!at.unlimited && at.tpm) requests = std::min(requests, static_cast<double>(*at.tpm) / 60.0 / (prompt + output));
  if (!at.unlimited && at.rpm) requests = std::min(requests, static_cast<double>(*at.rpm) / 60.0);
  return {requests, requests};  // without queueing the knee is the cap
}

}  // namespace

Throughput throughput(const Snapshot& fleet, OfferId id, std::int64_t units, double knee, double prompt,
                      double output) {
  const Offer& offer = fleet[id];
  if (offer.profile) return of_gpus(offer, units, knee, prompt, output);
  return of_api(fleet.fleet().destinations[offer.destination.value], offer, prompt, output);
}

SupplyCurve supply_curve(const Snapshot& fleet, const Live& live, const Request& request, Instant t) {
  SupplyCurve curve;
  curve.model = request.model;
  curve.at = t;
  curve.prompt = static_cast<double>(request.prompt.value);
  curve.output = request.predicted.output_mean;
  const double tokens = curve.prompt + curve.output;
  const auto per_mtok = [&](double nano) { return nano / tokens * 1e-3; };  // nano-USD of the request -> USD/Mtok

  Scratch scratch(fleet);
  const Weighing weighing(fleet, live, request, t, scratch);
  curve.reference_usd_per_mtok = per_mtok(weighing.reference());
  weighing.each([&](OfferId id, Exclusion why, const Terms& terms) {
    if (why != Exclusion::none) {
      curve.excluded.push_back({id, why});
      return;
    }
    const Offer& offer = fleet[id];
    const std::size_t i = id.value;
    double knee = live.knee[i];
    if (request.slo.valid()) knee = std::min(knee, live.knee_by_class[request.slo.value][i]);
    // Units that run now: the slots column holds one request as a share of all of them.
    constexpr auto slots = static_cast<std::size_t>(Resource::slots);
    const double whole = live.per_unit[slots][i] > 0.0 ? 1.0 / live.per_unit[slots][i] : 0.0;
    const auto units =
        offer.profile ? static_cast<std::int64_t>(whole / std::max(1.0, offer.unit_capacity[slots]) + 0.5) : 1;
    const Throughput rate = throughput(fleet, id, units, knee, curve.prompt, curve.output);

    SupplyStep step{id, offer.destination, offer.model, offer.tier};
    step.usd_per_mtok = per_mtok(static_cast<double>(terms.price + terms.warmth + terms.scarcity + terms.risk));
    step.input_usd_per_mtok = live.price_input[i] * 1e-3;
    step.output_usd_per_mtok = live.price_output[i] * 1e-3;
    step.knee_tokens_per_s = rate.knee * tokens;
    step.cap_tokens_per_s = rate.cap * tokens;
    step.tokens_per_s = step.knee_tokens_per_s;
    curve.steps.push_back(step);
    if (!(rate.cap > rate.knee)) return;
    step.beyond_knee = true;
    step.usd_per_mtok += curve.reference_usd_per_mtok;
    step.tokens_per_s = step.cap_tokens_per_s - step.knee_tokens_per_s;
    curve.steps.push_back(step);
  });
  std::sort(curve.steps.begin(), curve.steps.end(), [](const SupplyStep& a, const SupplyStep& b) {
    return std::tie(a.usd_per_mtok, a.destination, a.model, a.beyond_knee) <
           std::tie(b.usd_per_mtok, b.destination, b.model, b.beyond_knee);
  });
  double right = 0.0;
  for (SupplyStep& step : curve.steps) step.cumulative_tokens_per_s = right += step.tokens_per_s;
  return curve;
}

const SupplyStep* marginal_step(const SupplyCurve& curve, double load) {
  for (const SupplyStep& step : curve.steps)
    if (step.cumulative_tokens_per_s >= load) return &step;
  return nullptr;
}

}  // namespace ace
