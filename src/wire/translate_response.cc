#include "wire/translating.h"

namespace ace::wire {
namespace {

WireError not_a_response(std::string_view why) {
  return {502, "upstream_protocol", fmt::format("the upstream's answer cannot be read: {}", why)};
}

std::string text_of(JsonValue object, std::string_view name) {
  const auto value = object.get(name);
  return value && value->is(JsonKind::string) ? value->text() : std::string();
}

/// Arguments of a call as an object: what is none becomes an empty one, so that the client's parser holds.
std::string arguments_object(std::optional<JsonValue> arguments) {
  Json json;
  const std::string text = arguments && arguments->is(JsonKind::string) ? arguments->text() : std::string();
  return json.parse(text) && json.root().is(JsonKind::object) ? text : "{}";
}

}  // namespace

std::string_view finish_to_openai(std::string_view stop_reason) {
  if (stop_reason == "max_tokens" || stop_reason == "model_context_window_exceeded") return "length";
  if (stop_reason == "tool_use") return "tool_calls";
  if (stop_reason == "refusal") return "content_filter";
  return "stop";
}

std::string_view finish_to_anthropic(std::string_view finish_reason) {
  if (finish_reason == "length") return "max_tokens";
  if (finish_reason == "tool_calls" || finish_reason == "function_call") return "tool_use";
  if (finish_reason == "content_filter") return "refusal";
  return "end_turn";
}

std::string usage_json(Dialect dialect, const Usage& usage) {
  const std::int64_t prompt = usage.prompt().value, completion = usage.completion().value;
  const std::int64_t written = usage[Unit::cache_write] + usage[Unit::cache_write_1h];
  if (dialect == Dialect::anthropic) {
    return fmt::format(
        R"({{"input_tokens":{},"cache_creation_input_tokens":{},"cache_read_input_tokens":{},"output_tokens":{}}})",
        prompt - usage[Unit::cached_input] - written, written, usage[Unit::cached_input], completion);
  }
  return fmt::format(
      R"({{"prompt_tokens":{},"completion_tokens":{},"total_tokens":{},"prompt_tokens_details":{{"cached_tokens":{}}},)"
      R"("completion_tokens_details":{{"reasoning_tokens":{}}}}})",
      prompt, completion, prompt + completion, usage[Unit::cached_input], usage[Unit::reasoning]);
}

Translated response_to_openai(std::string_view body, std::int64_t created, Json& json) {
  if (!json.parse(body) || !json.root().is(JsonKind::object)) return {"", not_a_response("no JSON object")};
  const JsonValue root = json.root();
  const auto content = root.get("content");
  if (!content || !content->is(JsonKind::array)) return {"", not_a_response("no content")};
  std::string text;
  JsonText calls('[');
  for (const auto item : content->items()) {
    const auto type = item.value.find("type");
    if (type && type->equals("text")) text += text_of(item.value, "text");
    if (!type || !type->equals("tool_use")) continue;
    const auto id = item.value.get("id"), name = item.value.get("name"), input = item.value.get("input");
    if (!id || !name) return {"", not_a_response("a tool call without id or name")};
    calls.element(fmt::format(R"({{"id":{},"type":"function","function":{{"name":{},"arguments":{}}}}})", id->raw(),
                              name->raw(), json_text(input ? input->raw() : "{}")));
  }
  JsonText message('{');
  message.member("role", "\"assistant\"").member("content", text.empty() && !calls.empty() ? "null" : json_text(text));
  if (!calls.empty()) message.member("tool_calls", calls.done());
  const auto usage = root.get("usage");
  JsonText out('{');
  out.member("id", json_text(text_of(root, "id")))
      .member("object", "\"chat.completion\"")
      .member("created", std::to_string(created))
      .member("model", json_text(text_of(root, "model")))
      .member("choices", fmt::format(R"([{{"index":0,"message":{},"logprobs":null,"finish_reason":"{}"}}])",
                                     message.done(), finish_to_openai(text_of(root, "stop_reason"))));
  if (usage) out.member("usage", usage_json(Dialect::openai, read_usage(Dialect::anthropic, *usage).usage));
  return {out.done(), std::nullopt};
}

Translated response_to_anthropic(std::string_view body, Json& json) {
  if (!json.parse(body) || !json.root().is(JsonKind::object)) return {"", not_a_response("no JSON object")};
  const JsonValue root = json.root();
  const auto choices = root.get("choices");
  if (!choices || !choices->is(JsonKind::array) || choices->size() != 1)
    return {"", not_a_response("expected one choice")};
  const JsonValue choice = (*choices->begin_items()).value;
  const auto message = choice.get("message");
  if (!message) return {"", not_a_response("a choice without message")};
  JsonText content('[');
  for (const char* name : {"content", "refusal"}) {
    const auto text = message->get(name);
    if (text && text->is(JsonKind::string) && text->raw() != "\"\"")
      content.element(JsonText('{').member("type", "\"text\"").member("text", text->raw()).done());
  }
  if (const auto calls = message->get("tool_calls"); calls && calls->is(JsonKind::array)) {
    for (const auto item : calls->items()) {
      const auto id = item.value.get("id"), function = item.value.get("function");
      const auto name = function ? function->get("name") : std::nullopt;
      if (!id || !name) return {"", not_a_response("a tool call without id or name")};
      content.element(JsonText('{')
                          .member("type", "\"tool_use\"")
                          .member("id", id->raw())
                          .member("name", name->raw())
                          .member("input", arguments_object(function->get("arguments")))
                          .done());
    }
  }
  const auto usage = root.get("usage");
  JsonText out('{');
  out.member("id", json_text(text_of(root, "id")))
      .member("type", "\"message\"")
      .member("role", "\"assistant\"")
      .member("model", json_text(text_of(root, "model")))
      .member("content", content.done())
      .member("stop_reason", json_text(finish_to_anthropic(text_of(choice, "finish_reason"))))
      .member("stop_sequence", "null")
      .member("usage", usage_json(Dialect::anthropic, usage ? read_usage(Dialect::openai, *usage).usage : Usage()));
  return {out.done(), std::nullopt};
}

}  // namespace ace::wire
