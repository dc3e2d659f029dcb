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
  /// Fills the scratch; borrows all of its arguments.
  Weighing(const Snapshot& fleet, const Live& live, const Request& request, Instant now, Scratch& scratch,
           const Kernel& kernel = ace::kernel());

  [[nodiscard]] const std::array<std::uint32_t, kExclusions>& excluded() const { return seen_.excluded; }
  [[nodiscard]] std::uint32_t feasible() const { return seen_.feasible; }
  /// Least keys; ties to the smaller destination, then the smaller model. @pre feasible() > 0
  [[nodiscard]] Cheapest cheapest() const;
  [[nodiscard]] double reference() const { return reference_; }  ///< V, nano-USD
  /// Calls visit(offer, exclusion, terms) for every candidate; terms are zero for those that are out.
  template <class Visit>
  void each(Visit visit) const {
    const Lot* lots = scratch_.lots.data();
    const double* price = scratch_.price.data();
    for (const OfferRange& range : fleet_.ranges(request_.model)) {
      const Ask ask = ask_of(range);
      for (std::uint32_t i = range.first.value; i < range.first.value + range.count; ++i) {
        const std::size_t at = i - range.first.value / kLot * kLot;
        const Exclusion why = exclusion_of(OfferId{i}, lots[at / kLot]);
        visit(OfferId{i}, why, why == Exclusion::none ? terms_of(columns_, ask, i, price[at]) : Terms{});
      }
      lots += range.lots();
      price += range.lots() * kLot;
    }
  }

 private:
  [[nodiscard]] Ask ask_of(const OfferRange& range) const;
  /// Why an offer is out: the first reason that holds, as the kernel counts them.
  [[nodiscard]] Exclusion exclusion_of(OfferId offer, const Lot& lot) const;
  void price_long_context(const OfferRange& range, const Ask& ask, const Lot* lots, double* price);

  const Snapshot& fleet_;
  const Live& live_;
  const Request& request_;
  const Instant now_;
  Scratch& scratch_;
  const Kernel& kernel_;
  const Columns columns_;
  Weighed seen_;
  double reference_ = 0.0, miss_ = 0.0;
};

/// decide() with these kernels: all decide alike.
Decision decide(const Snapshot& fleet, const Live& live, const Request& request, Instant now, Scratch& scratch,
                const Kernel& kernel);

}  // namespace ace
