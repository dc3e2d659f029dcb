#include "wire/json.h"

#include <charconv>

#include "core/check.h"
#include "wire/json_text.h"

namespace ace::wire {
namespace {

void append_utf8(std::string& out, unsigned code) {
  const auto put = [&](unsigned byte) { out += static_cast<char>(static_cast<unsigned char>(byte)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xc0 | code >> 6);
    put(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    put(0xe0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3f));
    put(0x80 | (code & 0x3f));
  } else {
    put(0xf0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3f));
    put(0x80 | (code >> 6 & 0x3f));
    put(0x80 | (code & 0x3f));
  }
}

}  // namespace

std::string_view name_of(JsonFault fault) {
  switch (fault) {
    case JsonFault::none:
      return "none";
    case JsonFault::invalid_json:
      return "invalid_json";
    case JsonFault::invalid_unicode:
      return "invalid_unicode";
    case JsonFault::duplicate_key:
      return "duplicate_key";
    case JsonFault::too_deep:
      return "too_deep";
    case JsonFault::too_many_keys:
      return "too_many_keys";
    case JsonFault::number_too_long:
      return "number_too_long";
  }
  return "?";
}

std::string json_unescaped(std::string_view inside) {
  std::string out;
  out.reserve(inside.size());
  while (!inside.empty()) {
    const std::size_t slash = inside.find('\\');
    out += inside.substr(0, slash);
    if (slash == std::string_view::npos) break;
    const char kind = inside[slash + 1];
    inside.remove_prefix(slash + 2);
    switch (kind) {
      case 'b':
        out += '\b';
        break;
      case 'f':
        out += '\f';
        break;
      case 'n':
        out += '\n';
        break;
      case 'r':
        out += '\r';
        break;
      case 't':
        out += '\t';
        break;
      case 'u': {
        auto code = static_cast<unsigned>(code_unit(inside));
        inside.remove_prefix(4);
        if (is_high(static_cast<int>(code))) {
          code = 0x10000 + ((code - 0xd800) << 10) + (static_cast<unsigned>(code_unit(inside.substr(2))) - 0xdc00);
          inside.remove_prefix(6);
        }
        append_utf8(out, code);
        break;
      }
      default:
        out += kind;
        break;  // quote, backslash, slash
    }
  }
  return out;
}

JsonKind JsonValue::kind() const { return json_->nodes_[at_].kind; }
std::size_t JsonValue::begin() const { return json_->nodes_[at_].begin; }

std::string_view JsonValue::raw() const {
  const Json::Node& node = json_->nodes_[at_];
  return json_->text_.substr(node.begin, node.end - node.begin);
}

JsonValue::Iterator JsonValue::begin_items() const { return {json_, at_ + 1, is(JsonKind::object)}; }

JsonValue::Iterator JsonValue::end_items() const {
  const bool holds = is(JsonKind::object) || is(JsonKind::array);
  return {json_, holds ? json_->nodes_[at_].next : at_ + 1, is(JsonKind::object)};
}

JsonValue::Items JsonValue::items() const { return {begin_items(), end_items()}; }

std::size_t JsonValue::size() const {
  std::size_t count = 0;
  for (Iterator at = begin_items(); at != end_items(); ++at) ++count;
  return count;
}

JsonValue::Item JsonValue::Iterator::operator*() const {
  if (!members_) return {{}, JsonValue(json_, at_)};
  const std::string_view name = JsonValue(json_, at_).raw();
  return {name.substr(1, name.size() - 2), JsonValue(json_, at_ + 1)};
}

JsonValue::Iterator& JsonValue::Iterator::operator++() {
  at_ = json_->nodes_[members_ ? at_ + 1 : at_].next;
  return *this;
}

std::optional<JsonValue> JsonValue::find(std::string_view name) const {
  if (!is(JsonKind::object)) return std::nullopt;
  const std::uint32_t end = json_->nodes_[at_].next;
  for (std::uint32_t at = at_ + 1; at < end; at = json_->nodes_[at + 1].next) {
    if (JsonValue(json_, at).equals(name)) return JsonValue(json_, at + 1);
  }
  return std::nullopt;
}

std::optional<JsonValue> JsonValue::get(std::string_view name) const {
  const std::optional<JsonValue> value = find(name);
  return value && value->is(JsonKind::null) ? std::nullopt : value;
}

std::string JsonValue::text() const {
  ACE_CHECK(is(JsonKind::string), "the text of something that is no string");
  const std::string_view quoted = raw();
  return json_unescaped(quoted.substr(1, quoted.size() - 2));
}

bool JsonValue::equals(std::string_view text_wanted) const {
  if (!is(JsonKind::string)) return false;
  const std::string_view quoted = raw(), inside = quoted.substr(1, quoted.size() - 2);
  return json_->nodes_[at_].escaped ? json_unescaped(inside) == text_wanted : inside == text_wanted;
}

std::optional<std::int64_t> JsonValue::integer() const {
  if (!is(JsonKind::number)) return std::nullopt;
  const std::string_view digits = raw();
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

std::optional<bool> JsonValue::boolean() const {
  if (!is(JsonKind::boolean)) return std::nullopt;
  return raw() == "true";
}

}  // namespace ace::wire
