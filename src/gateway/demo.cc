#include "gateway/demo.h"

#include <fmt/format.h>

#include "core/rng.h"
#include "net/write_head.h"

namespace ace::gateway {
namespace {

constexpr Duration kMs{1'000'000};

simulated::Script script(Duration ttft, Duration tpot, std::int64_t slots) {
  simulated::Script s;
  s.ttft = ttft;
  s.tpot = tpot;
  s.jitter = 0.3;
  s.tokens = 60;
  s.spread = true;
  s.slots = slots;
  return s;
}

Usd usd_of(std::span<const net::Field> fields, const char* name) {
  const net::Field* const field = net::find(fields, name);
  return field == nullptr ? Usd{} : Usd{parse_decimal(field->value, 9).value_or(0)};
}

}  // namespace

Result<std::unique_ptr<DemoUpstreams>> DemoUpstreams::start() {
  auto demo = std::make_unique<DemoUpstreams>();
  const simulated::Script scripts[] = {script(60 * kMs, 12 * kMs, 12), script(250 * kMs, 15 * kMs, 0),
                                       script(300 * kMs, 10 * kMs, 0)};
  for (std::size_t i = 0; i < demo->upstreams_.size(); ++i) {
    Result<std::unique_ptr<simulated::Upstream>> upstream = simulated::Upstream::start(scripts[i]);
    if (!upstream) return std::move(upstream).error();
    demo->upstreams_[i] = *std::move(upstream);
  }
  return demo;
}

std::string DemoUpstreams::fleet_file() const {
  return fmt::format(R"(# Written by `ace serve --demo`: simulated destinations, prices made up.
version: 1
providers:
  own: {{jurisdictions: [eu], api: openai, url: "http://127.0.0.1:{}"}}
  budget: {{jurisdictions: [us], api: openai, url: "http://127.0.0.1:{}"}}
  premium: {{jurisdictions: [us], api: openai, url: "http://127.0.0.1:{}"}}
electricity: {{price: "0.12 USD/kWh", pue: 1.3}}
prices:
  - budget/demo: {{input: "0.60 USD/Mtok", output: "0.90 USD/Mtok", source: "made up", as_of: 2026-11-01}}
  - premium/demo: {{input: "2.00 USD/Mtok", output: "8.00 USD/Mtok", source: "made up", as_of: 2026-11-01}}
models:
  demo: {{context: 32768, baseline: {{destination: premium-api, price_key: premium/demo, as_of: 2026-11-01, contracted: true}}}}
slo_classes: {{chat: {{ttft: 2s, tpot: 60ms}}}}
tenants: {{demo: {{}}}}
destinations:
  - id: own-gpus
    tier: owned
    provider: own
    models: [demo]
    accelerator: h100-80g
    count: 1
    amortization: "1.90 USD/h/gpu"
    measured: {{prefill_tokens_per_s: 9000, step_base: 10ms, step_per_sequence: 200us, batch_max: 12, kv_tokens_max: 180000,
               watts_idle: 120W, watts_busy: 600W}}
  - {{id: budget-api, tier: payg, provider: budget, models: [demo], price_key: budget/demo, rpm: 240}}
  - {{id: premium-api, tier: payg, provider: premium, models: [demo], price_key: premium/demo, unlimited: true}}
)",
                     upstreams_[0]->port(), upstreams_[1]->port(), upstreams_[2]->port());
}

DemoTraffic::DemoTraffic(std::uint16_t port)
    : origin_{.host = "127.0.0.1", .port = port, .tls = false}, client_(loop_, net::ClientOptions{}), thread_([this] {
        run(this);
        loop_.run();
      }) {}

DemoTraffic::~DemoTraffic() {
  stopping_ = true;
  for (int i = 0; i < 1000 && (driving_ || under_way_ > 0); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  loop_.stop();
  thread_.join();
}

DemoTraffic::Tally DemoTraffic::take() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(tally_, {});
}

net::Detached DemoTraffic::run(DemoTraffic* traffic) {
  co_await traffic->drive();
  traffic->driving_ = false;
}

net::Detached DemoTraffic::run_one(DemoTraffic* traffic, std::uint64_t number) {
  co_await traffic->ask(number);
  --traffic->under_way_;
}

net::Task<> DemoTraffic::drive() {
  Rng rng(1, "demo");
  const net::Steady started = loop_.now();
  for (std::uint64_t number = 0; !stopping_; ++number) {
    const double at = std::chrono::duration<double>(loop_.now() - started).count() / 60.0;
    const double phase = at - static_cast<double>(static_cast<std::int64_t>(at));
    const double rate =
        3.0 + 30.0 * (phase < 0.5 ? 2.0 * phase : 2.0 - 2.0 * phase);  // requests/s, a tent over a minute
    ++under_way_;
    run_one(this, number);
    co_await loop_.sleep(from_seconds(rng.exponential(1.0 / rate)));
  }
}

net::Task<> DemoTraffic::ask(std::uint64_t number) {
  const std::string body =
      fmt::format(R"({{"model":"demo","max_tokens":200,"messages":[{{"role":"user","content":"request {} {}"}}]}})",
                  number, std::string(600 + number % 7 * 300, 'x'));
  std::string fields;
  (void)net::HeadWriter(fields).field("Content-Type", "application/json");
  net::Outgoing out;
  out.method = "POST";
  out.target = "/v1/chat/completions";
  out.fields = fields;
  out.body = body;
  const net::Patience patience;
  net::Sent sent = co_await client_.send(origin_, out, patience, never_);
  if (sent.response != nullptr) {
    for (;;) {
      const net::Incoming::Piece piece = co_await sent.response->next();
      if (piece.end || piece.fault != net::SendFault::none) break;
    }
  }
  const std::scoped_lock lock(mutex_);
  if (sent.response == nullptr || sent.response->head().status != 200) {
    ++tally_.failures;
    co_return;
  }
  const std::span<const net::Field> head = sent.response->head().fields;
  const net::Field* const place = net::find(head, "x-ace-destination");
  ++tally_.answers[place == nullptr ? std::string("?") : std::string(place->value)];
  tally_.cost += usd_of(head, "x-ace-cost-usd");
  tally_.baseline += usd_of(head, "x-ace-baseline-usd");
}

}  // namespace ace::gateway
