#pragma once
/// Inside the readers: fields of a row, from text to an Arrival, with names masked on the way.
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/names.h"
#include "core/result.h"
#include "replay/source.h"
#include "trace/litellm.h"
#include "trace/numbers.h"
#include "trace/trace.h"

namespace ace {

/// What a column can mean.
enum class Field : std::uint8_t {
  ignored,
  at,
  end,  ///< with `at`: the duration
  first_token_at,
  id,
  provider,  ///< who served
  model,
  tenant,
  team,
  project,
  organization,  ///< LiteLLM: the tenant, before the team
  api_key,
  user,
  prompt,
  output,
  reasoning,
  cached,
  cache_write,
  cache_write_1h,
  audio_prompt,
  image_prompt,
  audio_output,
  image_output,
  max_output,
  needs,
  batch,
  failed,
  status,  ///< a word: anything but success is a failure
  cache_hit,
  cost,
  ttft,
  duration,
  blocks,
  usage_metadata,  ///< LiteLLM: JSON with the usage object
  call_type,       ///< LiteLLM: "acompletion", "aimage_generation"
};

/// One column of a table or member of an object: where a field is found and in which unit.
struct Column {
  Field field = Field::ignored;
  std::string name;
  std::int64_t unit_ns = 0;  ///< of times and durations; 0 = the field's own
  bool required = false;
};

/// "at=ts:ms,prompt=in" @return bad_input naming the part that is wrong
Result<std::vector<Column>> parse_columns(const std::string& text);
/// The names a generic file may use without a mapping: those we write ourselves.
std::vector<Column> own_columns();
std::string_view name_of(Field field);
/// What a mapping says of the time column's unit; unknown if nothing.
TimeKind time_kind(const std::vector<Column>& columns);

/// Names of the file to symbols of masked names. Raw names live only in the memo, never in a result.
class Symbols {
 public:
  explicit Symbols(const ReadOptions& options);
  Result<std::uint32_t> model(std::string_view raw);
  Result<std::uint32_t> tenant(std::string_view raw, bool identity = false);
  Result<std::uint32_t> team(std::string_view raw, bool identity = false);
  Result<std::uint32_t> provider(std::string_view raw);
  Result<std::uint32_t> project(std::string_view raw);
  /// An API key: an identity, whatever it is called.
  Result<std::uint32_t> key(std::string_view raw);
  /// Of a row's own id: 64 bits of its keyed token, never 0. @pre it is not empty
  [[nodiscard]] std::uint64_t id(std::string_view raw) const;
  [[nodiscard]] const Interner& models() const { return models_.names; }
  [[nodiscard]] const Interner& tenants() const { return tenants_.names; }
  [[nodiscard]] const Interner& teams() const { return teams_.names; }
  [[nodiscard]] const Interner& providers() const { return providers_.names; }
  [[nodiscard]] const Interner& projects() const { return projects_.names; }
  [[nodiscard]] const Interner& keys() const { return keys_.names; }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  struct Table {
    Interner names;
    std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> memo;  // looked up only
    std::string last;                                                            ///< most rows repeat the row before
    std::uint32_t last_symbol = 0;
    bool any = false;
  };
  static Result<std::uint32_t> look_up(Table& table, std::string_view raw, char kind, const Masks::Mask& mask,
                                       const char* what);

  Masks masks_;
  Table models_, tenants_, teams_, providers_, projects_, keys_;
};

/// Collects the fields of one row. Views must stay valid until finish().
class RowBuilder {
 public:
  RowBuilder(const ReadOptions& options, TimeColumn times)
      : symbols_(options), origins_(options.origins), times_(times), ends_(times), firsts_(times) {}

  void begin();
  /// @return what is wrong with this text, without the column's name
  Result<void> set(const Column& column, std::string_view text);
  /// The row, checked as a whole; its blocks are the `block_count()` last entries of blocks().
  Result<Arrival> finish();
  void add_block(std::uint32_t block) { blocks_.push_back(block); }
  Arrival& row() { return row_; }
  [[nodiscard]] std::string_view id() const { return id_; }
  [[nodiscard]] bool has(Field field) const { return (seen_ >> static_cast<unsigned>(field) & 1U) != 0; }

  /// Blocks of the rows since start_batch(), one after the other.
  void start_batch() { blocks_.clear(); }
  void drop_blocks(std::size_t keep) { blocks_.resize(keep); }
  [[nodiscard]] std::size_t block_count() const { return blocks_.size(); }
  [[nodiscard]] std::span<const std::uint32_t> blocks() const { return blocks_; }

  Symbols& symbols() { return symbols_; }
  [[nodiscard]] const Symbols& symbols() const { return symbols_; }
  TimeColumn& times() { return times_; }
  Remarks& remarks() { return remarks_; }
  void restart();
  /// Leap seconds, very long requests: things that were read but deserve a look.
  [[nodiscard]] std::vector<std::string> notes() const;

 private:
  Result<void> set_count(std::int32_t Arrival::*member, std::string_view text);
  Result<void> set_blocks(std::string_view text);
  void settle_extras();

  Symbols symbols_;
  bool origins_;
  TimeColumn times_, ends_, firsts_;
  Arrival row_;
  std::uint64_t seen_ = 0;
  std::optional<Instant> end_, first_token_;
  std::string_view id_, provider_, model_, tenant_, team_, project_, organization_, api_key_, user_, call_type_;
  std::vector<std::uint32_t> blocks_;
  std::uint64_t long_requests_ = 0;
  LiteLlmMetadata metadata_;
  LiteLlmExtras extras_;
  Remarks remarks_;
};

/// What was wrong with rows, by reason.
class BadRows {
 public:
  explicit BadRows(OnBadRow policy) : policy_(policy) {}
  /// Counts the row, or returns the error that ends the reading.
  /// @param reason a stable phrase without values, to count by @param detail the whole story
  Result<void> reject(std::int64_t line, const std::string& reason, Errc code, const std::string& detail);
  void count(std::int64_t line, const std::string& reason);
  [[nodiscard]] const std::vector<SkippedRows>& all() const { return rows_; }
  void restart() { rows_.clear(); }

 private:
  OnBadRow policy_;
  std::vector<SkippedRows> rows_;
};

}  // namespace ace
