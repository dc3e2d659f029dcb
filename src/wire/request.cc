#include "wire/request.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "wire/media.h"

namespace ace::wire {
namespace {

constexpr std::int64_t kBytesPerToken = 4;
constexpr std::int64_t kImageTokens = 1000;

/// Would let a client choose where we connect, with which key, or what a proxy behind us believes.
constexpr std::array<std::string_view, 9> kForbidden = {
    "api_base",      "base_url",   "api_key",       "api_version", "custom_llm_provider",
    "extra_headers", "extra_body", "mock_response", "user_config"};
/// Steer the engine itself.
constexpr std::array<std::string_view, 5> kEngine = {"chat_template", "chat_template_kwargs", "guided_decoding_backend",
                                                     "documents", "mm_processor_kwargs"};

class Reader {
 public:
  Reader(Operation operation, std::string_view body, const RequestLimits& limits, Json& json)
      : body_(body), limits_(limits), json_(json) {
    out_.request.operation = operation;
  }

  ReadRequest read() {
    if (const Json::Parsed parsed = json_.parse(body_); !parsed) {
      fail(std::string(name_of(parsed.fault)),
           fmt::format("the body is not the JSON we read: {} at byte {}", name_of(parsed.fault), parsed.offset));
      return std::move(out_);
    }
    const JsonValue root = json_.root();
    if (!root.is(JsonKind::object)) {
      fail("invalid_body", "expected a JSON object");
      return std::move(out_);
    }
    forbidden(root);
    common(root);
    switch (r().operation) {
      case Operation::chat:
        chat(root);
        break;
      case Operation::responses:
        responses(root);
        break;
      case Operation::completions:
        required_prompt(root, "prompt");
        break;
      case Operation::embeddings:
        required_prompt(root, "input");
        break;
      case Operation::messages:
      case Operation::count_tokens:
        messages(root);
        break;
      case Operation::models:
        break;
    }
    r().prompt_tokens += (text_bytes_ + kBytesPerToken - 1) / kBytesPerToken;
    return std::move(out_);
  }

 private:
  Request& r() { return out_.request; }
  void fail(std::string code, std::string message, std::string param = {}) {
    if (!out_.error) out_.error = WireError{400, std::move(code), std::move(message), std::move(param)};
  }
  void wrong(std::string_view field, std::string_view expected, JsonValue got) {
    fail("invalid_value", fmt::format("{}: expected {}, got {}", field, expected, echo(got.raw())), std::string(field));
  }
  Request::Span span(JsonValue value) const { return {value.begin(), value.begin() + value.raw().size()}; }

  void forbidden(JsonValue root) {
    for (const std::string_view name : kForbidden) {
      if (root.find(name))
        fail("forbidden_parameter", fmt::format("{} is set by the operator, never by a request", name),
             std::string(name));
    }
    if (limits_.engine_parameters) return;
    for (const std::string_view name : kEngine) {
      if (root.find(name)) fail("forbidden_parameter", fmt::format("{} is not allowed here", name), std::string(name));
    }
  }

  bool flag(JsonValue root, std::string_view name) {
    const std::optional<JsonValue> value = root.get(name);
    if (!value) return false;
    const std::optional<bool> is = value->boolean();
    if (!is) wrong(name, "true or false", *value);
    return is.value_or(false);
  }

  std::optional<std::int64_t> count(JsonValue root, std::string_view name, std::int64_t most) {
    const std::optional<JsonValue> value = root.get(name);
    if (!value) return std::nullopt;
    const std::optional<std::int64_t> n = value->integer();
    if (!n || *n < 1 || *n > most) wrong(name, fmt::format("a whole number from 1 to {}", most), *value);
    return n;
  }

  std::string string(JsonValue root, std::string_view name) {
    const std::optional<JsonValue> value = root.get(name);
    if (!value) return {};
    if (!value->is(JsonKind::string)) {
      wrong(name, "a string", *value);
      return {};
    }
    return value->text();
  }

  void common(JsonValue root) {
    const std::optional<JsonValue> model = root.get("model");
    if (!model || !model->is(JsonKind::string)) {
      fail("model_missing", "model: expected the name of a model", "model");
    } else {
      r().model = model->text();
      r().model_at = span(*model);
      if (r().model.empty() || r().model.size() > limits_.model_bytes)
        out_.error =
            WireError{404, "model_not_found", fmt::format("there is no model \"{}\"", echo(r().model)), "model"};
    }
    r().stream = flag(root, "stream");
    r().user = string(root, "user");
    r().service_tier = string(root, "service_tier");
    r().stores = root.get("previous_response_id").has_value() || root.get("conversation").has_value();
    if (const auto tools = root.get("tools")) {
      if (!tools->is(JsonKind::array)) wrong("tools", "a list", *tools);
      r().tools = tools->size() > 0;
      text_bytes_ += static_cast<std::int64_t>(tools->raw().size());
    }
    if (const auto key = root.find("prompt_cache_key")) r().cache_keys_at[0] = span(*key);
    if (const auto salt = root.find("cache_salt")) r().cache_keys_at[1] = span(*salt);
    for (const char* name : {"n", "best_of"}) {
      if (const auto n = count(root, name, limits_.choices)) r().choices = std::max(r().choices, *n);
    }
    constexpr std::array<std::string_view, 3> names = {"max_tokens", "max_completion_tokens", "max_output_tokens"};
    for (const std::string_view name : names) {
      const auto most = count(root, name, limits_.max_tokens);
      if (!most) continue;
      if (r().max_tokens) {
        fail("conflicting_values", fmt::format("{} and {} both limit the answer; send one", r().max_tokens_name, name),
             std::string(name));
      }
      r().max_tokens = most;
      r().max_tokens_name = name;
      r().max_tokens_at = span(*root.get(name));
    }
    if (const auto options = root.find("stream_options")) {
      r().stream_options_at = span(*options);
      if (const auto usage = options->find("include_usage")) {
        r().include_usage_at = span(*usage);
        r().include_usage = flag(*options, "include_usage");
      }
      if (!options->is(JsonKind::object) && !options->is(JsonKind::null))
        wrong("stream_options", "an object", *options);
    }
  }

  void chat(JsonValue root) {
    list(root, "messages");
    if (const auto format = root.get("response_format"))
      r().structured_output = format->find("type") && !format->find("type")->equals("text");
    r().reasoning = root.get("reasoning_effort").has_value() || root.get("reasoning").has_value();
    if (const auto modalities = root.get("modalities")) {
      for (const auto item : modalities->items()) r().audio |= item.value.equals("audio");
    }
  }

  void responses(JsonValue root) {
    const auto input = root.get("input");
    if (!input && !r().stores && !root.get("prompt"))
      fail("input_missing", "input: expected a text or a list", "input");
    if (input) walk(*input);
    if (const auto text = root.get("instructions")) walk(*text);
    if (const auto text = root.get("text"); text && text->get("format"))
      r().structured_output = text->get("format")->find("type") && !text->get("format")->find("type")->equals("text");
    r().reasoning = root.get("reasoning").has_value();
    const auto store = root.get("store");
    r().stores |= !store || store->boolean().value_or(true);  // kept unless the client says no
  }

  void messages(JsonValue root) {
    list(root, "messages");
    if (const auto system = root.get("system")) walk(*system);
    if (r().operation == Operation::messages && !r().max_tokens)
      fail("max_tokens_missing", "max_tokens: expected a whole number; this API asks for it", "max_tokens");
    if (const auto thinking = root.get("thinking"))
      r().reasoning = thinking->find("type") && !thinking->find("type")->equals("disabled");
    if (const auto format = root.get("output_format")) r().structured_output = format->is(JsonKind::object);
    if (const auto metadata = root.get("metadata")) {
      const auto user = metadata->get("user_id");
      if (user && user->is(JsonKind::string)) r().user = user->text();
    }
  }

  void list(JsonValue root, std::string_view name) {
    const auto value = root.get(name);
    if (!value || !value->is(JsonKind::array) || value->size() == 0) {
      fail("messages_missing", fmt::format("{}: expected a list with at least one message", name), std::string(name));
      return;
    }
    walk(*value);
  }

  void required_prompt(JsonValue root, std::string_view name) {
    const auto value = root.get(name);
    if (!value || !(value->is(JsonKind::string) || value->is(JsonKind::array)))
      fail("input_missing", fmt::format("{}: expected a text or a list", name), std::string(name));
    else
      walk(*value);
  }

  /// Sums text and notes what kinds of content there are. At most JsonLimits::depth deep.
  void walk(JsonValue value) {
    switch (value.kind()) {
      case JsonKind::string:
        text_bytes_ += static_cast<std::int64_t>(value.raw().size()) - 2;
        return;
      case JsonKind::number:  // token ids, as embeddings and completions take them
        text_bytes_ += kBytesPerToken;
        return;
      case JsonKind::array:
        for (const auto item : value.items()) walk(item.value);
        return;
      case JsonKind::object:
        content(value);
        return;
      case JsonKind::boolean:
      case JsonKind::null:
        return;
    }
  }

  void content(JsonValue object) {
    const auto type = object.find("type");
    const auto is = [&](std::string_view name) { return type && type->equals(name); };
    r().cache_hints |= object.get("cache_control").has_value();
    if (is("image_url") || is("input_image") || is("image")) {
      r().images = true;
      r().prompt_tokens += kImageTokens;
      media(object);
      return;
    }
    if (is("input_audio") || is("audio")) {
      r().audio = true;
      return;
    }
    if (is("file") || is("input_file") || is("document")) {
      r().files = true;
      media(object);
      return;
    }
    for (const auto item : object.items()) walk(item.value);
  }

  /// Looks at every URL that whoever serves this request might fetch.
  void media(JsonValue object) {
    for (const auto item : object.items()) {
      if (item.value.is(JsonKind::object)) {
        media(item.value);
      } else if (item.value.is(JsonKind::string) &&
                 (item.name == "url" || item.name == "image_url" || item.name == "file_url")) {
        if (const char* why = refused_media_url(item.value.text()))
          fail("forbidden_url", fmt::format("{}: {}", item.name, why), std::string(item.name));
      }
    }
  }

  std::string_view body_;
  const RequestLimits& limits_;
  Json& json_;
  ReadRequest out_;
  std::int64_t text_bytes_ = 0;
};

}  // namespace

ReadRequest read_request(Operation operation, std::string_view body, const RequestLimits& limits, Json& json) {
  return Reader(operation, body, limits, json).read();
}

}  // namespace ace::wire
