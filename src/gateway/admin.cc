#include "gateway/admin.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gateway/admin_route.h"
#include "gateway/key_callers.h"
#include "net/characters.h"
#include "net/write_head.h"

namespace ace::gateway {
namespace {

using Json = nlohmann::ordered_json;

/// Whether a path is the route's; `open` becomes the part that it leaves open.
bool matches(std::string_view pattern, std::string_view path, std::string_view& open) {
  const std::size_t brace = pattern.find('{');
  if (brace == std::string_view::npos) return pattern == path;
  const std::string_view after = pattern.substr(pattern.find('}') + 1);
  if (!path.starts_with(pattern.substr(0, brace)) || path.size() < brace + after.size()) return false;
  open = path.substr(brace, path.size() - brace - after.size());
  return path.ends_with(after) && !open.empty() && open.find('/') == std::string_view::npos;
}

/// Names that mean this machine; a page that made its own name point here has another.
bool is_here(std::string_view host) {
  const bool six = host.starts_with('[');
  const std::size_t end = six ? host.find(']') + 1 : host.find(':');
  const std::string_view name = host.substr(0, std::min(end, host.size()));
  return name == "localhost" || name == "[::1]" || name.starts_with("127.");
}

}  // namespace

Admin::Answer refusal(int status, std::string_view code, std::string_view message) {
  return {status, Json({{"error", {{"code", code}, {"message", message}}}})};
}

Admin::Answer refusal(const Error& error) {
  switch (error.code()) {
    case Errc::bad_input:
    case Errc::out_of_range:
      return refusal(400, "invalid", error.what());
    case Errc::not_found:
      return refusal(404, "not_found", error.what());
    case Errc::conflict:
      return refusal(409, "conflict", error.what());
    case Errc::check_failed:
      return refusal(409, "not_earned", error.what());
    default:
      return refusal(503, "unavailable", error.what());
  }
}

Json or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }
Json or_null(const std::optional<double>& value) { return value && std::isfinite(*value) ? Json(*value) : Json(); }
Json or_null(const std::optional<Instant>& at) { return at ? Json(to_rfc3339(*at)) : Json(); }

std::optional<std::string> Admin::Asked::value(std::string_view name) const {
  for (std::string_view rest = query; !rest.empty();) {
    const std::string_view pair = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(pair.size() + 1, rest.size()));
    const std::size_t equals = std::min(pair.find('='), pair.size());
    if (pair.substr(0, equals) != name) continue;
    std::string out;
    const std::string_view raw = pair.substr(std::min(equals + 1, pair.size()));
    for (std::size_t i = 0; i < raw.size(); ++i) {
      const auto hex = [&](std::size_t at) { return at < raw.size() ? net::hex_value(raw[at]) : -1; };
      if (raw[i] == '%' && hex(i + 1) >= 0 && hex(i + 2) >= 0) {
        out += static_cast<char>(hex(i + 1) * 16 + hex(i + 2));
        i += 2;
      } else {
        out += raw[i] == '+' ? ' ' : raw[i];
      }
    }
    return out;
  }
  return std::nullopt;
}

Admin::Admin(const AdminOptions& options, Steering& steering, KeyBook* keys, const Limits& limits,
             const MetricRegistry& metrics)
    : options_(options), steering_(steering), keys_(keys), limits_(limits), metrics_(metrics) {}
Admin::~Admin() = default;

const std::vector<Admin::Route>& Admin::routes() {
  static const std::vector<Route> all = [] {
    std::vector<Route> out = steering_routes();
    for (Route& route : key_routes()) out.push_back(std::move(route));
    return out;
  }();
  return all;
}

/// @param route  null: there is none of this path @return what to answer in place of it
std::optional<Admin::Answer> Admin::keep_out(const net::Exchange& exchange, const Route* route) const {
  const net::RequestHead& head = exchange.head();
  // What a browser sends on behalf of a page has an origin; nothing that should be here does.
  if (net::find(head.fields, "origin") != nullptr || (options_.open && !is_here(head.host)))
    return refusal(403, "forbidden", "the admin API is not for web pages");
  if (options_.open || (route != nullptr && route->for_all)) return std::nullopt;
  const bool known = keys_ != nullptr && std::holds_alternative<const Key*>(keys_->ring()->find(
                                             bearer_of(head.fields), Role::admin, exchange.loop().utc()));
  if (known) return std::nullopt;
  return refusal(401, "unauthorized", "an admin key is asked for: Authorization: Bearer ace_ak_...");
}

net::Task<> Admin::serve(net::Exchange& exchange) {
  const net::RequestHead& head = exchange.head();
  const std::string_view path = head.path();
  const Route* found = nullptr;
  std::string allowed, parameter;
  for (const Route& route : routes()) {
    std::string_view open;
    if (!matches(route.path, path, open)) continue;
    allowed += (allowed.empty() ? "" : ", ") + std::string(route.method);
    if (route.method != head.method) continue;
    found = &route;
    parameter = open;
  }
  std::optional<Answer> answer = keep_out(exchange, found);
  Json body;
  if (!answer && head.framing != net::Framing::none) {
    const net::Exchange::Body read = co_await exchange.read_body();
    if (!read.ok()) {
      if (read.io == net::Io::ok) (void)co_await exchange.refuse(read.fault);
      co_return;
    }
    if (!read.bytes.empty()) {
      body = Json::parse(read.bytes, nullptr, false);
      if (!body.is_object()) answer = refusal(400, "invalid", "the body: expected a JSON object");
    }
  }
  if (!answer && found == nullptr)
    answer = allowed.empty() ? refusal(404, "not_found", "nothing is served here; GET /openapi.json tells what is")
                             : refusal(405, "method_not_allowed", "allowed: " + allowed);
  if (!answer) {
    const std::string_view target = head.target;
    const std::string_view query = target.substr(std::min(path.size() + 1, target.size()));
    answer = found->run(Asked{*this, exchange.loop().utc(), query, parameter, body});
  }
  std::string fields;
  net::HeadWriter writer(fields);
  (void)writer.field("Content-Type", answer->type);
  (void)writer.field("Cache-Control", "no-store");
  if (answer->status == 405) (void)writer.field("Allow", allowed);
  const std::string text = answer->text.empty() ? answer->json.dump(1) + "\n" : answer->text;
  (void)co_await exchange.respond(answer->status, fields, text);
}

}  // namespace ace::gateway
