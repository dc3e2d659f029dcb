#pragma once
/// Two replays of one trace side by side: what one of them spent on a request, until the other has booked it.
#include <cstdint>
#include <utility>
#include <vector>

#include "core/check.h"
#include "ledger/ledger.h"

namespace ace {

/// Requests that ended on one side only, by row. Rows come nearly in order, so their low bits are the hash: open
/// addressing without tombstones, no allocation once it has grown. Memory: requests between their two ends.
class Pairing {
 public:
  explicit Pairing(Ledger& ledger) : ledger_(&ledger), halves_(kLeast) {}

  /// Booked here; the other side may have spent its share already.
  void ours(std::int64_t row, const Ledger::Receipt& receipt) { meet(row, {receipt, {}, kOurs}); }
  /// Spent by the other side.
  void theirs(std::int64_t row, Usd cost) { meet(row, {{}, cost, kTheirs}); }
  /// Requests that wait for their other half.
  [[nodiscard]] std::size_t open() const { return open_; }

 private:
  static constexpr std::size_t kLeast = 1024;
  static constexpr std::uint8_t kFree = 0, kOurs = 1, kTheirs = 2;
  struct Half {
    Ledger::Receipt receipt;  // of ours
    Usd cost{};               // of theirs
    std::uint8_t side = kFree;
    std::int64_t row = 0;
  };
  [[nodiscard]] std::size_t mask() const { return halves_.size() - 1; }
  [[nodiscard]] std::size_t home(std::int64_t row) const { return static_cast<std::size_t>(row) & mask(); }
  [[nodiscard]] std::size_t place_of(std::int64_t row) const {
    std::size_t at = home(row);
    while (halves_[at].side != kFree && halves_[at].row != row) at = (at + 1) & mask();
    return at;
  }

  void meet(std::int64_t row, Half half) {
    std::size_t at = place_of(row);
    if (halves_[at].side != kFree) {
      const Half& other = halves_[at];
      ACE_CHECK(other.side != half.side, "two requests of a source have the same row number");
      ledger_->compare(half.side == kOurs ? half.receipt : other.receipt,
                       half.side == kTheirs ? half.cost : other.cost);
      remove(at);
      return;
    }
    if (2 * ++open_ > halves_.size()) {
      grow();
      at = place_of(row);
    }
    halves_[at] = half;
    halves_[at].row = row;
  }
  /// What follows in the same run moves up where its home allows.
  void remove(std::size_t hole) {
    --open_;
    for (std::size_t at = (hole + 1) & mask(); halves_[at].side != kFree; at = (at + 1) & mask()) {
      if (((at - home(halves_[at].row)) & mask()) < ((at - hole) & mask())) continue;
      halves_[hole] = halves_[at];
      hole = at;
    }
    halves_[hole].side = kFree;
  }
  void grow() {
    std::vector<Half> before(2 * halves_.size());
    before.swap(halves_);
    for (const Half& half : before)
      if (half.side != kFree) halves_[place_of(half.row)] = half;
  }

  Ledger* ledger_;
  std::vector<Half> halves_;
  std::size_t open_ = 0;
};

}  // namespace ace
