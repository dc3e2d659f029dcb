#pragma once
/// The FinOps Open Cost and Usage Specification: its columns as a table, a checker against that table, and a statement
/// as rows of it. docs/FOCUS.md says what each row means.
///
/// Source: FOCUS 1.2 (57 columns) and the five split-cost allocation columns of 1.3,
/// https://focus.finops.org/focus-specification/
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/int128.h"
#include "core/money.h"
#include "core/result.h"
#include "ledger/statement.h"

namespace ace::focus {

enum class Version : std::uint8_t { v1_2, v1_3 };
enum class Type : std::uint8_t { string, decimal, datetime, json };
enum class Level : std::uint8_t { mandatory, conditional, recommended };

/// One column as the specification defines it.
struct Column {
  std::string_view name;
  Type type = Type::string;
  Level level = Level::mandatory;
  bool nullable = false;
  std::span<const std::string_view> allowed = {};  ///< empty = any
  Version since = Version::v1_2;
};
/// Every column of the specification that we know, sorted by name.
std::span<const Column> columns();
/// @return nullptr if the specification has no such column
const Column* column(std::string_view name);

using Cells = std::vector<std::optional<std::string>>;  ///< by position in the header; none = null

struct Finding {
  std::uint64_t row = 0;  ///< from 1; 0 = the file as a whole
  std::string column;     ///< empty where it concerns several
  std::string what;       ///< what was expected, and what came
  friend bool operator==(const Finding&, const Finding&) = default;
};

/// A decimal as the specification wants it: digits with at most one point, "-" for negative values, no "+", no
/// thousands separator, an exponent without "+".
bool valid_decimal(std::string_view text);
/// A UTC date and time that exists: YYYY-MM-DDTHH:mm:ssZ.
bool valid_datetime(std::string_view text);
/// A JSON object without repeated keys whose values are strings, numbers, booleans or null.
bool valid_flat_json(std::string_view text);

/// Checks rows one after the other, and what must hold across them. Rules are those of the columns' definitions:
/// type, null, allowed values, columns that depend on one another; and across rows, per CommitmentDiscountId,
///   sum of EffectiveCost over Usage = sum of BilledCost over Purchase, and EffectiveCost = 0 on each Purchase.
/// Columns that are absent are not checked, except that mandatory ones must be there.
class Checker {
 public:
  static constexpr std::size_t kFindingsMax = 100;  ///< kept; all are counted
  Checker(std::vector<std::string> header, Version version);
  void row(const Cells& cells);
  /// Checks what must hold across rows. Once, at the end.
  void finish();
  [[nodiscard]] const std::vector<Finding>& findings() const { return findings_; }
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::uint64_t rows() const { return rows_; }

 private:
  struct Commitment {
    int128 used = 0, purchased = 0;  ///< nano-dollars; a file may sum to more than any amount of ours
    std::uint64_t inexact = 0;       ///< amounts with more digits than a nano-dollar, rounded
  };
  void find(std::string_view column, std::string what);
  void value(std::size_t at, const std::string& text);
  void together(const Cells& cells);
  void commitment(const Cells& cells);
  [[nodiscard]] bool has(std::string_view name) const;
  [[nodiscard]] std::string_view text(const Cells& cells, std::string_view name) const;

  std::vector<std::string> header_;
  std::vector<const Column*> columns_;  ///< by position; null for x_ columns
  std::map<std::string, std::size_t, std::less<>> position_;
  std::map<std::string, Commitment> commitments_;
  std::vector<Finding> findings_;
  std::uint64_t count_ = 0, rows_ = 0;
};

/// Who bills, and which version.
struct Export {
  Version version = Version::v1_2;
  std::string billing_account = "ace";                     ///< BillingAccountId
  std::string billing_account_name = "ACE";                ///< also who issues the invoice
  SettlementPolicy settlement = SettlementPolicy::pooled;  ///< that the statement was closed with
  IdlePolicy idle = IdlePolicy::by_usage;
};

/// The columns that we write, in order: those of the specification, the allocation columns with 1.3, then our own (x_).
std::vector<std::string> header(Version version);
/// The statement as rows, one after the other into a buffer that is used again.
///   sum of BilledCost = sum of EffectiveCost = C4 + F, to the nano-dollar
void rows(const Statement& statement, const Fleet& fleet, const SymbolNames& names, const Export& options,
          const std::function<void(const Cells&)>& row);

/// Appends a line of CSV, ending in LF. Null is an empty field; text is quoted where RFC 4180 asks for it and made
/// harmless where a spreadsheet would run it (csv_text()); numbers and dates stand as they are.
void append_csv(std::string& out, const std::vector<std::string>& header, const Cells& cells);
void append_csv_header(std::string& out, const std::vector<std::string>& header);

}  // namespace ace::focus
