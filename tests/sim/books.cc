#include "books.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "ledger/spine_ledger.h"
#include "machine.h"

namespace ace::sim {
namespace {

constexpr OfferId kOffer{0};
constexpr std::int64_t kInput = 10'000, kOutput = 40'000;  ///< nano-USD a token: 10 and 40 USD per million

Usage tokens(std::int64_t prompt, std::int64_t output) { return {Tokens{prompt}, Tokens{0}, Tokens{output}}; }
Usd price(std::int64_t prompt, std::int64_t output) { return Usd{prompt * kInput + output * kOutput}; }

/// What a log that is read in order says of one request.
struct Told {
  bool admitted = false, decided = false, ended = false, served = false, answered = false;
  bool lost = false;  ///< a writer opened the log while it had no end
  std::int64_t prompt = 0, output_max = 0, predicted = 0, output = 0, failed = 0;
  [[nodiscard]] Usd hold() const { return price(prompt, output_max); }
  [[nodiscard]] Usd cost() const {
    const Usd before = price(failed * prompt, 0);
    if (ended) return served ? before + price(prompt, output) : before;
    if (answered) return before + price(prompt, output);
    return before + price(prompt, decided ? std::min(predicted, output_max) : output_max);
  }
};

/// What a ledger of these records must come to.
struct Model {
  std::map<event::EventId, Told> requests;

  void hear(const event::Record& record) {
    if (const auto* life = std::get_if<event::Lifecycle>(&record.event)) {
      using What = event::Lifecycle::What;
      if (life->what != What::started && life->what != What::recovered) return;
      for (auto& [id, r] : requests) r.lost = r.lost || (r.admitted && !r.ended);
      return;
    }
    const event::Kind kind = event::kind_of(record.event);
    if (kind < event::Kind::admitted || kind > event::Kind::completed) return;
    Told& r = requests[record.id];
    if (const auto* admitted = std::get_if<event::Admitted>(&record.event)) {
      r.admitted = true;
      r.prompt = admitted->prompt.value;
      r.output_max = admitted->max_output.value;
    } else if (const auto* decided = std::get_if<event::Decided>(&record.event)) {
      r.decided = true;
      r.predicted = static_cast<std::int64_t>(decided->predicted.output_mean);
    } else if (const auto* attempted = std::get_if<event::Attempted>(&record.event)) {
      if (!attempted->answered) ++r.failed;
      r.answered = r.answered || attempted->answered;
      if (attempted->answered) r.output = attempted->billed[Unit::output];
    } else if (const auto* completed = std::get_if<event::Completed>(&record.event)) {
      r.ended = true;
      r.served = completed->outcome == event::Outcome::served;
      if (r.served) r.output = completed->usage[Unit::output];
    }
  }
};

SpineLedger::Options options_of(const Snapshot& snapshot) {
  SpineLedger::Options options;
  options.shapley = false;
  options.fleets = [&snapshot](std::uint64_t, const event::FleetChanged&) -> Result<const Snapshot*> {
    return &snapshot;
  };
  return options;
}

void same(std::string_view what, Usd ledger, Usd model) {
  if (ledger != model)
    throw Broken{fmt::format("the ledger says {} {} nano-dollars, the model {}", what, ledger.nano, model.nano)};
}

}  // namespace

event::Record Requests::next(Instant now, Rng& rng) {
  if (open_.empty() || (open_.size() < 6 && rng.chance(0.3))) {
    const RequestId id = make_request_id(now, rng);
    std::vector<event::Record>& facts = open_.emplace_back();
    const auto tenant = static_cast<std::uint32_t>(rng.below(5));
    const auto fact = [&](event::Event event, std::uint32_t ordinal = 0) {
      event::Record& record = facts.emplace_back();
      record.id = {id.high, id.low};
      record.tenant = tenant;
      record.snapshot = 1;
      record.ordinal = ordinal;
      record.event = std::move(event);
    };
    const std::int64_t prompt = rng.between(1, 100'000), most = rng.between(1, 4000), output = rng.between(1, most);
    const bool fails = rng.chance(0.2), served = !fails || rng.chance(0.7), ends = rng.chance(0.9);
    event::Admitted admitted;
    admitted.id = id;
    admitted.at = now;
    admitted.tenant = tenant;
    admitted.requested = ModelId{0};
    admitted.prompt = Tokens{prompt};
    admitted.max_output = Tokens{most};
    fact(admitted);
    event::Decided decided;
    decided.id = id;
    decided.at = now;
    decided.decision.verdict = Verdict::dispatched;
    decided.decision.chosen = kOffer;
    decided.predicted.output_mean = static_cast<double>(rng.between(1, 4000));
    fact(decided);
    facts.back().evidence.live.resize(1 + rng.below(16));
    event::Attempted attempt;
    attempt.id = id;
    attempt.from = attempt.to = attempt.energy_hour = now;
    attempt.offer = kOffer;
    attempt.billed = tokens(prompt, 0);
    if (fails) fact(attempt, 0);
    attempt.answered = true;
    attempt.billed = tokens(prompt, output);
    if (served) fact(attempt, 1);
    event::Completed end;
    end.id = id;
    end.at = now;
    end.outcome = event::Outcome::not_served;
    end.verdict = Verdict::no_capacity;
    if (served) {
      end.outcome = event::Outcome::served;
      end.verdict = Verdict::dispatched;
      end.offer = kOffer;
      end.usage = tokens(prompt, output);
      end.output_requested = Tokens{output};
      end.slo_met = true;
    }
    if (ends) fact(end);
    std::reverse(facts.begin(), facts.end());
  }
  const std::size_t which = rng.below(open_.size());
  event::Record record = std::move(open_[which].back());
  open_[which].pop_back();
  if (open_[which].empty()) open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(which));
  return record;
}

Books::Books() : fleet_(std::make_unique<Fleet>()) {
  Fleet& f = *fleet_;
  PriceRow row;
  row.key = "api/model";
  row.tiers.push_back({Tokens{0}, {}});
  for (Rates& rates : row.tiers.front().by_service)
    for (const auto& [unit, nano] : {std::pair{Unit::input, kInput}, std::pair{Unit::output, kOutput}})
      rates.set(unit, {nano * 1'000'000});
  f.prices.rows = {row};
  f.providers.resize(1);
  f.providers[0].name = "provider";
  f.models.resize(1);
  f.models[0].name = "model";
  f.models[0].context_max = Tokens{1'000'000};
  f.models[0].capabilities = kText;
  f.models[0].baseline = Baseline{DestinationId{0}, PriceId{0}, "2026-11-01", true};
  f.slo_classes.resize(1);
  f.slo_classes[0].name = "chat";
  f.slo_classes[0].ttft = kSecond;
  f.default_slo = SloId{0};
  f.destinations.resize(1);
  f.destinations[0].name = "api";
  f.destinations[0].provider = ProviderId{0};
  f.destinations[0].tier = Tier::payg;
  Serving serving;
  serving.model = ModelId{0};
  serving.price = PriceId{0};
  f.destinations[0].serving = {serving};
  f.electricity.flat = {1'000'000'000};
  snapshot_ = std::make_unique<Snapshot>(f);
}

event::Record Books::fleet() const {
  event::FleetChanged e;
  e.source = event::FleetChanged::Source::live;
  e.destinations = {"api"};
  e.models = {"model"};
  e.slo_classes = {"chat"};
  event::Record record;
  record.id = {std::uint64_t{1'800'000'000'000} << 16, 1};
  record.snapshot = 1;
  record.event = e;
  return record;
}

void Books::judge(const Records& log, std::size_t stop) const {
  SpineLedger ledger(options_of(*snapshot_)), in_pieces(options_of(*snapshot_));
  Model model;
  for (std::size_t i = 0; i < log.size(); ++i) {
    const auto& [sequence, record] = log[i];
    model.hear(record);
    if (i == stop) {
      Result<SpineLedger> restored = SpineLedger::restored(in_pieces.state(), options_of(*snapshot_));
      if (!restored) throw Broken{"the ledger cannot be read again: " + restored.error().what()};
      in_pieces = *std::move(restored);
    }
    for (SpineLedger* one : {&ledger, &in_pieces})
      if (const Result<void> added = one->add(sequence, record); !added)
        throw Broken{"the ledger does not fold: " + added.error().what()};
  }
  if (ledger.state() != in_pieces.state()) throw Broken{"the ledger folded in two pieces is another one"};
  Usd spent{}, estimated{}, held{};
  std::uint64_t ended = 0, lost = 0;
  for (const auto& [id, r] : model.requests) {
    if (!r.admitted) continue;
    ended += r.ended ? 1 : 0;
    lost += r.lost && !r.ended ? 1 : 0;
    if (r.ended)
      spent += r.cost();
    else
      (r.lost ? estimated : held) += r.lost ? r.cost() : r.hold();
  }
  using Kind = Account::Kind;
  const Balances& balances = ledger.balances();
  same("in all", balances.sum(), Usd{});
  same("spent", balances.sum(Kind::spent), spent);
  same("estimated", balances.sum(Kind::estimated), estimated);
  same("held", balances.sum(Kind::held), held);
  const Result<FoldedBooks> books = ledger.close(Grade::measured, {});
  if (!books) throw Broken{"the ledger does not close: " + books.error().what()};
  same("of actual cost", books->statement.c4, spent + estimated);
  same("of levers", books->statement.claimed.sum(), books->statement.c0 - books->statement.c4);
  if (books->statement.requests != ended + lost || books->facts.estimated != lost)
    throw Broken{fmt::format("the ledger counts {} requests, {} of them estimated; the model {} and {}",
                             books->statement.requests, books->facts.estimated, ended + lost, lost)};
}

}  // namespace ace::sim
