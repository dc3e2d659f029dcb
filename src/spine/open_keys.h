#pragma once
/// Where the keys of the growing segment lie. Looked into for every event, and nearly always in vain, so it is one
/// block of memory: a look is one cache line, where a table of nodes takes several.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "spine/frame.h"

namespace ace::spine {

/// 128 bits that stand for (tenant, id, kind, ordinal). Equal ones are compared in full where it matters.
struct Fingerprint {
  std::uint64_t high = 0, low = 0;
  friend auto operator<=>(const Fingerprint&, const Fingerprint&) = default;
};

class OpenKeys {
 public:
  /// @param address of segment 1 or above
  void add(const Fingerprint& key, Address address) {
    if (2 * (count_ + 1) > slots_.size()) grow();
    put(key, address);
    ++count_;
  }
  /// Appends where this key lies, oldest first.
  void find(const Fingerprint& key, std::vector<Address>& places) const {
    if (slots_.empty()) return;
    const std::size_t begin = places.size();
    for (std::size_t at = home(key); slots_[at].address.segment != 0; at = next(at))
      if (slots_[at].key == key) places.push_back(slots_[at].address);
    std::sort(places.begin() + static_cast<std::ptrdiff_t>(begin), places.end());
  }
  /// Calls visit(key, address) for each, in no order.
  template <class Visit>
  void each(Visit visit) const {
    for (const Slot& slot : slots_)
      if (slot.address.segment != 0) visit(slot.key, slot.address);
  }
  [[nodiscard]] std::size_t size() const { return count_; }
  void clear() {
    slots_.clear();
    count_ = 0;
  }

 private:
  struct Slot {
    Fingerprint key;
    Address address;  ///< segment 0 = free
  };
  [[nodiscard]] std::size_t home(const Fingerprint& key) const { return (key.high ^ key.low) & (slots_.size() - 1); }
  [[nodiscard]] std::size_t next(std::size_t at) const { return (at + 1) & (slots_.size() - 1); }
  void put(const Fingerprint& key, Address address) {
    std::size_t at = home(key);
    while (slots_[at].address.segment != 0) at = next(at);
    slots_[at] = {key, address};
  }
  void grow() {
    std::vector<Slot> before(std::max<std::size_t>(1024, 2 * slots_.size()));
    before.swap(slots_);
    for (const Slot& slot : before)
      if (slot.address.segment != 0) put(slot.key, slot.address);
  }

  std::vector<Slot> slots_;  ///< a power of two of them, at most half of them taken
  std::size_t count_ = 0;
};

}  // namespace ace::spine
