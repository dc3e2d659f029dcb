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

// 8 GPUs exchange 8 x 80 x 8192 x 7/8 = 4.6 MB a prompt token. Over NVLink (450 GB/s x 0.29) that takes 35 us beside 2
// x 70.6e9 / (8 x 989e12 x 0.58) = 31 us of arithmetic, over PCIe 5 (64 GB/s x 0.29) 247 us, over Ethernet 1.27 ms.
TEST(Roofline, prompts_are_as_slow_as_the_link_of_the_shards) {
  const auto rate = [](std::string_view link) {
    return roofline(k70b, kH100, 8, Precision::bf16, link).value().prefill_tokens_per_s;
  };
  EXPECT_EQ(rate("nvlink"), rate(""));
  EXPECT_NEAR(rate("nvlink"), 1.0 / 65.9e-6, 200.0);
  EXPECT_NEAR(rate("pcie"), 1.0 / 278e-6, 40.0);
  EXPECT_NEAR(rate("ethernet"), 1.0 / 1297e-6, 10.0);
  EXPECT_EQ(roofline(k70b, kH100, 1, Precision::fp8, "pcie").value(), roofline(k70b, kH100, 1, Precision::fp8).value())
      << "one GPU talks to nobody";
}

TEST(Roofline, a_prompt_rate_past_the_peak_is_not_believed) {
  // 2 x 989e12 / (2 x 70.6e9) = 14,008 tokens/s at 100% of peak; Splitwise's TP2 rows say 90,882.
  EXPECT_FALSE(plausible_prefill(k70b, kH100, 2, Precision::bf16, 90882));
  EXPECT_TRUE(plausible_prefill(k70b, kH100, 2, Precision::bf16, 6873));
  EXPECT_FALSE(plausible_prefill(k70b, kH100, 2, Precision::bf16, 0));
}

}  // namespace
}  // namespace ace
