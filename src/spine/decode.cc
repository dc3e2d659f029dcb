#include <google/protobuf/arena.h>

#include <array>
#include <cmath>
#include <limits>

#include "spine/event.pb.h"
#include "spine/rest.h"

namespace ace::event {
namespace {

std::uint64_t big(std::string_view bytes) {
  std::uint64_t value = 0;
  for (const char c : bytes) value = value << 8 | static_cast<unsigned char>(c);
  return value;
}

/// Reads the message of one kind; what is not a value of ours is remembered.
class Decoder {
 public:
  Decoder(const rest::Event& in, Record& record, Instant at) : in_(in), record_(record), at_(at) {}
  std::string wrong;

  Event read() {
    using Case = rest::Event::KindCase;
    switch (in_.kind_case()) {
      case Case::kAdmitted:
        return admitted(in_.admitted());
      case Case::kDecided:
        return decided(in_.decided());
      case Case::kAttempted:
        return attempted(in_.attempted());
      case Case::kFirstToken:
        return FirstToken{own<RequestId>(), at_, index<OfferId>(in_.first_token().offer()),
                          lasting(in_.first_token().ttft())};
      case Case::kCompleted:
        return completed(in_.completed());
      case Case::kCacheHit: {
        const rest::CacheHit& m = in_.cache_hit();
        return CacheHit{choice(m.kind(), CacheHit::Kind::semantic), own<RequestId>(), at_, id<RequestId>(m.source()),
                        Usd{m.lookup_cost()}};
      }
      case Case::kChanged: {
        const rest::Changed& m = in_.changed();
        return Changed{{choice(m.what(), Belief::Change::What::warmth), at_, index<OfferId>(m.offer()),
                        index<SloId>(m.slo()), m.before(), m.after()}};
      }
      case Case::kHealthChanged: {
        const rest::HealthChanged& m = in_.health_changed();
        return HealthChanged{choice(m.state(), HealthChanged::State::unreachable), at_, index<OfferId>(m.offer()),
                             m.until() == 0 ? Instant{} : shifted(at_, wrapped(m.until(), -1)), m.derate()};
      }
      case Case::kPassed:
        return passed(in_.passed());
      case Case::kFixedCost: {
        const rest::FixedCost& m = in_.fixed_cost();
        return FixedCost{choice(m.kind(), FixedCost::Kind::hosts),
                         index<DestinationId>(m.destination()),
                         at_,
                         shifted(at_, m.took()),
                         m.units(),
                         Usd{m.amount()},
                         share(m.used_ppm())};
      }
      case Case::kGpuBooking: {
        const rest::GpuBooking& m = in_.gpu_booking();
        return GpuBooking{choice(m.use(), GpuBooking::Use::released), label(m.device()), m.start_ms(), m.end_ms()};
      }
      case Case::kUnitsChanged: {
        const rest::UnitsChanged& m = in_.units_changed();
        const std::size_t cause = m.cause() < kCauses.size() ? m.cause() : refuse("a cause of changed units");
        return UnitsChanged{at_, index<DestinationId>(m.destination()), m.before(), m.after(),
                            std::string(kCauses[cause])};
      }
      case Case::kSettlementClosed: {
        const rest::SettlementClosed& m = in_.settlement_closed();
        return SettlementClosed{at_,
                                m.hour(),
                                in_.tenant(),
                                index<ModelId>(m.model()),
                                m.requests(),
                                Usd{m.baseline()},
                                Usd{m.actual()},
                                Usd{m.counted()},
                                Usd{m.disallowed()},
                                m.gate()};
      }
      case Case::kPriceChanged: {
        const rest::PriceChanged& m = in_.price_changed();
        return PriceChanged{at_, index<OfferId>(m.offer()), choice(m.unit(), Unit::session), UsdPerMtok{m.before()},
                            UsdPerMtok{m.after()}};
      }
      case Case::kFleetChanged:
        return fleet_changed(in_.fleet_changed());
      case Case::kCapacityObserved: {
        const rest::CapacityObserved& m = in_.capacity_observed();
        return CapacityObserved{choice(m.source(), CapacityObserved::Source::provider),
                                at_,
                                index<DestinationId>(m.destination()),
                                m.units_running(),
                                m.units_healthy(),
                                m.units_total(),
                                optional(m.tokens_remaining()),
                                optional(m.requests_remaining())};
      }
      case Case::kPlanMade:
        return plan_made(in_.plan_made());
      case Case::kAction:
        return action(in_.action());
      case Case::kGap: {
        const rest::Gap& m = in_.gap();
        return Gap{choice(m.cause(), Gap::Cause::clock), at_, shifted(at_, m.took()), optional(m.events())};
      }
      case Case::kNamed: {
        const rest::Named& m = in_.named();
        return Named{choice(m.kind(), Named::Kind::key), at_, m.symbol(), label(m.name())};
      }
      case Case::kLifecycle:
        return Lifecycle{choice(in_.lifecycle().what(), Lifecycle::What::disk_full), at_, in_.lifecycle().bytes_cut()};
      case Case::KIND_NOT_SET:
        break;
    }
    return Gap{};
  }

 private:
  std::size_t refuse(const char* what) {
    if (wrong.empty()) wrong = what;
    return 0;
  }
  template <class Id>
  Id own() const {
    return {record_.id.high, record_.id.low};
  }
  template <class Id>
  Id id(const std::string& bytes) {
    if (bytes.empty()) return {};
    if (bytes.size() != 16) return refuse("an id that is not 16 bytes"), Id{};
    return {big(std::string_view(bytes).substr(0, 8)), big(std::string_view(bytes).substr(8))};
  }
  Digest digest(const std::string& bytes) {
    Digest out{};
    if (bytes.size() != out.size()) return refuse("a digest that is not 32 bytes"), out;
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<std::uint8_t>(bytes[i]);
    return out;
  }
  template <class Id>
  static Id index(std::uint32_t plus_one) {
    return Id{plus_one - 1};
  }
  template <class E>
  E choice(std::uint32_t value, E last) {
    if (value > static_cast<std::uint32_t>(last)) return refuse("a value that its kind does not have"), E{};
    return static_cast<E>(value);
  }
  std::int64_t count(std::uint64_t value) {
    if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      return refuse("a count beyond 2^63"), 0;
    return static_cast<std::int64_t>(value);
  }
  std::int64_t optional(std::uint64_t plus_one) { return plus_one == 0 ? -1 : count(plus_one - 1); }
  /// Parts per million, plus one; 0 = not known.
  std::int64_t share(std::uint32_t plus_one) {
    if (plus_one > 1'000'001) return refuse("a share above the whole"), -1;
    return std::int64_t{plus_one} - 1;
  }
  Duration lasting(std::uint64_t ns) { return Duration{count(ns)}; }
  static std::int64_t wrapped(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  }
  static Instant shifted(Instant t, std::int64_t by) { return instant(wrapped(nanos(t), by)); }
  std::string label(const std::string& text) {
    if (!is_label(text)) refuse("a name that is no label");
    return text;
  }
  template <class Repeated>
  std::vector<std::string> labels(const Repeated& texts) {
    std::vector<std::string> out;
    for (const std::string& text : texts) out.push_back(label(text));
    return out;
  }
  template <class Repeated>
  Usage usage(const Repeated& pairs) {
    Usage used;
    if (pairs.size() % 2 != 0) return refuse("a usage that is no list of pairs"), used;
    for (int i = 0; i < pairs.size(); i += 2) {
      if (pairs[i] >= kUnits) return refuse("a unit that is not known"), used;
      used.set(static_cast<Unit>(pairs[i]), count(pairs[i + 1]));
    }
    return used;
  }

  Admitted admitted(const rest::Admitted& m) {
    Admitted e;
    e.id = own<RequestId>();
    e.row = m.row();
    e.at = at_;
    e.tenant = in_.tenant();
    e.team = m.team();
    e.declared_tenant = index<TenantId>(m.declared_tenant());
    e.requested = index<ModelId>(m.requested());
    e.slo = index<SloId>(m.slo());
    e.compliance = index<ComplianceId>(m.compliance());
    e.prompt = Tokens{count(m.prompt())};
    e.max_output = Tokens{count(m.max_output())};
    e.needs = m.needs();
    e.h0 = Tokens{count(m.h0())};
    e.batch = m.batch();
    e.project = m.project();
    e.key = m.key();
    return e;
  }
  Decided decided(const rest::Decided& m) {
    Decided e;
    e.id = own<RequestId>();
    e.at = at_;
    e.snapshot = in_.snapshot();
    e.decision.chosen = index<OfferId>(m.chosen());
    e.decision.verdict = choice(m.verdict(), Verdict::no_capacity);
    e.decision.reserve_short = m.reserve_short();
    excluded(m.excluded(), e.decision);
    e.predicted.output_mean = m.predicted_mean_exact() != 0.0 ? m.predicted_mean_exact() : double{m.predicted_mean()};
    e.predicted.output_p90 = m.predicted_p90_exact() != 0.0 ? m.predicted_p90_exact() : double{m.predicted_p90()};
    e.cheapest_payg = index<OfferId>(m.cheapest_payg());
    Evidence& evidence = record_.evidence;
    evidence.waited = lasting(m.waited());
    evidence.failed_at = index<OfferId>(m.failed_at());
    evidence.others_digest = m.others_digest();
    if (Result<std::vector<LiveColumn>> columns = columns_from(m.live()))
      evidence.live = *std::move(columns);
    else
      refuse("live columns that are none");
    e.decision.feasible = m.feasible() != 0 ? m.feasible() : static_cast<std::uint32_t>(evidence.live.size());
    for (const LiveColumn& column : evidence.live)
      if (column.offer == e.decision.chosen.value) e.cached_predicted = Tokens{column.cached};
    if (m.cached_predicted() != 0) e.cached_predicted = Tokens{count(m.cached_predicted() - 1)};
    return e;
  }
  void excluded(const std::string& pairs, Decision& decision) {
    for (std::size_t i = 0; i < pairs.size();) {
      const auto reason = static_cast<std::uint8_t>(pairs[i++]);
      std::uint64_t number = 0;
      int shift = 0;
      bool more = true;
      for (; more && i < pairs.size() && shift < 35; shift += 7) {
        const auto byte = static_cast<std::uint8_t>(pairs[i++]);
        number |= std::uint64_t{byte & 0x7fU} << shift;
        more = (byte & 0x80) != 0;
      }
      if (more || reason >= kExclusions || number > 0xffff'ffff) {
        refuse("counts of exclusions that are none");
        return;
      }
      decision.excluded[reason] = static_cast<std::uint32_t>(number);
    }
  }
  Attempted attempted(const rest::Attempted& m) {
    Attempted e;
    e.id = own<RequestId>();
    e.offer = index<OfferId>(m.offer());
    e.from = at_;
    e.to = shifted(at_, count(m.took()));
    e.answered = m.answered() == 1;
    if (m.answered() == 0) refuse("an attempt that neither answered nor failed");
    if (!e.answered) e.rejection = choice(m.answered() - 2, Rejection::request);
    e.eviction = m.eviction();
    e.billed = usage(m.billed());
    e.energy_hour = shifted(at_, wrapped(0, static_cast<std::int64_t>(-static_cast<std::uint64_t>(m.energy_hour()))));
    e.billed_as = index<OfferId>(m.billed_as());
    return e;
  }
  Completed completed(const rest::Completed& m) {
    Completed e;
    e.id = own<RequestId>();
    e.at = at_;
    e.outcome = choice(m.outcome(), Outcome::client_abort);
    e.verdict = choice(m.verdict(), Verdict::retries_spent);
    e.offer = index<OfferId>(m.offer());
    e.usage = usage(m.usage());
    const std::int64_t requested = optional(m.output_requested());
    e.output_requested = requested < 0 ? e.usage.completion() : Tokens{requested};
    e.h1 = Tokens{count(m.h1())};
    e.ttft = lasting(m.ttft());
    e.tpot = lasting(m.tpot());
    e.slo_met = m.slo_met();
    e.lookup_cost = Usd{m.lookup_cost()};
    e.observed_cost_nano = optional(m.observed_cost());
    e.in_gap = m.in_gap();
    e.exact_match = !m.inexact_match();
    return e;
  }
  Passed passed(const rest::Passed& m) {
    Passed e;
    e.id = own<RequestId>();
    e.at = at_;
    e.tenant = in_.tenant();
    e.team = m.team();
    e.project = m.project();
    e.key = m.key();
    e.declared_tenant = index<TenantId>(m.declared_tenant());
    e.compliance = index<ComplianceId>(m.compliance());
    e.destination = index<DestinationId>(m.destination());
    if (m.status() > 999) refuse("a status of more than three digits");
    e.status = static_cast<std::int32_t>(m.status());
    e.sent = count(m.sent());
    e.received = count(m.received());
    return e;
  }
  FleetChanged fleet_changed(const rest::FleetChanged& m) {
    FleetChanged e;
    e.at = at_;
    e.source = choice(m.source(), FleetChanged::Source::observed);
    for (const rest::FleetChanged::File& file : m.files())
      e.files.push_back(
          {choice(file.role(), FleetChanged::File::Role::series), label(file.name()), digest(file.sha256())});
    e.destinations = labels(m.destinations());
    e.models = labels(m.models());
    e.tenants = labels(m.tenants());
    e.slo_classes = labels(m.slo_classes());
    e.compliance = labels(m.compliance());
    if (m.offers_size() % 2 != 0) return refuse("offers that are no list of pairs"), e;
    for (int i = 0; i < m.offers_size(); i += 2) {
      if (m.offers(i) >= e.destinations.size() || m.offers(i + 1) >= e.models.size())
        return refuse("an offer of a destination or a model without a name"), e;
      e.offers.push_back({DestinationId{m.offers(i)}, ModelId{m.offers(i + 1)}});
    }
    e.digest = m.digest();
    return e;
  }
  PlanMade plan_made(const rest::PlanMade& m) {
    PlanMade e;
    e.id = own<PlanId>();
    e.at = at_;
    e.from = shifted(at_, m.from());
    e.to = shifted(at_, m.to());
    if (m.targets_size() % 2 != 0) return refuse("targets that are no list of pairs"), e;
    for (int i = 0; i < m.targets_size(); i += 2) {
      if (m.targets(i) < 0 || m.targets(i) >= DestinationId::kNone) return refuse("a target that is no destination"), e;
      e.targets.push_back({DestinationId{static_cast<std::uint32_t>(m.targets(i))}, m.targets(i + 1)});
    }
    e.cost = Usd{m.cost()};
    e.inputs = digest(m.inputs());
    return e;
  }
  Action action(const rest::Action& m) {
    Action e;
    e.stage = choice(m.stage(), Action::Stage::undone);
    e.kind = choice(m.kind(), Action::Kind::resize);
    e.outcome = choice(m.outcome(), Action::Outcome::unknown);
    e.id = own<ActionId>();
    e.at = at_;
    e.plan = id<PlanId>(m.plan());
    e.cluster = m.cluster();
    e.target = m.target();
    e.destination = index<DestinationId>(m.destination());
    e.units = m.units();
    e.rung = m.rung();
    e.epoch = m.epoch();
    e.why = m.why();
    e.value = Usd{m.value()};
    e.cost_at_risk = Usd{m.cost_at_risk()};
    return e;
  }

  const rest::Event& in_;
  Record& record_;
  Instant at_;
};

/// A message in room of its own: most events fit where they need no allocator, and nothing of them is given back one by
/// one.
class Parsed {
 public:
  Parsed() : arena_(options(room_)) {}
  Parsed(const Parsed&) = delete;
  Parsed& operator=(const Parsed&) = delete;

  Result<const rest::Event*> from(std::string_view bytes) {
    auto* const in = google::protobuf::Arena::CreateMessage<rest::Event>(&arena_);
    if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()) ||
        !in->ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
      return Error(Errc::corrupt, "decoding an event: these bytes are no message");
    if (in->id().size() != 16) return Error(Errc::corrupt, "decoding an event: expected an id of 16 bytes");
    if (in->kind_case() == rest::Event::KIND_NOT_SET)
      return Error(Errc::bad_input,
                   "decoding an event: its kind is not known here; was it written by a newer version of ace?");
    return in;
  }

 private:
  using Room = std::array<char, 2048>;
  static google::protobuf::ArenaOptions options(Room& room) {
    google::protobuf::ArenaOptions options;
    options.initial_block = room.data();
    options.initial_block_size = room.size();
    return options;
  }
  alignas(8) Room room_;  // not zeroed: the arena writes before it reads
  google::protobuf::Arena arena_;
};

}  // namespace

Result<Record> decode(std::string_view bytes) {
  Parsed parsed;
  const Result<const rest::Event*> read = parsed.from(bytes);
  if (!read) return Error(read.error());
  const rest::Event* const in = *read;
  Record record;
  record.id = {big(std::string_view(in->id()).substr(0, 8)), big(std::string_view(in->id()).substr(8))};
  record.tenant = in->tenant();
  record.ordinal = in->ordinal();
  record.snapshot = in->snapshot();
  const std::uint64_t at = static_cast<std::uint64_t>(in->at()) + millis_of(record.id) * 1'000'000U;
  Decoder decoder(*in, record, instant(static_cast<std::int64_t>(at)));
  record.event = decoder.read();
  if (!decoder.wrong.empty()) {
    return Error(Errc::corrupt, "decoding an event of kind " + std::string(name_of(kind_of(record.event))) +
                                    ": it holds " + decoder.wrong);
  }
  return record;
}

Result<Key> key_from(std::string_view bytes) {
  Parsed parsed;
  const Result<const rest::Event*> read = parsed.from(bytes);
  if (!read) return Error(read.error());
  const rest::Event* const in = *read;
  return Key{in->tenant(),
             {big(std::string_view(in->id()).substr(0, 8)), big(std::string_view(in->id()).substr(8))},
             static_cast<Kind>(in->kind_case()),
             in->ordinal()};
}

}  // namespace ace::event
