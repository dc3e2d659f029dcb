#include "ledger/row.h"

#include <array>

#include <fmt/format.h>

#include "core/csv.h"

namespace ace {
namespace {

constexpr std::array<std::string_view, 46> kFields = {
    "id",
    "row",
    "at",
    "tenant",
    "team",
    "model",
    "model_used",
    "slo_class",
    "destination",
    "spilled_natively_from",
    "input_tokens",
    "cached_tokens",
    "cache_write_tokens",
    "cache_write_1h_tokens",
    "audio_input_tokens",
    "image_input_tokens",
    "video_input_tokens",
    "output_tokens",
    "reasoning_tokens",
    "audio_output_tokens",
    "image_output_tokens",
    "other_units",
    "h0_cached_tokens",
    "price_nano_usd",
    "warmth_nano_usd",
    "congestion_nano_usd",
    "scarcity_nano_usd",
    "risk_nano_usd",
    "bias_nano_usd",
    "c0_usd",
    "c1_usd",
    "c2_usd",
    "c3_usd",
    "c4_usd",
    "unattributed_usd",
    "disallowed_usd",
    "counted_usd",
    "other_baseline_usd",
    "outcome",
    "attempts",
    "ttft_ms",
    "tpot_ms",
    "slo_met",
    "reason",
    "lever_reason",
    "gate",
};

/// The classes of tokens, in the order of their columns.
constexpr std::array kTokenColumns = {Unit::input,       Unit::cached_input, Unit::cache_write, Unit::cache_write_1h,
                                      Unit::audio_input, Unit::image_input,  Unit::video_input, Unit::output,
                                      Unit::reasoning,   Unit::audio_output, Unit::image_output};

template <class Names, class Id>
std::string_view name_in(const Names& names, Id id) {
  return id.valid() && id.value < names.size() ? std::string_view(names[id.value].name) : std::string_view();
}

/// Milliseconds with the microseconds kept; integers only.
void append_ms(std::string& out, Duration time) {
  const std::int64_t us = nanos(time) / 1000;
  fmt::format_to(std::back_inserter(out), "{}.{:03}", us / 1000, us % 1000);
}

}  // namespace

Row row_of(const Snapshot& fleet, const Settled& s, Reason gate, Usd other, const Gates& gates) {
  Row r;
  r.id = s.admitted.id;
  r.row = s.admitted.row;
  r.at = s.admitted.at;
  r.tenant = s.admitted.tenant;
  r.team = s.admitted.team;
  r.requested = s.admitted.requested;
  r.used = s.used;
  r.slo = s.admitted.slo;
  if (const OfferId billed = s.billed_offer(); billed.valid()) r.destination = fleet[billed].destination;
  if (s.native_spill && s.completed.offer.valid()) r.sent_to = fleet[s.completed.offer].destination;
  r.usage = s.completed.usage;
  r.h0 = s.admitted.h0;
  r.terms = s.decided.decision.terms;
  r.chain = s.chain;
  const Allowance allowance = allow(s, gates);
  r.counted = allowance.loss.sum() + (gate == Reason::none ? allowance.gated.sum() : Usd{});
  r.disallowed = s.chain.saving() - r.counted;
  r.other = !s.answered() ? Usd{} : s.excluded != Reason::none ? s.chain.c[4] : other;  // as Ledger::compare() books
  r.outcome = s.completed.outcome;
  r.ttft = s.completed.ttft;
  r.tpot = s.completed.tpot;
  r.slo_met = s.completed.slo_met;
  r.attempts = s.attempts;
  r.reason = allowance.reason;
  r.lever_reason = allowance.lever_reason;
  r.gate = gate;
  return r;
}

std::span<const std::string_view> row_fields() { return kFields; }

void append_csv_header(std::string& out) {
  for (std::size_t i = 0; i < kFields.size(); ++i) {
    if (i > 0) out += ',';
    out += kFields[i];
  }
  out += '\n';
}

void append_csv(std::string& out, const Row& r, const RowNames& names) {
  const Fleet& fleet = *names.fleet;
  const auto symbol = [](const std::vector<std::string>* table, std::uint32_t i) {
    return table != nullptr && i < table->size() ? std::string_view((*table)[i]) : std::string_view();
  };
  const auto to = std::back_inserter(out);
  fmt::format_to(to, "{},{},{},", to_string(r.id), r.row, to_rfc3339(r.at));
  for (const std::string_view name :
       {symbol(names.tenants, r.tenant), symbol(names.teams, r.team), name_in(fleet.models, r.requested),
        name_in(fleet.models, r.used), name_in(fleet.slo_classes, r.slo), name_in(fleet.destinations, r.destination),
        name_in(fleet.destinations, r.sent_to)}) {
    out += csv_text(name);
    out += ',';
  }
  for (const Unit unit : kTokenColumns) fmt::format_to(to, "{},", r.usage[unit]);
  std::int64_t other = 0;
  for (std::size_t unit = static_cast<std::size_t>(Unit::character_input); unit < kUnits; ++unit)
    other += r.usage[static_cast<Unit>(unit)];
  fmt::format_to(to, "{},{},", other, r.h0.value);
  fmt::format_to(to, "{},{},{},{},{},{},", r.terms.price, r.terms.warmth, r.terms.congestion, r.terms.scarcity,
                 r.terms.risk, r.terms.bias);
  for (const Usd amount : r.chain.c) fmt::format_to(to, "{},", to_decimal(amount));
  for (const Usd amount : {r.chain.unattributed, r.disallowed, r.counted, r.other})
    fmt::format_to(to, "{},", to_decimal(amount));
  fmt::format_to(to, "{},{},", name_of(r.outcome), r.attempts);
  append_ms(out, r.ttft);
  out += ',';
  append_ms(out, r.tpot);
  fmt::format_to(to, ",{},{},{},{}\n", r.slo_met ? "true" : "false", name_of(r.reason), name_of(r.lever_reason),
                 name_of(r.gate));
}

}  // namespace ace
