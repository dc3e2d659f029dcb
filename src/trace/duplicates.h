#pragma once
/// Rows with an id that has been seen before: exact duplicates are dropped, conflicts are errors.
#include <cstdint>
#include <string_view>
#include <vector>

namespace ace {

/// Remembers the last million ids by 128-bit digests, with the digest and line of their rows. Ids beyond that move to a
/// filter of 64-bit digests of (id, content) which holds the last four million of them: it still finds exact
/// duplicates, but no longer conflicts. Memory stays below 100 MB.
class Duplicates {
 public:
  enum class Verdict : std::uint8_t { fresh, duplicate, conflict };
  struct Answer {
    Verdict verdict = Verdict::fresh;
    std::int64_t line = 0;  ///< of the earlier row, when known
  };
  Answer see(std::string_view id, std::string_view content, std::int64_t line);
  [[nodiscard]] std::uint64_t dropped() const { return dropped_; }
  /// Some ids have left exact memory.
  [[nodiscard]] bool filtered() const { return filtered_; }
  /// Some ids have left the filter too.
  [[nodiscard]] bool forgot() const { return forgot_; }
  void restart() { *this = Duplicates(); }

 private:
  static constexpr std::size_t kExact = 1U << 20;
  static constexpr std::size_t kFilter = 1U << 22;

  struct Seen {
    std::uint64_t high = 0, low = 0, content = 0;
    std::int64_t line = 0;  ///< 0 = an empty slot
  };
  Seen* slot_of(std::vector<Seen>& table, std::uint64_t high, std::uint64_t low);
  void grow();
  void remember_digests(const std::vector<Seen>& old);
  [[nodiscard]] bool in_filter(std::uint64_t digest) const;

  // Two generations of half a million: when the younger is full, the older one moves to the filter.
  std::vector<Seen> young_, old_;
  std::size_t young_count_ = 0;
  std::vector<std::uint64_t> filter_young_, filter_old_;  ///< open addressing, 0 = empty
  std::size_t filter_count_ = 0;
  std::uint64_t dropped_ = 0;
  bool filtered_ = false, forgot_ = false;
};

}  // namespace ace
