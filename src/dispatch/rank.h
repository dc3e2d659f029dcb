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

/// Live and static columns by offer, and words by lot.
struct Columns {
  double prefill_weight;  ///< of a prompt, in the average of prefill that the class feels
  const double *use[kResources], *per_unit[kResources];
  const double *wait, *wait_per_token, *wait_scale;  ///< wait_scale is null without a class
  const double *meter_output, *meter_cached;
  const double *price_input, *price_cached, *price_output;
  const double *knee, *knee_of_class, *shadow_price, *fail_probability, *derate, *warmth, *bias;
  const std::int64_t *throttled_until, *tripped_until;
  const std::int32_t* cached;
  const std::uint8_t *scarce, *running, *ready;
  const std::uint64_t *queues, *committed;
};
Columns columns_of(const Snapshot& fleet, const Live& live, SloId slo);

/// What a request asks of every offer of a model, and what its failure or refusal would cost.
struct Ask {
  double prompt = 0.0, output_mean = 0.0, output_p90 = 0.0;  ///< tokens
  double held = 0.0;                                         ///< KV tokens at its end: prompt + output_p90
  double tokens = 0.0;                                       ///< prompt + output_mean
  double reference = 0.0;                                    ///< V, nano-USD
  double failure = 0.0;                                      ///< nano-USD lost if it fails or is evicted
};

/// Least key found so far, and the offer that has it.
struct Least {
  double key = 0.0;
  std::size_t offer = 0;
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

/// What weighing a request saw.
struct Weighed {
  double dearest_price = 0.0, dearest_output = 0.0;  ///< among the feasible; nano-USD, and per output token
  std::uint32_t feasible = 0;
  std::array<std::uint32_t, kExclusions> excluded{};  ///< counts by reason

  /// Counts those of `left` for whom `why` holds, and returns the others.
  std::uint64_t strike(Exclusion why, std::uint64_t left, std::uint64_t whom) {
    excluded[static_cast<std::size_t>(why)] += static_cast<std::uint32_t>(__builtin_popcountll(left & whom));
    return left & ~whom;
  }
};

/// Which offers of a lot lie inside [first, first + count): places [from, to), as bits too.
struct Bounds {
  Bounds(std::size_t base, std::size_t first, std::size_t count)
      : from(first > base ? first - base : 0),
        to(first + count - base < kLot ? first + count - base : kLot),
        bits(~std::uint64_t{0} >> (kLot - (to - from)) << from) {}
  std::size_t from, to;
  std::uint64_t bits;
};

/// One instruction set's kernels over the offers [first, first + count). `lots` and `prices` begin with the lot of
/// `first`.
struct Kernel {
  const char* name;
  /// Prices them, tests health and capacity, and says who is in; reads Lot::barred and Lot::attempted.
  void (*weigh)(const Columns&, const Ask&, std::int64_t now, std::size_t first, std::size_t count, Lot* lots,
                double* prices, Weighed& seen);
  /// Least keys, the first on a tie. @param bias_floor least bias of any
  void (*pick)(const Columns&, const Ask&, std::size_t first, std::size_t count, const Lot* lots, const double* prices,
               double bias_floor, Best& best);
};
extern const Kernel kScalarKernel;
/// The widest this CPU has, chosen once.
const Kernel& kernel();
/// Every kernel this CPU can run, the scalar one first.
std::span<const Kernel* const> kernels();

/// Terms of one candidate that is in, given its price.
Terms terms_of(const Columns& columns, const Ask& ask, std::size_t offer, double price);

}  // namespace ace
