#include <algorithm>
#include <cstring>

#include "core/check.h"
#include "wire/json.h"
#include "wire/json_text.h"

namespace ace::wire {
namespace {

/// Bytes of the UTF-8 character at the front (RFC 3629: shortest form, no surrogates, up to 10ffff), or 0.
std::size_t utf8_size(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned>(static_cast<unsigned char>(text[i])); };
  const unsigned first = byte(0);
  const std::size_t size = first < 0xc2 ? 0U : first < 0xe0 ? 2U : first < 0xf0 ? 3U : first < 0xf5 ? 4U : 0U;
  if (size == 0 || text.size() < size) return 0;
  const unsigned low = first == 0xe0 ? 0xa0U : first == 0xf0 ? 0x90U : 0x80U;
  const unsigned high = first == 0xed ? 0x9fU : first == 0xf4 ? 0x8fU : 0xbfU;
  if (byte(1) < low || byte(1) > high) return 0;
  for (std::size_t i = 2; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  return size;
}

/// Whether these eight bytes are plain: ASCII from 0x20 on, neither quote nor backslash.
bool are_plain(const char* bytes) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, 8);
  constexpr std::uint64_t ones = 0x0101'0101'0101'0101U, highs = 0x8080'8080'8080'8080U;
  const auto has_zero = [](std::uint64_t w) { return (w - ones) & ~w & highs; };
  return ((word & highs) | ((word - ones * 0x20) & ~word & highs) | has_zero(word ^ ones * '"') |
          has_zero(word ^ ones * '\\')) == 0;
}

}  // namespace

/// One pass over the text. Recursion would put the depth in the client's hand.
class Json::Parser {
 public:
  Parser(Json& json, std::string_view text) : j_(json), text_(text) {}

  Parsed run() {
    blanks();
    while (fault_ == JsonFault::none) {
      value();
      // A value has ended, or an object or array has begun that is not empty.
      while (fault_ == JsonFault::none && ended_ && !j_.levels_.empty()) after_value();
      if (j_.levels_.empty()) break;
    }
    if (fault_ == JsonFault::none) {
      blanks();
      if (at_ != text_.size()) fail(JsonFault::invalid_json);
    }
    return {fault_, at_};
  }

 private:
  void fail(JsonFault fault) {
    if (fault_ == JsonFault::none) fault_ = fault;
  }
  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t'))
      ++at_;
  }
  std::uint32_t open(JsonKind kind) {
    j_.nodes_.push_back({static_cast<std::uint32_t>(at_), 0, 0, kind, false});
    return static_cast<std::uint32_t>(j_.nodes_.size() - 1);
  }
  void close(std::uint32_t node) {
    j_.nodes_[node].end = static_cast<std::uint32_t>(at_);
    j_.nodes_[node].next = static_cast<std::uint32_t>(j_.nodes_.size());
  }

  void value() {
    ended_ = true;
    switch (peek()) {
      case '{':
        return container(JsonKind::object, '}');
      case '[':
        return container(JsonKind::array, ']');
      case '"':
        return string();
      case 't':
        return word("true", JsonKind::boolean);
      case 'f':
        return word("false", JsonKind::boolean);
      case 'n':
        return word("null", JsonKind::null);
      default:
        return number();
    }
  }

  void container(JsonKind kind, char end) {
    if (j_.levels_.size() == j_.limits_.depth) return fail(JsonFault::too_deep);
    const std::uint32_t node = open(kind);
    ++at_;
    blanks();
    if (peek() == end) {
      ++at_;
      return close(node);
    }
    j_.levels_.push_back({node, 0});
    ended_ = false;
    if (kind == JsonKind::object) key();
  }

  void key() {
    if (peek() != '"') return fail(JsonFault::invalid_json);
    if (++j_.levels_.back().keys > j_.limits_.keys) return fail(JsonFault::too_many_keys);
    string();
    blanks();
    if (peek() != ':') return fail(JsonFault::invalid_json);
    ++at_;
    blanks();
  }

  void after_value() {
    const std::uint32_t node = j_.levels_.back().node;
    const bool object = j_.nodes_[node].kind == JsonKind::object;
    blanks();
    if (peek() == ',') {
      ++at_;
      blanks();
      ended_ = false;
      if (object) key();
      return;
    }
    if (peek() != (object ? '}' : ']')) return fail(JsonFault::invalid_json);
    ++at_;
    if (object) check_names(node);
    close(node);
    j_.levels_.pop_back();
  }

  /// No name twice. Sorting, not hashing: a client cannot make it slow.
  void check_names(std::uint32_t object) {
    if (j_.levels_.back().keys < 2) return;
    j_.names_.clear();
    j_.unescaped_.clear();
    j_.unescaped_.reserve(j_.levels_.back().keys);
    for (std::uint32_t at = object + 1; at < j_.nodes_.size(); at = j_.nodes_[at + 1].next) {
      const Node& name = j_.nodes_[at];
      const std::string_view inside = text_.substr(name.begin + 1, name.end - name.begin - 2);
      j_.names_.push_back(name.escaped ? j_.unescaped_.emplace_back(json_unescaped(inside)) : inside);
    }
    std::sort(j_.names_.begin(), j_.names_.end());
    if (std::adjacent_find(j_.names_.begin(), j_.names_.end()) != j_.names_.end()) fail(JsonFault::duplicate_key);
  }

  void string() {
    const std::uint32_t node = open(JsonKind::string);
    ++at_;
    for (;;) {
      while (at_ + 8 <= text_.size() && are_plain(text_.data() + at_)) at_ += 8;
      if (at_ >= text_.size()) return fail(JsonFault::invalid_json);
      const char c = text_[at_];
      if (c == '"') break;
      if (static_cast<unsigned char>(c) < 0x20) return fail(JsonFault::invalid_json);
      if (c == '\\') {
        j_.nodes_[node].escaped = true;
        if (!escape()) return;
      } else if (static_cast<unsigned char>(c) < 0x80) {
        ++at_;
      } else {
        const std::size_t size = utf8_size(text_.substr(at_));
        if (size == 0) return fail(JsonFault::invalid_unicode);
        at_ += size;
      }
    }
    ++at_;
    close(node);
  }

  bool escape() {
    const char kind = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    if (kind != 'u') {
      if (kind == '\0' || std::strchr("\"\\/bfnrt", kind) == nullptr) return fail(JsonFault::invalid_json), false;
      at_ += 2;
      return true;
    }
    const int unit = code_unit(text_.substr(std::min(at_ + 2, text_.size())));
    if (unit < 0) return fail(JsonFault::invalid_json), false;
    if (is_low(unit)) return fail(JsonFault::invalid_unicode), false;
    if (is_high(unit)) {
      const std::string_view next = text_.substr(at_ + 6);
      if (next.substr(0, 2) != "\\u" || !is_low(code_unit(next.substr(2))))
        return fail(JsonFault::invalid_unicode), false;
      at_ += 6;
    }
    at_ += 6;
    return true;
  }

  void word(std::string_view text, JsonKind kind) {
    if (text_.substr(at_, text.size()) != text) return fail(JsonFault::invalid_json);
    const std::uint32_t node = open(kind);
    at_ += text.size();
    close(node);
  }

  bool digits() {
    const std::size_t first = at_;
    while (peek() >= '0' && peek() <= '9') ++at_;
    return at_ > first;
  }

  void number() {
    const std::uint32_t node = open(JsonKind::number);
    const std::size_t first = at_;
    if (peek() == '-') ++at_;
    if (peek() == '0') {
      ++at_;
    } else if (!digits()) {
      return fail(JsonFault::invalid_json);
    }
    if (peek() == '.') {
      ++at_;
      if (!digits()) return fail(JsonFault::invalid_json);
    }
    if (peek() == 'e' || peek() == 'E') {
      ++at_;
      if (peek() == '+' || peek() == '-') ++at_;
      if (!digits()) return fail(JsonFault::invalid_json);
    }
    if (at_ - first > j_.limits_.number) return fail(JsonFault::number_too_long);
    close(node);
  }

  Json& j_;
  std::string_view text_;
  std::size_t at_ = 0;
  JsonFault fault_ = JsonFault::none;
  bool ended_ = true;
};

Json::Parsed Json::parse(std::string_view text) {
  ACE_CHECK(text.size() < 0xffff'ffffU, "a text of 4 GiB");
  text_ = text;
  nodes_.clear();
  levels_.clear();
  return Parser(*this, text).run();
}

}  // namespace ace::wire
