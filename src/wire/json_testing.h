#pragma once
/// A second opinion on JSON, by a library that is not ours; and JSON texts at random.
#include <simdjson.h>

#include <string>
#include <string_view>

#include "core/rng.h"
#include "wire/json.h"

namespace ace::wire {

/// Where we and simdjson disagree on whether `text` is JSON; empty where we agree, or where the difference is one of
/// our limits or of its (it reads numbers into 64 bits and keeps names that come twice).
inline std::string disagreement(std::string_view text) {
  Json ours;
  const Json::Parsed parsed = ours.parse(text);
  simdjson::dom::parser theirs;
  const simdjson::error_code error = theirs.parse(simdjson::padded_string(text)).error();
  const bool limit = parsed.fault == JsonFault::duplicate_key || parsed.fault == JsonFault::too_deep ||
                     parsed.fault == JsonFault::too_many_keys || parsed.fault == JsonFault::number_too_long;
  const bool their_limit = error == simdjson::NUMBER_ERROR;
  if (limit || (parsed && their_limit)) return {};
  if (static_cast<bool>(parsed) == (error == simdjson::SUCCESS)) return {};
  return "ours: " + std::string(name_of(parsed.fault)) + ", simdjson: " + simdjson::error_message(error);
}

/// Every value of a text put together again from its parts, without blanks.
inline std::string put_together(JsonValue value) {
  if (value.is(JsonKind::object) || value.is(JsonKind::array)) {
    const bool object = value.is(JsonKind::object);
    std::string out(1, object ? '{' : '[');
    for (const auto item : value.items()) {
      if (out.size() > 1) out += ',';
      if (object) out += '"' + std::string(item.name) + "\":";
      out += put_together(item.value);
    }
    return out + (object ? '}' : ']');
  }
  return std::string(value.raw());
}

/// A valid text with blanks in places.
inline std::string random_json(Rng& rng, int depth = 0) {
  const auto blank = [&] { return std::string(rng.chance(0.1) ? " \n" : ""); };
  const std::uint64_t kind = rng.below(depth < 4 ? 8 : 6);
  if (kind >= 6) {
    std::string out = kind == 6 ? "{" : "[";
    for (std::uint64_t i = 0, n = rng.below(4); i < n; ++i) {
      out += i > 0 ? "," : "";
      out += blank();
      if (kind == 6) out += "\"k" + std::to_string(i) + "\"" + blank() + ":";
      out += random_json(rng, depth + 1) + blank();
    }
    return out + (kind == 6 ? "}" : "]");
  }
  const char* const leaves[] = {"null", "true", "-0", "12", "1.5e-3", "\"\""};
  const char* const strings[] = {"\"plain\"", "\"longer than eight bytes\"", "\"\\u00e9\\ud83d\\ude00\\n\"",
                                 "\"gr\xc3\xbc\xc3\x9f\""};
  return rng.chance(0.5) ? leaves[kind] : strings[rng.below(4)];
}

}  // namespace ace::wire
