#pragma once
/// A commitment as a linear program with integers.
#include <initializer_list>
#include <utility>
#include <vector>

#include "plan/unit_commitment.h"

namespace ace {

class UnitCommitmentProgram {
 public:
  /// @param commitment  sound; outlives the program
  explicit UnitCommitmentProgram(const UnitCommitment& commitment);
  [[nodiscard]] const LinearProgram& whole() const { return program_; }
  /// In which a part of a unit may be on.
  [[nodiscard]] LinearProgram relaxed() const;
  [[nodiscard]] CommitPlan plan(const LpSolution& solution) const;

 private:
  using Column = LinearProgram::Column;
  using Row = LinearProgram::Row;
  /// By period. Loads are what is carried above the least while on.
  struct Unit {
    std::vector<Column> on, start, stop, load, room;
  };
  void add(const CommitUnit& unit);
  void add_changes(const CommitUnit& unit, const Unit& c);
  void add_past(const CommitUnit& unit, const Unit& c);
  void add_starts(const CommitUnit& unit, const Unit& c);
  void add_curve(const CommitUnit& unit, const Unit& c);
  void add_limits(const CommitUnit& unit, const Unit& c);
  void add_ramps(const CommitUnit& unit, const Unit& c);
  template <class Beyond>
  void add_limit(const CommitUnit& unit, const Unit& c, std::size_t t, const std::vector<Column>& carried, double width,
                 Beyond beyond);
  /// A row of the sum of factor x column.
  Row add(LinearProgram::Bounds bounds, std::initializer_list<std::pair<Column, double>> terms);
  [[nodiscard]] std::size_t periods() const { return commitment_->demand.size(); }

  const UnitCommitment* commitment_;
  LinearProgram program_;
  std::vector<Row> demand_, reserve_;
  std::vector<Unit> units_;
  std::vector<std::vector<Column>> sources_;
};

}  // namespace ace
