/// What a message costs before anything is done with it.
#include <benchmark/benchmark.h>

#include <string>

#include "core/hash.h"
#include "net/body.h"
#include "net/http.h"
#include "net/sse.h"

namespace ace::net {
namespace {

/// The head that an SDK sends, found and read. The label is a hash of its fields.
void read_a_request_head(benchmark::State& state) {
  const std::string bytes =
      "POST /v1/chat/completions HTTP/1.1\r\nHost: gateway.example:8080\r\nAccept: application/json\r\n"
      "Content-Type: application/json\r\nUser-Agent: OpenAI/JS 6.49.0\r\nX-Stainless-Retry-Count: 0\r\n"
      "X-Stainless-Lang: js\r\nX-Stainless-Package-Version: 6.49.0\r\nX-Stainless-OS: Linux\r\nX-Stainless-Arch: "
      "x64\r\n"
      "X-Stainless-Runtime: node\r\nX-Stainless-Runtime-Version: v20.20.2\r\n"
      "Authorization: Bearer ace_sk_0123456789abcdef0123456789abcdef012345\r\nAccept-Language: *\r\n"
      "Sec-Fetch-Mode: cors\r\nAccept-Encoding: gzip, deflate\r\nContent-Length: 1479\r\n\r\n";
  HeadScanner scanner(kRequestLimits);
  RequestHead head;
  std::uint64_t hash = 0;
  for (auto _ : state) {
    scanner.reset();
    const HeadScanner::Scan scan = scanner.scan(bytes);
    if (parse_request(std::string_view(bytes).substr(0, scan.length), kRequestLimits, head) != Fault::none)
      return state.SkipWithError("refused");
    benchmark::DoNotOptimize(head);
  }
  for (const Field& field : head.fields) hash = mix(hash, hash_of(field.name) ^ hash_of(field.value));
  state.SetLabel(std::to_string(hash));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes.size()));
}
BENCHMARK(read_a_request_head);

/// One event of a stream, out of its chunk, parsed and framed again. The label is a hash of what goes out.
void pass_on_an_event(benchmark::State& state) {
  const std::string data =
      "{\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\" word\"}}],\"usage\":null}";
  const std::string event = "data: " + data + "\n\n";
  const std::string chunk = std::string(ChunkHead(event.size()).text()) + event + "\r\n";
  BodyDecoder decoder(kResponseLimits);
  SseParser parser;
  std::string out;
  for (auto _ : state) {
    decoder.start(Framing::chunked, 0);
    std::string_view rest = chunk;
    out.clear();
    while (!rest.empty()) {
      const BodyDecoder::Step step = decoder.next(rest);
      rest.remove_prefix(step.consumed);
      parser.feed(step.data, [&](const SseEvent& e) { append_event(out, e); });
    }
    benchmark::DoNotOptimize(out);
  }
  state.SetLabel(std::to_string(hash_of(out)));
}
BENCHMARK(pass_on_an_event);

}  // namespace
}  // namespace ace::net
