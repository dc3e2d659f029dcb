#pragma once
/// Numbers by request id: open addressing, so that looking one up is a cache line.
#include <cstdint>
#include <vector>

#include "core/hash.h"
#include "core/ids.h"

namespace ace {

class RequestIndex {
 public:
  static constexpr std::uint32_t kNone = 0xffff'ffff;
  /// @return kNone if it is not there
  [[nodiscard]] std::uint32_t find(RequestId id) const {
    for (std::size_t at = home(id); places_[at].number != kNone; at = next(at))
      if (places_[at].id == id) return places_[at].number;
    return kNone;
  }
  /// @pre it is not there
  void insert(RequestId id, std::uint32_t number) {
    if ((size_ + 1) * 2 > places_.size()) grow();
    put({id, number});
    ++size_;
  }
  void erase(RequestId id) {
    std::size_t hole = home(id);
    while (places_[hole].number != kNone && places_[hole].id != id) hole = next(hole);
    if (places_[hole].number == kNone) return;
    --size_;
    // Those behind it move up, unless that would put them before their own home.
    for (std::size_t at = next(hole); places_[at].number != kNone; at = next(at)) {
      const std::size_t from_home = (at - home(places_[at].id)) & (places_.size() - 1);
      if (from_home < ((at - hole) & (places_.size() - 1))) continue;
      places_[hole] = places_[at];
      hole = at;
    }
    places_[hole] = {};
  }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  struct Place {
    RequestId id;
    std::uint32_t number = kNone;
  };
  [[nodiscard]] std::size_t home(RequestId id) const { return mix(id.high, id.low) & (places_.size() - 1); }
  [[nodiscard]] std::size_t next(std::size_t at) const { return (at + 1) & (places_.size() - 1); }
  void put(const Place& place) {
    std::size_t at = home(place.id);
    while (places_[at].number != kNone) at = next(at);
    places_[at] = place;
  }
  void grow() {
    std::vector<Place> old(places_.size() * 2);
    old.swap(places_);
    for (const Place& place : old)
      if (place.number != kNone) put(place);
  }
  std::vector<Place> places_ = std::vector<Place>(256);
  std::size_t size_ = 0;
};

}  // namespace ace
