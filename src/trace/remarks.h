#pragma once
/// Inside the readers: what a log says about money that a replay has no place for, so that nothing is dropped in
/// silence.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ace {

/// Adds up by name. Names are the log's own words for its fields, never values.
class Remarks {
 public:
  /// @param name  as in the log, "usage_object.video_tokens"
  /// @param amount  tokens, calls, or what the unit says; not negative
  /// @param unit  "tokens", "nano-USD" (told as USD) or "" for rows alone
  /// @param becomes  what the replay does instead, "they are priced as text"
  void see(std::string_view name, std::int64_t amount, std::string_view unit, std::string_view becomes);
  /// One sentence for each name, in the order in which they were met.
  [[nodiscard]] std::vector<std::string> notes() const;
  void restart() { *this = {}; }

 private:
  static constexpr std::size_t kNamesMax = 32;
  struct Entry {
    std::string name, unit, becomes;
    std::uint64_t rows = 0;
    std::int64_t amount = 0;  ///< held at the largest value where it does not fit
  };
  std::vector<Entry> entries_;
  std::uint64_t others_ = 0;  ///< rows with a name beyond those
};

}  // namespace ace
