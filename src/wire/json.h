#pragma once
/// An index of one JSON text (RFC 8259): where each value begins and ends in the bytes as they stand, so that what we
/// do not know can be passed on as it came. Strict, iterative, bounded.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ace::wire {

enum class JsonFault : std::uint8_t {
  none,
  invalid_json,
  invalid_unicode,  ///< bytes that are not UTF-8, or half of a surrogate pair
  duplicate_key,    ///< also if the two are spelt differently
  too_deep,
  too_many_keys,
  number_too_long,
};
std::string_view name_of(JsonFault fault);

struct JsonLimits {
  std::size_t depth = 64;
  std::size_t keys = 1000;  ///< of one object
  std::size_t number = 64;  ///< characters
};

enum class JsonKind : std::uint8_t { object, array, string, number, boolean, null };

class Json;

/// A value within a Json, which must outlive it and not be parsed again meanwhile.
class JsonValue {
 public:
  [[nodiscard]] JsonKind kind() const;
  [[nodiscard]] bool is(JsonKind k) const { return kind() == k; }
  /// The bytes as they stand, quotes and brackets included.
  [[nodiscard]] std::string_view raw() const;
  /// Offset of raw() in the whole text.
  [[nodiscard]] std::size_t begin() const;

  /// The member of this name; null if this is no object or has none. Names are compared after escapes are undone.
  [[nodiscard]] std::optional<JsonValue> find(std::string_view name) const;
  /// find() and null taken for absent, as the APIs do.
  [[nodiscard]] std::optional<JsonValue> get(std::string_view name) const;

  /// The text of a string, escapes undone. @pre a string
  [[nodiscard]] std::string text() const;
  [[nodiscard]] bool equals(std::string_view text) const;  ///< a string that means this
  /// A number that is a whole one, written without fraction and exponent, in 64 bits.
  [[nodiscard]] std::optional<std::int64_t> integer() const;
  [[nodiscard]] std::optional<bool> boolean() const;

  /// Members of an object or elements of an array, in order. `name` is the raw key without quotes, empty for elements.
  struct Item;
  class Iterator;
  [[nodiscard]] Iterator begin_items() const;
  [[nodiscard]] Iterator end_items() const;
  struct Items;
  [[nodiscard]] Items items() const;
  [[nodiscard]] std::size_t size() const;  ///< of an object or array

 private:
  friend class Json;
  JsonValue(const Json* json, std::uint32_t at) : json_(json), at_(at) {}
  const Json* json_;
  std::uint32_t at_;
};

class Json {
 public:
  explicit Json(JsonLimits limits = {}) : limits_(limits) {}
  Json(const Json&) = delete;
  Json& operator=(const Json&) = delete;

  struct Parsed {
    JsonFault fault = JsonFault::none;
    std::size_t offset = 0;  ///< of the fault
    explicit operator bool() const { return fault == JsonFault::none; }
  };
  /// @param text less than 2^32 bytes; outlives the values. Buffers are reused from call to call.
  Parsed parse(std::string_view text);
  /// @pre the last parse() was good
  [[nodiscard]] JsonValue root() const { return {this, 0}; }

 private:
  friend class JsonValue;
  /// A value, or the key in front of a member.
  struct Node {
    std::uint32_t begin, end;
    std::uint32_t next;  ///< the node after this value and all within it
    JsonKind kind;
    bool escaped;  ///< a string with a backslash in it
  };
  struct Level {
    std::uint32_t node;
    std::uint32_t keys;
  };
  class Parser;
  JsonLimits limits_;
  std::string_view text_;
  std::vector<Node> nodes_;
  std::vector<Level> levels_;
  std::vector<std::string> unescaped_;
  std::vector<std::string_view> names_;
};

struct JsonValue::Item {
  std::string_view name;
  JsonValue value;
};

class JsonValue::Iterator {
 public:
  Iterator(const Json* json, std::uint32_t at, bool members) : json_(json), at_(at), members_(members) {}
  Item operator*() const;
  Iterator& operator++();
  bool operator!=(const Iterator& other) const { return at_ != other.at_; }

 private:
  const Json* json_;
  std::uint32_t at_;
  bool members_;
};

struct JsonValue::Items {
  Iterator first, last;
  [[nodiscard]] Iterator begin() const { return first; }
  [[nodiscard]] Iterator end() const { return last; }
};

/// The text of a JSON string's inside, escapes undone. @param inside between the quotes, valid
std::string json_unescaped(std::string_view inside);

}  // namespace ace::wire
