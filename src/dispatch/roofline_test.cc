#include "dispatch/roofline.h"

#include <gtest/gtest.h>

namespace ace {
namespace {

const Architecture k70b{70.6e9, 70.6e9, 327680.0, 80, 8192};
const Accelerator kH100{"h100-80g", "hopper", 80.0 * 1024 * 1024 * 1024, 3.35e12, 989e12, 1979e12, 70, 700, 450e9};

TEST(Roofline, refuses_weights_that_do_not_fit) {
  // 141 GB of bf16 weights need two 80 GiB cards at 90%: 154.6 GB.
  EXPECT_FALSE(roofline(k70b, kH100, 1, Precision::bf16));
  EXPECT_TRUE(roofline(k70b, kH100, 2, Precision::bf16));
  EXPECT_TRUE(roofline(k70b, kH100, 1, Precision::fp8));
  EXPECT_FALSE(roofline(k70b, kH100, 0, Precision::bf16));
}

TEST(Roofline, a_step_reads_the_weights_at_least_once) {
  const ServerProfile p = roofline(k70b, kH100, 4, Precision::bf16).value();
  EXPECT_GT(p.step_base_s, 141.2e9 / (4 * 3.35e12));
  // 4 x 80 GiB x 0.9 - 141.2 GB = 168 GB over 327,680 bytes a token.
  EXPECT_NEAR(static_cast<double>(p.kv_tokens_max), (4 * kH100.vram_bytes * 0.9 - 141.2e9) / 327680.0, 1.0);
  EXPECT_FALSE(p.measured);
}

TEST(Roofline, more_gpus_are_never_slower_and_hold_more) {
  ServerProfile before = roofline(k70b, kH100, 2, Precision::bf16).value();
  for (const std::int64_t tp : {4, 8}) {
    const ServerProfile p = roofline(k70b, kH100, tp, Precision::bf16).value();
    EXPECT_GT(p.prefill_tokens_per_s, before.prefill_tokens_per_s);
    EXPECT_LT(step_seconds(p, 32, 65536), step_seconds(before, 32, 65536));
    EXPECT_GT(p.kv_tokens_max, before.kv_tokens_max);
    before = p;
  }
}

TEST(Roofline, a_prompt_rate_past_the_peak_is_not_believed) {
  // 2 x 989e12 / (2 x 70.6e9) = 14,008 tokens/s at 100% of peak; Splitwise's TP2 rows say 90,882.
  EXPECT_FALSE(plausible_prefill(k70b, kH100, 2, Precision::bf16, 90882));
  EXPECT_TRUE(plausible_prefill(k70b, kH100, 2, Precision::bf16, 6873));
  EXPECT_FALSE(plausible_prefill(k70b, kH100, 2, Precision::bf16, 0));
}

}  // namespace
}  // namespace ace
