#include "dispatch/latency_fit.h"

#include <algorithm>

#include "dispatch/roofline.h"

namespace ace {
namespace {

constexpr double kWeight = 1.0 / 256.0;
/// First answers move the prefill rate by an eighth, so that a prior far off is left within a hundred of them.
constexpr double kFirstMoves = 8.0;
constexpr double kScaleLeast = 0.1, kScaleMost = 10.0;
/// Of an answer's time, what prompts may take before its TPOT says nothing of the step any more.
constexpr double kPrefillShareMost = 0.5;

double chunk_of(const ServerProfile& p) { return static_cast<double>(std::max<std::int64_t>(p.prefill_chunk, 1)); }

/// Chunks that a prompt comes in: a whole number, at least 1.
double chunks(const ServerProfile& p, double tokens) {
  const auto whole = static_cast<std::int64_t>(tokens / chunk_of(p));
  const double left = tokens - static_cast<double>(whole) * chunk_of(p);
  return std::max(1.0, static_cast<double>(whole) + (left > 0.0 ? 1.0 : 0.0));
}

/// What decode adds to a step.
double decode_seconds(const ServerProfile& p, double sequences, double kv_tokens) {
  return p.step_per_sequence_s * sequences + p.step_per_kv_token_s * kv_tokens;
}

double uncached(const Claim& claim) { return static_cast<double>(claim.prompt - claim.cached); }

}  // namespace

double prompt_seconds(const ServerProfile& p, double tokens, double sequences, double kv_tokens) {
  const double n = chunks(p, tokens);
  const double last = tokens - (n - 1.0) * chunk_of(p);
  return (n - 1.0) * std::max(p.step_base_s, chunk_of(p) / p.prefill_tokens_per_s) +
         std::max(p.step_base_s, last / p.prefill_tokens_per_s) + n * decode_seconds(p, sequences + 1.0, kv_tokens);
}

LatencyFit::LatencyFit(const Snapshot& snapshot) : snapshot_(&snapshot), sites_(snapshot.offers().size()) {
  for (std::uint32_t i = 0; i < sites_.size(); ++i)
    if (const auto& profile = snapshot.offers()[i].profile) sites_[i].curve = *profile;
}

void LatencyFit::rescale(OfferId offer) {
  const ServerProfile& prior = *(*snapshot_)[offer].profile;
  Site& site = sites_[offer.value];
  site.curve.prefill_tokens_per_s = prior.prefill_tokens_per_s * site.prefill_scale;
  site.curve.step_base_s = prior.step_base_s * site.step_scale;
  site.curve.step_per_sequence_s = prior.step_per_sequence_s * site.step_scale;
  site.curve.step_per_kv_token_s = prior.step_per_kv_token_s * site.step_scale;
}

void LatencyFit::first_token(const Claim& claim, Duration ttft) {
  const Offer& offer = (*snapshot_)[claim.offer];
  if (!offer.profile || offer.profile->measured || claim.sequences_beside < 0.0 || ttft.count() <= 0) return;
  Site& site = sites_[claim.offer.value];
  const ServerProfile& p = site.curve;
  const double tokens = uncached(claim);
  if (std::min(tokens, chunk_of(p)) < p.step_base_s * p.prefill_tokens_per_s) return;
  // A prompt waits for the step under way to end: half of one, on average.
  const double step = p.step_base_s * std::min(claim.sequences_beside, 1.0) +
                      decode_seconds(p, claim.sequences_beside, claim.kv_beside);
  const double expected = prompt_seconds(p, tokens, claim.sequences_beside, claim.kv_beside) + step / 2.0;
  const double by = std::max(kWeight, 1.0 / (kFirstMoves + static_cast<double>(site.prompts++)));
  const double moved = site.prefill_scale * (to_seconds(ttft) > expected ? 1.0 - by : 1.0 / (1.0 - by));
  site.prefill_scale = std::clamp(moved, kScaleLeast, kScaleMost);
  rescale(claim.offer);
}

void LatencyFit::completed(const Claim& claim, const Observed& seen, const Load& load) {
  Site& site = sites_[claim.offer.value];
  const double prompt = static_cast<double>(claim.prompt) - static_cast<double>(seen.cached.value);
  const double output = static_cast<double>(seen.output.value);
  if (site.answers++ == 0) {
    site.prompt = prompt;
    site.output = output;
  }
  site.prompt += kWeight * (prompt - site.prompt);
  site.output += kWeight * (output - site.output);
  const ServerProfile& p = *(*snapshot_)[claim.offer].profile;
  if (p.measured || seen.tpot.count() <= 0) return;
  // The load at the end of the answer stands for the load during it; over many answers that evens out.
  const double batch = std::max(1.0, load.sequences);
  const double predicted = step_seconds(p, batch, batch * (site.prompt + site.output / 2.0));
  const double tpot = to_seconds(seen.tpot);
  const double steps = std::max(output - 1.0, 1.0);
  const double share = load.prompt_tokens / site.curve.prefill_tokens_per_s / (tpot * steps);
  if (share > kPrefillShareMost) return;
  // Steps that carry a prompt read the weights for it.
  const double mean = load.prompt_tokens / std::max(load.prompts, 1.0);
  const double carrying = std::min(load.prompts * chunks(p, mean) / steps, 1.0);
  const double decode = predicted - p.step_base_s * carrying;
  if (decode <= 0.0) return;
  const double ratio = tpot * (1.0 - share) / decode;
  site.step_scale += kWeight * (std::clamp(ratio, kScaleLeast, kScaleMost) - site.step_scale);
  rescale(claim.offer);
}

Shape LatencyFit::shape(OfferId offer) const {
  const Site& site = sites_[offer.value];
  Shape shape;
  shape.prompt_mean = std::max(site.prompt, 1.0);
  shape.output_mean = std::max(site.output, 1.0);
  return shape;
}

void LatencyFit::inherit(const LatencyFit& before, const Kin& kin) {
  for (std::size_t o = 0; o < kin.offers.size(); ++o)
    if (kin.offers[o].valid()) sites_[o] = before.sites_[kin.offers[o].value];
}

}  // namespace ace
