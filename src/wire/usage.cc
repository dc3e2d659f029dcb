#include "wire/usage.h"

#include <algorithm>
#include <initializer_list>

namespace ace::wire {
namespace {

constexpr std::int64_t kTokensMost = 1'000'000'000;

class UsageReader {
 public:
  UsageReader(JsonValue usage, Reported& out) : usage_(usage), out_(out) {}

  std::int64_t count(std::optional<JsonValue> object, std::string_view name) {
    const auto value = object ? object->get(name) : std::nullopt;
    if (!value) return 0;
    const std::optional<std::int64_t> n = value->integer();
    if (n && *n < 0) {
      out_.flags |= kUsageNegative;
      return 0;
    }
    if (!n || *n > kTokensMost) {
      out_.flags |= kUsageAbsurd;
      return 0;
    }
    return *n;
  }

  /// Takes a part out of its whole. @return the part, no larger than what is left
  std::int64_t part_of(std::int64_t& whole, std::int64_t part) {
    if (part > whole) out_.flags |= kUsageConflict;
    part = std::min(part, whole);
    whole -= part;
    return part;
  }

  void openai() {
    const bool chat = usage_.find("prompt_tokens").has_value() || usage_.find("completion_tokens").has_value();
    std::int64_t prompt = count(usage_, chat ? "prompt_tokens" : "input_tokens");
    std::int64_t answer = count(usage_, chat ? "completion_tokens" : "output_tokens");
    const auto in = usage_.get(chat ? "prompt_tokens_details" : "input_tokens_details");
    const auto out = usage_.get(chat ? "completion_tokens_details" : "output_tokens_details");
    Usage& u = out_.usage;
    // Cached audio is counted as cached and as audio; here it is cached.
    const auto both = in ? in->get("cached_tokens_details") : std::nullopt;
    const std::int64_t cached_audio = count(both, "audio_tokens"), cached_image = count(both, "image_tokens");
    std::int64_t cached = count(in, "cached_tokens");
    if (cached == 0) cached = count(usage_, "prompt_cache_hit_tokens");  // DeepSeek
    u.set(Unit::cached_input, part_of(prompt, cached));
    u.set(Unit::cache_write, part_of(prompt, count(in, "cache_write_tokens") + count(in, "cache_creation_tokens")));
    u.set(Unit::audio_input, part_of(prompt, std::max<std::int64_t>(count(in, "audio_tokens") - cached_audio, 0)));
    u.set(Unit::image_input, part_of(prompt, std::max<std::int64_t>(count(in, "image_tokens") - cached_image, 0)));
    u.set(Unit::video_input, part_of(prompt, count(in, "video_tokens")));
    u.set(Unit::input, prompt);
    u.set(Unit::reasoning, part_of(answer, count(out, "reasoning_tokens")));
    u.set(Unit::audio_output, part_of(answer, count(out, "audio_tokens")));
    u.set(Unit::image_output, part_of(answer, count(out, "image_tokens")));
    u.set(Unit::output, answer);
  }

  void anthropic() {
    Usage& u = out_.usage;
    u.set(Unit::input, count(usage_, "input_tokens"));
    u.set(Unit::cached_input, count(usage_, "cache_read_input_tokens"));
    std::int64_t written = count(usage_, "cache_creation_input_tokens");
    const auto kinds = usage_.get("cache_creation");
    const std::int64_t hour = count(kinds, "ephemeral_1h_input_tokens"),
                       five = count(kinds, "ephemeral_5m_input_tokens");
    if (written == 0) written = hour + five;
    u.set(Unit::cache_write_1h, part_of(written, hour));
    u.set(Unit::cache_write, written);
    // Thinking is billed as output and not told apart.
    u.set(Unit::output, count(usage_, "output_tokens"));
  }

 private:
  JsonValue usage_;
  Reported& out_;
};

std::string string_at(JsonValue object, std::string_view name) {
  const auto value = object.get(name);
  return value && value->is(JsonKind::string) ? value->text() : std::string();
}

ServiceTier service_of(std::string_view name) {
  if (name == "flex") return ServiceTier::flex;
  if (name == "priority") return ServiceTier::priority;
  if (name == "batch") return ServiceTier::batch;
  return ServiceTier::standard;
}

std::int64_t bytes_of(std::optional<JsonValue> text) {
  return text && text->is(JsonKind::string) ? static_cast<std::int64_t>(text->raw().size()) - 2 : 0;
}

/// What a message or a delta of OpenAI's chat holds.
std::int64_t chat_bytes(JsonValue message) {
  std::int64_t sum =
      bytes_of(message.get("content")) + bytes_of(message.get("reasoning_content")) + bytes_of(message.get("refusal"));
  const auto calls = message.get("tool_calls");
  if (!calls || !calls->is(JsonKind::array)) return sum;
  for (const auto call : calls->items()) {
    if (const auto function = call.value.get("function"))
      sum += bytes_of(function->get("name")) + bytes_of(function->get("arguments"));
  }
  return sum;
}

void names(JsonValue root, ResponseFacts& facts) {
  if (std::string model = string_at(root, "model"); !model.empty()) facts.model = std::move(model);
  if (std::string id = string_at(root, "id"); !id.empty()) facts.id = std::move(id);
  if (const std::string tier = string_at(root, "service_tier"); !tier.empty()) facts.service = service_of(tier);
}

void anthropic_tier(JsonValue usage, ResponseFacts& facts) {
  if (const std::string tier = string_at(usage, "service_tier"); !tier.empty()) facts.service = service_of(tier);
}

bool says_error(JsonValue root) {
  return root.get("error").has_value() || (root.find("type") && root.find("type")->equals("error"));
}

}  // namespace

Reported read_usage(Dialect dialect, JsonValue usage) {
  Reported out;
  UsageReader reader(usage, out);
  dialect == Dialect::anthropic ? reader.anthropic() : reader.openai();
  return out;
}

std::optional<ResponseFacts> read_response(Operation operation, std::string_view body, Json& json) {
  if (!json.parse(body) || !json.root().is(JsonKind::object)) return std::nullopt;
  const JsonValue root = json.root();
  ResponseFacts facts;
  names(root, facts);
  facts.error = says_error(root);
  const Dialect dialect = dialect_of(operation);
  if (const auto usage = root.get("usage")) {
    facts.reported = read_usage(dialect, *usage);
    if (dialect == Dialect::anthropic) anthropic_tier(*usage, facts);
  }
  if (operation == Operation::count_tokens && root.get("input_tokens")) facts.reported = Reported{};  // costs nothing
  facts.finish = string_at(root, dialect == Dialect::anthropic ? "stop_reason" : "status");
  for (const char* list : {"choices", "content", "output"}) {
    const auto items = root.get(list);
    if (!items || !items->is(JsonKind::array)) continue;
    for (const auto item : items->items()) {
      if (const std::string why = string_at(item.value, "finish_reason"); !why.empty()) facts.finish = why;
      facts.text_bytes += bytes_of(item.value.get("text"));
      if (const auto message = item.value.get("message")) facts.text_bytes += chat_bytes(*message);
      const auto parts = item.value.get("content");
      if (!parts || !parts->is(JsonKind::array)) continue;
      for (const auto part : parts->items()) facts.text_bytes += bytes_of(part.value.get("text"));
    }
  }
  return facts;
}

/// Reports of one stream are cumulative: the largest stands, class by class sums do not.
void StreamReader::report(const Reported& reported) {
  if (!facts_.reported) {
    facts_.reported = reported;
    return;
  }
  Reported& held = *facts_.reported;
  held.flags |= reported.flags;
  const auto total = [](const Usage& u) { return u.prompt().value + u.completion().value; };
  if (total(reported.usage) < total(held.usage)) {
    held.flags |= kUsageDecreased;
  } else {
    held.usage = reported.usage;
  }
}

StreamReader::Kind StreamReader::take(std::string_view type, std::string_view data, Json& json) {
  const bool done = data == "[DONE]";
  if (done && operation_ != Operation::messages) {
    ended_ = true;
    return Kind::end;
  }
  if (done || !json.parse(data) || !json.root().is(JsonKind::object)) return Kind::broken;
  const JsonValue root = json.root();
  Kind kind = Kind::content;
  if (says_error(root) || type == "error") {
    facts_.error = true;
    kind = Kind::error;
  } else if (operation_ == Operation::messages) {
    kind = take_anthropic(root);
  } else if (operation_ == Operation::responses) {
    kind = take_responses(type, root);
  } else {
    kind = take_openai(root);
  }
  ended_ |= kind == Kind::end;
  content_events_ += kind == Kind::content;
  return kind;
}

StreamReader::Kind StreamReader::take_openai(JsonValue root) {
  names(root, facts_);
  const auto usage = root.get("usage");
  if (usage) report(read_usage(Dialect::openai, *usage));
  const auto choices = root.get("choices");
  const bool empty = !choices || !choices->is(JsonKind::array) || choices->size() == 0;
  if (empty) return usage ? Kind::usage_only : Kind::content;
  for (const auto choice : choices->items()) {
    if (const std::string why = string_at(choice.value, "finish_reason"); !why.empty()) facts_.finish = why;
    facts_.text_bytes += bytes_of(choice.value.get("text"));
    if (const auto delta = choice.value.get("delta")) facts_.text_bytes += chat_bytes(*delta);
  }
  return Kind::content;
}

StreamReader::Kind StreamReader::take_responses(std::string_view type, JsonValue root) {
  const std::string own = string_at(root, "type");
  const std::string_view name = own.empty() ? type : std::string_view(own);
  if (const auto response = root.get("response"); response && response->is(JsonKind::object)) {
    names(*response, facts_);
    if (const std::string status = string_at(*response, "status"); !status.empty()) facts_.finish = status;
    if (const auto usage = response->get("usage")) report(read_usage(Dialect::openai, *usage));
    if (response->get("error")) facts_.error = true;
  }
  if (name.ends_with(".delta")) facts_.text_bytes += bytes_of(root.get("delta"));
  if (name == "response.failed") {
    facts_.error = true;
    ended_ = true;
    return Kind::error;
  }
  return name == "response.completed" || name == "response.incomplete" ? Kind::end : Kind::content;
}

StreamReader::Kind StreamReader::take_anthropic(JsonValue root) {
  const std::string type = string_at(root, "type");
  if (const auto message = root.get("message"); message && message->is(JsonKind::object)) {
    names(*message, facts_);
    if (const auto usage = message->get("usage")) {
      report(read_usage(Dialect::anthropic, *usage));
      anthropic_tier(*usage, facts_);
    }
  }
  if (const auto usage = root.get("usage"); usage && usage->is(JsonKind::object)) {
    // message_delta counts the output so far, and repeats the input only in newer versions.
    Reported later = read_usage(Dialect::anthropic, *usage);
    if (facts_.reported) {
      for (const Unit unit : {Unit::input, Unit::cached_input, Unit::cache_write, Unit::cache_write_1h}) {
        if (later.usage[unit] == 0) later.usage.set(unit, facts_.reported->usage[unit]);
      }
    }
    report(later);
  }
  if (const auto delta = root.get("delta"); delta && delta->is(JsonKind::object)) {
    facts_.text_bytes +=
        bytes_of(delta->get("text")) + bytes_of(delta->get("partial_json")) + bytes_of(delta->get("thinking"));
    if (const std::string why = string_at(*delta, "stop_reason"); !why.empty()) facts_.finish = why;
  }
  return type == "message_stop" ? Kind::end : Kind::content;
}

}  // namespace ace::wire
