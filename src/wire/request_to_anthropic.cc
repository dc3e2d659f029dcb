#include "wire/translating.h"

namespace ace::wire {
namespace {

class ToAnthropic {
 public:
  Translated translate(JsonValue root, std::string_view model, std::int64_t max_tokens) {
    fail(only(root,
              {"model", "messages", "max_tokens", "max_completion_tokens", "stream", "stream_options", "temperature",
               "top_p", "stop", "tools", "tool_choice", "parallel_tool_calls", "n", "response_format",
               "presence_penalty", "frequency_penalty", "logprobs",
               // hints, left out
               "user", "metadata", "store", "seed", "service_tier", "prompt_cache_key", "cache_salt",
               "safety_identifier", "prediction"},
              ""));
    JsonText out('{');
    out.member("model", json_text(model));
    auto bound = root.get("max_completion_tokens");
    if (!bound) bound = root.get("max_tokens");
    out.member("max_tokens", bound ? std::string(bound->raw()) : std::to_string(max_tokens));
    messages(*root.get("messages"));
    if (!system_.empty()) out.member("system", system_.done());
    flush();
    out.member("messages", messages_.done());
    options(root, out);
    tools(root, out);
    return {out.done(), std::move(error_)};
  }

 private:
  void fail(std::optional<WireError> error) {
    if (!error_) error_ = std::move(error);
  }

  void options(JsonValue root, JsonText& out) {
    if (const auto stream = root.get("stream")) out.member("stream", stream->raw());
    if (const auto p = root.get("top_p")) out.member("top_p", p->raw());
    if (const auto t = root.get("temperature")) {
      // OpenAI's scale reaches 2, Anthropic's 1.
      const std::string_view raw = t->raw();
      if (raw.front() != '0' && raw != "1" && raw != "1.0") fail(untranslatable("temperature", "expected at most 1"));
      out.member("temperature", raw);
    }
    if (const auto stop = root.get("stop"))
      out.member("stop_sequences",
                 stop->is(JsonKind::array) ? std::string(stop->raw()) : JsonText('[').element(stop->raw()).done());
    if (const auto n = root.get("n"); n && n->integer() != 1)
      fail(untranslatable("n", "only one answer can be asked for"));
    for (const char* name : {"presence_penalty", "frequency_penalty"}) {
      if (const auto p = root.get(name); p && p->raw() != "0" && p->raw() != "0.0")
        fail(untranslatable(name, "has no counterpart; leave it out or send 0"));
    }
    if (const auto l = root.get("logprobs"); l && l->boolean() != false)
      fail(untranslatable("logprobs", "has no counterpart"));
    const auto format = root.get("response_format");
    if (format && !(format->find("type") && format->find("type")->equals("text")))
      fail(untranslatable("response_format", "only text can be asked for"));
  }

  void tools(JsonValue root, JsonText& out) {
    const auto list = root.get("tools");
    if (list && list->size() > 0) {
      JsonText all('[');
      for (const auto item : list->items()) all.element(tool(item.value));
      out.member("tools", all.done());
    }
    JsonText choice('{');
    if (const auto chosen = root.get("tool_choice")) {
      if (chosen->equals("auto")) {
        choice.member("type", "\"auto\"");
      } else if (chosen->equals("none")) {
        choice.member("type", "\"none\"");
      } else if (chosen->equals("required")) {
        choice.member("type", "\"any\"");
      } else if (const auto function = chosen->get("function"); function && function->get("name")) {
        choice.member("type", "\"tool\"").member("name", function->get("name")->raw());
      } else {
        fail(untranslatable("tool_choice", "expected auto, none, required or a function"));
      }
    }
    if (const auto parallel = root.get("parallel_tool_calls"); parallel && parallel->boolean() == false) {
      if (choice.empty()) choice.member("type", "\"auto\"");
      choice.member("disable_parallel_tool_use", "true");
    }
    if (!choice.empty() && list && list->size() > 0) out.member("tool_choice", choice.done());
  }

  std::string tool(JsonValue tool) {
    JsonText out('{');
    const auto function = tool.get("function");
    if (!tool.find("type") || !tool.find("type")->equals("function") || !function || !function->get("name")) {
      fail(untranslatable("tools", "only tools of type function have a counterpart"));
      return out.done();
    }
    fail(only(*function, {"name", "description", "parameters", "strict"}, "tools.function."));
    out.member("name", function->get("name")->raw());
    if (const auto text = function->get("description")) out.member("description", text->raw());
    const auto schema = function->get("parameters");
    out.member("input_schema", schema ? schema->raw() : R"({"type":"object","properties":{}})");
    return out.done();
  }

  void messages(JsonValue list) {
    for (const auto item : list.items()) {
      const JsonValue message = item.value;
      const auto role = message.get("role");
      if (!role) {
        fail(untranslatable("messages.role", "expected a role"));
      } else if (role->equals("system") || role->equals("developer")) {
        if (began_)
          fail(untranslatable("messages", "a system message after the conversation began has no counterpart"));
        if (const auto content = message.get("content")) parts(*content, system_);
      } else if (role->equals("user")) {
        to("user");
        if (const auto content = message.get("content")) parts(*content, blocks_);
      } else if (role->equals("assistant")) {
        assistant(message);
      } else if (role->equals("tool")) {
        tool_result(message);
      } else {
        fail(untranslatable("messages.role", "expected system, developer, user, assistant or tool"));
      }
    }
  }

  /// Messages of one role in a row are one message there.
  void to(std::string_view role) {
    began_ = true;
    if (role_ == role) return;
    flush();
    role_ = role;
  }
  void flush() {
    if (!blocks_.empty())
      messages_.element(JsonText('{').member("role", json_text(role_)).member("content", blocks_.done()).done());
    blocks_ = JsonText('[');
  }

  void text(std::string_view raw, JsonText& out) {
    if (raw != "\"\"") out.element(JsonText('{').member("type", "\"text\"").member("text", raw).done());
  }

  void parts(JsonValue content, JsonText& out) {
    if (content.is(JsonKind::string)) return text(content.raw(), out);
    for (const auto item : content.items()) {
      const auto type = item.value.find("type");
      const auto image = item.value.get("image_url");
      if (type && type->equals("text") && item.value.get("text")) {
        text(item.value.get("text")->raw(), out);
      } else if (type && type->equals("image_url") && image && image->get("url") &&
                 image->get("url")->is(JsonKind::string)) {
        out.element(JsonText('{').member("type", "\"image\"").member("source", source(*image->get("url"))).done());
      } else {
        fail(untranslatable("messages.content", "only text and images have a counterpart"));
      }
    }
  }

  static std::string source(JsonValue url) {
    const std::string plain = url.text();
    const auto data = inline_data(plain);
    if (!data) return JsonText('{').member("type", "\"url\"").member("url", url.raw()).done();
    return JsonText('{')
        .member("type", "\"base64\"")
        .member("media_type", json_text(data->type))
        .member("data", json_text(data->data))
        .done();
  }

  void assistant(JsonValue message) {
    to("assistant");
    if (const auto content = message.get("content")) parts(*content, blocks_);
    if (message.get("function_call")) fail(untranslatable("messages.function_call", "use tool_calls"));
    const auto calls = message.get("tool_calls");
    if (!calls || !calls->is(JsonKind::array)) return;
    for (const auto item : calls->items()) {
      const auto id = item.value.get("id"), function = item.value.get("function");
      const auto name = function ? function->get("name") : std::nullopt;
      const auto arguments = function ? function->get("arguments") : std::nullopt;
      Json json;
      const std::string input = arguments && arguments->is(JsonKind::string) ? arguments->text() : "";
      if (!id || !name || (!input.empty() && !(json.parse(input) && json.root().is(JsonKind::object)))) {
        fail(untranslatable("messages.tool_calls", "expected an id, a name, and arguments that are a JSON object"));
        continue;
      }
      blocks_.element(JsonText('{')
                          .member("type", "\"tool_use\"")
                          .member("id", id->raw())
                          .member("name", name->raw())
                          .member("input", input.empty() ? "{}" : input)
                          .done());
    }
  }

  void tool_result(JsonValue message) {
    to("user");
    const auto id = message.get("tool_call_id"), content = message.get("content");
    if (!id) return fail(untranslatable("messages.tool_call_id", "expected the id of the call that this answers"));
    JsonText inner('[');
    if (content) parts(*content, inner);
    JsonText block('{');
    block.member("type", "\"tool_result\"").member("tool_use_id", id->raw());
    if (!inner.empty()) block.member("content", inner.done());
    blocks_.element(block.done());
  }

  std::optional<WireError> error_;
  JsonText system_{'['}, messages_{'['}, blocks_{'['};
  std::string role_;
  bool began_ = false;
};

}  // namespace

Translated request_to_anthropic(JsonValue root, std::string_view model, std::int64_t max_tokens) {
  return ToAnthropic().translate(root, model, max_tokens);
}

}  // namespace ace::wire
