#pragma once
/// How the sections of the fleet file ask for their values and say what is wrong: places, maps that know which keys
/// were asked for, and typed getters that report instead of guessing.
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/fleet.h"
#include "fleet/values.h"
#include "fleet/yaml_reader.h"

namespace ace::fleet_file {

/// A node and the way to it. Without a node: the key was not written; `parent` says where it could have been.
struct Place {
  const yaml::Node* node = nullptr;
  const yaml::Node* parent = nullptr;
  std::string path;
  explicit operator bool() const { return node != nullptr; }
  [[nodiscard]] bool is_scalar() const { return node != nullptr && node->kind == yaml::Node::Kind::scalar; }
  [[nodiscard]] bool is_map() const { return node != nullptr && node->kind == yaml::Node::Kind::map; }
  [[nodiscard]] bool is_list() const { return node != nullptr && node->kind == yaml::Node::Kind::sequence; }
  [[nodiscard]] std::string_view text() const {
    return node != nullptr ? std::string_view(node->text) : std::string_view();
  }
};

/// Name that `word` was probably meant to be, or nothing: the nearest by edit distance, if near enough.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& known);
/// `did you mean "x"?` or `known: a, b, c`.
std::string suggestion(std::string_view word, const std::vector<std::string>& known);
/// The line with whatever looks like a secret replaced by ***.
std::string without_secrets(std::string_view line);

/// Collects mistakes and warnings of one file.
class Findings {
 public:
  Findings(std::string file, const yaml::Document& document) : file_(std::move(file)), document_(document) {}

  void mistake(const Place& at, std::string what, std::string mend = "");
  void mistake(int line, int column, std::string path, std::string what, std::string mend);
  /// A mistake in another file that this one includes.
  void mistake_in(std::string file, std::string path, std::string what, std::string mend);
  void warn(const Place& at, std::string_view what);
  void warn(std::string what) { warnings_.push_back(std::move(what)); }
  /// A person mends the hundred that describe() tells and runs again; what comes after a thousand is not worth the
  /// work.
  [[nodiscard]] bool full() const { return mistakes_.size() >= 1000; }
  /// All of them, by place in the file.
  [[nodiscard]] std::vector<Mistake> take_mistakes();
  [[nodiscard]] std::vector<std::string> take_warnings() { return std::move(warnings_); }

  // Typed getters. An absent place gives nothing and says nothing; a wrong value is reported and gives nothing.
  std::optional<std::string> text(const Place& at);
  /// An identifier: letters, digits and . _ - / : @ +, not empty.
  std::optional<std::string> name(const Place& at);
  std::optional<bool> boolean(const Place& at);
  std::optional<std::int64_t> count(const Place& at, std::int64_t low, std::int64_t high);
  /// A number written as such ("0.99") or as a percentage ("99%").
  std::optional<double> ratio(const Place& at, double low, double high);
  /// The same in parts per million, exactly.
  std::optional<std::int64_t> ratio_ppm(const Place& at, std::int64_t low, std::int64_t high);
  /// A percentage; a bare number is refused.
  std::optional<std::int64_t> percent_ppm(const Place& at, std::int64_t low, std::int64_t high);
  std::optional<Duration> duration(const Place& at, Duration low = Duration{0}, Duration high = 3660 * kDay);
  /// Any value that a parser of values.h reads.
  template <class T, class Parse>
  std::optional<T> value(const Place& at, Parse parse) {
    if (!at || !scalar(at, "a value")) return std::nullopt;
    Misread why;
    std::optional<T> got = parse(at.text(), why);
    if (!got) mistake(at, "expected " + why.expected + ", got \"" + std::string(at.text()) + "\"", why.mend);
    return got;
  }
  /// One of a fixed set of words. @return its position
  std::optional<std::size_t> word(const Place& at, const std::vector<std::string>& words);
  /// A list of names, not empty, without duplicates.
  std::vector<std::string> names(const Place& at);
  /// The entries of a list, not empty. A missing list gives none.
  std::vector<Place> list(const Place& at, std::string_view of_what);
  /// The entries of a map of named things: none empty, no two that differ by case only.
  std::vector<std::pair<std::string, Place>> named(const Place& at, std::string_view of_what);
  /// Reports names that are equal but for case. @param at one place per name
  /// @param from only names from this position on are reported (those before it were compared already)
  void differ_by_more_than_case(const std::vector<std::pair<std::string, Place>>& named, std::string_view of_what,
                                std::size_t from = 0);
  bool scalar(const Place& at, std::string_view expected);

 private:
  std::string file_;
  const yaml::Document& document_;
  std::vector<Mistake> mistakes_;
  std::vector<std::string> warnings_;
};

/// A map being read. Keys that nobody asked for are reported by done().
class Map {
 public:
  Map(Findings& findings, Place at);
  [[nodiscard]] bool readable() const { return at_.is_map(); }
  /// The value of a key; without a node if it is not there (or the whole is not a map).
  Place get(std::string_view key);
  /// The same, but a mistake if it is missing.
  Place need(std::string_view key, std::string_view mend);
  [[nodiscard]] const Place& place() const { return at_; }
  /// Refuses a key here, with the reason.
  void refuse(std::string_view key, std::string_view what, std::string_view mend);
  void done();

 private:
  Findings& findings_;
  Place at_;
  std::vector<std::string> asked_;
};

}  // namespace ace::fleet_file
