#include "dispatch/rank.h"

#include <array>
#include <cstring>
#include <limits>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace ace {
namespace {

constexpr double kOut = std::numeric_limits<double>::infinity();

using Counts = std::array<std::uint32_t, kExclusions>;

/// What stands against a candidate once health and capacity were looked at, in the order of testing.
std::uint8_t excluded_by(std::uint8_t why, bool tripped, bool throttled, bool full) {
  constexpr auto attempted = static_cast<std::uint8_t>(Exclusion::attempted);
  if (why != 0 && why != attempted) return why;
  if (tripped) return static_cast<std::uint8_t>(Exclusion::tripped);
  if (throttled) return static_cast<std::uint8_t>(Exclusion::throttled);
  if (full) return static_cast<std::uint8_t>(Exclusion::saturated);
  return why;
}

namespace scalar {
using Vec = double;
constexpr std::size_t kLanes = 1;
inline Vec spread(double x) { return x; }
inline Vec load(const double* p) { return *p; }
inline Vec load_i32(const std::int32_t* p) { return *p; }
inline Vec load_u8(const std::uint8_t* p) { return *p; }
inline void store(double* p, Vec v) { *p = v; }
inline unsigned bits(bool mask) { return mask ? 1U : 0U; }
inline unsigned later(const std::int64_t* until, std::int64_t now) { return *until > now ? 1U : 0U; }
inline Vec choose(bool mask, Vec a, Vec b) { return mask ? a : b; }
inline Vec least(Vec a, Vec b) { return a < b ? a : b; }
inline Vec most(Vec a, Vec b) { return a > b ? a : b; }
inline std::uint8_t any_of(const std::uint8_t* bytes) { return *bytes; }
#include "dispatch/rank_kernel.inc"

void weigh_from(std::size_t i, const Columns& c, const Ask& ask, std::int64_t now, std::size_t n, double* price,
                double* rho, std::uint8_t* excluded, Weighed& seen) {
  for (; i < n; ++i)
    weigh_step(c, ask, now, i, price, rho, excluded, seen.dearest_price, seen.dearest_output, seen.counts);
}
void weigh(const Columns& c, const Ask& ask, std::int64_t now, std::size_t n, double* price, double* rho,
           std::uint8_t* excluded, Weighed& seen) {
  weigh_from(0, c, ask, now, n, price, rho, excluded, seen);
}
void pick(const Columns& c, const Ask& ask, const double* price, const double* rho, double bias_floor, std::size_t n,
          Best& best) {
  const double floor = round_nano(bias_floor * ask.tokens);
  for (std::size_t i = 0; i < n; ++i) pick_step(c, ask, price, rho, floor, i, best);
}
}  // namespace scalar

#if defined(__x86_64__)
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2")
#endif
namespace avx2 {
using Vec = __m256d;
constexpr std::size_t kLanes = 4;
inline Vec spread(double x) { return _mm256_set1_pd(x); }
inline Vec load(const double* p) { return _mm256_loadu_pd(p); }
inline Vec load_i32(const std::int32_t* p) {
  __m128i four;
  std::memcpy(&four, p, sizeof four);
  return _mm256_cvtepi32_pd(four);
}
inline Vec load_u8(const std::uint8_t* p) {
  std::uint32_t four;
  std::memcpy(&four, p, sizeof four);
  return _mm256_cvtepi32_pd(_mm_cvtepu8_epi32(_mm_cvtsi32_si128(static_cast<int>(four))));
}
inline void store(double* p, Vec v) { _mm256_storeu_pd(p, v); }
template <class Mask>
inline unsigned bits(Mask mask) {
  return static_cast<unsigned>(_mm256_movemask_pd(reinterpret_cast<Vec>(mask)));
}
inline unsigned later(const std::int64_t* until, std::int64_t now) {
  __m256i four;
  std::memcpy(&four, until, sizeof four);
  return bits(_mm256_cmpgt_epi64(four, _mm256_set1_epi64x(now)));
}
template <class Mask>
inline Vec choose(Mask mask, Vec a, Vec b) {
  return _mm256_blendv_pd(b, a, reinterpret_cast<Vec>(mask));
}
inline Vec least(Vec a, Vec b) { return _mm256_min_pd(a, b); }
inline Vec most(Vec a, Vec b) { return _mm256_max_pd(a, b); }
inline std::uint8_t any_of(const std::uint8_t* bytes) {
  std::uint32_t four;
  std::memcpy(&four, bytes, sizeof four);
  four |= four >> 16;
  return static_cast<std::uint8_t>(four | four >> 8);
}
#include "dispatch/rank_kernel.inc"

void weigh(const Columns& c, const Ask& ask, std::int64_t now, std::size_t n, double* price, double* rho,
           std::uint8_t* excluded, Weighed& seen) {
  Vec prices = spread(seen.dearest_price), outputs = spread(seen.dearest_output);
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) weigh_step(c, ask, now, i, price, rho, excluded, prices, outputs, seen.counts);
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    seen.dearest_price = scalar::most(prices[lane], seen.dearest_price);
    seen.dearest_output = scalar::most(outputs[lane], seen.dearest_output);
  }
  scalar::weigh_from(i, c, ask, now, n, price, rho, excluded, seen);
}
void pick(const Columns& c, const Ask& ask, const double* price, const double* rho, double bias_floor, std::size_t n,
          Best& best) {
  const double floor = round_nano(bias_floor * ask.tokens);
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) pick_step(c, ask, price, rho, floor, i, best);
  for (; i < n; ++i) scalar::pick_step(c, ask, price, rho, floor, i, best);
}
}  // namespace avx2
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif

}  // namespace

const Kernel kScalarKernel = {"scalar", scalar::weigh, scalar::pick};
#if defined(__x86_64__)
static const Kernel kAvx2Kernel = {"avx2", avx2::weigh, avx2::pick};
#endif

std::span<const Kernel* const> kernels() {
#if defined(__x86_64__)
  static constexpr std::array<const Kernel*, 2> all = {&kScalarKernel, &kAvx2Kernel};
  static const std::size_t usable = __builtin_cpu_supports("avx2") ? 2 : 1;
#else
  static constexpr std::array<const Kernel*, 1> all = {&kScalarKernel};
  static const std::size_t usable = 1;
#endif
  return std::span(all).first(usable);
}

const Kernel& kernel() {
  static const Kernel& widest = *kernels().back();
  return widest;
}

double congestion(double rho, double knee) { return rho >= 1.0 ? kOut : scalar::congested(rho, knee); }

Columns columns_from(const Snapshot& fleet, const Live& live, SloId slo, ComplianceId compliance, OfferId first) {
  const std::size_t at = first.value;
  Columns c{};
  for (std::size_t r = 0; r < kResources; ++r) {
    c.use[r] = live.use[r].data() + at;
    c.per_unit[r] = live.per_unit[r].data() + at;
  }
  c.prefill_weight = 1.0;
  if (slo.valid() && fleet.fleet().slo_classes[slo.value].only_waits()) {
    c.use[static_cast<std::size_t>(Resource::prefill)] = live.sustained.data() + at;
    c.prefill_weight = kSustainedWeight;
  }
  c.wait = live.wait.data() + at;
  c.wait_per_token = live.wait_per_token.data() + at;
  c.wait_scale = slo.valid() ? live.wait_scale[slo.value].data() + at : nullptr;
  c.meter_output = live.meter_output.data() + at;
  c.meter_cached = live.meter_cached.data() + at;
  c.must_fit = fleet.must_fit().data() + at;
  c.price_input = live.price_input.data() + at;
  c.price_cached = live.price_cached.data() + at;
  c.price_output = live.price_output.data() + at;
  c.knee = live.knee.data() + at;
  c.knee_of_class = slo.valid() ? live.knee_by_class[slo.value].data() + at : c.knee;
  c.shadow_price = live.shadow_price.data() + at;
  c.fail_probability = live.fail_probability.data() + at;
  c.derate = live.derate.data() + at;
  c.warmth = live.warmth.data() + at;
  c.bias = live.bias.data() + at;
  c.throttled_until = live.throttled_until.data() + at;
  c.tripped_until = live.tripped_until.data() + at;
  c.cached = live.cached.data() + at;
  c.limits = fleet.limits().data() + at;
  c.scarce = live.scarce.data() + at;
  c.fixed = fleet.fixed_exclusions(compliance).data() + at;
  c.running = live.running.data() + at;
  c.resident = live.resident.data() + at;
  return c;
}

Terms terms_of(const Columns& c, const Ask& ask, std::size_t i, double price, double rho) {
  const auto nano = [](double x) { return static_cast<std::int64_t>(x); };
  Terms terms;
  terms.price = nano(price);
  terms.warmth = nano(round_nano(c.warmth[i]));
  terms.congestion = nano(scalar::congestion_at(c, ask, i, rho));
  terms.scarcity = nano(scalar::scarcity_at(c, ask, i));
  terms.risk = nano(scalar::risk_at(c, ask, i, price));
  terms.bias = nano(round_nano(c.bias[i] * ask.tokens));
  terms.rho = rho;
  return terms;
}

}  // namespace ace
