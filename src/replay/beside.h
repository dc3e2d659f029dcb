#pragma once
/// What our side settled, beside what the other side spent on the same request.
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "core/check.h"
#include "ledger/ledger.h"

namespace ace {

/// Gives out pairs in the order in which our side settled. What waits are the requests that one side has ended and the
/// other has not, and those settled after the oldest of them.
class Beside {
 public:
  using Give = std::function<void(const Settled&, Usd)>;
  explicit Beside(Give give) : give_(std::move(give)) {}

  /// @param known what the other side spent, where it is known already: the log says
  void ours(const Settled& settled, std::optional<Usd> known) {
    const std::int64_t row = settled.admitted.row;
    if (const auto early = theirs_.find(row); !known && early != theirs_.end()) {
      known = early->second;
      theirs_.erase(early);
    }
    if (!known) places_.emplace(row, given_ + waiting_.size());
    waiting_.push_back({settled, known});
    give();
  }
  void theirs(std::int64_t row, Usd spent) {
    const auto place = places_.find(row);
    if (place == places_.end()) {
      ACE_CHECK(theirs_.emplace(row, spent).second, "two requests of a source have the same row number");
      return;
    }
    waiting_[place->second - given_].second = spent;
    places_.erase(place);
    give();
  }
  [[nodiscard]] std::size_t open() const { return waiting_.size() + theirs_.size(); }

 private:
  void give() {
    while (!waiting_.empty() && waiting_.front().second) {
      give_(waiting_.front().first, *waiting_.front().second);
      waiting_.pop_front();
      ++given_;
    }
  }

  Give give_;
  std::deque<std::pair<Settled, std::optional<Usd>>> waiting_;  ///< in the order settled
  std::size_t given_ = 0;                                       ///< before the first of them
  std::map<std::int64_t, std::size_t> places_;                  ///< by row, of those that wait for the other side
  std::map<std::int64_t, Usd> theirs_;                          ///< by row, of those that our side has not settled yet
};

}  // namespace ace
