/// What a SpineLedger remembers as bytes, in one order only, and back.
#include <fmt/format.h>

#include "core/little_endian.h"
#include "ledger/spine_state.h"

namespace ace {
namespace {

constexpr std::string_view kMagic = "ACELEDG5";

/// Writes what it is shown.
class Out {
 public:
  static constexpr bool kReads = false;
  std::string bytes;
  bool good = true;
  template <class T>
    requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void operator()(T& value) {
    little_endian::put(bytes, value);
  }
  void operator()(std::string& text) {
    std::uint64_t size = text.size();
    (*this)(size);
    bytes += text;
  }
};

/// Puts what it reads where Out found it.
class In {
 public:
  static constexpr bool kReads = true;
  explicit In(std::string_view from) : bytes(from) {}
  std::string_view bytes;
  bool good = true;
  template <class T>
    requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void operator()(T& value) {
    if (!(good = good && bytes.size() >= sizeof(T))) return;
    value = little_endian::get<T>(bytes, 0);
    bytes.remove_prefix(sizeof(T));
  }
  void operator()(std::string& text) {
    std::uint64_t size = 0;
    (*this)(size);
    if (!(good = good && bytes.size() >= size)) return;
    text = bytes.substr(0, size);
    bytes.remove_prefix(size);
  }
};

auto order(const fold::SlotKey& k) { return std::tuple(k.hour, k.tenant, k.model, k.slo); }
auto order(const fold::UsageKey& k) {
  return std::tuple(k.hour, k.tenant, k.team, k.project, k.model, k.destination, k.slo);
}
auto order(const fold::MinuteKey& k) { return k.minute; }
auto order(const fold::DayKey& k) { return k.day; }

/// One description of the form for both ways: each pass() shows its fields to Out or In, in order.
template <class Io>
class Form {
 public:
  explicit Form(Io& io) : io_(io) {}

  void pass(Usd& amount) { io_(amount.nano); }
  void pass(Instant& t) {
    std::int64_t ns = nanos(t);
    io_(ns);
    t = instant(ns);
  }
  template <class Tag>
  void pass(Index<Tag>& index) {
    io_(index.value);
  }
  template <class T>
    requires std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_same_v<T, std::string>
  void pass(T& value) {
    io_(value);
  }
  template <class T, std::size_t N>
  void pass(std::array<T, N>& all) {
    for (T& one : all) pass(one);
  }
  void pass(Levers& l) {
    pass(l.lever);
    pass(l.unattributed);
  }
  template <class... Fields>
  void fields(Fields&... all) {
    (pass(all), ...);
  }
  void pass(fold::One& o) { fields(o.requests, o.baseline, o.claimed, o.withheld, o.gated); }
  void pass(fold::SlotKey& k) { fields(k.hour, k.tenant, k.model, k.slo); }
  void pass(fold::Slot& s) {
    fields(s.requests, s.served, s.slo_met, s.gated_requests, s.inexact_hits, s.disproven, s.baseline, s.actual,
           s.claimed, s.withheld, s.gated, s.other, s.cheapest, s.assumed, s.all_payg, s.all_payg_uncached);
  }
  void pass(fold::UsageKey& k) { fields(k.hour, k.tenant, k.team, k.project, k.model, k.destination, k.slo); }
  void pass(TokenParts& p) {
    fields(p.cache_write, p.audio_input, p.image_input, p.video_input, p.reasoning, p.audio_output, p.image_output);
  }
  void pass(fold::Used& u) {
    fields(u.requests, u.input, u.cached, u.output, u.parts, u.marginal, u.baseline, u.logged_requests, u.logged,
           u.by_prices);
  }
  void pass(fold::MinuteKey& k) { io_(k.minute); }
  void pass(fold::DayKey& k) { io_(k.day); }
  void pass(fold::Fixed& f) { fields(f.amount, f.used); }
  void pass(fold::Totals& t) {
    fields(t.any, t.first, t.last, t.requests, t.cache_hits, t.aborted, t.spilled, t.retried, t.observed_requests,
           t.untimed, t.priced_requests, t.reserve_short, t.not_served_by_verdict, t.requests_by_reason,
           t.disallowed_by_reason, t.excluded_c0, t.input, t.cached, t.output, t.goodput, t.denominator, t.observed,
           t.coalitions);
  }
  void pass(FoldedFacts& f) {
    fields(f.evictions, f.unit_changes, f.bookings_refused, f.fixed_refused, f.estimated, f.estimated_cost, f.corrected,
           f.corrected_closed, f.corrected_closed_cost, f.passed);
  }
  void pass(Budget& b) { fields(b.name, b.tenant, b.team, b.project, b.key, b.model, b.window, b.limit, b.hard); }
  void pass(BudgetTicket::Place& p) { fields(p.budget, p.window); }
  void pass(ClosedCell& c) { fields(c.requests, c.baseline, c.actual, c.counted, c.disallowed); }
  void pass(Leg& l) { fields(l.account.kind, l.account.owner, l.amount); }
  template <class A, class B>
  void pass(std::pair<A, B>& both) {
    fields(both.first, both.second);
  }
  template <class... T>
  void pass(std::tuple<T...>& all) {
    std::apply([&](auto&... one) { fields(one...); }, all);
  }
  void pass(BudgetAccount& a) {
    bool has = a.crossed.has_value();
    Instant crossed = a.crossed.value_or(Instant{});
    fields(a.spent, a.held, a.requests, a.refused, has, crossed);
    if constexpr (Io::kReads) a.crossed = has ? std::optional(crossed) : std::nullopt;
  }

  /// A list; reading stops where the bytes do, so a size that is not true costs nothing.
  template <class T>
  void pass(std::vector<T>& all) {
    std::uint64_t size = all.size();
    io_(size);
    if constexpr (Io::kReads) {
      all.clear();
      for (; size > 0 && io_.good && !io_.bytes.empty(); --size) pass(all.emplace_back());
      io_.good = io_.good && size == 0;
    } else {
      for (T& one : all) pass(one);
    }
  }
  template <class Key, class Value>
  void pass(std::map<Key, Value>& all) {
    std::vector<std::pair<Key, Value>> list(all.begin(), all.end());
    pass(list);
    if constexpr (Io::kReads) all = {list.begin(), list.end()};
  }

  template <class Value>
  void pass(std::set<Value>& all) {
    std::vector<Value> list(all.begin(), all.end());
    pass(list);
    if constexpr (Io::kReads) all = {list.begin(), list.end()};
  }

  template <class Key, class Value>
  void pass(Table<Key, Value>& table) {
    std::vector<std::pair<Key, Value>> list = table.entries();
    std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return order(a.first) < order(b.first); });
    pass(list);
    if constexpr (Io::kReads) {
      table = {};
      for (const auto& [key, value] : list) table[key] = value;
    }
  }
  void pass(fold::Accounts& a) { fields(a.slots, a.usage, a.minutes, a.days, a.fixed); }
  void pass(AccountNames& names) {
    std::vector<std::string> all = names.names();
    auto assigned = names.assigned();
    fields(all, assigned);
    if constexpr (Io::kReads) {
      for (const auto& [symbol, number] : assigned) io_.good = io_.good && number < all.size();
      if (io_.good) names.restore(std::move(all), assigned);
    }
  }
  template <class GpuTime>
    requires requires(GpuTime& t) { t.bookings; }
  void pass(GpuTime& time) {
    pass(time.all);
  }
  template <class Stretch>
    requires requires(Stretch& s) { s.cost; }
  void pass(Stretch& s) {
    fields(s.era, s.cost.kind, s.cost.destination, s.cost.from, s.cost.to, s.cost.units, s.cost.amount, s.cost.used_ppm,
           s.grown);
  }
  void pass(event::GpuBooking& b) { fields(b.use, b.device, b.start_ms, b.end_ms); }
  void pass(Balances& balances) {
    JournalEntry entry;
    entry.legs = balances.all();
    pass(entry.legs);
    if constexpr (Io::kReads) {
      int128 sum = 0;
      for (const Leg& leg : entry.legs) {
        sum += leg.amount.nano;
        io_.good =
            io_.good && static_cast<std::size_t>(leg.account.kind) < kAccountKinds && leg.account.owner < (1U << 24);
      }
      io_.good = io_.good && sum == 0;
      if (io_.good) balances.post(entry);
    }
  }
  void pass(BudgetBook& book) {
    std::vector<Budget> budgets = book.budgets();
    std::vector<std::uint8_t> retired;
    std::vector<std::map<Instant, BudgetAccount>> accounts;
    if constexpr (!Io::kReads)
      for (std::uint32_t b = 0; b < budgets.size(); ++b) {
        retired.push_back(book.retired(b) ? 1 : 0);
        accounts.push_back(book.windows(b));
      }
    Instant latest = book.latest();
    fields(budgets, retired, accounts, latest);
    if constexpr (Io::kReads) {
      io_.good = io_.good && retired.size() == budgets.size() && accounts.size() == budgets.size();
      if (io_.good) book = BudgetBook(std::move(budgets), std::move(retired), std::move(accounts), latest);
    }
  }

  /// An event as the spine has it.
  template <class E>
  void pass_event(E& e, std::uint32_t ordinal, RequestId id) {
    std::string bytes;
    if constexpr (!Io::kReads) {
      event::Record record;
      record.id = {id.high, id.low};
      record.ordinal = ordinal;
      record.event = e;
      if constexpr (std::is_same_v<E, event::Admitted>) record.tenant = e.tenant;
      Result<std::string> encoded = event::encode(record);
      ACE_CHECK(encoded.has_value(), "what was read from a spine can be written again");
      bytes = *std::move(encoded);
    }
    io_(bytes);
    if constexpr (Io::kReads) {
      if (!io_.good) return;
      const Result<event::Record> record = event::decode(bytes);
      if (!(io_.good = record.has_value() && std::holds_alternative<E>(record->event))) return;
      e = std::get<E>(record->event);
    }
  }

  void pass(FoldedRequest& r) {
    fields(r.state, r.id.high, r.id.low, r.sequence, r.era, r.admitted, r.decided, r.completed, r.in_gap,
           r.semantic_hit, r.decided_ordinal, r.completed_ordinal, r.hold_at, r.hold_output, r.ticket.places,
           r.ticket.held, r.booked_cost, r.ordinals);
    if (r.admitted) pass_event(r.a, 0, r.id);
    if (r.decided) pass_event(r.d, r.decided_ordinal, r.id);
    if (r.completed) pass_event(r.c, r.completed_ordinal, r.id);
    if constexpr (Io::kReads) r.attempts.resize(io_.good ? r.ordinals.size() : 0);
    for (std::size_t i = 0; i < r.attempts.size(); ++i) pass_event(r.attempts[i], r.ordinals[i], r.id);
  }

  void pass(FleetEra& era) {
    pass_event(era.declared, 0, {});
    fields(era.number, era.accounts, era.facts);
  }

  void pass(event::Gap& gap) { fields(gap.cause, gap.from, gap.to, gap.events); }

 private:
  Io& io_;
};

}  // namespace

std::string SpineLedger::state() const {
  Out out;
  out.bytes = kMagic;
  State& s = *state_;
  std::uint8_t shapley = s.ledger_options.shapley ? 1 : 0;
  Form form(out);
  form.fields(shapley, s.next, s.latest, s.early, s.eras, s.era_of_number, s.tenants, s.teams, s.projects, s.keys,
              s.destinations, s.gpu_time, s.stretches, s.balances, s.budgets, s.gaps, s.closed, s.gapped);
  // Requests whose facts are still coming in, by their first one; then those that were booked, as they were.
  std::vector<std::uint32_t> open =
      s.in_order([](const FoldedRequest& r) { return r.live && r.state != FoldedRequest::State::booked; });
  open.insert(open.end(), s.recent.begin(), s.recent.end());
  std::uint64_t size = open.size();
  out(size);
  for (const std::uint32_t slot : open) form.pass(s.pool[slot]);
  return std::move(out.bytes);
}

Result<SpineLedger> SpineLedger::restored(std::string_view state, Options options) {
  if (!state.starts_with(kMagic)) return Error(Errc::bad_input, "a saved ledger of another version, or none");
  In in(state.substr(kMagic.size()));
  SpineLedger ledger(std::move(options));
  State& s = *ledger.state_;
  std::uint8_t shapley = 0;
  Form form(in);
  form.fields(shapley, s.next, s.latest, s.early, s.eras, s.era_of_number, s.tenants, s.teams, s.projects, s.keys,
              s.destinations, s.gpu_time, s.stretches, s.balances, s.budgets, s.gaps, s.closed, s.gapped);
  for (auto& [world, time] : s.gpu_time)
    for (const event::GpuBooking& booking : std::exchange(time.all, {})) in.good = in.good && time.take(booking);
  for (const auto& [key, standing] : s.stretches)
    for (const State::Stretch& stretch : standing) in.good = in.good && stretch.era < s.eras.size();
  for (const auto& [number, era] : s.era_of_number) in.good = in.good && era < s.eras.size();
  std::uint64_t size = 0;
  in(size);
  for (; size > 0 && in.good; --size) {
    const auto slot = static_cast<std::uint32_t>(s.pool.size());
    FoldedRequest& request = s.pool.emplace_back();
    form.pass(request);
    request.live = true;
    if (!in.good || request.era >= s.eras.size()) {
      in.good = false;
      break;
    }
    s.index.insert(request.id, slot);
    if (request.state == FoldedRequest::State::booked) s.recent.push_back(slot);
  }
  if (!in.good || !in.bytes.empty()) return Error(Errc::corrupt, "a saved ledger that is not as it was written");
  if ((shapley != 0) != s.ledger_options.shapley)
    return Error(Errc::bad_input, "a saved ledger that was folded with other options");
  if (s.budgets.budgets() != s.options.budgets)
    return Error(Errc::bad_input, "a saved ledger that was folded with other budgets");
  for (FoldedRequest& request : s.pool)
    if (Result<void> loaded = s.load(s.eras[request.era]); !loaded) return std::move(loaded).error();
  return ledger;
}

}  // namespace ace
