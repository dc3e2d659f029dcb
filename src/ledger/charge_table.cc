#include "ledger/charge_table.h"

#include <algorithm>
#include <limits>

#include "core/check.h"
#include "core/hash.h"

namespace ace {
namespace {

constexpr std::size_t kBlock = 2048;             ///< rows at a time: codes and group numbers stay in the first cache
constexpr std::uint64_t kDenseMax = 1ULL << 20;  ///< up to so many possible codes a plain array finds the group
constexpr std::uint32_t kFree = 0xffff'ffff;

/// Codes to numbers in order of first use.
class Numbering {
 public:
  explicit Numbering(std::uint64_t range) : dense_(range <= kDenseMax) {
    if (dense_)
      number_.assign(range, kFree);
    else
      number_.assign(1024, kFree);
  }
  std::uint32_t operator()(std::uint64_t code) {
    if (dense_) {
      std::uint32_t& number = number_[code];
      if (number == kFree) number = open(code);
      return number;
    }
    for (std::size_t at = bucket(code);; at = (at + 1) & (number_.size() - 1)) {
      if (number_[at] != kFree && codes_[number_[at]] == code) return number_[at];
      if (number_[at] != kFree) continue;
      const std::uint32_t number = number_[at] = open(code);
      if (codes_.size() * 2 > number_.size()) grow();
      return number;
    }
  }
  [[nodiscard]] std::size_t size() const { return codes_.size(); }

 private:
  std::uint32_t open(std::uint64_t code) {
    codes_.push_back(code);
    ACE_CHECK(codes_.size() < kFree, "a grouping has fewer than 2^32 groups");
    return static_cast<std::uint32_t>(codes_.size() - 1);
  }
  [[nodiscard]] std::size_t bucket(std::uint64_t code) const { return mix(code, 0) & (number_.size() - 1); }
  void grow() {
    number_.assign(number_.size() * 4, kFree);
    for (std::uint32_t i = 0; i < codes_.size(); ++i) {
      std::size_t at = bucket(codes_[i]);
      while (number_[at] != kFree) at = (at + 1) & (number_.size() - 1);
      number_[at] = i;
    }
  }
  bool dense_;
  std::vector<std::uint32_t> number_;
  std::vector<std::uint64_t> codes_;
};

/// Columns whose combined code fits 64 bits, after the number that the stage before gave the columns before them.
struct Stage {
  std::vector<const std::vector<std::uint32_t>*> columns;
  std::vector<std::uint64_t> ranges;
  std::uint64_t range = 1;
};

std::vector<Stage> stages_of(const ChargeTable& table, const std::vector<By>& by) {
  std::vector<Stage> stages(1);
  for (const By one : by) {
    const std::vector<std::uint32_t>& column = table.key[static_cast<std::size_t>(one)];
    const std::uint64_t range = std::uint64_t{*std::max_element(column.begin(), column.end())} + 1;
    if (stages.back().range > std::numeric_limits<std::uint64_t>::max() / range) {
      stages.emplace_back();
      stages.back().range = kFree;
    }
    Stage& stage = stages.back();
    stage.columns.push_back(&column);
    stage.ranges.push_back(range);
    stage.range *= range;
  }
  return stages;
}

}  // namespace

std::string_view name_of(By by) {
  constexpr std::array<std::string_view, kBys> names = {"kind",    "hour",  "tenant",      "team",
                                                        "project", "model", "destination", "slo_class"};
  return names[static_cast<std::size_t>(by)];
}

void ChargeTable::reserve(std::size_t rows) {
  for (auto& column : key) column.reserve(rows);
  for (auto& column : sum) column.reserve(rows);
}

void ChargeTable::add(const ChargeKey& row, const ChargeSums& sums) {
  for (std::size_t k = 0; k < kBys; ++k) key[k].push_back(row[k]);
  for (std::size_t m = 0; m < kMeasures; ++m) sum[m].push_back(sums[m]);
}

std::vector<ChargeGroup> grouped(const ChargeTable& table, const std::vector<By>& by) {
  std::vector<ChargeGroup> groups;
  if (table.rows() == 0) return groups;
  std::array<bool, kBys> asked{};
  asked[static_cast<std::size_t>(By::kind)] = true;
  for (const By one : by) asked[static_cast<std::size_t>(one)] = true;
  std::vector<By> keys;
  for (std::size_t k = 0; k < kBys; ++k)
    if (asked[k]) keys.push_back(static_cast<By>(k));

  const std::vector<Stage> stages = stages_of(table, keys);
  std::vector<Numbering> numberings;
  for (const Stage& stage : stages) numberings.emplace_back(stage.range);
  std::array<std::uint64_t, kBlock> codes{};
  std::array<std::uint32_t, kBlock> numbers{};
  std::array<std::vector<std::int64_t>, kMeasures>
      sums;  // by group: one measure of all groups stays in the first cache
  bool overflow = false;
  for (std::size_t from = 0; from < table.rows(); from += kBlock) {
    const std::size_t count = std::min(kBlock, table.rows() - from);
    for (std::size_t s = 0; s < stages.size(); ++s) {
      for (std::size_t i = 0; i < count; ++i) codes[i] = s == 0 ? 0 : numbers[i];
      for (std::size_t c = 0; c < stages[s].columns.size(); ++c) {
        const std::uint32_t* column = stages[s].columns[c]->data() + from;
        const std::uint64_t range = stages[s].ranges[c];
        for (std::size_t i = 0; i < count; ++i) codes[i] = codes[i] * range + column[i];
      }
      for (std::size_t i = 0; i < count; ++i) numbers[i] = numberings[s](codes[i]);
    }
    for (std::size_t i = 0; groups.size() < numberings.back().size(); ++i) {
      if (numbers[i] != groups.size()) continue;  // first rows of new groups come in order of their numbers
      ChargeGroup& group = groups.emplace_back();
      for (const By one : keys)
        group.key[static_cast<std::size_t>(one)] = table.key[static_cast<std::size_t>(one)][from + i];
    }
    for (std::size_t m = 0; m < kMeasures; ++m) {
      sums[m].resize(groups.size());
      std::int64_t* const sum = sums[m].data();
      const std::int64_t* const column = table.sum[m].data() + from;
      for (std::size_t i = 0; i < count; ++i)
        overflow |= __builtin_add_overflow(sum[numbers[i]], column[i], &sum[numbers[i]]);
    }
  }
  ACE_CHECK(!overflow, "a sum of charges left the range of int64");
  for (std::size_t g = 0; g < groups.size(); ++g)
    for (std::size_t m = 0; m < kMeasures; ++m) groups[g].sums[m] = sums[m][g];
  std::sort(groups.begin(), groups.end(), [](const ChargeGroup& a, const ChargeGroup& b) { return a.key < b.key; });
  return groups;
}

}  // namespace ace
