#include "simulated/answer.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <bit>
#include <nlohmann/json.hpp>

#include "core/check.h"
#include "core/hash.h"
#include "core/text.h"
#include "simulated/stream.h"

namespace ace::simulated {
namespace {

using wire::Operation;

std::string chat_message(const Speech& s) {
  if (!s.call) return fmt::format(R"({{"role":"assistant","content":{},"refusal":null}})", json_text(s.text()));
  return fmt::format(
      R"({{"role":"assistant","content":null,"refusal":null,"tool_calls":[{{"id":"call_{}","type":"function","function":{{"name":{},"arguments":{}}}}}]}})",
      s.number, json_text(s.call->name), json_text(s.text()));
}

std::string chat(const Speech& s, const std::string& usage) {
  std::string choices;
  for (std::int64_t i = 0; i < s.choices; ++i)
    choices += fmt::format(R"({}{{"index":{},"message":{},"logprobs":null,"finish_reason":"{}"}})", i > 0 ? "," : "", i,
                           chat_message(s), openai_finish(s));
  return fmt::format(
      R"({{"id":"chatcmpl-{}","object":"chat.completion","created":{},"model":{},"choices":[{}]{},"system_fingerprint":"fp_simulated"}})",
      s.number, s.created, json_text(s.model), choices, usage);
}

std::string completions(const Speech& s, const std::string& usage) {
  std::string choices;
  for (std::int64_t i = 0; i < s.choices; ++i)
    choices += fmt::format(R"({}{{"index":{},"text":{},"logprobs":null,"finish_reason":"{}"}})", i > 0 ? "," : "", i,
                           json_text(s.text()), openai_finish(s));
  return fmt::format(R"({{"id":"cmpl-{}","object":"text_completion","created":{},"model":{},"choices":[{}]{}}})",
                     s.number, s.created, json_text(s.model), choices, usage);
}

std::string messages(const Speech& s, const std::string& usage) {
  const std::string content = s.call ? fmt::format(R"({{"type":"tool_use","id":"toolu_{}","name":{},"input":{}}})",
                                                   s.number, json_text(s.call->name), s.text())
                                     : fmt::format(R"({{"type":"text","text":{}}})", json_text(s.text()));
  return fmt::format(
      R"({{"id":"msg_{}","type":"message","role":"assistant","model":{},"content":[{}],"stop_reason":"{}","stop_sequence":null{}}})",
      s.number, json_text(s.model), content, anthropic_stop(s), usage);
}

std::string in_base64(std::string_view bytes) {
  std::string out(4 * ((bytes.size() + 2) / 3) + 1, '\0');
  const int size =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                      reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  out.resize(static_cast<std::size_t>(size));
  return out;
}

/// The same vector for the same text, components in [0, 1).
std::string vector_of(std::string_view text, std::int64_t dimensions, bool base64) {
  std::string numbers, bytes;
  Rng rng(hash_of(text), "embedding");
  for (std::int64_t i = 0; i < dimensions; ++i) {
    const auto value = static_cast<float>(rng.uniform());
    const auto bits = std::bit_cast<std::uint32_t>(value);
    for (unsigned shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(bits >> shift & 0xffU);
    numbers += fmt::format("{}{}", i > 0 ? "," : "", value);
  }
  return base64 ? '"' + in_base64(bytes) + '"' : '[' + numbers + ']';
}

std::string embeddings(const Speech& s, Counted counted, std::string_view body) {
  const nlohmann::json root = nlohmann::json::parse(body, nullptr, false);
  const nlohmann::json input = root.value("input", nlohmann::json());
  const nlohmann::json dimensions = root.value("dimensions", nlohmann::json(8));
  const bool base64 = root.value("encoding_format", nlohmann::json()) == "base64";
  const bool many = input.is_array() && !input.empty() && !input.front().is_number();
  const std::size_t count = many ? input.size() : 1;
  const std::int64_t size =
      dimensions.is_number_integer() && dimensions > 0 && dimensions <= 4096 ? dimensions.get<std::int64_t>() : 8;
  std::string data;
  for (std::size_t i = 0; i < count; ++i)
    data += fmt::format(R"({}{{"object":"embedding","index":{},"embedding":{}}})", i > 0 ? "," : "", i,
                        vector_of((many ? input[i] : input).dump(), size, base64));
  const std::string usage = counted == Counted::not_at_all
                                ? ""
                                : fmt::format(R"(,"usage":{{"prompt_tokens":{0},"total_tokens":{0}}})",
                                              counted == Counted::negative ? -5
                                              : counted == Counted::absurd ? 1'000'000'000'000
                                                                           : s.prompt_tokens);
  return fmt::format(R"({{"object":"list","model":{},"data":[{}]{}}})", json_text(s.model), data, usage);
}

}  // namespace

std::string_view openai_finish(const Speech& s) { return s.call ? "tool_calls" : s.cut_short ? "length" : "stop"; }
std::string_view anthropic_stop(const Speech& s) {
  return s.call ? "tool_use" : s.cut_short ? "max_tokens" : "end_turn";
}

std::string whole_answer(Operation operation, const Speech& s, Counted counted, std::string_view body) {
  const std::string report = usage_of(operation, s, counted, true);
  const std::string usage = report.empty() ? "" : ",\"usage\":" + report;
  switch (operation) {
    case Operation::chat:
      return chat(s, usage);
    case Operation::completions:
      return completions(s, usage);
    case Operation::responses:
      return response_object(s, "completed", usage);
    case Operation::messages:
      return messages(s, usage);
    case Operation::embeddings:
      return embeddings(s, counted, body);
    case Operation::count_tokens:
      return fmt::format(R"({{"input_tokens":{}}})", s.prompt_tokens);
    case Operation::models:
      break;
  }
  ACE_CHECK(false, "models have no speech");
}

std::string models_answer(wire::Dialect dialect, const std::vector<std::string>& models) {
  std::string data;
  for (const std::string& model : models)
    data += (data.empty() ? "" : ",") +
            (dialect == wire::Dialect::openai
                 ? fmt::format(R"({{"id":{},"object":"model","created":1764000000,"owned_by":"simulated"}})",
                               json_text(model))
                 : fmt::format(R"({{"type":"model","id":{0},"display_name":{0},"created_at":"2025-11-24T16:00:00Z"}})",
                               json_text(model)));
  if (dialect == wire::Dialect::openai) return fmt::format(R"({{"object":"list","data":[{}]}})", data);
  return fmt::format(R"({{"data":[{}],"has_more":false,"first_id":{},"last_id":{}}})", data,
                     models.empty() ? "null" : json_text(models.front()),
                     models.empty() ? "null" : json_text(models.back()));
}

}  // namespace ace::simulated
