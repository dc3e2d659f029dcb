/// The roofline against published measurements: prints the table of docs/ROOFLINE.md and holds it to its bar.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/csv.h"
#include "dispatch/roofline.h"

namespace ace {
namespace {

struct Row {
  std::string accelerator, source, label;
  double predicted = 0.0, measured = 0.0;  ///< seconds
  [[nodiscard]] double error() const { return predicted / measured - 1.0; }
};

std::string read(const std::string& path) {
  std::ifstream in(ACE_DATA "/" + path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

double number(std::string_view text) {
  try {
    return std::stod(std::string(text));
  } catch (const std::exception&) {
    return std::nan("");
  }
}

/// Calls visit(field-by-name) for every row.
template <class Visit>
void each_row(const std::string& path, Visit visit) {
  const std::string text = read(path);
  CsvReader reader(text);
  CsvRow header, row;
  ASSERT_TRUE(reader.next(header).value()) << path;
  std::vector<std::string> names(header.fields.begin(), header.fields.end());
  while (reader.next(row).value()) {
    if (row.fields.size() != names.size()) continue;
    visit([&](std::string_view name) -> std::string_view {
      for (std::size_t i = 0; i < names.size(); ++i)
        if (names[i] == name) return row.fields[i];
      ADD_FAILURE() << path << " has no column " << name;
      return "";
    });
  }
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0.0 : values[values.size() / 2];
}

struct Subject {
  const Architecture* model = nullptr;
  const Accelerator* gpu = nullptr;
  std::int64_t tp = 1;
  [[nodiscard]] std::optional<ServerProfile> profile() const {
    if (model == nullptr || gpu == nullptr) return std::nullopt;
    const Result<ServerProfile> p = roofline(*model, *gpu, tp, Precision::bf16);
    return p ? std::optional(*p) : std::nullopt;
  }
};

/// One forward pass over n tokens without attention over a history: bound by the weights or by the arithmetic.
double pass_seconds(const ServerProfile& p, double tokens) {
  return std::max(p.step_base_s, tokens / p.prefill_tokens_per_s);
}

/// Splitwise (vLLM, 2023): prompt time, and time per token at a batch. Rows whose prompt rate no hardware of that name
/// reaches are left out whole.
void add_splitwise(std::vector<Row>& rows, int& implausible) {
  struct Times {
    std::vector<double> prompt, token;
  };
  std::map<std::vector<std::string>, Times> cells;
  each_row("splitwise/perf_model.csv", [&](auto field) {
    const std::string hardware(field("hardware"));
    if (hardware.find("pcap") != std::string::npos) return;  // power-capped: another machine
    Times& t =
        cells[{std::string(field("model")), hardware, std::string(field("tensor_parallel")),
               std::string(field("prompt_size")), std::string(field("batch_size")), std::string(field("token_size"))}];
    t.prompt.push_back(number(field("prompt_time")) / 1e3);
    t.token.push_back(number(field("token_time")) / 1e3);
  });
  for (const auto& [key, times] : cells) {
    const Subject s{find_architecture(key[0] == "llama2-70b" ? "llama-2-70b" : key[0]),
                    find_accelerator(key[1] == "a100-80gb" ? "a100-80g" : "h100-80g"), std::stoll(key[2])};
    const double prompt = number(key[3]), batch = number(key[4]);
    const std::optional<ServerProfile> p = s.profile();
    ASSERT_TRUE(p) << key[0];
    if (!plausible_prefill(*s.model, *s.gpu, s.tp, Precision::bf16, prompt * batch / median(times.prompt))) {
      ++implausible;
      continue;
    }
    const std::string label = fmt::format("{} tp{} prompt {} batch {}", key[0], key[2], key[3], key[4]);
    const std::string gpu(s.gpu->name);
    rows.push_back({gpu, "splitwise prompt", label, pass_seconds(*p, prompt * batch), median(times.prompt)});
    rows.push_back({gpu, "splitwise token", label, step_seconds(*p, batch, batch * (prompt + number(key[5]) / 2)),
                    median(times.token)});
  }
}

/// LLM-Inference-Bench (vLLM, TensorRT-LLM): latency of a batch with L prompt and L output tokens.
/// Rows faster than reading the weights once per output token at 100% of the bandwidth are left out.
void add_argonne(std::vector<Row>& rows, int& unfit, int& too_fast) {
  const std::map<std::string, std::string, std::less<>> models = {
      {"meta-llama/Llama-2-7b-hf", "llama-2-7b"},     {"meta-llama/Meta-Llama-3-8B", "llama-3-8b"},
      {"mistralai/Mistral-7B-v0.1", "mistral-7b"},    {"mistralai/Mixtral-8x7B-v0.1", "mixtral-8x7b"},
      {"meta-llama/Meta-Llama-3-70B", "llama-3-70b"}, {"Qwen/Qwen2-72B", "qwen2-72b"}};
  const std::map<std::string, std::string, std::less<>> gpus = {{"Nvidia A100 GPU", "a100-40g"},
                                                                {"Nvidia H100 GPU", "h100-80g"},
                                                                {"Nvidia GH200 GPU", "gh200"},
                                                                {"AMD MI300X GPU", "mi300x"}};
  each_row("argonne-llm-bench/All_results.csv", [&](auto field) {
    const auto gpu = gpus.find(field("Hardware"));
    const auto model = models.find(field("Model"));
    const std::string engine(field("Framework"));
    if (gpu == gpus.end() || model == models.end() || (engine != "vLLM" && engine != "TensorRT-LLM")) return;
    const double length = number(field("Input Output Length")), batch = number(field("Batch Size"));
    const double latency = number(field("Latency"));
    if (!(latency > 0.0) || !(length > 0.0) || !(batch > 0.0)) return;
    const Subject s{find_architecture(model->second), find_accelerator(gpu->second),
                    std::stoll(std::string(field("Num of Hardware")))};
    const std::optional<ServerProfile> p = s.profile();
    if (!p) {
      ++unfit;
      return;
    }
    const double read = 2.0 * s.model->parameters_active / (static_cast<double>(s.tp) * s.gpu->bandwidth);
    if (latency < length * read) {
      ++too_fast;
      return;
    }
    const double predicted =
        batch * length / p->prefill_tokens_per_s + length * step_seconds(*p, batch, batch * 1.5 * length);
    rows.push_back({gpu->second, "argonne " + engine,
                    fmt::format("{} tp{} length {} batch {}", model->second, s.tp, length, batch), predicted, latency});
  });
}

/// Vidur: kernels of one layer by tokens in the pass and tensor-parallel width, without attention, plus the measured
/// all-reduce of that size, times the layers.
void add_vidur(std::vector<Row>& rows) {
  struct Machine {
    const char *folder, *gpu, *reduce;
  };
  for (const Machine& machine :
       {Machine{"a100", "a100-80g", "vidur/all_reduce_a100_dgx.csv"},
        Machine{"h100", "h100-80g", "vidur/all_reduce_h100_dgx.csv"}, Machine{"a40", "a40", nullptr}}) {
    std::map<std::string, std::map<double, std::vector<double>>, std::less<>> reduce;  // by width, size
    if (machine.reduce != nullptr)
      each_row(machine.reduce, [&](auto field) {
        if (number(field("devices_per_node")) < number(field("num_workers"))) return;  // replicas stay inside a node
        reduce[std::string(field("num_workers"))][number(field("size"))].push_back(
            number(field("time_stats.all_reduce.median")));
      });
    for (const auto& [file, name] : {std::pair("7b", "llama-2-7b"), std::pair("70b", "llama-2-70b")}) {
      each_row(fmt::format("vidur/mlp_{}_Llama-2-{}.csv", machine.folder, file), [&](auto field) {
        const std::string width(field("num_tensor_parallel_workers"));
        const Subject s{find_architecture(name), find_accelerator(machine.gpu), std::stoll(width)};
        const double tokens = number(field("num_tokens"));
        double ms = 0.0;
        for (const char* op : {"input_layernorm", "attn_pre_proj", "attn_rope", "attn_post_proj",
                               "post_attention_layernorm", "mlp_up_proj", "mlp_act", "mlp_down_proj", "add"})
          ms += number(field(fmt::format("time_stats.{}.median", op)));
        if (s.tp > 1) {
          const auto sizes = reduce.find(width);
          if (sizes == reduce.end()) return;  // no all-reduce was measured there
          auto at = sizes->second.lower_bound(tokens * s.model->hidden * 2.0);
          if (at == sizes->second.end()) --at;
          ms += 2.0 * median(at->second);
        }
        const std::optional<ServerProfile> p = s.profile();
        // The kernels were timed one layer at a time, so the weights need not fit.
        if (!p || !(ms > 0.0)) return;
        rows.push_back({machine.gpu, "vidur", fmt::format("{} tp{} tokens {}", name, width, tokens),
                        pass_seconds(*p, tokens), s.model->layers * ms / 1e3});
      });
    }
  }
}

/// A number of a JSON file that follows "group": ... "name": ... "field": in this order.
double after(const std::string& text, std::initializer_list<const char*> path) {
  std::size_t at = 0;
  for (const char* key : path) at = text.find(std::string("\"") + key + "\":", at) + std::string(key).size() + 3;
  return number(text.substr(at, 32));
}

/// inference-perf (vLLM, Llama-3-8B, prompts of 204 tokens of which 128 are shared, 62 out): time per token below
/// saturation. The source does not name the GPU; its rates are those of an H100.
void add_inference_perf(std::vector<Row>& rows) {
  const Subject s{find_architecture("llama-3-8b"), find_accelerator("h100-80g"), 1};
  const ServerProfile p = s.profile().value();
  for (const char* set : {"vllm", "vllm+batch_size"}) {
    for (int stage = 0; stage < 4; ++stage) {
      const std::string text = read(fmt::format("inference-perf/{}/stage_{}_lifecycle_metrics.json", set, stage));
      const double rate = after(text, {"achieved_rate"}), latency = after(text, {"request_latency", "median"});
      const double ttft = after(text, {"time_to_first_token", "median"}), out = after(text, {"output_len", "mean"});
      const double prompt = after(text, {"throughput", "prompt_len", "mean"}) - 128.0;
      const double batch = rate * (latency - ttft);  // Little
      const double left = 1.0 - rate * prompt / p.prefill_tokens_per_s;
      rows.push_back({"h100-80g", "inference-perf", fmt::format("{} at {:.0f}/s", set, rate),
                      step_seconds(p, std::max(batch, 1.0), std::max(batch, 1.0) * 235.0) / left,
                      (latency - ttft) / (out - 1.0)});
    }
  }
}

TEST(RooflineData, is_within_30_percent_of_the_published_measurements_at_the_median) {
  std::vector<Row> rows;
  int implausible = 0, unfit = 0, too_fast = 0;
  add_splitwise(rows, implausible);
  add_argonne(rows, unfit, too_fast);
  add_vidur(rows);
  add_inference_perf(rows);
  // Splitwise's TP2 rows with 64 prompts of 512 tokens: 90,882 tokens/s on two H100, six times their peak.
  EXPECT_GT(implausible, 0);

  std::map<std::string, std::map<std::string, std::vector<const Row*>>> table;
  for (const Row& row : rows) {
    table[row.accelerator][row.source].push_back(&row);
    table[row.accelerator]["(all)"].push_back(&row);
  }
  fmt::print("| accelerator | source | rows | median abs. error | median error | worst |\n|---|---|---|---|---|---|\n");
  for (const auto& [accelerator, sources] : table) {
    for (const auto& [source, cell] : sources) {
      std::vector<double> absolute, signed_errors;
      const Row* worst = cell.front();
      for (const Row* row : cell) {
        absolute.push_back(std::fabs(row->error()));
        signed_errors.push_back(row->error());
        if (std::fabs(row->error()) > std::fabs(worst->error())) worst = row;
      }
      fmt::print("| {} | {} | {} | {:.1f}% | {:+.1f}% | {:+.0f}%: {} |\n", accelerator, source, cell.size(),
                 100 * median(absolute), 100 * median(signed_errors), 100 * worst->error(), worst->label);
      EXPECT_LE(median(absolute), 0.30) << accelerator << ", " << source;
    }
  }
  fmt::print(
      "left out: {} Splitwise cells past the hardware's peak, {} Argonne rows faster than reading the weights, {} "
      "whose weights do not fit\n",
      implausible, too_fast, unfit);
}

}  // namespace
}  // namespace ace
