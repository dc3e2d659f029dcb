/// What a request costs to read and to rewrite, by the size of its prompt. Labels are hashes of what came out.
#include <benchmark/benchmark.h>

#include <string>

#include "core/hash.h"
#include "wire/request.h"
#include "wire/usage.h"

namespace ace::wire {
namespace {

std::string chat_of(std::size_t prompt_bytes) {
  std::string text;
  while (text.size() < prompt_bytes) text += "Some words of a prompt, with a line\\nand a \\\"quote\\\" now and then. ";
  return R"({"model":"llama-3.3-70b","stream":true,"temperature":0.2,"messages":[{"role":"system","content":"Be brief."},)"
         R"({"role":"user","content":")" +
         text + R"("}]})";
}

void read_and_rewrite(benchmark::State& state) {
  const std::string body = chat_of(static_cast<std::size_t>(state.range(0)));
  const RequestLimits limits;
  Json json;
  Changes changes;
  changes.model = "meta-llama/Llama-3.3-70B-Instruct";
  changes.force_usage = true;
  std::string out;
  for (auto _ : state) {
    const ReadRequest got = read_request(Operation::chat, body, limits, json);
    if (got.error) return state.SkipWithError("refused");
    out = rewritten(body, got.request, changes);
    benchmark::DoNotOptimize(out);
  }
  state.SetLabel(std::to_string(hash_of(out)));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(body.size()));
}
BENCHMARK(read_and_rewrite)->Arg(1'300)->Arg(220'000);

void follow_an_event(benchmark::State& state) {
  Json json;
  StreamReader reader(Operation::chat);
  for (auto _ : state) {
    const auto kind =
        reader.take("",
                    R"({"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,)"
                    R"("delta":{"content":" word"},"logprobs":null,"finish_reason":null}],"usage":null})",
                    json);
    if (kind != StreamReader::Kind::content) return state.SkipWithError("not content");
  }
  state.SetLabel(reader.facts().model);
}
BENCHMARK(follow_an_event);

}  // namespace
}  // namespace ace::wire
