#pragma once
/// The ranking key over columns: the arithmetic of one candidate, and the kernels that run it over many at once.
///
/// All terms are doubles that hold whole nano-USD below 2^50 in size, so their sums are exact and comparing them as
/// doubles is comparing them as int64. Only + - * / and comparisons are used, each lane on its own, so every kernel
/// gives the same bits.
#include <cstddef>
#include <cstdint>

#include "dispatch/dispatch.h"

namespace ace {

/// Live and static columns from the first offer of a range on.
struct Columns {
  double prefill_weight;  ///< of a prompt, in the average of prefill that the class feels
  const double *use[kResources], *per_unit[kResources];
  const double *wait, *wait_per_token, *wait_scale;  ///< wait_scale is null without a class
  const double *meter_output, *meter_cached, *must_fit;
  const double *price_input, *price_cached, *price_output;
  const double *knee, *knee_of_class, *shadow_price, *fail_probability, *derate, *warmth, *bias;
  const std::int64_t *throttled_until, *tripped_until;
  const std::int32_t* cached;
  const std::uint8_t *limits, *scarce, *fixed, *running, *resident;
};
Columns columns_from(const Snapshot& fleet, const Live& live, SloId slo, ComplianceId compliance, OfferId first);

/// What a request asks of every offer of a range, and what its failure or refusal would cost.
struct Ask {
  double prompt = 0.0, output_mean = 0.0, output_p90 = 0.0;  ///< tokens
  double held = 0.0;                                         ///< KV tokens at its end: prompt + output_p90
  double tokens = 0.0;                                       ///< prompt + output_mean
  double reference = 0.0;                                    ///< V, nano-USD
  double failure = 0.0;                                      ///< nano-USD lost if it fails or is evicted
};

/// Least key found so far; `at` counts from the first offer of the range.
struct Least {
  double key = 0.0;
  std::size_t at = 0;
  bool found = false;
};
/// Who is cheapest, and who would be with congestion left out (scarcity stays), where saturated candidates take part.
struct Best {
  Least all, uncongested;
};

/// Nearest whole number, ties to even, held within +-2^50.
inline double round_nano(double x) {
  constexpr double limit = 0x1p50, magic = 0x1.8p52;
  x = x < limit ? x : limit;
  x = x > -limit ? x : -limit;
  return (x + magic) - magic;
}

/// Cost of using a queueing resource up to `rho` after admission, in units of V: convex, continuous, non-decreasing, 0
/// up to 0.98 k, 1 at the knee k, infinite at the cap 1.
double congestion(double rho, double knee);

/// What weighing a request saw besides the columns it wrote.
struct Weighed {
  double dearest_price = 0.0, dearest_output = 0.0;  ///< among the feasible; nano-USD, and per output token
  std::array<std::uint32_t, kExclusions> counts{};   ///< by reason; that of `none` means nothing
};

/// One instruction set's kernels.
struct Kernel {
  const char* name;
  /// Price and rho of n candidates. Adds health and capacity to `excluded`, counts by reason, and puts the price of
  /// what is out at infinity; of what is saturated, the rho instead.
  void (*weigh)(const Columns&, const Ask&, std::int64_t now, std::size_t n, double* price, double* rho,
                std::uint8_t* excluded, Weighed& seen);
  /// Least keys, the first on a tie; those whose price is infinite are out. @param bias_floor least bias of any
  void (*pick)(const Columns&, const Ask&, const double* price, const double* rho, double bias_floor, std::size_t n,
               Best& best);
};
extern const Kernel kScalarKernel;
/// The widest this CPU has, chosen once.
const Kernel& kernel();
/// Every kernel this CPU can run, the scalar one first.
std::span<const Kernel* const> kernels();

/// Terms of one candidate, given its price and rho.
Terms terms_of(const Columns& columns, const Ask& ask, std::size_t i, double price, double rho);

}  // namespace ace
