#include "simulated/speech.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

namespace ace::simulated {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 16> kWords{"merit",  " order",  " fills",  " the",  " cheapest", " unit",
                                                  " first", " and",    " spills", " what", " is",       " left",
                                                  " to",    " dearer", " ones",   "."};

/// What "#/$defs/x" means, as far as it goes through objects; null otherwise.
const Json* pointed_at(const Json& root, std::string_view reference) {
  if (!reference.starts_with("#/")) return nullptr;
  reference.remove_prefix(1);
  const Json* at = &root;
  while (!reference.empty()) {
    reference.remove_prefix(1);
    const std::string name(reference.substr(0, reference.find('/')));
    const auto found = at->is_object() ? at->find(name) : at->end();
    if (found == at->end()) return nullptr;
    at = &*found;
    reference.remove_prefix(name.size());
  }
  return at;
}

/// The smallest value of a JSON schema, as far as schemas for tools and answers go.
Json value_of(const Json& schema, const Json& root, int depth) {
  if (!schema.is_object() || depth > 16) return nullptr;
  if (const auto at = schema.find("const"); at != schema.end()) return *at;
  if (const auto at = schema.find("enum"); at != schema.end() && at->is_array() && !at->empty()) return at->front();
  if (const auto at = schema.find("$ref"); at != schema.end() && at->is_string()) {
    const Json* target = pointed_at(root, at->get_ref<const std::string&>());
    return target != nullptr ? value_of(*target, root, depth + 1) : Json();
  }
  for (const char* choice : {"anyOf", "oneOf", "allOf"})
    if (const auto at = schema.find(choice); at != schema.end() && at->is_array() && !at->empty())
      return value_of(at->front(), root, depth + 1);
  Json type = schema.value("type", Json());
  if (type.is_array() && !type.empty()) type = Json(type.front());
  if (type == "object" || schema.contains("properties")) {
    Json out = Json::object();
    if (const auto at = schema.find("properties"); at != schema.end() && at->is_object())
      for (const auto& [name, property] : at->items()) out[name] = value_of(property, root, depth + 1);
    return out;
  }
  if (type == "array") return Json::array({value_of(schema.value("items", Json()), root, depth + 1)});
  if (type == "string") return "merit order";
  if (type == "integer" || type == "number") {
    const auto least = schema.find("minimum");
    return least != schema.end() && least->is_number() ? *least : Json(1);
  }
  if (type == "boolean") return true;
  return nullptr;
}

/// The member at a path of names and positions, or null.
Json at(const Json& value, std::string_view pointer) {
  const Json::json_pointer path{std::string(pointer)};
  return value.contains(path) ? value.at(path) : Json();
}

std::string name_in(const Json& tool) {
  const Json name = tool.contains("function") ? at(tool, "/function/name") : at(tool, "/name");
  return name.is_string() ? name.get<std::string>() : std::string();
}

/// Whether the conversation ends with what a tool answered.
bool answers_a_tool(const Json& root) {
  const Json turns = root.contains("messages") ? root["messages"] : root.value("input", Json());
  if (!turns.is_array() || turns.empty()) return false;
  const Json& last = turns.back();
  if (at(last, "/role") == "tool" || at(last, "/type") == "function_call_output") return true;
  const Json content = at(last, "/content");
  return content.is_array() && !content.empty() && at(content.back(), "/type") == "tool_result";
}

/// The tool to call with its arguments; null if none.
std::optional<std::pair<std::string, Json>> call_in(const Json& root) {
  const Json tools = root.value("tools", Json()), choice = root.value("tool_choice", Json());
  if (!tools.is_array() || choice == "none" || at(choice, "/type") == "none" || answers_a_tool(root))
    return std::nullopt;
  const std::string wanted = choice.is_object() ? name_in(choice) : std::string();
  for (const Json& tool : tools) {
    const std::string name = name_in(tool);
    if (name.empty() || (!wanted.empty() && name != wanted)) continue;
    Json schema = at(tool, "/function/parameters");
    if (schema.is_null()) schema = at(tool, "/parameters");
    if (schema.is_null()) schema = at(tool, "/input_schema");
    Json arguments = value_of(schema, schema, 0);
    if (!arguments.is_object()) arguments = Json::object();
    return std::pair(name, arguments);
  }
  return std::nullopt;
}

/// The schema that the answer must have; null if none.
std::optional<Json> shape_in(const Json& root) {
  for (const char* schema :
       {"/response_format/json_schema/schema", "/text/format/schema", "/output_config/format/schema"})
    if (Json found = at(root, schema); !found.is_null()) return found;
  for (const char* type : {"/response_format/type", "/text/format/type"})
    if (at(root, type) == "json_object") return Json({{"type", "object"}});
  return std::nullopt;
}

/// Four characters a token, as models do on average with JSON; whole UTF-8 characters.
std::vector<std::string> in_tokens(std::string_view text) {
  std::vector<std::string> tokens;
  while (!text.empty()) {
    std::size_t size = std::min<std::size_t>(4, text.size());
    while (size < text.size() && (static_cast<unsigned char>(text[size]) & 0xc0U) == 0x80U) ++size;
    tokens.emplace_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return tokens;
}

}  // namespace

std::string Speech::text() const {
  std::string out;
  for (const std::string& token : tokens) out += token;
  return out;
}

Speech speech_of(const Script& script, const wire::Request& request, std::string_view body, Rng& rng) {
  Speech s;
  s.model = request.model;
  s.choices = request.choices;
  s.prompt_tokens = std::max<std::int64_t>(1, request.prompt_tokens);
  s.cached_tokens = static_cast<std::int64_t>(std::floor(static_cast<double>(s.prompt_tokens) * script.cached));
  if (request.tools || request.structured_output) {
    const Json root = Json::parse(body, nullptr, false);
    if (auto call = call_in(root)) {
      s.call = Speech::Call{call->first};
      s.tokens = in_tokens(call->second.dump());
      return s;
    }
    if (const std::optional<Json> shape = shape_in(root)) {
      s.tokens = in_tokens(value_of(*shape, *shape, 0).dump());
      return s;
    }
  }
  std::int64_t length = script.tokens;
  if (script.spread) {
    const double drawn = rng.exponential(static_cast<double>(script.tokens));
    length = 1 + static_cast<std::int64_t>(std::min(drawn, 1e6));
  }
  if (request.max_tokens && *request.max_tokens < length) {
    length = *request.max_tokens;
    s.cut_short = true;
  }
  s.tokens.reserve(static_cast<std::size_t>(length));
  for (std::int64_t i = 0; i < length; ++i) s.tokens.emplace_back(kWords[static_cast<std::size_t>(i) % kWords.size()]);
  return s;
}

}  // namespace ace::simulated
