/// Whatever a provider sends as a stream, and however it is cut: the client gets the same bytes, learns how it ended,
/// and the facts are the same. What it says when it refuses is read without a fault.
#include <string>

#include "adapters/provider_testing.h"

namespace {

using ace::wire::Operation;

struct Route {
  const char* destination;
  Operation operation;
  const char* body;
};
constexpr Route kRoutes[] = {
    {"open", Operation::chat, R"({"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]})"},
    {"open", Operation::messages,
     R"({"model":"m","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"hi"}]})"},
    {"open", Operation::responses, R"({"model":"m","stream":true,"input":"hi"})"},
    {"anthropic", Operation::messages,
     R"({"model":"m","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"hi"}]})"},
    {"anthropic", Operation::chat, R"({"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]})"},
    {"aws", Operation::messages,
     R"({"model":"m","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"hi"}]})"},
    {"aws", Operation::chat, R"({"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]})"},
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const Route& route = kRoutes[data[0] % std::size(kRoutes)];
  const bool clean = (data[0] & 0x80U) != 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data + 2), size - 2);
  std::vector<std::size_t> cuts;
  for (std::size_t at = 0; at < bytes.size();) cuts.push_back(at += 1 + data[1] % 61);
  const auto at = ace::upstream(route.destination);
  const ace::ClientRequest client(route.operation, route.body);
  const ace::Streamed whole = streamed(*prepared(*at, client.ask("m")).answer, bytes, {}, clean);
  const ace::Streamed cut = streamed(*prepared(*at, client.ask("m")).answer, bytes, cuts, clean);
  ACE_CHECK(whole.bytes == cut.bytes && whole.state == cut.state, "a cut changed what the client got");
  ACE_CHECK(whole.facts.reported == cut.facts.reported && whole.facts.finish == cut.facts.finish &&
                whole.facts.text_bytes == cut.facts.text_bytes && whole.content_events == cut.content_events,
            "a cut changed the facts");
  ACE_CHECK(whole.state != ace::Answer::State::going, "a stream without an end");

  ace::wire::Json json;
  const int status = 300 + data[0] + data[1];
  const ace::Refusal refusal = at->refusal(status, {}, bytes, ace::instant(0), json);
  ACE_CHECK(refusal.error.status >= 400 && refusal.error.message.size() <= 512,
            "an error that a client cannot be told");
  (void)prepared(*at, client.ask("m")).answer->whole(std::string(bytes), json);
  return 0;
}
