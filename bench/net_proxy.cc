/// For bench/net_vs_nginx and bench/gateway: the net room as a plain proxy on one loop, and the mock upstream behind.
///   net_proxy upstream PORT           answers every POST with a chat completion of 938 bytes, and one that asks for a
///                                     stream with 100 events of 190 bytes, 10 ms apart, and those that end it
///   net_proxy proxy PORT UPSTREAM     passes requests on to 127.0.0.1:UPSTREAM
/// Both listen on 127.0.0.1 and run until SIGTERM.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "net/client.h"
#include "net/server.h"
#include "net/write_head.h"

namespace {

using namespace ace::net;

class Mock : public Handler {
 public:
  Task<> serve(Exchange& exchange) override {
    const Exchange::Body body = co_await exchange.read_body();
    if (!body.ok()) co_return;
    if (body.bytes.find("\"stream\":true") != std::string::npos) {
      (void)co_await exchange.begin(200, "Content-Type: text/event-stream\r\n", std::nullopt);
      for (int i = 0; i < 100; ++i) {
        const Io io = co_await exchange.write(event_);
        if (io != Io::ok) co_return;
        co_await exchange.loop().sleep(std::chrono::milliseconds(10));
      }
      const Io io = co_await exchange.write(end_);
      if (io != Io::ok) co_return;
      (void)co_await exchange.end();
      co_return;
    }
    (void)co_await exchange.respond(200, "Content-Type: application/json\r\n", answer_);
  }

 private:
  /// @param kind "chat.completion" or "chat.completion.chunk"  @param choice  of the one there is  @param size  of the
  /// whole
  static std::string object(std::string_view kind, std::string_view choice, std::string_view usage, std::size_t size) {
    std::string text = "{\"id\":\"chatcmpl-1\",\"object\":\"" + std::string(kind) +
                       "\",\"created\":1764000000,\"model\":\"m\",\"choices\":[" + std::string(choice) + "]" +
                       std::string(usage) + "}";
    const std::size_t at = text.find('~');
    if (at != std::string::npos) text.replace(at, 1, std::string(size - text.size() + 1, 'x'));
    return text;
  }
  static constexpr std::string_view kUsage =
      ",\"usage\":{\"prompt_tokens\":360,\"completion_tokens\":100,\"total_tokens\":460}";

  std::string answer_ = object(
      "chat.completion",
      "{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"~\"},\"finish_reason\":\"stop\"}", kUsage, 938);
  std::string event_ =
      "data: " +
      object("chat.completion.chunk", "{\"index\":0,\"delta\":{\"content\":\"~\"},\"finish_reason\":null}", "", 182) +
      "\n\n";
  std::string end_ =
      "data: " + object("chat.completion.chunk", "{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}", "", 0) +
      "\n\ndata: " + object("chat.completion.chunk", "", kUsage, 0) + "\n\ndata: [DONE]\n\n";
};

class Proxy : public Handler {
 public:
  Proxy(Loop& loop, std::uint16_t upstream) : client_(loop, {}), origin_{"127.0.0.1", upstream, false} {}

  Task<> serve(Exchange& exchange) override {
    const Exchange::Body body = co_await exchange.read_body();
    if (!body.ok()) co_return;
    std::string fields;
    copy(exchange.head().fields, "content-type", "Content-Type", fields);
    const Outgoing out{exchange.head().method, exchange.head().target, fields, body.bytes};
    const Sent sent = co_await client_.send(origin_, out, {}, exchange.gone());
    if (!sent.response) {
      (void)co_await exchange.respond(502, "", name_of(sent.fault));
      co_return;
    }
    const ResponseHead& head = sent.response->head();
    fields.clear();
    copy(head.fields, "content-type", "Content-Type", fields);
    std::optional<std::uint64_t> length;
    if (head.framing == Framing::length) length = head.length;
    (void)co_await exchange.begin(head.status, fields, length);
    for (;;) {
      const Incoming::Piece piece = co_await sent.response->next();
      if (piece.fault != SendFault::none) co_return;
      if (piece.end) break;
      const Io io = co_await exchange.write(piece.data);
      if (io != Io::ok) co_return;
    }
    (void)co_await exchange.end();
  }

 private:
  static void copy(std::span<const Field> from, std::string_view name, std::string_view written, std::string& to) {
    if (const Field* field = find(from, name)) HeadWriter(to).field(written, field->value);
  }
  Client client_;
  Origin origin_;
};

std::uint16_t port_of(const char* text) { return static_cast<std::uint16_t>(std::strtoul(text, nullptr, 10)); }

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 2 ? argv[1] : "";
  if (!(mode == "upstream" && argc == 3) && !(mode == "proxy" && argc == 4)) {
    std::fprintf(stderr, "usage: net_proxy upstream PORT | net_proxy proxy PORT UPSTREAM\n");
    return 2;
  }
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTERM);
  sigaddset(&stop, SIGINT);
  pthread_sigmask(SIG_BLOCK, &stop, nullptr);

  Loop loop;
  std::unique_ptr<Handler> handler;
  if (mode == "proxy") {
    handler = std::make_unique<Proxy>(loop, port_of(argv[3]));
  } else {
    handler = std::make_unique<Mock>();
  }
  ServerOptions options;
  options.port = port_of(argv[2]);
  Server server(loop, options, *handler);
  if (const auto port = server.listen(); !port) {
    std::fprintf(stderr, "%s\n", port.error().what().c_str());
    return 3;
  }
  std::thread signals([&] {
    int which = 0;
    sigwait(&stop, &which);
    loop.post([&] { server.drain(std::chrono::milliseconds(200), [&] { loop.stop(); }); });
  });
  loop.run();
  signals.join();
  return 0;
}
