#pragma once
/// Name tables. NameTable is a snapshot's, sorted by bytes; Interner is a stream's, in order of appearance.
#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ace {

/// Immutable names sorted by bytes, so that a smaller index is a smaller name.
class NameTable {
 public:
  NameTable() = default;
  explicit NameTable(std::vector<std::string> names) : names_(std::move(names)) {
    std::sort(names_.begin(), names_.end());
    names_.erase(std::unique(names_.begin(), names_.end()), names_.end());
  }
  [[nodiscard]] std::size_t size() const { return names_.size(); }
  [[nodiscard]] const std::string& operator[](std::size_t i) const { return names_[i]; }
  [[nodiscard]] std::optional<std::uint32_t> find(std::string_view name) const {
    const auto at = std::lower_bound(names_.begin(), names_.end(), name);
    if (at == names_.end() || *at != name) return std::nullopt;
    return static_cast<std::uint32_t>(at - names_.begin());
  }
  [[nodiscard]] const std::vector<std::string>& all() const { return names_; }
  friend bool operator==(const NameTable&, const NameTable&) = default;

 private:
  std::vector<std::string> names_;
};

/// Strings to dense numbers in order of first appearance; views stay valid.
class Interner {
 public:
  Interner() = default;
  Interner(const Interner& other) : names_(other.names_) {  // the index views our own strings, not theirs
    for (std::uint32_t i = 0; i < names_.size(); ++i) index_.emplace(names_[i], i);
  }
  Interner(Interner&&) = default;
  Interner& operator=(Interner other) {
    names_.swap(other.names_);
    index_.swap(other.index_);
    return *this;
  }
  ~Interner() = default;
  std::uint32_t operator()(std::string_view name) {
    if (const auto found = index_.find(name); found != index_.end()) return found->second;
    const auto number = static_cast<std::uint32_t>(names_.size());
    index_.emplace(names_.emplace_back(name), number);
    return number;
  }
  [[nodiscard]] const std::string& operator[](std::uint32_t i) const { return names_[i]; }
  [[nodiscard]] std::size_t size() const { return names_.size(); }

 private:
  std::deque<std::string> names_;
  std::unordered_map<std::string_view, std::uint32_t> index_;
};

}  // namespace ace
