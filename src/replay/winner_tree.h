#pragma once
/// The least of n changing numbers: O(1) to read, O(log n) to change. Ties go to the smaller position.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace ace {

class WinnerTree {
 public:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  explicit WinnerTree(std::size_t n = 0) { resize(n); }
  /// Forgets all values. @param n positions 0..n-1, all at infinity
  void resize(std::size_t n) {
    leaves_ = std::bit_ceil(n < 2 ? std::size_t{2} : n);
    value_.assign(leaves_, kNever);
    winner_.resize(2 * leaves_);
    for (std::size_t i = 0; i < leaves_; ++i) winner_[leaves_ + i] = static_cast<std::uint32_t>(i);
    for (std::size_t i = leaves_; i-- > 1;) winner_[i] = better(winner_[2 * i], winner_[2 * i + 1]);
  }
  void set(std::size_t position, double value) {
    if (value_[position] == value) return;
    value_[position] = value;
    for (std::size_t i = (leaves_ + position) / 2; i >= 1; i /= 2) {
      const std::uint32_t winner = better(winner_[2 * i], winner_[2 * i + 1]);
      if (winner == winner_[i] && winner != position) return;  // it won before and wins now: nothing above changes
      winner_[i] = winner;
    }
  }
  [[nodiscard]] std::size_t size() const { return leaves_; }
  [[nodiscard]] double least() const { return value_[winner_[1]]; }
  [[nodiscard]] std::size_t position() const { return winner_[1]; }

 private:
  [[nodiscard]] std::uint32_t better(std::uint32_t a, std::uint32_t b) const { return value_[b] < value_[a] ? b : a; }
  std::size_t leaves_ = 0;
  std::vector<double> value_;
  std::vector<std::uint32_t> winner_;
};

}  // namespace ace
