#include "dispatch/rank.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace ace {
namespace {

constexpr double kOut = std::numeric_limits<double>::infinity();

namespace scalar {
using Vec = double;
using Mask = bool;
constexpr std::size_t kLanes = 1;
inline Vec spread(double x) { return x; }
inline Vec load(const double* p) { return *p; }
inline Vec load_i32(const std::int32_t* p) { return *p; }
inline Vec load_u8(const std::uint8_t* p) { return *p; }
inline void store(double* p, Vec v) { *p = v; }
inline Mask above(Vec a, Vec b) { return a > b; }
inline Mask below(Vec a, Vec b) { return a < b; }
inline Mask at_least(Vec a, Vec b) { return a >= b; }
inline Mask same(Vec a, Vec b) { return a == b; }
inline unsigned bits(Mask mask) { return mask ? 1U : 0U; }
inline Mask mask_of(unsigned lanes) { return (lanes & 1U) != 0; }
inline Vec choose(Mask mask, Vec a, Vec b) { return mask ? a : b; }
inline Vec only(unsigned lanes, Vec v) { return mask_of(lanes) ? v : 0.0; }
inline Vec least(Vec a, Vec b) { return a < b ? a : b; }
inline Vec most(Vec a, Vec b) { return a > b ? a : b; }
inline double largest(Vec v) { return v; }
inline double smallest(Vec v) { return v; }
inline unsigned later(const std::int64_t* until, std::int64_t now) { return *until > now ? 1U : 0U; }
inline std::uint64_t nonzero(const std::uint8_t* bytes) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < kLot; ++i) word |= std::uint64_t{bytes[i] != 0} << i;
  return word;
}
#include "dispatch/rank_kernel.inc"
}  // namespace scalar

#if defined(__x86_64__)
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,popcnt,bmi,bmi2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,popcnt,bmi,bmi2")
#endif
namespace avx2 {
using Vec = __m256d;
using Mask = __m256d;
constexpr std::size_t kLanes = 4;
inline Vec spread(double x) { return _mm256_set1_pd(x); }
inline Vec load(const double* p) { return _mm256_load_pd(p); }
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
inline void store(double* p, Vec v) { _mm256_store_pd(p, v); }
inline Mask above(Vec a, Vec b) { return _mm256_cmp_pd(a, b, _CMP_GT_OQ); }
inline Mask below(Vec a, Vec b) { return _mm256_cmp_pd(a, b, _CMP_LT_OQ); }
inline Mask at_least(Vec a, Vec b) { return _mm256_cmp_pd(a, b, _CMP_GE_OQ); }
inline Mask same(Vec a, Vec b) { return _mm256_cmp_pd(a, b, _CMP_EQ_OQ); }
inline unsigned bits(Mask mask) { return static_cast<unsigned>(_mm256_movemask_pd(mask)); }
inline Mask mask_of(unsigned lanes) {
  const __m256i lane = _mm256_set_epi64x(8, 4, 2, 1);
  return _mm256_castsi256_pd(_mm256_cmpeq_epi64(_mm256_and_si256(_mm256_set1_epi64x(lanes), lane), lane));
}
inline Vec choose(Mask mask, Vec a, Vec b) { return _mm256_blendv_pd(b, a, mask); }
inline Vec only(unsigned lanes, Vec v) { return _mm256_and_pd(mask_of(lanes), v); }
inline Vec least(Vec a, Vec b) { return _mm256_min_pd(a, b); }
inline Vec most(Vec a, Vec b) { return _mm256_max_pd(a, b); }
inline double largest(Vec v) {
  const __m128d two = _mm_max_pd(_mm256_castpd256_pd128(v), _mm256_extractf128_pd(v, 1));
  return _mm_cvtsd_f64(_mm_max_sd(two, _mm_unpackhi_pd(two, two)));
}
inline double smallest(Vec v) {
  const __m128d two = _mm_min_pd(_mm256_castpd256_pd128(v), _mm256_extractf128_pd(v, 1));
  return _mm_cvtsd_f64(_mm_min_sd(two, _mm_unpackhi_pd(two, two)));
}
inline unsigned later(const std::int64_t* until, std::int64_t now) {
  __m256i four;
  std::memcpy(&four, until, sizeof four);
  return bits(_mm256_castsi256_pd(_mm256_cmpgt_epi64(four, _mm256_set1_epi64x(now))));
}
inline std::uint64_t nonzero(const std::uint8_t* bytes) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < kLot; i += 32) {
    __m256i some;
    std::memcpy(&some, bytes + i, sizeof some);
    const int zeros = _mm256_movemask_epi8(_mm256_cmpeq_epi8(some, _mm256_setzero_si256()));
    word |= std::uint64_t{~static_cast<std::uint32_t>(zeros)} << i;
  }
  return word;
}
#include "dispatch/rank_kernel.inc"
}  // namespace avx2
#if defined(__clang__)
#pragma clang attribute pop
#pragma clang attribute push(__attribute__((target("avx512f,avx512vl,avx512dq,avx512bw,popcnt,bmi,bmi2"))), \
                                 apply_to = function)
#else
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("avx512f,avx512vl,avx512dq,avx512bw,popcnt,bmi,bmi2")
#endif
namespace avx512 {
using Vec = __m512d;
using Mask = __mmask8;
constexpr std::size_t kLanes = 8;
inline Vec spread(double x) { return _mm512_set1_pd(x); }
inline Vec load(const double* p) { return _mm512_load_pd(p); }
inline Vec load_i32(const std::int32_t* p) {
  __m256i eight;
  std::memcpy(&eight, p, sizeof eight);
  return _mm512_maskz_cvtepi32_pd(0xff, eight);
}
inline Vec load_u8(const std::uint8_t* p) {
  std::int64_t eight;
  std::memcpy(&eight, p, sizeof eight);
  return _mm512_maskz_cvtepi32_pd(0xff, _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(eight)));
}
inline void store(double* p, Vec v) { _mm512_store_pd(p, v); }
inline Mask above(Vec a, Vec b) { return _mm512_cmp_pd_mask(a, b, _CMP_GT_OQ); }
inline Mask below(Vec a, Vec b) { return _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ); }
inline Mask at_least(Vec a, Vec b) { return _mm512_cmp_pd_mask(a, b, _CMP_GE_OQ); }
inline Mask same(Vec a, Vec b) { return _mm512_cmp_pd_mask(a, b, _CMP_EQ_OQ); }
inline unsigned bits(Mask mask) { return mask; }
inline Mask mask_of(unsigned lanes) { return static_cast<Mask>(lanes); }
inline Vec choose(Mask mask, Vec a, Vec b) { return _mm512_mask_blend_pd(mask, b, a); }
inline Vec only(unsigned lanes, Vec v) { return _mm512_maskz_mov_pd(mask_of(lanes), v); }
// The unmasked forms of GCC 12's header begin from an undefined register, which it then warns of.
inline Vec least(Vec a, Vec b) { return _mm512_maskz_min_pd(0xff, a, b); }
inline Vec most(Vec a, Vec b) { return _mm512_maskz_max_pd(0xff, a, b); }
inline double largest(Vec v) {
  return avx2::largest(_mm256_max_pd(_mm512_maskz_extractf64x4_pd(0xf, v, 0), _mm512_maskz_extractf64x4_pd(0xf, v, 1)));
}
inline double smallest(Vec v) {
  return avx2::smallest(
      _mm256_min_pd(_mm512_maskz_extractf64x4_pd(0xf, v, 0), _mm512_maskz_extractf64x4_pd(0xf, v, 1)));
}
inline unsigned later(const std::int64_t* until, std::int64_t now) {
  return _mm512_cmpgt_epi64_mask(_mm512_load_si512(until), _mm512_set1_epi64(now));
}
inline std::uint64_t nonzero(const std::uint8_t* bytes) {
  const __m512i all = _mm512_load_si512(bytes);
  return _mm512_test_epi8_mask(all, all);
}
#include "dispatch/rank_kernel.inc"
}  // namespace avx512
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
static const Kernel kAvx512Kernel = {"avx512", avx512::weigh, avx512::pick};
#endif

std::span<const Kernel* const> kernels() {
#if defined(__x86_64__)
  static constexpr std::array<const Kernel*, 3> all = {&kScalarKernel, &kAvx2Kernel, &kAvx512Kernel};
  static const std::size_t usable = []() -> std::size_t {
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("popcnt") || !__builtin_cpu_supports("bmi2"))
      return 1;
    const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
    return wide ? 3 : 2;
  }();
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

Columns columns_of(const Snapshot& fleet, const Live& live, SloId slo) {
  Columns c{};
  for (std::size_t r = 0; r < kResources; ++r) {
    c.use[r] = live.use[r].data();
    c.per_unit[r] = live.per_unit[r].data();
  }
  c.prefill_weight = 1.0;
  if (slo.valid() && fleet.fleet().slo_classes[slo.value].only_waits()) {
    c.use[static_cast<std::size_t>(Resource::prefill)] = live.sustained.data();
    c.prefill_weight = kSustainedWeight;
  }
  c.wait = live.wait.data();
  c.wait_per_token = live.wait_per_token.data();
  c.wait_scale = slo.valid() ? live.wait_scale[slo.value].data() : nullptr;
  c.meter_output = live.meter_output.data();
  c.meter_cached = live.meter_cached.data();
  c.price_input = live.price_input.data();
  c.price_cached = live.price_cached.data();
  c.price_output = live.price_output.data();
  c.knee = live.knee.data();
  c.knee_of_class = slo.valid() ? live.knee_by_class[slo.value].data() : c.knee;
  c.shadow_price = live.shadow_price.data();
  c.fail_probability = live.fail_probability.data();
  c.derate = live.derate.data();
  c.warmth = live.warmth.data();
  c.bias = live.bias.data();
  c.throttled_until = live.throttled_until.data();
  c.tripped_until = live.tripped_until.data();
  c.cached = live.cached.data();
  c.scarce = live.scarce.data();
  c.running = live.running.data();
  c.ready = slo.valid() ? live.ready[slo.value].data() : live.resident.data();
  c.queues = fleet.queues().data();
  c.committed = fleet.committed().data();
  return c;
}

Terms terms_of(const Columns& c, const Ask& ask, std::size_t i, double price) {
  const auto nano = [](double x) { return static_cast<std::int64_t>(x); };
  const bool queues = (c.queues[i / kLot] >> i % kLot & 1U) != 0;
  Terms terms;
  terms.price = nano(price);
  terms.warmth = nano(round_nano(c.warmth[i]));
  terms.congestion = nano(scalar::congestion_at(c, ask, i, queues ? 1U : 0U));
  terms.scarcity = nano(scalar::scarcity_at(c, ask, i, 1U));
  terms.risk = nano(scalar::risk_at(c, ask, i, price));
  terms.bias = nano(round_nano(c.bias[i] * ask.tokens));
  terms.rho = queues ? scalar::queue_use(c, ask, i, ask.prompt - scalar::cached_of(c, ask, i)) : 0.0;
  return terms;
}

}  // namespace ace
