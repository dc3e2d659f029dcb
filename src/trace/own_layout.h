#pragma once
/// Inside the readers: rows of the CSV that we write ourselves, without the detour of a field at a time.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "replay/source.h"
#include "trace/rows.h"

namespace ace {

/// Reads rows as `ace trace convert` and `generate` write them where no prefix blocks, usage or outcome stand in them:
///
///   2026-01-05T00:05:12.251Z,llama-3.3-70b,completion,search,1161,563,2048,true,
///
/// columns in any order, of those below. Whatever looks otherwise is left to the careful way, which would give the same
/// rows for what is read here: the law of own_layout_test.cc.
class OwnLayout {
 public:
  /// @return nothing if a column is of another kind, or time, tenant, prompt or output is missing
  static std::optional<OwnLayout> of(std::span<const Column> columns);

  struct Read {
    std::size_t rows = 0, bytes = 0;
  };
  /// The rows that begin at the front of `text`, up to the first it leaves alone. @param row number of the last one
  Read rows(std::string_view text, RowBuilder& builder, std::int64_t& row, std::span<Arrival> batch);

 private:
  enum class Kind : std::uint8_t { time, model, tenant, team, count, flag, nothing };
  struct Cell {
    Kind kind = Kind::nothing;
    bool required = false;
    std::int32_t Arrival::*member = nullptr;
  };
  struct Known {
    std::string text;
    std::uint32_t symbol = 0;
  };
  /// Symbols of the last names of a kind.
  class Names {
   public:
    [[nodiscard]] const Known* find(std::string_view text) const {
      for (const Known& known : known_)
        if (known.text == text) return &known;
      return nullptr;
    }
    void remember(std::string_view text, std::uint32_t symbol);

   private:
    static constexpr std::size_t kMost = 8;
    std::vector<Known> known_;
    std::size_t next_ = 0;
  };
  bool time(std::string_view text, RowBuilder& builder, Instant& at);
  static bool count(std::string_view text, std::int32_t& into);

  std::vector<Cell> cells_;
  Names models_, tenants_, teams_;
  std::string date_;  ///< "2026-01-05T" of the row before
  std::int64_t date_nanos_ = 0;
};

}  // namespace ace
