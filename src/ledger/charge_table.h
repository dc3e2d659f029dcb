#pragma once
/// Rows of keys and exact sums in columns, and their sums under any grouping.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace ace {

/// What a charge can be grouped by. `kind` tells usage from the rows that settle beside it and is part of every
/// grouping, so that idle never hides in somebody's usage.
enum class By : std::uint8_t { kind, hour, tenant, team, project, model, destination, slo };
inline constexpr std::size_t kBys = 8;
std::string_view name_of(By by);

/// What a row adds up. Token classes: from `cache_write` to `video_input` parts of `input`, from `reasoning` to
/// `image_output` of `output`; amounts are nano-USD.
/// A row's charge is charged + fixed + hosts + idle + adjusted.
enum class Measure : std::uint8_t {
  requests,
  input,
  cached,
  output,
  cache_write,
  audio_input,
  image_input,
  video_input,
  reasoning,
  audio_output,
  image_output,
  marginal,
  baseline,
  charged,
  fixed,
  hosts,
  idle,
  adjusted,
};
inline constexpr std::size_t kMeasures = 18;

using ChargeKey = std::array<std::uint32_t, kBys>;  ///< by By; 0 = none, else 1 + what the owner of the table counts
using ChargeSums = std::array<std::int64_t, kMeasures>;  ///< by Measure

/// Columns: what a grouping does not ask for is not read.
struct ChargeTable {
  std::array<std::vector<std::uint32_t>, kBys> key;
  std::array<std::vector<std::int64_t>, kMeasures> sum;
  void reserve(std::size_t rows);
  void add(const ChargeKey& row, const ChargeSums& sums);
  [[nodiscard]] std::size_t rows() const { return key.front().size(); }
};

struct ChargeGroup {
  ChargeKey key{};  ///< 0 where the grouping does not ask
  ChargeSums sums{};
  friend bool operator==(const ChargeGroup&, const ChargeGroup&) = default;
};

/// The rows summed by `by` and by kind, in order of their keys. Sums that leave int64 are a broken invariant.
std::vector<ChargeGroup> grouped(const ChargeTable& table, const std::vector<By>& by);

}  // namespace ace
