/// Whatever an upstream streams: what we make of it for the client is a stream of whole JSON events, counts are not
/// negative, and nothing follows the end. The first byte chooses the dialect.
#include <cstdint>

#include "core/check.h"
#include "net/sse.h"
#include "wire/translate.h"

namespace {

using namespace ace::wire;

void check_events(const std::string& text) {
  ace::net::SseParser parser;
  bool ended = false;
  const bool good = parser.feed(text, [&](const ace::net::SseEvent& event) {
    Json json;
    ACE_CHECK(!ended, "an event after the end");
    ended = event.data == "[DONE]";
    ACE_CHECK(ended || json.parse(event.data), "an event that is no JSON");
  });
  ACE_CHECK(good && !parser.inside_event(), "half an event");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  const bool anthropic = data[0] % 2 == 0;
  StreamReader reader(anthropic ? Operation::messages : data[0] % 4 == 1 ? Operation::chat : Operation::responses);
  StreamToOpenAi to_openai(1, true);
  StreamToAnthropic to_anthropic;
  std::string out;
  ace::net::SseParser parser;
  Json json;
  parser.feed(bytes, [&](const ace::net::SseEvent& event) {
    if (reader.ended()) return;
    const StreamReader::Kind kind = reader.take(event.type, event.data, json);
    if (kind == StreamReader::Kind::broken || kind == StreamReader::Kind::error) return;
    (void)(anthropic ? to_openai.take(event.data, out, json) : to_anthropic.take(event.data, out, json));
  });
  check_events(out);
  if (reader.facts().reported) {
    for (std::size_t i = 0; i < ace::kUnits; ++i)
      ACE_CHECK(reader.facts().reported->usage[static_cast<ace::Unit>(i)] >= 0, "a negative count");
  }
  ACE_CHECK(reader.facts().text_bytes >= 0, "negative text");
  return 0;
}
