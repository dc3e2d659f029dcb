#include "fleet/hardware.h"

#include <gtest/gtest.h>

namespace ace {
namespace {

TEST(Accelerators, have_figures_that_fit_together) {
  for (const Accelerator& a : accelerators()) {
    EXPECT_EQ(find_accelerator(a.name), &a);
    EXPECT_GT(a.vram_bytes, 10e9) << a.name;
    EXPECT_GT(a.bandwidth, a.link_bandwidth) << a.name << ": a neighbour is farther than the own memory";
    EXPECT_LT(a.watts_idle, a.watts_max / 4) << a.name;
    // Between 30 and 600 FLOP for each byte read: outside, a figure is in the wrong unit.
    EXPECT_GT(a.flops_bf16 / a.bandwidth, 30.0) << a.name;
    EXPECT_LT(a.flops_bf16 / a.bandwidth, 650.0) << a.name;
    if (a.flops_fp8 > 0) {
      EXPECT_NEAR(a.flops_fp8 / a.flops_bf16, 2.0, 0.05) << a.name;
    }
  }
  EXPECT_EQ(find_accelerator("h100"), nullptr);
  EXPECT_EQ(find_accelerator(""), nullptr);
}

TEST(Accelerators, are_as_published) {
  const Accelerator* h100 = find_accelerator("h100-80g");
  ASSERT_NE(h100, nullptr);
  EXPECT_EQ(h100->bandwidth, 3.35e12);
  EXPECT_EQ(h100->flops_bf16, 989e12);
  for (const char* name : {"a100-40g", "a100-80g", "a10g", "a40", "gaudi2", "gh200", "h100-nvl", "h200", "l4", "l40s",
                           "mi250", "mi300x", "rtx-pro-6000", "rtx4090", "t4", "v100-16g", "v100-32g"})
    EXPECT_NE(find_accelerator(name), nullptr) << name;
}

TEST(Architectures, have_the_kv_cache_that_their_shape_gives) {
  const struct {
    const char* model;
    double kv_bytes;
    const char* working;
  } cases[] = {
      {"llama-3.3-70b", 327'680, "2 x 80 layers x 8 heads x 128 x 2 B"},
      {"llama-2-13b", 819'200, "2 x 40 x 40 x 128 x 2: no grouped heads"},
      {"mistral-7b", 131'072, "2 x 32 x 8 x 128 x 2"},
      {"deepseek-v3", 70'272, "61 x (512 + 64) x 2: one latent per layer"},
      {"bloom-176b", 4'014'080, "2 x 70 x 112 x 128 x 2"},
      {"gpt-oss-120b", 73'728, "2 x 36 x 8 x 64 x 2"},
  };
  for (const auto& c : cases) {
    ASSERT_NE(find_architecture(c.model), nullptr) << c.model;
    EXPECT_EQ(find_architecture(c.model)->kv_bytes_per_token, c.kv_bytes) << c.model << ": " << c.working;
  }
  EXPECT_EQ(find_architecture("no-such-model"), nullptr);
}

TEST(Architectures, pass_a_token_through_no_more_weights_than_there_are) {
  for (const char* model : {"mixtral-8x7b", "deepseek-r1", "llama-3.1-405b", "qwen2.5-72b", "qwen-72b", "qwen2-7b",
                            "llama-2-7b", "llama-2-70b", "llama-3-8b", "llama-3.1-8b", "llama-3.1-70b", "qwen2-72b"}) {
    const Architecture* shape = find_architecture(model);
    ASSERT_NE(shape, nullptr) << model;
    EXPECT_LE(shape->parameters_active, shape->parameters) << model;
    // 12 x layers x hidden^2 is the classic count of a dense block stack: within a factor of 2 for dense models.
    if (shape->parameters_active == shape->parameters) {
      EXPECT_GT(shape->parameters, 6 * shape->layers * shape->hidden * shape->hidden) << model;
      EXPECT_LT(shape->parameters, 24 * shape->layers * shape->hidden * shape->hidden) << model;
    }
  }
}

TEST(Precision, has_a_name_and_a_width) {
  EXPECT_EQ(name_of(Precision::fp8), "fp8");
  EXPECT_EQ(bytes_per_weight(Precision::bf16), 2.0);
  EXPECT_EQ(bytes_per_weight(Precision::int4), 0.5);
}

}  // namespace
}  // namespace ace
