#pragma once
/// What a request may cost at most: the amount that a budget holds for it from admission to its end. ECONOMICS 3.
#include <cstdint>
#include <vector>

#include "ledger/data_classes.h"
#include "spine/spine.h"

namespace ace {

/// The most that one attempt can cost, and where.
struct Hold {
  OfferId dearest;   ///< none where nobody may serve it: nothing is held
  Tokens output{0};  ///< as much as was asked for, or as the offer can give
  Usd amount{};
};

/// Prices the worst case against one fleet. Pure; may be shared by readers.
class Holds {
 public:
  /// @param fleet must outlive it
  explicit Holds(const Snapshot& fleet);

  /// The dearest of all offers that compliance and data class allow, for the requested model or its equivalents. Each
  /// prompt token costs what the dearest way to take it in costs (uncached, written to a cache, as an image where one
  /// may come), each output token as the dearest way to put it out. Output is what the request states, else what the
  /// offer can give. Energy is at the dearest hour of the fleet's series. Failed attempts that are billed as well may
  /// exceed it.
  [[nodiscard]] Hold worst_case(const event::Admitted& request) const;

 private:
  struct Step {
    Tokens above{0};
    UsdPerMtok input{}, output{}, media{};  ///< media: input where images, audio or video may be part of the prompt
  };
  struct Ask {
    std::vector<Step> steps;  ///< ascending; empty = no price
    Tokens context_max{0}, output_max{0};
  };
  [[nodiscard]] Ask ask_of(OfferId offer) const;

  const Snapshot* fleet_;
  DataClasses data_classes_;
  std::vector<Ask> asks_;                  ///< by offer
  std::vector<std::vector<OfferId>> may_;  ///< [rule + 1][data class][model]: offers with a price
};

}  // namespace ace
