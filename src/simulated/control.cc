/// What a test asks of the simulated provider beside its APIs.
#include <fmt/format.h>

#include <algorithm>

#include "core/text.h"
#include "simulated/provider.h"
#include "simulated/state.h"

namespace ace::simulated {
namespace {

std::string to_json(const Request& r) {
  std::string fields;
  for (const auto& [name, value] : r.fields)
    fields += fmt::format("{}[{},{}]", fields.empty() ? "" : ",", json_text(name), json_text(value));
  return fmt::format(
      R"({{"number":{},"method":{},"target":{},"fields":[{}],"body":{},"faults":{},"outcome":"{}","status":{},"tokens_sent":{}}})",
      r.number, json_text(r.method), json_text(r.target), fields, json_text(r.body), json_text(r.faults),
      name_of(r.outcome), r.status, r.tokens_sent);
}

}  // namespace

std::string Provider::metrics(net::Steady now) const {
  const std::lock_guard lock(mutex_);
  std::int64_t busy = script_->running;
  const std::int64_t slots = script_->slots;
  if (slots > 0)
    busy = std::min(busy, std::count_if(script_->free_at.begin(), script_->free_at.end(),
                                        [&](net::Steady until) { return until > now; }));
  const std::string model = json_text(script_->models.empty() ? "any" : script_->models.front());
  std::string out;
  const auto gauge = [&](std::string_view name, double value) {
    out += fmt::format("# TYPE vllm:{0} gauge\nvllm:{0}{{model_name={1}}} {2}\n", name, model, value);
  };
  gauge("num_requests_running", static_cast<double>(busy));
  gauge("num_requests_waiting", static_cast<double>(script_->running - busy));
  gauge("kv_cache_usage_perc", slots > 0 ? static_cast<double>(busy) / static_cast<double>(slots) : 0.0);
  return out;
}

net::Task<> Provider::serve_control(net::Exchange& exchange) {
  const std::string_view path = exchange.head().path(), method = exchange.head().method;
  std::string body, type = "application/json";
  int status = 200;
  if (path == "/metrics" && method == "GET") {
    type = "text/plain; version=0.0.4";
    body = metrics(exchange.loop().now());
  } else if (path == "/simulated/requests" && method == "GET") {
    for (const Request& request : seen()) body += (body.empty() ? "[" : ",\n") + to_json(request);
    body += body.empty() ? "[]" : "]";
  } else if (path == "/simulated/script" && method == "PUT") {
    const net::Exchange::Body read = co_await exchange.read_body();
    if (!read.ok()) {
      if (read.io == net::Io::ok) (void)co_await exchange.refuse(read.fault);
      co_return;
    }
    Result<Script> script = read_script(read.bytes, "script");
    if (script) {
      set_script(*std::move(script));
      body = "{}";
    } else {
      status = 400;
      body = fmt::format(R"({{"error":{{"message":{}}}}})", json_text(script.error().what()));
    }
  } else {
    status = 404;
    body = R"({"error":{"message":"there are GET /metrics, GET /simulated/requests and PUT /simulated/script"}})";
  }
  const std::string fields = "Content-Type: " + type + "\r\n";
  (void)co_await exchange.respond(status, fields, body);
}

}  // namespace ace::simulated
