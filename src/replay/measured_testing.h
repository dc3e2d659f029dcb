#pragma once
/// Real engines as the plant's examiners: measured runs and load sweeps, and the profiles fitted on them. Tests only.
#include <algorithm>
#include <cmath>
#include <deque>
#include <fstream>
#include <functional>
#include <map>
#include <queue>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/rng.h"
#include "replay/server.h"

namespace ace::measured {

inline std::string read(const std::string& path) {
  std::ifstream in(ACE_DATA "/" + path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  EXPECT_FALSE(text.str().empty()) << path;
  return text.str();
}

inline double median(std::vector<double> values) {
  if (values.empty()) return 0.0;
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2.0;
}

/// The number behind these keys, each looked for after the one before.
inline double number_at(const std::string& text, std::initializer_list<const char*> keys) {
  std::size_t at = 0;
  for (const char* key : keys) {
    at = text.find('"' + std::string(key) + "\":", at);
    if (at == std::string::npos) {
      ADD_FAILURE() << "no " << key;
      return 0.0;
    }
    at += std::string(key).size() + 3;
  }
  return std::stod(text.substr(at, 32));
}

// ---- load sweeps: inference-perf
// -------------------------------------------------------------------------------------

inline constexpr const char* kSetups[] = {"vllm", "vllm+batch_size", "vllm+eagle", "vllm+quantization",
                                          "vllm+v0_engine"};
inline constexpr int kStages = 7;
inline constexpr std::size_t kClients = 440;  // 44 workers x 10 (config.yaml): at most so many requests in flight
inline constexpr double kStageSeconds = 60.0;

/// One stage of a sweep. TPOT is (latency - TTFT) / (output - 1): the file's own column counts stream chunks.
struct Stage {
  double asked = 0.0, served = 0.0;  ///< requests/s
  std::int64_t requests = 0;
  double ttft = 0.0, tpot = 0.0;  ///< medians, seconds
  double running = 0.0;           ///< mean, by Little's law
  double prompt = 0.0, output = 0.0;
};

inline std::vector<Stage> read_sweep(const std::string& setup) {
  std::vector<Stage> stages;
  for (int i = 0; i < kStages; ++i) {
    const std::string text =
        read("inference-perf/" + setup + "/stage_" + std::to_string(i) + "_lifecycle_metrics.json");
    Stage s;
    s.requests = static_cast<std::int64_t>(number_at(text, {"count"}));
    s.asked = number_at(text, {"requested_rate"});
    s.served = number_at(text, {"successes", "requests_per_sec"});
    s.prompt = number_at(text, {"successes", "prompt_len", "mean"});
    s.output = number_at(text, {"successes", "output_len", "mean"});
    s.ttft = number_at(text, {"successes", "time_to_first_token", "median"});
    s.tpot = (number_at(text, {"successes", "request_latency", "median"}) - s.ttft) / (s.output - 1.0);
    s.running = s.served * (number_at(text, {"successes", "request_latency", "mean"}) -
                            number_at(text, {"successes", "time_to_first_token", "mean"}));
    stages.push_back(s);
  }
  return stages;
}

/// Below the knee: the median request still gets its first token within twice the time of an idle engine.
inline bool below_knee(const std::vector<Stage>& stages, std::size_t i) {
  return stages[i].ttft <= 2.0 * stages[0].ttft;
}
/// Saturated: less is served than is asked for.
inline bool saturated(const Stage& s) { return s.served < 0.95 * s.asked; }

struct SweepFit {
  ServerProfile profile;
  double outside_s = 0.0;     ///< of each TTFT: network, HTTP and tokenizer, taken from stage 0
  std::int64_t uncached = 0;  ///< prompt tokens that no cache holds
};

inline Stage run_stage(const SweepFit& fit, const Stage& stage);

/// Fits on the even stages; the odd ones are the check.
///   step(N) = base + per_sequence x N by least squares of relative errors over the points (running, TPOT less what
///   prompts add to a step beyond the base);
///   outside_s is the mean difference of TTFT over the even stages below the knee.
/// batch_max is the largest occupancy seen, rounded up to a multiple of 64. The prefill rate is not identifiable (the
/// 100 distinct prompts are cached but for their last block, 16 tokens): 45,000/s stands for an 8B model on an H100
/// (73% of 989 dense TFLOP/s at 2 x 8e9 a token); only the v0 engine, which had no prefix cache, feels it.
inline SweepFit fit_sweep(const std::string& setup, const std::vector<Stage>& stages) {
  SweepFit fit;
  ServerProfile& p = fit.profile;
  p.prefill_tokens_per_s = 45'000.0;
  p.prefill_chunk = 8192;
  const auto prompt = static_cast<std::int64_t>(stages[0].prompt + 0.5);
  fit.uncached = setup == "vllm+v0_engine" ? prompt : prompt - 16 * ((prompt - 1) / 16);  // v0 had no prefix cache
  double w = 0, wx = 0, wxx = 0, wy = 0, wxy = 0, most = 0;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    most = std::max(most, stages[i].running);
    if (i % 2 != 0) continue;
    const double work = stages[i].served * stages[i].tpot * static_cast<double>(fit.uncached) / p.prefill_tokens_per_s;
    const double x = std::max(stages[i].running, 1.0);
    const double y = stages[i].tpot - std::max(0.0, work - stages[0].tpot);
    const double weight = 1.0 / (stages[i].tpot * stages[i].tpot);
    w += weight;
    wx += weight * x;
    wxx += weight * x * x;
    wy += weight * y;
    wxy += weight * x * y;
  }
  p.step_per_sequence_s = (w * wxy - wx * wy) / (w * wxx - wx * wx);
  p.step_base_s = (wy - p.step_per_sequence_s * wx) / w;
  p.batch_max = static_cast<std::int64_t>(std::ceil(most / 64.0)) * 64;
  p.kv_tokens_max = 400'000;
  p.measured = true;
  double differences = 0.0, stages_used = 0.0;
  for (std::size_t i = 0; i < stages.size(); i += 2) {
    if (!below_knee(stages, i)) continue;
    differences += stages[i].ttft - run_stage(fit, stages[i]).ttft;
    stages_used += 1.0;
  }
  fit.outside_s = std::max(0.0, differences / stages_used);
  return fit;
}

/// The same stage on the plant: arrivals at random within each second, as the load generator's, at most kClients at
/// once; the rest waits at the client and is not in the latency.
inline Stage run_stage(const SweepFit& fit, const Stage& stage) {
  Rng rng(1, "arrivals");
  std::vector<double> due;
  for (std::int64_t i = 0; i < stage.requests; ++i)
    due.push_back(std::floor(static_cast<double>(i) / stage.asked) + rng.uniform());
  std::sort(due.begin(), due.end());
  Server server(fit.profile);
  struct Times {
    double sent = 0.0, first = 0.0;
  };
  std::vector<Times> times(due.size());
  std::priority_queue<std::pair<double, std::uint32_t>, std::vector<std::pair<double, std::uint32_t>>, std::greater<>>
      on_the_way;  // to the engine: outside_s after being sent
  std::vector<double> ttft, tpot;
  std::size_t sent = 0, in_flight = 0;
  double now = 0.0, last = 0.0, decoding = 0.0;
  const auto output = static_cast<std::int64_t>(stage.output + 0.5);
  const auto prompt = static_cast<std::int64_t>(stage.prompt + 0.5);
  while (ttft.size() < due.size()) {
    const double arrival = on_the_way.empty() ? INFINITY : on_the_way.top().first;
    const double send = sent < due.size() && in_flight < kClients ? std::max(due[sent], now) : INFINITY;
    if (send <= arrival && send <= server.next()) {
      now = times[sent].sent = send;
      on_the_way.emplace(now + fit.outside_s, static_cast<std::uint32_t>(sent));
      ++sent;
      ++in_flight;
    } else if (arrival <= server.next()) {
      now = arrival;
      server.arrive(now, on_the_way.top().second, fit.uncached, prompt, output);
      on_the_way.pop();
    } else {
      const Server::Event e = server.fire();
      now = e.at;
      if (e.kind == Server::Event::Kind::first_token) times[e.flight].first = now;
      if (e.kind != Server::Event::Kind::finished) continue;
      const Times& t = times[e.flight];
      ttft.push_back(t.first - t.sent);
      tpot.push_back((now - t.first) / static_cast<double>(output - 1));
      decoding += now - t.first;
      last = now;
      --in_flight;
    }
  }
  Stage out = stage;
  out.ttft = median(ttft);
  out.tpot = median(tpot);
  out.served = static_cast<double>(due.size()) / std::max(last, kStageSeconds);
  out.running = decoding / std::max(last, kStageSeconds);
  return out;
}

// ---- one measured run with every request: llmservingsim
// ---------------------------------------------------------------

struct MeasuredRequest {
  std::int64_t prompt = 0, output = 0;
  double queued = 0.0, scheduled = 0.0, first = 0.0, last = 0.0;  ///< seconds since the first was queued
  [[nodiscard]] double ttft() const { return first - queued; }
  [[nodiscard]] double tpot() const { return (last - first) / static_cast<double>(output - 1); }
};

inline std::vector<MeasuredRequest> read_run(const std::string& gpu) {
  std::istringstream lines(read("llmservingsim/" + gpu + "_Llama-3.1-8B_vllm_requests.jsonl"));
  std::vector<MeasuredRequest> requests;
  for (std::string line; std::getline(lines, line);) {
    MeasuredRequest r;
    r.prompt = static_cast<std::int64_t>(number_at(line, {"input_toks"}));
    r.output = static_cast<std::int64_t>(number_at(line, {"output_toks"}));
    r.queued = number_at(line, {"queued_ts"});
    r.scheduled = number_at(line, {"scheduled_ts"});
    r.first = number_at(line, {"first_token_ts"});
    r.last = number_at(line, {"last_token_ts"});
    requests.push_back(r);
  }
  std::sort(requests.begin(), requests.end(), [](const auto& a, const auto& b) { return a.queued < b.queued; });
  const double start = requests.empty() ? 0.0 : requests.front().queued;
  for (MeasuredRequest& r : requests)
    for (double* t : {&r.queued, &r.scheduled, &r.first, &r.last}) *t -= start;
  return requests;
}

/// Table of (layer, n) -> seconds.
inline std::map<std::string, std::map<std::int64_t, double>> read_layers(const std::string& path) {
  std::istringstream lines(read(path));
  std::map<std::string, std::map<std::int64_t, double>> layers;
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    const std::size_t a = line.find(','), b = line.rfind(',');
    layers[line.substr(0, a)][std::stoll(line.substr(a + 1, b - a - 1))] = std::stod(line.substr(b + 1)) * 1e-6;
  }
  return layers;
}

/// A profile from timings of single layers, nothing of the run itself but the settings it was started with.
///   base: all layers for one token; prefill rate: 2,048 tokens through all layers; per sequence: what 128 take more
///   than one; per KV token: decode attention of 32 sequences x 1,024 tokens.
inline ServerProfile layer_profile(const std::string& gpu, std::int64_t kv_tokens) {
  constexpr double kLayers = 32.0;
  const std::string prefix = "llmservingsim/" + gpu + "_Llama-3.1-8B_tp1_";
  auto dense = read_layers(prefix + "dense.csv");
  auto head = read_layers(prefix + "per_sequence.csv");
  const auto pass = [&](std::int64_t tokens, std::int64_t sequences) {
    double s = dense["embedding"][tokens] + dense["final_layernorm"][tokens];
    for (const char* layer : {"act_fn", "down_proj", "gate_up_proj", "layernorm", "o_proj", "qkv_proj", "rotary_emb"})
      s += kLayers * dense[layer][tokens];
    s += kLayers * dense["layernorm"][tokens];  // two per layer
    return s + head["lm_head"][sequences] + head["sampler"][sequences];
  };
  ServerProfile p;
  p.step_base_s = pass(1, 1);
  p.prefill_tokens_per_s = 2048.0 / pass(2048, 1);
  p.step_per_sequence_s = (pass(128, 128) - pass(1, 1)) / 127.0;
  std::istringstream lines(read(prefix + "attention.csv"));
  for (std::string line; std::getline(lines, line);)
    if (line.rfind("0,0,32,1024,", 0) == 0)
      p.step_per_kv_token_s = kLayers * std::stod(line.substr(12)) * 1e-6 / (32.0 * 1024.0);
  p.batch_max = 128;
  p.prefill_chunk = 2048;
  p.kv_tokens_max = kv_tokens;
  p.measured = true;
  return p;
}

/// Not queued: the engine scheduled it within two steps.
inline bool below_knee(const MeasuredRequest& r) { return r.scheduled - r.queued < 0.1; }

/// The run's arrivals on the plant, in the same order. @param outside_s of each TTFT: not the engine's
inline std::vector<MeasuredRequest> run_requests(const ServerProfile& profile, double outside_s,
                                                 const std::vector<MeasuredRequest>& requests) {
  Server server(profile);
  std::vector<MeasuredRequest> out = requests;
  const auto until = [&](double t) {
    while (server.next() <= t) {
      const Server::Event e = server.fire();
      if (e.kind == Server::Event::Kind::first_token) out[e.flight].first = e.at;
      if (e.kind == Server::Event::Kind::finished) out[e.flight].last = e.at;
    }
  };
  for (std::uint32_t i = 0; i < requests.size(); ++i) {
    const double at = requests[i].queued + outside_s;
    until(at);
    server.arrive(at, i, requests[i].prompt, requests[i].prompt, requests[i].output);
  }
  until(1e17);
  return out;
}

}  // namespace ace::measured
