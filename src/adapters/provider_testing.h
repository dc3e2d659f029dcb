#pragma once
/// For tests of providers: a fleet with one of each API, requests as a client sends them, and streams cut anywhere.
#include <zlib.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "adapters/provider.h"
#include "core/check.h"
#include "core/rng.h"
#include "spine/spine.h"

namespace ace {

inline constexpr std::string_view kProvidersFleet = R"(version: 1
providers:
  open: {jurisdictions: [us], api: openai, url: "https://api.example.com", key: {env: OPEN_KEY},
         surfaces: [/v1/images, /v1/files]}
  groq: {jurisdictions: [us], api: openai, url: "https://api.groq.example/openai/v1", key: {env: OPEN_KEY}, organization: o,
         project: p, surfaces: [chat, messages]}
  own: {jurisdictions: [eu], api: openai, url: "http://vllm:8000", allow_private: true}
  azure: {jurisdictions: [eu], api: azure-openai, url: "https://x.openai.azure.com", api_version: 2024-10-21,
          key: {env: AZURE_KEY}, surfaces: [/v1/audio]}
  azure-v1: {jurisdictions: [eu], api: azure-openai, url: "https://y.openai.azure.com", key: {env: AZURE_KEY},
             cache: {key: prompt_cache_key}, surfaces: [/v1/audio]}
  anthropic: {jurisdictions: [us], api: anthropic, url: "https://api.anthropic.example", key: {env: ANTHROPIC_KEY}}
  vertex: {jurisdictions: [eu], api: vertex, project: my-project, region: europe-west4, key: {file: vertex.token}}
  aws: {jurisdictions: [us], api: bedrock, region: us-east-1, key: {env: AWS_SECRET}, key_id: {env: AWS_KEY_ID}}
  aws-bearer: {jurisdictions: [us], api: bedrock, region: us-east-1, key: {env: AWS_BEARER}}
models:
  m: {context: 100000}
  g: {context: 100000}
destinations:
  - {id: open, tier: payg, provider: open, models: [m], price: "1 USD/Mtok", unlimited: true}
  - {id: groq, tier: payg, provider: groq, models: [{model: m, name: llama-m}], price: "1 USD/Mtok", unlimited: true}
  - {id: own, tier: owned, provider: own, models: [m], accelerator: h100-80g, count: 8, amortization: "2 USD/h/gpu",
     url: "http://10.0.0.7:8000",
     measured: {prefill_tokens_per_s: 9000, step_base: 14ms, kv_tokens_max: 180000}}
  - {id: azure, tier: payg, provider: azure, models: [{model: m, name: my-deployment}], price: "1 USD/Mtok", unlimited: true}
  - {id: azure-v1, tier: payg, provider: azure-v1, models: [{model: m, name: my-deployment}], price: "1 USD/Mtok",
     unlimited: true}
  - {id: anthropic, tier: payg, provider: anthropic, models: [{model: m, name: claude-m}], price: "1 USD/Mtok",
     unlimited: true}
  - {id: vertex, tier: payg, provider: vertex, models: [{model: g, name: google/gemini-g}], price: "1 USD/Mtok",
     unlimited: true}
  - id: gsu
    tier: reserved
    provider: vertex
    models: [{model: g, name: google/gemini-g}]
    gsu: {units: 10, fee: "1200 USD/month/unit", output_ratio: 4, tokens_per_second: 3360, window: 30s}
  - {id: aws, tier: payg, provider: aws, models: [{model: m, name: "vendor.m-v1:0"}], price: "1 USD/Mtok", unlimited: true}
  - {id: aws-bearer, tier: payg, provider: aws-bearer, models: [{model: m, name: "vendor.m-v1:0"}], price: "1 USD/Mtok",
     unlimited: true}
)";

inline const Fleet& providers_fleet() {
  static const Fleet fleet = [] {
    FleetReading reading = parse_fleet(kProvidersFleet, "fleet.yaml", PriceBook{}, {}, {});
    ACE_CHECK(reading.mistakes.empty(), describe(reading.mistakes).c_str());
    return std::move(reading.fleet);
  }();
  return fleet;
}

/// Every secret is "key of NAME" with dashes.
inline Result<Secret> test_secret(const SecretName& name) {
  return Secret("key-of-" + (name.env.empty() ? name.file : name.env));
}

inline std::unique_ptr<Upstream> upstream(std::string_view destination) {
  const Fleet& fleet = providers_fleet();
  Result<std::unique_ptr<Upstream>> made = make_upstream(fleet, *fleet.destination(destination), test_secret);
  ACE_CHECK(made.has_value(), "the fleet of the tests can be called");
  return *std::move(made);
}

/// A client's request, with what reading it left.
struct ClientRequest {
  ClientRequest(wire::Operation operation, std::string text) : body(std::move(text)) {
    wire::Json json;
    wire::ReadRequest read = wire::read_request(operation, body, {}, json);
    ACE_CHECK(!read.error, read.error ? read.error->message.c_str() : "");
    request = std::move(read.request);
  }
  [[nodiscard]] Ask ask(std::string_view model) const { return {.request = request, .body = body, .model = model}; }
  std::string body;
  wire::Request request;
};

inline Prepared prepared(const Upstream& at, const Ask& ask) {
  wire::Json json;
  std::variant<Prepared, wire::WireError> out = at.prepare(ask, json);
  ACE_CHECK(std::holds_alternative<Prepared>(out), "the request can be asked there");
  return std::get<Prepared>(std::move(out));
}

/// A message of AWS's streams, as the service writes it.
inline std::string event_stream_message(std::string_view payload, std::string_view message_type = "event",
                                        std::string_view event_type = "chunk") {
  const auto number = [](std::size_t value, int bytes) {
    std::string out;
    for (int i = bytes - 1; i >= 0; --i) out += static_cast<char>(value >> (8 * i) & 0xffU);
    return out;
  };
  const auto sum = [&](const std::string& of) {
    return number(crc32(0, reinterpret_cast<const Bytef*>(of.data()), static_cast<uInt>(of.size())), 4);
  };
  std::string headers;
  for (const auto& [name, value] : {std::pair<std::string_view, std::string_view>{":message-type", message_type},
                                    {message_type == "event" ? ":event-type" : ":exception-type", event_type},
                                    {":content-type", "application/json"}}) {
    headers += number(name.size(), 1).append(name) + number(7, 1) + number(value.size(), 2).append(value);
  }
  std::string out = number(16 + headers.size() + payload.size(), 4) + number(headers.size(), 4);
  out += sum(out);
  out.append(headers).append(payload);
  return out + sum(out);
}

/// The events of messages in AWS's frames, each given as its data.
inline std::string framed(const std::vector<std::string>& events) {
  std::string out;
  for (const std::string& data : events)
    out += event_stream_message("{\"bytes\":\"" + to_base64(data) + "\",\"p\":\"abcdef\"}");
  return out;
}

/// What a client got of a stream, and how it ended.
struct Streamed {
  std::string bytes;
  Answer::State state = Answer::State::going;
  wire::ResponseFacts facts;
  std::int64_t content_events = 0;
};

/// Feeds the stream in pieces that end at these offsets.
inline Streamed streamed(Answer& answer, std::string_view bytes, const std::vector<std::size_t>& cuts,
                         bool clean = true) {
  wire::Json json;
  Streamed out;
  std::size_t from = 0;
  const auto feed = [&](std::size_t to) {
    const std::string piece(bytes.substr(from, to - from));  // a buffer of its own: views into others are seen
    const Answer::Step step = answer.feed(piece, json);
    out.bytes += step.pass;
    out.state = step.state;
    from = to;
  };
  for (const std::size_t cut : cuts)
    if (cut > from && cut < bytes.size()) feed(cut);
  feed(bytes.size());
  const Answer::Step last = answer.end(clean);
  out.bytes += last.pass;
  out.state = last.state;
  out.facts = answer.facts();
  out.content_events = answer.content_events();
  return out;
}

inline std::vector<std::size_t> random_cuts(Rng& rng, std::size_t size) {
  std::vector<std::size_t> cuts;
  for (std::size_t at = 0; at < size;) cuts.push_back(at += 1 + rng.below(rng.chance(0.5) ? 4 : 60));
  return cuts;
}

}  // namespace ace
