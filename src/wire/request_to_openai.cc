#include "wire/translating.h"

namespace ace::wire {
namespace {

class ToOpenAi {
 public:
  Translated translate(JsonValue root, std::string_view model) {
    fail(only(root,
              {"model", "messages", "max_tokens", "system", "stream", "temperature", "top_p", "stop_sequences", "tools",
               "tool_choice", "thinking",
               // hints, left out
               "metadata", "service_tier"},
              ""));
    JsonText out('{');
    out.member("model", json_text(model));
    if (const auto bound = root.get("max_tokens")) out.member("max_completion_tokens", bound->raw());
    if (const auto system = root.get("system"))
      messages_.element(JsonText('{').member("role", "\"system\"").member("content", plain(*system, "system")).done());
    for (const auto item : root.get("messages")->items()) message(item.value);
    out.member("messages", messages_.done());
    for (const char* name : {"temperature", "top_p"}) {
      if (const auto value = root.get(name)) out.member(name, value->raw());
    }
    if (const auto stop = root.get("stop_sequences"); stop && stop->size() > 0) out.member("stop", stop->raw());
    if (const auto stream = root.get("stream"); stream && stream->boolean() == true)
      out.member("stream", "true").member("stream_options", R"({"include_usage":true})");
    const auto thinking = root.get("thinking");
    if (thinking && !(thinking->find("type") && thinking->find("type")->equals("disabled")))
      fail(untranslatable("thinking", "a budget for thinking has no counterpart"));
    tools(root, out);
    return {out.done(), std::move(error_)};
  }

 private:
  void fail(std::optional<WireError> error) {
    if (!error_) error_ = std::move(error);
  }

  /// Content that must be text there: a string, or text parts.
  std::string plain(JsonValue content, std::string_view where) {
    if (content.is(JsonKind::string)) return std::string(content.raw());
    JsonText parts('[');
    for (const auto item : content.items()) {
      if (const auto text = item.value.get("text");
          text && item.value.find("type") && item.value.find("type")->equals("text"))
        parts.element(JsonText('{').member("type", "\"text\"").member("text", text->raw()).done());
      else
        fail(untranslatable(where, "only text has a counterpart here"));
    }
    return parts.empty() ? "\"\"" : parts.done();
  }

  void message(JsonValue message) {
    const auto role = message.get("role"), content = message.get("content");
    const bool user = role && role->equals("user");
    if ((!user && !(role && role->equals("assistant"))) || !content) {
      return fail(untranslatable("messages.role", "expected user or assistant, with content"));
    }
    if (content->is(JsonKind::string)) {
      messages_.element(JsonText('{').member("role", role->raw()).member("content", content->raw()).done());
      return;
    }
    JsonText parts('['), calls('[');
    for (const auto item : content->items()) {
      const auto type = item.value.find("type");
      const auto is = [&](std::string_view name) { return type && type->equals(name); };
      if (is("text") && item.value.get("text")) {
        parts.element(JsonText('{').member("type", "\"text\"").member("text", item.value.get("text")->raw()).done());
      } else if (is("image") && user) {
        image(item.value, parts);
      } else if (is("tool_use") && !user) {
        call(item.value, calls);
      } else if (is("tool_result") && user) {
        result(item.value);  // goes before the text of its message, as it stands there
      } else if (!is("thinking") && !is("redacted_thinking")) {
        fail(untranslatable("messages.content", "only text, images, tool calls and their results have a counterpart"));
      }
    }
    if (parts.empty() && calls.empty()) return;
    JsonText out('{');
    out.member("role", role->raw());
    out.member("content", parts.empty() ? "null" : parts.done());
    if (!calls.empty()) out.member("tool_calls", calls.done());
    messages_.element(out.done());
  }

  void image(JsonValue block, JsonText& parts) {
    const auto source = block.get("source");
    const auto type = source ? source->find("type") : std::nullopt;
    const auto field = [&](std::string_view name) {
      const auto value = source->get(name);
      return value && value->is(JsonKind::string) ? value->text() : std::string();
    };
    std::string url;
    if (type && type->equals("url")) url = field("url");
    if (type && type->equals("base64")) url = fmt::format("data:{};base64,{}", field("media_type"), field("data"));
    if (url.empty()) return fail(untranslatable("messages.content.source", "expected an image as base64 or url"));
    parts.element(JsonText('{')
                      .member("type", "\"image_url\"")
                      .member("image_url", JsonText('{').member("url", json_text(url)).done())
                      .done());
  }

  void call(JsonValue block, JsonText& calls) {
    const auto id = block.get("id"), name = block.get("name"), input = block.get("input");
    if (!id || !name) return fail(untranslatable("messages.content.tool_use", "expected an id and a name"));
    const std::string arguments = json_text(input ? input->raw() : "{}");
    calls.element(
        JsonText('{')
            .member("id", id->raw())
            .member("type", "\"function\"")
            .member("function", JsonText('{').member("name", name->raw()).member("arguments", arguments).done())
            .done());
  }

  void result(JsonValue block) {
    const auto id = block.get("tool_use_id"), content = block.get("content");
    if (!id)
      return fail(untranslatable("messages.content.tool_use_id", "expected the id of the call that this answers"));
    messages_.element(JsonText('{')
                          .member("role", "\"tool\"")
                          .member("tool_call_id", id->raw())
                          .member("content", content ? plain(*content, "messages.content.tool_result") : "\"\"")
                          .done());
  }

  void tools(JsonValue root, JsonText& out) {
    const auto list = root.get("tools");
    if (!list || list->size() == 0) return;
    JsonText all('[');
    for (const auto item : list->items()) {
      const auto name = item.value.get("name"), schema = item.value.get("input_schema"), type = item.value.get("type");
      if (!name || !schema || (type && !type->equals("custom"))) {
        fail(untranslatable("tools", "only tools with a name and an input_schema have a counterpart"));
        continue;
      }
      JsonText function('{');
      function.member("name", name->raw());
      if (const auto text = item.value.get("description")) function.member("description", text->raw());
      function.member("parameters", schema->raw());
      all.element(JsonText('{').member("type", "\"function\"").member("function", function.done()).done());
    }
    out.member("tools", all.done());
    const auto choice = root.get("tool_choice");
    if (!choice) return;
    const auto type = choice->get("type");
    if (type && type->equals("auto")) {
      out.member("tool_choice", "\"auto\"");
    } else if (type && type->equals("none")) {
      out.member("tool_choice", "\"none\"");
    } else if (type && type->equals("any")) {
      out.member("tool_choice", "\"required\"");
    } else if (type && type->equals("tool") && choice->get("name")) {
      out.member("tool_choice",
                 fmt::format(R"({{"type":"function","function":{{"name":{}}}}})", choice->get("name")->raw()));
    } else {
      fail(untranslatable("tool_choice", "expected auto, none, any or a tool"));
    }
    if (const auto one = choice->get("disable_parallel_tool_use"); one && one->boolean() == true)
      out.member("parallel_tool_calls", "false");
  }

  std::optional<WireError> error_;
  JsonText messages_{'['};
};

}  // namespace

Translated request_to_openai(JsonValue root, std::string_view model) { return ToOpenAi().translate(root, model); }

}  // namespace ace::wire
