#pragma once
/// Inside the translation: writing JSON from parts that are JSON already, and refusing what has no counterpart.
#include <fmt/format.h>

#include <initializer_list>
#include <string>
#include <string_view>

#include "core/text.h"
#include "wire/translate.h"

namespace ace::wire {

/// A JSON object or array being written. Values are JSON already.
class JsonText {
 public:
  explicit JsonText(char open) : text_(1, open) {}
  JsonText& member(std::string_view name, std::string_view json) {
    separate();
    text_ += '"';
    text_ += name;  // ours: needs no escapes
    text_ += "\":";
    text_ += json;
    return *this;
  }
  JsonText& element(std::string_view json) {
    separate();
    text_ += json;
    return *this;
  }
  [[nodiscard]] bool empty() const { return text_.size() == 1; }
  [[nodiscard]] std::string done() const { return text_ + (text_.front() == '{' ? '}' : ']'); }

 private:
  void separate() {
    if (text_.size() > 1) text_ += ',';
  }
  std::string text_;
};

inline WireError untranslatable(std::string_view field, std::string_view why) {
  return {400, "untranslatable", fmt::format("{}: {}", field, why), std::string(field)};
}

/// Refuses members of `object` that are not among `known`; null counts as absent.
inline std::optional<WireError> only(JsonValue object, std::initializer_list<std::string_view> known,
                                     std::string_view where) {
  for (const auto item : object.items()) {
    bool found = item.value.is(JsonKind::null);
    for (const std::string_view name : known) found |= item.name == name;
    if (!found) {
      return untranslatable(echo(std::string(where) + std::string(item.name)),
                            "has no counterpart at the destination that would serve this request");
    }
  }
  return std::nullopt;
}

/// "image/png" and the data of "data:image/png;base64,AAAA"; nothing if it is no such URL.
struct InlineData {
  std::string_view type, data;
};
inline std::optional<InlineData> inline_data(std::string_view url) {
  constexpr std::string_view scheme = "data:", marker = ";base64,";
  const std::size_t at = url.find(marker);
  if (url.substr(0, scheme.size()) != scheme || at == std::string_view::npos) return std::nullopt;
  return InlineData{url.substr(scheme.size(), at - scheme.size()), url.substr(at + marker.size())};
}

}  // namespace ace::wire
