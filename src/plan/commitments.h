#pragma once
/// What can be bought for how long, and what it must serve: sizing that curves cannot do. Whole sizes of several
/// supplies, terms that begin and end within the horizon, what is held already, a budget, a reserve, and scenarios with
/// a price on their tail. Solved by benders.h; here is the problem, and the same as one program.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plan/lp.h"
#include "plan/size.h"

namespace ace {

/// Something that can be bought: each unit is one unit of a supply in every cell where it is held.
struct Commitment {
  std::string name;
  double unit_cost = 0.0;  ///< USD for one unit over the horizon, not negative
  std::int64_t units_min = 1, increment = 1;
  std::optional<std::int64_t> units_max{};
  struct Adds {
    std::size_t cell = 0, supply = 0;
  };
  std::vector<Adds> adds;
};

/// A stretch of time and a pool with one load. The fees of its supplies are not read: commitments carry the costs.
struct CommitmentCell {
  SizingProblem problem;
  std::vector<double> held;   ///< units of each supply that are there anyway; empty = none
  double capacity_min = 0.0;  ///< to be held with the largest unit of any of its supplies out (N+1)
  std::size_t scenario = 0;   ///< cells of one scenario happen together
};

struct CommitmentProblem {
  std::vector<CommitmentCell> cells{};
  std::vector<Commitment> commitments{};
  std::size_t scenarios = 1;       ///< equally likely
  std::optional<double> budget{};  ///< USD, of all that is bought
  bool whole = true;               ///< sizes are 0, or minimum + k x increment; else any number from 0
  /// What is minimised is fixed cost + (1 - w) x mean + w x CVaR of the scenarios' costs, the CVaR being the mean of
  /// the worst `1 - tail` of them (Rockafellar and Uryasev 2000).
  double tail_weight = 0.0, tail = 0.95;
};

/// @return bad_input as check() of sizing, or naming the commitment or reference that is wrong
Result<void> check(const CommitmentProblem& problem);

/// The same as one program with every block of every load: the oracle that the cuts are tested and timed against. Its
/// first columns are the units of the commitments where sizes need not be whole. Without CVaR.
LinearProgram whole_program(const CommitmentProblem& problem);

/// What a supply is sold for.
struct Term {
  std::string name;         ///< "1-month"
  std::size_t periods = 1;  ///< that it lasts
  Usd fee{};                ///< of a unit and period
  Usd upfront{};            ///< of a unit, once
};
/// Of one unit over the first `periods` of a term, the up-front fee by its share; rounded once.
/// @return out_of_range if it leaves what Usd holds
Result<Usd> fee_of(const Term& term, std::size_t periods);
/// One commitment for each term and period in which it can begin, over cells that follow each other. What lasts beyond
/// the last cell is charged for its share of periods within, so that the end of the horizon favours no term.
std::vector<Commitment> rolling(const Supply& supply, std::size_t position, std::size_t cells,
                                const std::vector<Term>& terms);

}  // namespace ace
