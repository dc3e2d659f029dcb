#pragma once
/// C0..C4 of one request, their levers, and Shapley beside the chain. ECONOMICS 6.
///
/// Start with `Settler`; `settle` and `shapley` are the same for one request alone.
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/money.h"
#include "ledger/data_classes.h"
#include "spine/spine.h"

namespace ace {

enum class Lever : std::uint8_t { caching, routing, arbitrage, utilization };
inline constexpr std::size_t kLevers = 4;
std::string_view name_of(Lever lever);

/// Why a request is outside the headline or its saving does not count.
enum class Reason : std::uint8_t {
  none,
  unpriced,               ///< no price for the baseline: C0..C3 := C4
  no_baseline,            ///< no compliant default price exists
  slo_request,            ///< served outside its SLO
  cell_served_fraction,   ///< its cell served too few
  cell_slo,               ///< its cell missed its class's target
  cell_quality,           ///< quality or false-hit bound of its cell
  insufficient_evidence,  ///< a cache that is not exact-match, before its audit bound is provable
  gap,                    ///< decided inside a spine gap
  not_served,
  assumed_routing,  ///< another model without quality evidence: its routing saving is the user's claim
};
inline constexpr std::size_t kReasons = 11;
std::string_view name_of(Reason reason);

/// The chain of one request: baseline, after caching, after routing, after arbitrage, actual. All nano-USD, each
/// rounded once.
struct Chain {
  std::array<Usd, 5> c{};
  std::array<Usd, kLevers> lever{};  ///< c[i] - c[i+1], or 0 where the amount is unattributed
  Usd unattributed{};
  [[nodiscard]] Usd saving() const { return c[0] - c[4]; }
  friend bool operator==(const Chain&, const Chain&) = default;
};

/// Static Shapley values over the four levers, and the range of each over the 24 orders.
struct Shapley {
  std::array<Usd, kLevers> value{}, low{}, high{};
  Usd unattributed{};
};

/// v(S): what a request costs with the levers in S alone; bit i of the index = lever i. v[0] = C0, v[15] = C4, or C1
/// where the rest is unattributed.
using Coalitions = std::array<Usd, 1U << kLevers>;
/// Shapley values of a game, or of the sum of many: value = mean marginal saving over the 24 orders; the remainder of
/// the division by 24 goes to utilization, so the values sum to v[0] - v[15].
Shapley shapley_of(const Coalitions& v);

/// One request settled: everything the ledger folds, and everything a row of `--requests` shows.
struct Settled {
  event::Admitted admitted;
  event::Decided decided;
  event::Completed completed;
  Chain chain;
  Grade grade = Grade::modelled;
  Reason excluded = Reason::none;     ///< unpriced or no_baseline: outside the headline's denominator
  bool routing_assumed = false;       ///< model changed without quality evidence
  bool quality_disproven = false;     ///< model changed against what the audits of the pair say
  bool baseline_assumed = false;      ///< default price not contracted
  Usd cheapest_compliant_baseline{};  ///< C0 under "baseline = cheapest compliant PAYG"
  Usd uncached_baseline{};            ///< C0 with h0 = 0
  std::uint32_t attempts = 0;
  ModelId used;               ///< model that answered; the requested one where none did
  OfferId billed_as;          ///< what the answering attempt was billed as: its offer, or where it spilled natively
  bool spilled = false;       ///< turned away somewhere and answered elsewhere, or spilled natively
  bool native_spill = false;  ///< the provider itself sent it to another deployment
  bool unattributed = false;  ///< the model used has no PAYG price: C1 - C4 belongs to no lever
  /// Where C4 is what a log says it cost: what the prices of the fleet say; none if they do not know the place.
  std::optional<Usd> by_prices;
  /// Under whose name its money and tokens stand: what billed the answer; none for a cache hit or a refusal.
  [[nodiscard]] OfferId billed_offer() const { return ran() && billed_as.valid() ? billed_as : completed.offer; }
  [[nodiscard]] bool answered() const { return completed.outcome != event::Outcome::not_served; }
  /// A model worked on it: neither a cache hit nor refused.
  [[nodiscard]] bool ran() const {
    return completed.outcome == event::Outcome::served || completed.outcome == event::Outcome::client_abort;
  }
};

/// What C4 is: the price of what was billed, or what the customer's own log says where it says so.
enum class Costs : std::uint8_t { priced, logged };

/// Settles requests against one fleet: who may sell what to whom is looked up once, then each request is a handful of
/// multiplications. Pure; may be shared by readers.
class Settler {
 public:
  /// @param fleet must outlive the settler
  explicit Settler(const Snapshot& fleet);

  /// Settles one request from its events alone.
  ///
  /// C0 requested model, default PAYG (cheapest compliant PAYG of that model if the default is not compliant or
  /// cannot hold the request), h0 cached. C1..C4 by the outcome table of ECONOMICS 6. C4 adds failed attempts and redo
  /// in every row; a served request whose attempts do not hold its answer is priced as its completion says.
  /// Where C4 is what a log says and the place is pay-as-you-go or not known, C3 is the same: the price there.
  /// @param attempts in order; the answering one last
  [[nodiscard]] Settled settle(const event::Admitted& admitted, const event::Decided& decided,
                               std::span<const event::Attempted> attempts, const event::Completed& completed,
                               Costs costs = Costs::priced) const;
  /// C4 alone: what the attempts of a request were billed, as settle() adds it up where they hold its answer.
  [[nodiscard]] Usd paid(std::span<const event::Attempted> attempts) const;
  /// v(S) of a settled request, static (no re-dispatch).
  [[nodiscard]] Coalitions coalitions(const Settled& request) const;

  /// Weights of one input, cached and output token of a model in normalized tokens, in millionths: the ratios of its
  /// default PAYG price (1, 0.1, 4 where it has none). One yardstick per model, so that destinations compare.
  struct Weights {
    std::int64_t input = 1'000'000, cached = 100'000, output = 4'000'000;
  };
  [[nodiscard]] Weights weights(ModelId model) const { return weights_[model.value]; }
  [[nodiscard]] const Snapshot& snapshot() const { return *snapshot_; }
  [[nodiscard]] const SloClass& slo(SloId id) const;

 private:
  /// A pay-as-you-go price that can be asked for.
  struct Quote {
    const PriceRow* row = nullptr;
    ServiceTier service = ServiceTier::standard;
    std::int64_t uplift_ppm = 1'000'000;
    Tokens context_max{0}, output_max{0};
  };
  /// What all-PAYG means for one model under one compliance rule and data class.
  struct Market {
    std::optional<Quote> standard;  ///< the frozen default, if it is compliant; for requests that it takes
    bool contracted = false;
    std::vector<Quote> payg;            ///< compliant offers, without those that another never asks more than
    bool standard_is_cheapest = false;  ///< no other quote is left
  };
  [[nodiscard]] const Market& market(const event::Admitted& admitted, ModelId model) const;
  [[nodiscard]] bool deferrable(const event::Admitted& admitted) const;
  static void prune(Market& market);
  static bool never_dearer(const Quote& a, const Quote& b);
  static bool takes(const Quote& quote, const Usage& usage);
  static Result<Usd> price(const Quote& quote, const Usage& usage, bool deferrable);
  static Result<Usd> cheapest(const Market& market, const Usage& usage, bool deferrable);
  static Result<Usd> standard(const Market& market, const Usage& usage, bool deferrable);
  [[nodiscard]] Result<Usd> at_offer(OfferId offer, const Usage& usage, Instant at, bool deferrable) const;
  [[nodiscard]] const Usage& as_requested(const event::Admitted& admitted, const event::Completed& completed,
                                          ModelId used, Usage& scratch) const;
  struct Bill {
    Usd answer{}, failed{};
    bool priced = true;
  };
  Bill bill(std::span<const event::Attempted> attempts, Settled& s) const;
  [[nodiscard]] bool paid_by_token(const Settled& s) const;
  [[nodiscard]] Usd arbitraged(const Settled& s, ModelId model, const Usage& usage, Usd plain) const;
  [[nodiscard]] std::optional<OfferId> offer_at(DestinationId destination, ModelId model) const;
  [[nodiscard]] const Equivalent* pair(ModelId requested, ModelId used) const;

  const Snapshot* snapshot_;
  DataClasses data_classes_;
  std::size_t models_ = 0;
  std::vector<Market> markets_;  ///< [rule + 1][data class][model]
  std::vector<Weights> weights_;
};

/// The same for one request; builds the tables anew, so a stream of requests wants a Settler.
Settled settle(const Snapshot& fleet, const event::Admitted& admitted, const event::Decided& decided,
               std::span<const event::Attempted> attempts, const event::Completed& completed);

/// Static Shapley of a settled request (no re-dispatch); the remainder of /24 goes to utilization.
Shapley shapley(const Snapshot& fleet, const Settled& request);

/// The same request against all-PAYG without the provider's cache: h0 = 0, C0 and the caching lever move alike.
Settled against_uncached(Settled request);

}  // namespace ace
