#include "gateway/canonical.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "core/text.h"
#include "spine/spine.h"

namespace ace::gateway {
namespace {

using wire::JsonKind;
using wire::JsonValue;

/// Members of a body that change nothing about the answer.
constexpr std::array<std::string_view, 8> kBesides = {"user",       "metadata",          "prompt_cache_key",
                                                      "cache_salt", "safety_identifier", "prompt_cache_retention",
                                                      "store",      "request_id"};

/// Digits without zeros around them, and the power of ten that they are multiplied with.
std::string canonical_number(std::string_view text) {
  const std::string_view as_it_stands = text;
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const std::size_t e = text.find_first_of("eE");
  std::int64_t power = 0;
  if (e != std::string_view::npos) {
    std::string_view exponent = text.substr(e + 1);
    const bool below = exponent.starts_with('-');
    if (below || exponent.starts_with('+')) exponent.remove_prefix(1);
    exponent.remove_prefix(std::min(exponent.find_first_not_of('0'), exponent.size()));
    if (exponent.size() > 15) return std::string(as_it_stands);
    for (const char digit : exponent) power = power * 10 + (digit - '0');
    if (below) power = -power;
  }
  std::string digits;
  bool after_point = false;
  for (const char c : text.substr(0, e)) {
    if (c == '.') {
      after_point = true;
    } else {
      digits += c;
      if (after_point) --power;
    }
  }
  digits.erase(0, digits.find_first_not_of('0'));
  if (digits.empty()) return "0";
  const std::size_t last = digits.find_last_not_of('0');
  power += static_cast<std::int64_t>(digits.size() - 1 - last);
  digits.resize(last + 1);
  return fmt::format("{}{}e{}", negative ? "-" : "", digits, power);
}

void append(std::string& out, JsonValue value);

void append_members(std::string& out, std::vector<std::pair<std::string, JsonValue>> members) {
  std::sort(members.begin(), members.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  out += '{';
  for (const auto& [name, value] : members) {
    if (out.back() != '{') out += ',';
    out += json_text(name) + ':';
    append(out, value);
  }
  out += '}';
}

void append(std::string& out, JsonValue value) {
  switch (value.kind()) {
    case JsonKind::object: {
      std::vector<std::pair<std::string, JsonValue>> members;
      for (const auto& [name, member] : value.items()) members.emplace_back(wire::json_unescaped(name), member);
      append_members(out, std::move(members));
      return;
    }
    case JsonKind::array: {
      out += '[';
      bool first = true;
      for (const auto& [name, element] : value.items()) {
        if (!std::exchange(first, false)) out += ',';
        append(out, element);
      }
      out += ']';
      return;
    }
    case JsonKind::string:
      out += json_text(value.text());
      return;
    case JsonKind::number:
      out += canonical_number(value.raw());
      return;
    case JsonKind::boolean:
    case JsonKind::null:
      out += value.raw();
      return;
  }
}

}  // namespace

std::string canonical_json(JsonValue value) {
  std::string out;
  append(out, value);
  return out;
}

bool is_cacheable(const wire::Request& request, JsonValue body, bool sampled) {
  using wire::Operation;
  const bool has_answer = request.operation != Operation::models && request.operation != Operation::count_tokens;
  if (!has_answer || request.tools || request.images || request.audio || request.files || request.stores ||
      request.choices != 1 || !body.is(JsonKind::object))
    return false;
  if (sampled || request.operation == Operation::embeddings) return true;
  const std::optional<JsonValue> temperature = body.get("temperature");
  return temperature && temperature->is(JsonKind::number) && canonical_number(temperature->raw()) == "0";
}

CacheKey cache_key_of(std::string_view scope, const wire::Request& request, JsonValue body) {
  std::string text = fmt::format("{}:{}\n{}\n", scope.size(), scope, name_of(request.operation));
  std::vector<std::pair<std::string, JsonValue>> members;
  for (const auto& [raw_name, value] : body.items()) {
    std::string name = wire::json_unescaped(raw_name);
    if (value.is(JsonKind::null) || std::find(kBesides.begin(), kBesides.end(), name) != kBesides.end()) continue;
    members.emplace_back(std::move(name), value);
  }
  append_members(text, std::move(members));
  return Sha256()({text});
}

}  // namespace ace::gateway
