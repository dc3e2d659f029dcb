#include "adapters/http_feed.h"

#include <fmt/format.h>

#include <memory>
#include <optional>

#include "net/client.h"
#include "net/tls.h"

namespace ace {
namespace {

net::Task<Result<std::string>> get(net::Loop& loop, net::Client& client, const Endpoint& from,
                                   std::chrono::nanoseconds time, std::size_t most) {
  const net::Origin origin{from.host, from.port, from.tls, from.allow_private, false};
  const std::string target = from.path.empty() ? "/" : from.path;
  net::Outgoing request;
  request.method = "GET";
  request.target = target;
  net::Patience patience;
  patience.first_byte = patience.next_byte = time;
  patience.total = loop.now() + time;
  net::Cancel cancel;
  const auto failed = [&](std::string_view why) {
    return Error(Errc::unavailable, fmt::format("fetching {} from {}: {}", target, from.host, why));
  };
  const net::Sent sent = co_await client.send(origin, request, patience, cancel);
  if (!sent.response) co_return failed(name_of(sent.fault));
  const int status = sent.response->head().status;
  if (status != 200) co_return failed(fmt::format("expected status 200, got {}", status));
  std::string body;
  for (;;) {
    const net::Incoming::Piece piece = co_await sent.response->next();
    if (piece.fault != net::SendFault::none) co_return failed(name_of(piece.fault));
    if (body.size() + piece.data.size() > most)
      co_return Error(Errc::out_of_range,
                      fmt::format("fetching {} from {}: longer than {} bytes", target, from.host, most));
    body += piece.data;
    if (piece.end) co_return body;
  }
}

net::Detached run(net::Loop& loop, net::Client& client, const Endpoint& from, std::chrono::nanoseconds time,
                  std::size_t most, std::optional<Result<std::string>>& into) {
  into.emplace(co_await get(loop, client, from, time, most));
  client.close_kept();
  loop.stop();
}

}  // namespace

Result<std::string> fetch_feed(const Endpoint& from, std::chrono::nanoseconds patience, std::size_t most) {
  net::ClientOptions options;
  options.limits.body_bytes = most + 1;
  if (from.tls) {
    Result<std::shared_ptr<net::TlsClient>> tls = net::TlsClient::create();
    if (!tls) return Error(tls.error());
    options.tls = *std::move(tls);
  }
  net::Loop loop;
  std::optional<Result<std::string>> body;
  {
    net::Client client(loop, std::move(options));
    loop.post([&] { run(loop, client, from, patience, most, body); });
    loop.run();
  }
  return *std::move(body);
}

}  // namespace ace
