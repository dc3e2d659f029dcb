#pragma once
/// The supply curve of a model: what the next tokens cost and how many of them there are, cheapest first.
#include <string>
#include <vector>

#include "dispatch/snapshot.h"

namespace ace {

struct Live;
struct Request;

/// One block of capacity. A destination that queues has two: up to its knee, and from the knee to the cap, where one
/// more admission costs V more at once (and rises without bound): it is used only when all else is dearer than that.
struct SupplyStep {
  OfferId offer;
  DestinationId destination;
  ModelId model;
  Tier tier = Tier::payg;
  bool beyond_knee = false;
  double usd_per_mtok = 0.0;  ///< effective marginal cost over prompt and output of the request
  double input_usd_per_mtok = 0.0, output_usd_per_mtok = 0.0;  ///< list or energy price alone
  double tokens_per_s = 0.0;  ///< width: prompt and output tokens; infinite without a quota
  double knee_tokens_per_s = 0.0, cap_tokens_per_s = 0.0;  ///< of the whole offer
  double cumulative_tokens_per_s = 0.0;                    ///< right edge in merit order
};
struct SupplyCurve {
  ModelId model;
  Instant at;
  double prompt = 0.0, output = 0.0;    ///< tokens of the request that the curve is drawn for
  double reference_usd_per_mtok = 0.0;  ///< V
  std::vector<SupplyStep> steps;        ///< in merit order, ties by destination, model, then knee before cap
  struct Out {
    OfferId offer;
    Exclusion why = Exclusion::none;
  };
  std::vector<Out> excluded;
};

/// Requests per second of one destination's running units for a request of this size.
///
/// GPU, at batch N of B: N requests take N x prompt / prefill rate seconds of prefill and output x step(N) of decode,
/// so rate(N) = N / (output x step(N, KV) + N x prompt / prefill rate); the knee is N = knee x B, and prefill alone
/// must not pass it. Commitments: meter rate / weighted tokens. Quotas: the tighter of TPM and RPM.
struct Throughput {
  double knee = 0.0, cap = 0.0;
};
Throughput throughput(const Snapshot& fleet, OfferId offer, std::int64_t units, double knee, double prompt,
                      double output);

/// The curve at time `t` for a representative request. Without congestion: that is the shape of the steps themselves.
/// @param live beliefs: prices, knees, failures, units (as `running`); see Live(snapshot) for an idle fleet
SupplyCurve supply_curve(const Snapshot& fleet, const Live& live, const Request& request, Instant t);

/// The step that serves the last token of `load` tokens/s; null if load is more than there is, or the curve is empty.
const SupplyStep* marginal_step(const SupplyCurve& curve, double load);

}  // namespace ace
