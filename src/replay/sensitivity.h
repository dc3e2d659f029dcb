#pragma once
/// How the saving moves when one thing is different: whole runs, one after another over the same source.
#include <functional>

#include "replay/run.h"

namespace ace {

struct Sensitivity {
  double share = 1.0;  ///< of the tokens of the trace that was replayed, on as much of the fleet
  std::vector<SensitivityRow> rows;
};

/// One row per change, the first ("as given") with none:
///
///   PAYG prices +-20%        every price of a pay-as-you-go offer or baseline; reserved fees stay
///   demand +20%              every request, and a seeded 20% of them a second time less than a second later
///   demand -20%              a seeded 20% of the requests left out
///   owned capacity +-20%     owned pools that much larger or smaller, their fixed cost alike: the same demand at
///                            another utilization
///   epsilon halved, doubled  the miss rate allowed at a knee
///   price of a GPU-hour and of fees +-20%   amortization, rent and committed fees
///   electricity +-20%        where something is owned
///   servers as fast as their figures say, 30% slower   the first where the world of the run as given is another one
///   baseline = cheapest compliant PAYG   no run of its own: the same requests against another price
///
/// All but the last are against the baseline of the run as given.
/// @param options of the run as given; what only the main report needs is left out
/// @param total of the main run, for the share of a sample  @param mode sample or full
/// @return as run(); unavailable if the source can be read only once
Result<Sensitivity> sensitivity(const Fleet& fleet, RequestSource& source, const RunOptions& options,
                                SensitivityMode mode, std::uint64_t total,
                                const std::function<void(double)>& progress = {});

/// Every pay-as-you-go and baseline price times `ppm` millionths, exactly where it divides, else to the nearest
/// nano-USD per million tokens.
Fleet with_prices(const Fleet& fleet, std::int64_t ppm);
/// Amortization, rent and committed fees times `ppm` millionths, to the nearest nano-USD per hour.
Fleet with_capacity_prices(const Fleet& fleet, std::int64_t ppm);
Fleet with_electricity(const Fleet& fleet, std::int64_t ppm);
Fleet with_epsilon(const Fleet& fleet, double factor);

/// A source with a seeded `extra` share of its requests twice: the copy comes less than a second later, with the row
/// number of the original negated. Borrows the source.
class Repeated : public RequestSource {
 public:
  Repeated(RequestSource& source, double extra, std::uint64_t seed);
  ~Repeated() override;
  Result<std::size_t> next(std::span<Arrival> batch) override;
  Result<void> rewind() override;
  [[nodiscard]] const Interner& models() const override { return source_->models(); }
  [[nodiscard]] const Interner& tenants() const override { return source_->tenants(); }
  [[nodiscard]] const Interner& teams() const override { return source_->teams(); }
  [[nodiscard]] const Interner& projects() const override { return source_->projects(); }
  [[nodiscard]] const Interner& keys() const override { return source_->keys(); }
  [[nodiscard]] Tokens block_tokens() const override { return source_->block_tokens(); }
  [[nodiscard]] std::string format() const override { return source_->format(); }
  [[nodiscard]] double progress() const override { return source_->progress(); }

 private:
  struct Copy {
    Arrival arrival;
    std::vector<std::uint32_t> blocks;
    bool operator<(const Copy& other) const {  // heap: the earliest on top
      return std::pair(arrival.at, -arrival.row) > std::pair(other.arrival.at, -other.arrival.row);
    }
  };
  RequestSource* source_;
  double extra_;
  std::uint64_t seed_;
  std::vector<Arrival> read_;  ///< of the source, from `at_` to `end_` not given yet
  std::size_t at_ = 0, end_ = 0;
  bool ended_ = false;
  std::vector<Copy> copies_;  ///< heap
  std::vector<Copy> given_;   ///< whose blocks the last batch borrows
};

}  // namespace ace
