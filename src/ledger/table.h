#pragma once
/// Accounts by key: open addressing over a dense vector, so that the hot path is one probe and reading out is a sort.
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace ace {

/// Key: operator== and `std::uint64_t hash() const`. Entries keep their place in order of first use, which nothing may
/// show: who reads them out sorts by key.
template <class Key, class Value>
class Table {
 public:
  /// The account of `key`, opened empty if it is new. Valid until the next call.
  Value& operator[](const Key& key) { return at(number_of(key)); }
  /// The number of that account, which it keeps.
  std::uint32_t number_of(const Key& key) {
    std::size_t at = key.hash() & mask();
    for (; buckets_[at] != kFree; at = (at + 1) & mask())
      if (entries_[buckets_[at]].first == key) return buckets_[at];
    if ((entries_.size() + 1) * 2 > buckets_.size()) {
      grow();
      return number_of(key);
    }
    buckets_[at] = static_cast<std::uint32_t>(entries_.size());
    entries_.emplace_back(key, Value{});
    return buckets_[at];
  }
  /// The account of `key`; null if there is none.
  [[nodiscard]] const Value* find(const Key& key) const {
    for (std::size_t at = key.hash() & mask(); buckets_[at] != kFree; at = (at + 1) & mask())
      if (entries_[buckets_[at]].first == key) return &entries_[buckets_[at]].second;
    return nullptr;
  }
  [[nodiscard]] Value& at(std::uint32_t number) { return entries_[number].second; }
  [[nodiscard]] const std::vector<std::pair<Key, Value>>& entries() const { return entries_; }
  /// Adds the accounts of another table to ours.
  void merge(const Table& other) {
    for (const auto& [key, value] : other.entries_) operator[](key) += value;
  }

 private:
  static constexpr std::uint32_t kFree = 0xffff'ffff;
  [[nodiscard]] std::size_t mask() const { return buckets_.size() - 1; }
  void grow() {
    std::vector<std::uint32_t> wider(buckets_.size() * 2, kFree);
    buckets_.swap(wider);
    for (std::uint32_t i = 0; i < entries_.size(); ++i) {
      std::size_t at = entries_[i].first.hash() & mask();
      while (buckets_[at] != kFree) at = (at + 1) & mask();
      buckets_[at] = i;
    }
  }
  std::vector<std::uint32_t> buckets_ = std::vector<std::uint32_t>(64, kFree);
  std::vector<std::pair<Key, Value>> entries_;
};

}  // namespace ace
