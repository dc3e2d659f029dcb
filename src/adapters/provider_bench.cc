/// What a gateway adds to each piece of an answer that it passes on, and to each request that it sends.
#include <benchmark/benchmark.h>

#include "adapters/provider_testing.h"

namespace ace {
namespace {

constexpr const char* kRequest = R"({"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]})";

/// A stream of this many tokens, as OpenAI writes it.
std::string chat_stream(int tokens) {
  std::string out;
  for (int i = 0; i < tokens; ++i) {
    out +=
        "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1764500000,\"model\":\"m\","
        "\"choices\":[{\"index\":0,\"delta\":{\"content\":\" word\"},\"logprobs\":null,\"finish_reason\":null}]}\n\n";
  }
  out +=
      "data: {\"id\":\"chatcmpl-1\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
      "data: {\"id\":\"chatcmpl-1\",\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":3}}\n\n"
      "data: [DONE]\n\n";
  return out;
}

/// @param state.range(0) bytes of a piece; 0 = an event each
void pass_a_stream(benchmark::State& state, const char* destination, wire::Operation operation, const char* body) {
  constexpr int tokens = 500;
  const std::string stream = chat_stream(tokens);
  const auto at = upstream(destination);
  const ClientRequest client(operation, body);
  wire::Json json;
  std::size_t passed = 0;
  for (auto _ : state) {
    const auto answer = std::move(prepared(*at, client.ask("m")).answer);
    for (std::size_t from = 0; from < stream.size();) {
      const std::size_t to = state.range(0) > 0
                                 ? std::min(from + static_cast<std::size_t>(state.range(0)), stream.size())
                                 : stream.find("\n\n", from) + 2;
      const Answer::Step step = answer->feed(std::string_view(stream).substr(from, to - from), json);
      benchmark::DoNotOptimize(step.pass.data());
      passed += step.pass.size();
      from = to;
    }
    ACE_CHECK(answer->facts().reported.has_value(), "the usage was seen");
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(stream.size()));
  state.counters["tokens/s"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * tokens, benchmark::Counter::kIsRate);
  state.SetLabel(std::to_string(passed / static_cast<std::size_t>(state.iterations())) + " bytes to the client");
}

void pass_chat(benchmark::State& state) { pass_a_stream(state, "open", wire::Operation::chat, kRequest); }
BENCHMARK(pass_chat)->Arg(0)->Arg(1400)->Arg(16384);

void pass_chat_as_messages(benchmark::State& state) {
  pass_a_stream(state, "open", wire::Operation::messages,
                R"({"model":"m","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"hi"}]})");
}
BENCHMARK(pass_chat_as_messages)->Arg(0);

void prepare_a_request(benchmark::State& state, const char* destination) {
  const std::string text(200'000, 'x');
  const ClientRequest client(wire::Operation::messages,
                             R"({"model":"m","max_tokens":9,"messages":[{"role":"user","content":")" + text + "\"}]}");
  const auto at = upstream(destination);
  std::size_t bytes = 0;
  for (auto _ : state) bytes += prepared(*at, client.ask("claude-m")).body.size();
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes));
}
void prepare_for_anthropic(benchmark::State& state) { prepare_a_request(state, "anthropic"); }
BENCHMARK(prepare_for_anthropic);
void prepare_and_sign_for_bedrock(benchmark::State& state) { prepare_a_request(state, "aws"); }
BENCHMARK(prepare_and_sign_for_bedrock);

}  // namespace
}  // namespace ace
