#pragma once
/// What inference engines tell of their load, in Prometheus' text format (version 0.0.4).
///
///   | engine          | running                      | waiting                         | KV cache, 0 to 1 | | vLLM |
///   vllm:num_requests_running    | vllm:num_requests_waiting       | vllm:kv_cache_usage_perc, or  | | | | |
///   vllm:gpu_cache_usage_perc     | | SGLang          | sglang:num_running_reqs      | sglang:num_queue_reqs |
///   sglang:token_usage            | | trtllm-serve    | trtllm_num_requests_running  | trtllm_num_requests_waiting |
///   trtllm_kv_cache_utilization   | | Triton TRT-LLM  | nv_trt_llm_request_metrics   | the same, request_type=waiting
///   | nv_trt_llm_kv_cache_block_    | |                 | {request_type="scheduled"}   | |
///   metrics{..._type="fraction"}  |
///
/// Source: Gateway API Inference Extension, model server protocol; documentation of vLLM and SGLang; 2026-09.
#include <cstddef>
#include <span>
#include <string_view>

#include "core/result.h"
#include "dispatch/dispatch.h"

namespace ace {

/// More than any engine writes.
inline constexpr std::size_t kMetricsMost = std::size_t{4} << 20;

/// Of one server. Requests of several engines in it (data parallel ranks) and models add up; the share of the KV cache
/// is their mean. Series that are not known are skipped unread; a gauge that is no finite number counts as absent.
/// @return bad_input if neither running nor waiting requests are told, or the text is longer than kMetricsMost
Result<EngineLoad> read_engine_metrics(std::string_view text);

/// Of a pool, from those of its servers, which are alike.
EngineLoad pooled(std::span<const EngineLoad> servers);

}  // namespace ace
