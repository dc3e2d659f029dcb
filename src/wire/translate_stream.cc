#include "net/sse.h"
#include "wire/translating.h"

namespace ace::wire {
namespace {

std::string text_of(JsonValue object, std::string_view name) {
  const auto value = object.get(name);
  return value && value->is(JsonKind::string) ? value->text() : std::string();
}

/// An event of a stream of messages: its type stands in front and within.
void event(std::string_view type, const std::string& members, std::string& out) {
  net::append_event(out, {type, fmt::format(R"({{"type":"{}"{}}})", type, members)});
}

}  // namespace

void StreamToOpenAi::chunk(std::string_view delta, std::string_view finish, std::string& out) const {
  net::append_event(out, {"", fmt::format(R"({{"id":{},"object":"chat.completion.chunk","created":{},"model":{},)"
                                          R"("choices":[{{"index":0,"delta":{},"finish_reason":{}}}]}})",
                                          json_text(id_), created_, json_text(model_), delta,
                                          finish.empty() ? "null" : json_text(finish))});
}

bool StreamToOpenAi::take(std::string_view data, std::string& out, Json& json) {
  if (!json.parse(data) || !json.root().is(JsonKind::object)) return false;
  const JsonValue root = json.root();
  const std::string type = text_of(root, "type");
  if (const auto usage = root.get("usage"); usage && usage->is(JsonKind::object)) {
    const Usage later = read_usage(Dialect::anthropic, *usage).usage;
    usage_.set(Unit::output, later[Unit::output]);
    for (const Unit unit : {Unit::input, Unit::cached_input, Unit::cache_write, Unit::cache_write_1h}) {
      if (later[unit] > 0) usage_.set(unit, later[unit]);
    }
  }
  if (type == "message_start") {
    const auto message = root.get("message");
    if (!message) return false;
    id_ = text_of(*message, "id");
    model_ = text_of(*message, "model");
    if (const auto usage = message->get("usage")) usage_ = read_usage(Dialect::anthropic, *usage).usage;
    chunk(R"({"role":"assistant","content":""})", "", out);
  } else if (type == "content_block_start") {
    const auto block = root.get("content_block");
    if (!block || text_of(*block, "type") != "tool_use") return block.has_value();
    chunk(fmt::format(
              R"({{"tool_calls":[{{"index":{},"id":{},"type":"function","function":{{"name":{},"arguments":""}}}}]}})",
              tool_calls_++, json_text(text_of(*block, "id")), json_text(text_of(*block, "name"))),
          "", out);
  } else if (type == "content_block_delta") {
    const auto delta = root.get("delta");
    if (!delta) return false;
    const auto text = delta->get("text"), part = delta->get("partial_json");
    if (text && text->is(JsonKind::string)) chunk(fmt::format(R"({{"content":{}}})", text->raw()), "", out);
    if (part && part->is(JsonKind::string) && tool_calls_ > 0)
      chunk(fmt::format(R"({{"tool_calls":[{{"index":{},"function":{{"arguments":{}}}}}]}})", tool_calls_ - 1,
                        part->raw()),
            "", out);
  } else if (type == "message_delta") {
    const auto delta = root.get("delta");
    if (delta && delta->get("stop_reason")) chunk("{}", finish_to_openai(text_of(*delta, "stop_reason")), out);
  } else if (type == "message_stop") {
    if (include_usage_) {
      net::append_event(
          out, {"", fmt::format(R"({{"id":{},"object":"chat.completion.chunk","created":{},"model":{},)"
                                R"("choices":[],"usage":{}}})",
                                json_text(id_), created_, json_text(model_), usage_json(Dialect::openai, usage_))});
    }
    net::append_event(out, {"", "[DONE]"});
    ended_ = true;
  }
  return true;  // ping, content_block_stop, and what may come one day
}

void StreamToAnthropic::start(JsonValue root, std::string& out) {
  started_ = true;
  // The usage is known at the end alone; the last event repeats it.
  event("message_start",
        fmt::format(
            R"(,"message":{{"id":{},"type":"message","role":"assistant","model":{},"content":[],"stop_reason":null,)"
            R"("stop_sequence":null,"usage":{}}})",
            json_text(text_of(root, "id")), json_text(text_of(root, "model")), usage_json(Dialect::anthropic, {})),
        out);
}

void StreamToAnthropic::open(std::string_view block, std::string& out) {
  close(out);
  event("content_block_start", fmt::format(R"(,"index":{},"content_block":{})", blocks_++, block), out);
  open_ = true;
}

void StreamToAnthropic::close(std::string& out) {
  if (open_) event("content_block_stop", fmt::format(R"(,"index":{})", blocks_ - 1), out);
  open_ = in_text_ = false;
}

void StreamToAnthropic::finish(std::string& out) {
  close(out);
  event("message_delta",
        fmt::format(R"(,"delta":{{"stop_reason":"{}","stop_sequence":null}},"usage":{})", finish_to_anthropic(finish_),
                    usage_json(Dialect::anthropic, usage_)),
        out);
  event("message_stop", "", out);
  ended_ = true;
}

bool StreamToAnthropic::take_call(JsonValue call, std::string& out) {
  const auto index = call.get("index"), function = call.get("function");
  const std::int64_t number = index ? index->integer().value_or(-1) : 0;
  if (number < 0 || !function) return false;
  if (number != call_ || !open_ || in_text_) {
    if (number < call_ || (number == call_ && in_text_)) return false;  // one block is open at a time there
    const auto id = call.get("id"), name = function->get("name");
    if (!id || !name) return false;
    open(fmt::format(R"({{"type":"tool_use","id":{},"name":{},"input":{{}}}})", id->raw(), name->raw()), out);
    call_ = number;
  }
  const auto arguments = function->get("arguments");
  if (arguments && arguments->is(JsonKind::string) && arguments->raw() != "\"\"")
    event("content_block_delta",
          fmt::format(R"(,"index":{},"delta":{{"type":"input_json_delta","partial_json":{}}})", blocks_ - 1,
                      arguments->raw()),
          out);
  return true;
}

bool StreamToAnthropic::take(std::string_view data, std::string& out, Json& json) {
  if (ended_) return true;  // what follows the end says nothing
  if (data == "[DONE]") {
    if (!started_) return false;
    finish(out);
    return true;
  }
  if (!json.parse(data) || !json.root().is(JsonKind::object)) return false;
  const JsonValue root = json.root();
  if (!started_) start(root, out);
  if (const auto usage = root.get("usage")) usage_ = read_usage(Dialect::openai, *usage).usage;
  const auto choices = root.get("choices");
  if (!choices || !choices->is(JsonKind::array)) return true;
  for (const auto item : choices->items()) {
    if (const auto index = item.value.get("index"); index && index->integer() != 0) return false;
    if (const std::string why = text_of(item.value, "finish_reason"); !why.empty()) finish_ = why;
    const auto delta = item.value.get("delta");
    if (!delta) continue;
    const auto text = delta->get("content");
    if (text && text->is(JsonKind::string) && text->raw() != "\"\"") {
      if (!in_text_) {
        open(R"({"type":"text","text":""})", out);
        in_text_ = true;
      }
      event("content_block_delta",
            fmt::format(R"(,"index":{},"delta":{{"type":"text_delta","text":{}}})", blocks_ - 1, text->raw()), out);
    }
    const auto calls = delta->get("tool_calls");
    if (!calls || !calls->is(JsonKind::array)) continue;
    for (const auto call : calls->items()) {
      if (!take_call(call.value, out)) return false;
    }
  }
  return true;
}

}  // namespace ace::wire
