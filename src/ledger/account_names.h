#pragma once
/// Names that a log gives to its symbols, as accounts of our own: one name is one account, whatever its symbol.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ace {

class AccountNames {
 public:
  /// The account that a symbol of an event stands for now. One that has no name yet gets an account that takes the
  /// name when it comes; symbol 0 is nobody.
  std::uint32_t number_of(std::uint32_t symbol) {
    if (symbol < near_.size() && near_[symbol] != kNone) return near_[symbol];
    if (const auto found = far_.find(symbol); found != far_.end()) return found->second;
    const std::uint32_t number = open("");
    assign(symbol, number);
    return number;
  }
  /// The same, but nothing if that symbol was never heard of.
  [[nodiscard]] std::optional<std::uint32_t> find(std::uint32_t symbol) const {
    const std::uint32_t number = given(symbol);
    return number == kNone ? std::nullopt : std::optional(number);
  }
  /// The account of a name, opened if it is new.
  std::uint32_t named(std::string_view name) {
    const auto known = numbers_.find(name);
    return known != numbers_.end() ? known->second : open(name);
  }
  /// From now on `symbol` stands for `name`.
  void name(std::uint32_t symbol, std::string_view name) {
    const auto known = numbers_.find(name);
    if (const std::uint32_t had = given(symbol); had != kNone && names_[had].empty() && symbol != 0) {
      names_[had] = name;  // where another account has that name too, closing adds the two up
      if (known == numbers_.end()) numbers_.emplace(name, had);
      return;
    }
    assign(symbol, named(name));
  }
  /// By account number.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  /// Symbols with their accounts, in order of the symbols.
  [[nodiscard]] std::vector<std::pair<std::uint32_t, std::uint32_t>> assigned() const {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> all;
    for (std::uint32_t symbol = 0; symbol < near_.size(); ++symbol)
      if (near_[symbol] != kNone) all.emplace_back(symbol, near_[symbol]);
    all.insert(all.end(), far_.begin(), far_.end());
    return all;
  }
  /// Puts back what names() and assigned() said.
  void restore(std::vector<std::string> names, const std::vector<std::pair<std::uint32_t, std::uint32_t>>& assigned) {
    *this = {};
    for (std::uint32_t number = 0; number < names.size(); ++number)
      if (!names[number].empty()) numbers_.emplace(names[number], number);
    names_ = std::move(names);
    for (const auto& [symbol, number] : assigned) assign(symbol, number);
  }

 private:
  static constexpr std::uint32_t kNone = 0xffff'ffff, kNear = 1U << 14;
  [[nodiscard]] std::uint32_t given(std::uint32_t symbol) const {
    if (symbol < kNear) return symbol < near_.size() ? near_[symbol] : kNone;
    const auto found = far_.find(symbol);
    return found == far_.end() ? kNone : found->second;
  }
  std::uint32_t open(std::string_view name) {
    const auto number = static_cast<std::uint32_t>(names_.size());
    names_.emplace_back(name);
    if (!name.empty()) numbers_.emplace(name, number);
    return number;
  }
  void assign(std::uint32_t symbol, std::uint32_t number) {
    if (symbol >= kNear) {
      far_[symbol] = number;
      return;
    }
    if (symbol >= near_.size()) near_.resize(symbol + 1U, kNone);
    near_[symbol] = number;
  }
  std::vector<std::string> names_;                             ///< by account
  std::map<std::string, std::uint32_t, std::less<>> numbers_;  ///< accounts by name
  std::vector<std::uint32_t> near_;                            ///< accounts of small symbols
  std::map<std::uint32_t, std::uint32_t> far_;                 ///< of the others
};

}  // namespace ace
