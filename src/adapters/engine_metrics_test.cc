#include "adapters/engine_metrics.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace ace {
namespace {

TEST(EngineMetrics, are_read_from_each_engine) {
  const struct {
    const char* why;
    const char* text;
    EngineLoad want;
  } cases[] = {
      {"vLLM, two ranks",
       "# HELP vllm:num_requests_running Number of requests in model execution batches.\n"
       "# TYPE vllm:num_requests_running gauge\n"
       "vllm:num_requests_running{engine=\"0\",model_name=\"m\"} 8.0\n"
       "vllm:num_requests_running{engine=\"1\",model_name=\"m\"} 7.0\n"
       "vllm:num_requests_waiting{engine=\"0\",model_name=\"m\"} 2.0\n"
       "vllm:kv_cache_usage_perc{engine=\"0\",model_name=\"m\"} 0.5\n"
       "vllm:kv_cache_usage_perc{engine=\"1\",model_name=\"m\"} 0.3\n"
       "vllm:request_success_total{finished_reason=\"stop\"} 100.0\n",
       {15, 2, 0.4}},
      {"an older vLLM",
       "vllm:num_requests_running{model_name=\"m\"} 3\nvllm:gpu_cache_usage_perc{model_name=\"m\"} 0.25\n",
       {3, 0, 0.25}},
      {"both names say the same",
       "vllm:num_requests_running 1\nvllm:gpu_cache_usage_perc 0.9\nvllm:kv_cache_usage_perc 0.5\n",
       {1, 0, 0.5}},
      {"both names, the other order",
       "vllm:num_requests_running 1\nvllm:kv_cache_usage_perc 0.5\nvllm:gpu_cache_usage_perc 0.9\n",
       {1, 0, 0.5}},
      {"SGLang",
       "sglang:num_running_reqs{a=\"b\"} 5.0\nsglang:num_queue_reqs{a=\"b\"} 1.0\nsglang:token_usage{a=\"b\"} 0.28\n",
       {5, 1, 0.28}},
      {"trtllm-serve",
       "trtllm_num_requests_running 4\ntrtllm_num_requests_waiting 6\ntrtllm_kv_cache_utilization 0.75\n",
       {4, 6, 0.75}},
      {"Triton",
       "nv_trt_llm_request_metrics{model=\"m\",request_type=\"waiting\",version=\"1\"} 3\n"
       "nv_trt_llm_request_metrics{model=\"m\",request_type=\"scheduled\",version=\"1\"} 9\n"
       "nv_trt_llm_request_metrics{model=\"m\",request_type=\"max\",version=\"1\"} 512\n"
       "nv_trt_llm_kv_cache_block_metrics{kv_cache_block_type=\"used\",model=\"m\"} 900\n"
       "nv_trt_llm_kv_cache_block_metrics{kv_cache_block_type=\"fraction\",model=\"m\"} 0.125\n",
       {9, 3, 0.125}},
      {"CRLF, blanks, a timestamp, quotes in a label",
       "  vllm:num_requests_running { model_name = \"a\\\"}b\" , } 2 1700000000000\r\nvllm:num_requests_waiting\t1\r\n",
       {2, 1, 0.0}},
      {"what is no count",
       "vllm:num_requests_running 2\nvllm:num_requests_waiting NaN\nvllm:num_requests_waiting +Inf\n"
       "vllm:num_requests_waiting -3\nvllm:kv_cache_usage_perc 7\n",
       {2, 0, 1.0}},
      {"lines that are none",
       "vllm:num_requests_running{x=\"1} 2\nvllm:num_requests_running\nvllm:num_requests_waiting 4\n",
       {0, 4, 0.0}},
  };
  for (const auto& c : cases) {
    const Result<EngineLoad> got = read_engine_metrics(c.text);
    ASSERT_TRUE(got) << c.why << ": " << got.error().what();
    EXPECT_EQ(got->running, c.want.running) << c.why;
    EXPECT_EQ(got->waiting, c.want.waiting) << c.why;
    EXPECT_DOUBLE_EQ(got->kv_share, c.want.kv_share) << c.why;
  }
}

TEST(EngineMetrics, of_something_else_are_an_error_and_never_an_idle_engine) {
  for (const std::string& text :
       {std::string(), std::string("up 1\n"), std::string("<html>"), std::string("vllm:kv_cache_usage_perc 0.5\n"),
        std::string("vllm:num_requests_running x\n"), std::string(kMetricsMost + 1, '\n')})
    EXPECT_FALSE(read_engine_metrics(text)) << text.substr(0, 60);
}

TEST(EngineMetrics, of_a_pool_are_those_of_its_servers) {
  const std::array<EngineLoad, 2> servers = {EngineLoad{3, 1, 0.5}, EngineLoad{4, 0, 0.25}};
  EXPECT_EQ(pooled(servers), (EngineLoad{7, 1, 0.375}));
  EXPECT_EQ(pooled({}), EngineLoad{});
}

}  // namespace
}  // namespace ace
