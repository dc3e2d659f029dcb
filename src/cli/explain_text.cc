#include "cli/explain_text.h"

#include <fmt/format.h>

#include <ostream>

#include "core/ids.h"

namespace ace::cli {
namespace {

std::string dollars(std::int64_t nano) { return fmt::format("{:.9f}", static_cast<double>(nano) * 1e-9); }

}  // namespace

void print_decision(const Snapshot& fleet, const Moment& moment, std::ostream& out) {
  const Fleet& f = fleet.fleet();
  out << fmt::format("\ndecided at {}, {} prompt tokens, output predicted {:.0f} (p90 {:.0f}), waited {:.3f} s\n",
                     to_rfc3339(moment.at), moment.request.prompt.value, moment.request.predicted.output_mean,
                     moment.request.predicted.output_p90, to_seconds(moment.request.waited));
  out << fmt::format("  {:<24}{:<20}{:>13}{:>13}{:>13}{:>13}{:>13}{:>13}{:>8}\n", "destination", "model", "price",
                     "warmth", "congestion", "scarcity", "risk", "effective", "rho");
  for (const Candidate& c : moment.candidates) {
    const Offer& offer = fleet[c.offer];
    const std::string& name = f.destinations[offer.destination.value].name;
    const std::string& model = f.models[offer.model.value].name;
    if (c.exclusion != Exclusion::none) {
      out << fmt::format("  {:<24}{:<20}  out: {}\n", name, model, name_of(c.exclusion));
      continue;
    }
    const Terms& t = c.terms;
    out << fmt::format("  {:<24}{:<20}{:>13}{:>13}{:>13}{:>13}{:>13}{:>13}{:>8.4f}{}\n", name, model, dollars(t.price),
                       dollars(t.warmth), dollars(t.congestion), dollars(t.scarcity), dollars(t.risk),
                       dollars(t.effective()), t.rho, t.bias != 0 ? fmt::format("  bias {}", dollars(t.bias)) : "");
  }
}

/// Counts with the prices that C0 and C4 have for them, so that both can be added up by hand.
void print_usage(const Snapshot& fleet, const Settled& s, std::ostream& out) {
  const Fleet& f = fleet.fleet();
  const Usage& usage = s.completed.usage;
  const SloClass& slo = f.slo_classes[s.admitted.slo.valid() ? s.admitted.slo.value : f.default_slo.value];
  const bool waits = s.admitted.batch || slo.deferrable();
  const auto rates = [&](std::optional<PriceId> price, DestinationId at) -> const Rates* {
    if (!price) return nullptr;
    return &rates_for(f.prices.rows[price->value], usage.prompt(),
                      waits ? ServiceTier::batch : f.destinations[at.value].service);
  };
  const std::optional<Baseline>& baseline = f.models[s.admitted.requested.value].baseline;
  const Rates* asked = baseline ? rates(baseline->price, baseline->destination) : nullptr;
  const OfferId billed = s.billed_offer();
  const Rates* paid = billed.valid() ? rates(fleet[billed].price, fleet[billed].destination) : nullptr;
  const auto price = [](const Rates* list, Unit unit) {
    return list != nullptr && (*list)[unit] ? to_decimal(list->priced(unit)) : std::string("-");
  };
  out << fmt::format("  {:<16}{:>12}{:>18}{:>18}   USD per million\n", "", "counted", "default price", "billed at");
  for (std::size_t u = 0; u < kUnits; ++u) {
    const auto unit = static_cast<Unit>(u);
    if (const std::int64_t n = usage[unit]; n != 0)
      out << fmt::format("  {:<16}{:>12}{:>18}{:>18}\n", name_of(unit), n, price(asked, unit), price(paid, unit));
  }
  if (s.admitted.h0.value > 0)
    out << fmt::format(
        "  of the prompt the default provider's own cache would have held {} tokens, which C0 has at {}\n",
        s.admitted.h0.value, price(asked, Unit::cached_input));
}

void print_settlement(const Snapshot& fleet, const Settled& s, std::ostream& out) {
  const Fleet& f = fleet.fleet();
  const event::Completed& c = s.completed;
  out << fmt::format("\n{}  row {}  {}  {}\n", to_string(s.admitted.id), s.admitted.row, to_rfc3339(s.admitted.at),
                     event::name_of(c.outcome));
  if (c.offer.valid())
    out << fmt::format("served by {} as {} in {} attempt(s): TTFT {:.3f} s, TPOT {:.1f} ms, SLO {}\n",
                       f.destinations[fleet[c.offer].destination.value].name, f.models[s.used.value].name, s.attempts,
                       to_seconds(c.ttft), to_seconds(c.tpot) * 1e3, c.slo_met ? "met" : "missed");
  else if (c.outcome == event::Outcome::cache_hit)
    out << "answered from the response cache of the gateway that wrote the log: no model ran\n";
  else if (s.answered())
    out << "served where the log does not say, or the fleet has no such destination\n";
  else
    out << fmt::format("not served: {}\n", name_of(c.verdict));
  if (s.native_spill)
    out << fmt::format("its provider sent it on: billed by {}\n",
                       f.destinations[fleet[s.billed_offer()].destination.value].name);
  print_usage(fleet, s, out);
  static constexpr const char* kNames[] = {"C0 baseline", "C1 after caching", "C2 after routing", "C3 after arbitrage",
                                           "C4 actual"};
  for (std::size_t i = 0; i < 5; ++i) {
    out << fmt::format("  {:<20}{:>16}", kNames[i], to_decimal(s.chain.c[i]));
    if (i > 0)
      out << fmt::format("   {:<12}{:>16}", name_of(static_cast<Lever>(i - 1)), to_decimal(s.chain.lever[i - 1]));
    out << "\n";
  }
  if (s.chain.unattributed != Usd{})
    out << fmt::format("  {:<20}{:>16}\n", "unattributed", to_decimal(s.chain.unattributed));
  if (s.excluded != Reason::none) out << fmt::format("  outside the headline: {}\n", name_of(s.excluded));
  if (s.by_prices)
    out << fmt::format("  the log says what it cost; by the prices of the fleet {}\n", to_decimal(*s.by_prices));
  out << fmt::format("  grade {}{}\n", name_of(s.grade), s.baseline_assumed ? ", default price not contracted" : "");
}

void print_gate(Reason gate, std::ostream& out) {
  out << fmt::format("  cell {}\n",
                     gate == Reason::none ? "passed its gates" : fmt::format("failed: {}", name_of(gate)));
}

}  // namespace ace::cli
