#include "adapters/engine_metrics.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

namespace ace {
namespace {

enum class What : std::uint8_t { running, waiting, kv };

struct Known {
  std::string_view name, label, value;  ///< label and its value where one name has several series
  What what;
};
constexpr Known kKnown[] = {
    {"vllm:num_requests_running", "", "", What::running},
    {"vllm:num_requests_waiting", "", "", What::waiting},
    {"vllm:kv_cache_usage_perc", "", "", What::kv},
    {"vllm:gpu_cache_usage_perc", "", "", What::kv},
    {"sglang:num_running_reqs", "", "", What::running},
    {"sglang:num_queue_reqs", "", "", What::waiting},
    {"sglang:token_usage", "", "", What::kv},
    {"trtllm_num_requests_running", "", "", What::running},
    {"trtllm_num_requests_waiting", "", "", What::waiting},
    {"trtllm_kv_cache_utilization", "", "", What::kv},
    {"nv_trt_llm_request_metrics", "request_type", "scheduled", What::running},
    {"nv_trt_llm_request_metrics", "request_type", "waiting", What::waiting},
    {"nv_trt_llm_kv_cache_block_metrics", "kv_cache_block_type", "fraction", What::kv},
};

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

/// `{a="x",b="y"}` at the front of `text`, taken off it. @return the value of `wanted` as written; empty if it is not
/// there; nothing if this is no list of labels
std::optional<std::string_view> take_labels(std::string_view& text, std::string_view wanted) {
  std::string_view found;
  text.remove_prefix(1);
  for (;;) {
    text = without_blanks(text);
    if (!text.empty() && text.front() == '}') {
      text.remove_prefix(1);
      return found;
    }
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    const std::string_view name = without_blanks(text.substr(0, equals));
    text = without_blanks(text.substr(equals + 1));
    if (text.empty() || text.front() != '"') return std::nullopt;
    std::size_t end = 1;
    while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2U : 1U;
    if (end >= text.size()) return std::nullopt;
    if (!wanted.empty() && name == wanted) found = text.substr(1, end - 1);
    text = without_blanks(text.substr(end + 1));
    if (!text.empty() && text.front() == ',') text.remove_prefix(1);
  }
}

/// The number before an optional timestamp.
std::optional<double> number_of(std::string_view text) {
  text = without_blanks(text);
  text = text.substr(0, text.find_first_of(" \t"));
  double value = 0.0;
  const auto [stop, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc() || stop != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

struct Sums {
  double running = 0.0, waiting = 0.0, kv = 0.0;
  std::int64_t requests = 0, caches = 0;  ///< series seen

  /// vLLM has two names for one thing, and some versions write both: the newer one stands.
  void take_kv(std::string_view name, double share) {
    const bool newer = name == "vllm:kv_cache_usage_perc";
    if (newer_kv_ && !newer) return;
    if (newer && !newer_kv_) {
      kv = 0.0;
      caches = 0;
      newer_kv_ = true;
    }
    kv += std::clamp(share, 0.0, 1.0);
    ++caches;
  }

 private:
  bool newer_kv_ = false;
};

void take_line(std::string_view line, Sums& sums) {
  const std::size_t end = line.find_first_of("{ \t");
  const std::string_view name = line.substr(0, end);
  const auto* first =
      std::find_if(std::begin(kKnown), std::end(kKnown), [&](const Known& k) { return k.name == name; });
  if (first == std::end(kKnown) || end == std::string_view::npos) return;
  std::string_view rest = without_blanks(line.substr(end)), label;
  if (!rest.empty() && rest.front() == '{') {
    const auto found = take_labels(rest, first->label);
    if (!found) return;
    label = *found;
  }
  const std::optional<double> value = number_of(rest);
  if (!value) return;
  const auto* k = std::find_if(first, std::end(kKnown), [&](const Known& known) {
    return known.name == name && (known.label.empty() || known.value == label);
  });
  if (k == std::end(kKnown)) return;
  if (k->what == What::kv) return sums.take_kv(name, *value);
  (k->what == What::running ? sums.running : sums.waiting) += std::max(*value, 0.0);
  ++sums.requests;
}

std::int64_t requests(double sum) { return static_cast<std::int64_t>(std::min(sum, 1e9)); }

}  // namespace

Result<EngineLoad> read_engine_metrics(std::string_view text) {
  if (text.size() > kMetricsMost) return Error(Errc::bad_input, "metrics of an engine: more than 4 MiB of text");
  Sums sums;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = without_blanks(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (!line.empty() && line.front() != '#') take_line(line, sums);
  }
  if (sums.requests == 0)
    return Error(Errc::bad_input,
                 "metrics of an engine: expected those of vLLM, SGLang or TensorRT-LLM, found neither running nor "
                 "waiting requests");
  return EngineLoad{.running = requests(sums.running),
                    .waiting = requests(sums.waiting),
                    .kv_share = sums.caches > 0 ? sums.kv / static_cast<double>(sums.caches) : 0.0};
}

EngineLoad pooled(std::span<const EngineLoad> servers) {
  EngineLoad sum;
  for (const EngineLoad& server : servers) {
    sum.running += server.running;
    sum.waiting += server.waiting;
    sum.kv_share += server.kv_share;
  }
  if (!servers.empty()) sum.kv_share /= static_cast<double>(servers.size());
  return sum;
}

}  // namespace ace
