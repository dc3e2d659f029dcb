#pragma once
/// One request weighed against every candidate: what decide() takes the least of and explain() lists.
#include "dispatch/feasible.h"
#include "dispatch/rank.h"

namespace ace {

/// The reference price V of a request in nano-USD: the frozen baseline price of the requested model at the predicted
/// tokens without a cache; where it has none, `dearest` (the dearest feasible price); at least 1 nano-USD per token.
double reference_price(const Fleet& fleet, const Request& request, double dearest);

struct Cheapest {
  OfferId offer;
  Terms terms;
  OfferId uncongested;  ///< with congestion left out, saturated candidates included: where it would go with room
};

class Weighing {
 public:
  /// Fills the scratch columns, candidates in order of ranges(); borrows all of its arguments.
  Weighing(const Snapshot& fleet, const Live& live, const Request& request, Instant now, Scratch& scratch,
           const Kernel& kernel = ace::kernel());

  [[nodiscard]] const std::array<std::uint32_t, kExclusions>& excluded() const { return excluded_; }
  [[nodiscard]] std::uint32_t feasible() const { return feasible_; }
  /// Least keys; ties to the smaller destination, then the smaller model. @pre feasible() > 0
  [[nodiscard]] Cheapest cheapest() const;
  [[nodiscard]] double reference() const { return reference_; }  ///< V, nano-USD
  /// Calls visit(offer, exclusion, terms) for every candidate; terms are zero for those that are out.
  template <class Visit>
  void each(Visit visit) const {
    std::size_t at = 0;
    for (const OfferRange& range : fleet_.ranges(request_.model)) {
      const Columns columns = columns_of(range);
      for (std::uint32_t i = 0; i < range.count; ++i, ++at) {
        const auto why = static_cast<Exclusion>(scratch_.excluded[at]);
        const Terms terms = why == Exclusion::none
                                ? terms_of(columns, ask_of(range), i, scratch_.price[at], scratch_.rho[at])
                                : Terms{};
        visit(OfferId{range.first.value + i}, why, terms);
      }
    }
  }

 private:
  [[nodiscard]] Columns columns_of(const OfferRange& range) const;
  [[nodiscard]] Ask ask_of(const OfferRange& range) const;
  void price_long_context(const OfferRange& range, const Ask& ask, const std::uint8_t* excluded, double* price,
                          Weighed& seen) const;

  const Snapshot& fleet_;
  const Live& live_;
  const Request& request_;
  Scratch& scratch_;
  const Kernel& kernel_;
  std::array<std::uint32_t, kExclusions> excluded_{};
  std::uint32_t feasible_ = 0;
  double reference_ = 0.0, dearest_output_ = 0.0, miss_ = 0.0;
};

}  // namespace ace
