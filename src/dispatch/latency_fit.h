#pragma once
/// The latency curve of every offer that queues, by precedence: configured measurement > online fit > roofline.
#include <cstdint>
#include <vector>

#include "core/time.h"
#include "dispatch/belief.h"
#include "dispatch/kin.h"
#include "dispatch/knee.h"
#include "dispatch/snapshot.h"

namespace ace {

/// Seconds from the start of a prompt's first chunk to its first token, beside `sequences` running ones that hold
/// `kv_tokens`: each chunk reads the weights once, whatever rides on it (a roofline).
///
///   sum over chunks of max(step_base, tokens / prefill rate) + step_per_sequence (sequences + 1)
///                      + step_per_kv_token kv_tokens
double prompt_seconds(const ServerProfile& profile, double tokens, double sequences, double kv_tokens);

/// Learns two scales per offer from answers: of the roofline's prefill rate, and of its step. A measured profile stands
/// as it is.
///
/// The prefill rate is scaled until half of the answers come later than the curve says. Only a prompt that nothing
/// waited in front of speaks (what it waited for would hide in its TTFT), and only one whose chunks take longer than
/// reading the weights does (of a shorter one the rate does not show). A median, because what disturbs a TTFT is
/// one-sided and now and then large: another prompt in the same step, a network. The step is scaled by the mean ratio
/// of TPOT seen, less what prompts took of that time, to TPOT predicted at the load that is there when an answer ends;
/// an answer that prompts held up for more than half of its time says nothing of the step.
class LatencyFit {
 public:
  explicit LatencyFit(const Snapshot& snapshot);

  /// As believed now. @pre the offer has a profile
  [[nodiscard]] const ServerProfile& curve(OfferId offer) const { return sites_[offer.value].curve; }
  /// Fitted over prior; 1 where nothing was learnt.
  [[nodiscard]] double prefill_scale(OfferId offer) const { return sites_[offer.value].prefill_scale; }
  [[nodiscard]] double step_scale(OfferId offer) const { return sites_[offer.value].step_scale; }

  /// A prompt's first token came out. @param ttft since its dispatch
  void first_token(const Claim& claim, Duration ttft);

  /// How busy a replica was while an answer came out.
  struct Load {
    double sequences = 1.0;                     ///< at its end, itself included
    double prompt_tokens = 0.0, prompts = 0.0;  ///< prefilled since its first token
  };
  void completed(const Claim& claim, const Observed& seen, const Load& load);

  /// What another one has learnt of the same offers.
  void inherit(const LatencyFit& before, const Kin& kin);

  /// Answers that the shape and the step were learnt from, and prompts and outputs really seen.
  [[nodiscard]] std::uint64_t answers(OfferId offer) const { return sites_[offer.value].answers; }
  [[nodiscard]] Shape shape(OfferId offer) const;

 private:
  struct Site {
    ServerProfile curve;
    double prefill_scale = 1.0, step_scale = 1.0;
    double prompt = 0.0, output = 0.0;  ///< averages over about 256 answers
    std::uint64_t answers = 0, prompts = 0;
  };
  void rescale(OfferId offer);

  const Snapshot* snapshot_;
  std::vector<Site> sites_;  ///< by offer
};

}  // namespace ace
