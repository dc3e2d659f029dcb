#include <algorithm>
#include <bit>
#include <limits>

#include "spine/event.pb.h"
#include "spine/record.h"
#include "spine/rest.h"

namespace ace::event {
namespace {

template <class Tag>
std::uint32_t plus_one(Index<Tag> index) {
  return index.value + 1;  // none wraps to 0
}
template <class T>
std::uint32_t plain(T value) {
  return static_cast<std::uint32_t>(value);
}
std::uint64_t bits(std::int64_t value) { return static_cast<std::uint64_t>(value); }

std::string big_endian(std::uint64_t high, std::uint64_t low) {
  std::string bytes(16, '\0');
  for (std::size_t i = 0; i < 8; ++i) {
    bytes[7 - i] = static_cast<char>(high >> (8 * i) & 0xff);
    bytes[15 - i] = static_cast<char>(low >> (8 * i) & 0xff);
  }
  return bytes;
}

/// Fills the message of one kind; what cannot be written is remembered.
class Encoder {
 public:
  explicit Encoder(const Record& record, rest::Event& out) : record_(record), out_(out) {}
  std::string wrong;
  Errc code = Errc::bad_input;

  void operator()(const Admitted& e) {
    rest::Admitted& m = *out_.mutable_admitted();
    m.set_team(e.team);
    m.set_declared_tenant(plus_one(e.declared_tenant));
    m.set_requested(plus_one(e.requested));
    m.set_slo(plus_one(e.slo));
    m.set_compliance(plus_one(e.compliance));
    m.set_prompt(count(e.prompt.value));
    m.set_max_output(count(e.max_output.value));
    m.set_needs(e.needs);
    m.set_h0(count(e.h0.value));
    m.set_batch(e.batch);
    m.set_row(e.row);
    m.set_project(e.project);
    m.set_key(e.key);
  }
  void operator()(const Decided& e) {
    rest::Decided& m = *out_.mutable_decided();
    m.set_chosen(plus_one(e.decision.chosen));
    const auto exact = [](double value) { return static_cast<double>(static_cast<float>(value)) == value; };
    if (const double mean = e.predicted.output_mean; exact(mean))
      m.set_predicted_mean(static_cast<float>(mean));
    else
      m.set_predicted_mean_exact(mean);
    if (const double p90 = e.predicted.output_p90; exact(p90))
      m.set_predicted_p90(static_cast<float>(p90));
    else
      m.set_predicted_p90_exact(p90);
    for (std::size_t reason = 0; reason < kExclusions; ++reason) {
      std::uint32_t excluded = e.decision.excluded[reason];
      if (excluded == 0) continue;
      std::string& pairs = *m.mutable_excluded();
      pairs += static_cast<char>(reason);
      for (; excluded >= 0x80; excluded >>= 7) pairs += static_cast<char>((excluded & 0x7f) | 0x80);
      pairs += static_cast<char>(excluded);
    }
    m.set_cheapest_payg(plus_one(e.cheapest_payg));
    const Evidence& evidence = record_.evidence;
    for (const LiveColumn& column : evidence.live) append_column(*m.mutable_live(), column);
    if (e.decision.feasible != evidence.live.size()) m.set_feasible(e.decision.feasible);
    m.set_others_digest(evidence.others_digest);
    m.set_verdict(plain(e.decision.verdict));
    m.set_reserve_short(e.decision.reserve_short);
    m.set_waited(count(nanos(evidence.waited)));
    m.set_failed_at(plus_one(evidence.failed_at));
    const auto chosen = std::find_if(evidence.live.begin(), evidence.live.end(),
                                     [&](const LiveColumn& column) { return column.offer == e.decision.chosen.value; });
    const std::int64_t seen = chosen == evidence.live.end() ? 0 : chosen->cached;
    if (e.cached_predicted.value != seen) m.set_cached_predicted(count(e.cached_predicted.value) + 1);
  }
  void operator()(const Attempted& e) {
    rest::Attempted& m = *out_.mutable_attempted();
    m.set_offer(plus_one(e.offer));
    m.set_took(count(nanos(e.to - e.from)));
    m.set_answered(e.answered ? 1 : 2 + plain(e.rejection));
    m.set_eviction(e.eviction);
    usage(e.billed, *m.mutable_billed());
    m.set_energy_hour(nanos(e.from - e.energy_hour));
    m.set_billed_as(plus_one(e.billed_as));
  }
  void operator()(const FirstToken& e) {
    rest::FirstToken& m = *out_.mutable_first_token();
    m.set_offer(plus_one(e.offer));
    m.set_ttft(count(nanos(e.ttft)));
  }
  void operator()(const Completed& e) {
    rest::Completed& m = *out_.mutable_completed();
    m.set_outcome(plain(e.outcome));
    m.set_verdict(plain(e.verdict));
    m.set_offer(plus_one(e.offer));
    usage(e.usage, *m.mutable_usage());
    if (e.output_requested != e.usage.completion()) m.set_output_requested(count(e.output_requested.value) + 1);
    m.set_h1(count(e.h1.value));
    m.set_ttft(count(nanos(e.ttft)));
    m.set_tpot(count(nanos(e.tpot)));
    m.set_slo_met(e.slo_met);
    m.set_lookup_cost(e.lookup_cost.nano);
    m.set_observed_cost(e.observed_cost_nano < 0 ? 0 : bits(e.observed_cost_nano) + 1);
    m.set_in_gap(e.in_gap);
    m.set_inexact_match(!e.exact_match);
  }
  void operator()(const CacheHit& e) {
    rest::CacheHit& m = *out_.mutable_cache_hit();
    m.set_kind(plain(e.kind));
    if (e.source != RequestId{}) m.set_source(big_endian(e.source.high, e.source.low));
    m.set_lookup_cost(e.lookup_cost.nano);
  }
  void operator()(const Changed& e) {
    rest::Changed& m = *out_.mutable_changed();
    m.set_what(plain(e.change.what));
    m.set_offer(plus_one(e.change.offer));
    m.set_slo(plus_one(e.change.slo));
    m.set_before(e.change.before);
    m.set_after(e.change.after);
  }
  void operator()(const HealthChanged& e) {
    rest::HealthChanged& m = *out_.mutable_health_changed();
    m.set_state(plain(e.state));
    m.set_offer(plus_one(e.offer));
    if (e.until != Instant{}) m.set_until(nanos(e.until - e.at) + 1);
    m.set_derate(e.derate);
  }
  void operator()(const Passed& e) {
    rest::Passed& m = *out_.mutable_passed();
    m.set_team(e.team);
    m.set_declared_tenant(plus_one(e.declared_tenant));
    m.set_compliance(plus_one(e.compliance));
    m.set_project(e.project);
    m.set_key(e.key);
    m.set_destination(plus_one(e.destination));
    m.set_status(plain(e.status));
    m.set_sent(count(e.sent));
    m.set_received(count(e.received));
  }
  void operator()(const FixedCost& e) {
    rest::FixedCost& m = *out_.mutable_fixed_cost();
    m.set_kind(plain(e.kind));
    m.set_destination(plus_one(e.destination));
    m.set_took(nanos(e.to - e.from));
    m.set_units(e.units);
    m.set_amount(e.amount.nano);
    if (e.used_ppm > 1'000'000) return refuse("a share is above the whole", Errc::out_of_range);
    m.set_used_ppm(e.used_ppm < 0 ? 0 : static_cast<std::uint32_t>(e.used_ppm) + 1);
  }
  void operator()(const GpuBooking& e) {
    rest::GpuBooking& m = *out_.mutable_gpu_booking();
    m.set_use(plain(e.use));
    label(e.device, *m.mutable_device());
    m.set_start_ms(e.start_ms);
    m.set_end_ms(e.end_ms);
  }
  void operator()(const UnitsChanged& e) {
    rest::UnitsChanged& m = *out_.mutable_units_changed();
    m.set_destination(plus_one(e.destination));
    m.set_before(e.before);
    m.set_after(e.after);
    const auto known = std::find(kCauses.begin(), kCauses.end(), e.cause);
    if (known == kCauses.end()) return refuse("a cause of changed units is not one that is known");
    m.set_cause(plain(known - kCauses.begin()));
  }
  void operator()(const SettlementClosed& e) {
    rest::SettlementClosed& m = *out_.mutable_settlement_closed();
    m.set_hour(e.hour);
    m.set_model(plus_one(e.model));
    m.set_requests(e.requests);
    m.set_baseline(e.baseline.nano);
    m.set_actual(e.actual.nano);
    m.set_counted(e.counted.nano);
    m.set_disallowed(e.disallowed.nano);
    m.set_gate(e.gate);
  }
  void operator()(const PriceChanged& e) {
    rest::PriceChanged& m = *out_.mutable_price_changed();
    m.set_offer(plus_one(e.offer));
    m.set_unit(plain(e.unit));
    m.set_before(e.before.nano);
    m.set_after(e.after.nano);
  }
  void operator()(const FleetChanged& e) {
    rest::FleetChanged& m = *out_.mutable_fleet_changed();
    for (const FleetChanged::File& file : e.files) {
      rest::FleetChanged::File& to = *m.add_files();
      to.set_role(plain(file.role));
      label(file.name, *to.mutable_name());
      to.set_sha256(std::string(file.sha256.begin(), file.sha256.end()));
    }
    for (const std::string& name : e.destinations) label(name, *m.add_destinations());
    for (const std::string& name : e.models) label(name, *m.add_models());
    for (const std::string& name : e.tenants) label(name, *m.add_tenants());
    for (const std::string& name : e.slo_classes) label(name, *m.add_slo_classes());
    for (const std::string& name : e.compliance) label(name, *m.add_compliance());
    for (const FleetChanged::Offered& offer : e.offers) {
      m.add_offers(offer.destination.value);
      m.add_offers(offer.model.value);
    }
    m.set_digest(e.digest);
    m.set_source(plain(e.source));
  }
  void operator()(const CapacityObserved& e) {
    rest::CapacityObserved& m = *out_.mutable_capacity_observed();
    m.set_source(plain(e.source));
    m.set_destination(plus_one(e.destination));
    m.set_units_running(e.units_running);
    m.set_units_healthy(e.units_healthy);
    m.set_units_total(e.units_total);
    m.set_tokens_remaining(e.tokens_remaining < 0 ? 0 : bits(e.tokens_remaining) + 1);
    m.set_requests_remaining(e.requests_remaining < 0 ? 0 : bits(e.requests_remaining) + 1);
  }
  void operator()(const PlanMade& e) {
    rest::PlanMade& m = *out_.mutable_plan_made();
    m.set_from(nanos(e.from - e.at));
    m.set_to(nanos(e.to - e.at));
    for (const PlanMade::Target& target : e.targets) {
      m.add_targets(target.destination.value);
      m.add_targets(target.units);
    }
    m.set_cost(e.cost.nano);
    m.set_inputs(std::string(e.inputs.begin(), e.inputs.end()));
  }
  void operator()(const Action& e) {
    rest::Action& m = *out_.mutable_action();
    m.set_stage(plain(e.stage));
    m.set_kind(plain(e.kind));
    m.set_outcome(plain(e.outcome));
    if (e.plan != PlanId{}) m.set_plan(big_endian(e.plan.high, e.plan.low));
    m.set_cluster(e.cluster);
    m.set_target(e.target);
    m.set_destination(plus_one(e.destination));
    m.set_units(e.units);
    m.set_rung(e.rung);
    m.set_epoch(e.epoch);
    m.set_why(e.why);
    m.set_value(e.value.nano);
    m.set_cost_at_risk(e.cost_at_risk.nano);
  }
  void operator()(const Gap& e) {
    rest::Gap& m = *out_.mutable_gap();
    m.set_cause(plain(e.cause));
    m.set_took(nanos(e.to - e.from));
    m.set_events(e.events < 0 ? 0 : bits(e.events) + 1);
  }
  void operator()(const Named& e) {
    rest::Named& m = *out_.mutable_named();
    m.set_kind(plain(e.kind));
    m.set_symbol(e.symbol);
    label(e.name, *m.mutable_name());
  }
  void operator()(const Lifecycle& e) {
    rest::Lifecycle& m = *out_.mutable_lifecycle();
    m.set_what(plain(e.what));
    m.set_bytes_cut(e.bytes_cut);
  }

 private:
  void refuse(std::string why, Errc with = Errc::bad_input) {
    if (!wrong.empty()) return;
    wrong = std::move(why);
    code = with;
  }
  /// Counts and durations are not negative.
  std::uint64_t count(std::int64_t value) {
    if (value < 0) refuse("a count or a duration is negative", Errc::out_of_range);
    return bits(value);
  }
  void label(const std::string& text, std::string& to) {
    if (!is_label(text)) return refuse("a name is no label (see label_of): " + std::to_string(text.size()) + " bytes");
    to = text;
  }
  void usage(const Usage& used, google::protobuf::RepeatedField<std::uint64_t>& to) {
    for (std::size_t unit = 0; unit < kUnits; ++unit) {
      const std::int64_t counted = used[static_cast<Unit>(unit)];
      if (counted == 0) continue;
      to.Add(unit);
      to.Add(count(counted));
    }
  }

  const Record& record_;
  rest::Event& out_;
};

}  // namespace

Result<std::string> encode(const Record& record) {
  const Key key = key_of(record);
  rest::Event out;
  out.set_id(big_endian(key.id.high, key.id.low));
  out.set_tenant(key.tenant);
  out.set_snapshot(record.snapshot);
  // The difference wraps like the sum that undoes it, so that any two instants will do.
  out.set_at(static_cast<std::int64_t>(bits(nanos(at_of(record.event))) - millis_of(key.id) * 1'000'000U));
  out.set_ordinal(key.ordinal);
  Encoder encoder(record, out);
  std::visit(encoder, record.event);
  if (!encoder.wrong.empty())
    return Error(encoder.code,
                 "encoding an event of kind " + std::string(name_of(key.kind)) + ": " + std::move(encoder.wrong));
  std::string bytes;
  ACE_CHECK(out.SerializeToString(&bytes), "an event does not serialise");
  return bytes;
}

}  // namespace ace::event
