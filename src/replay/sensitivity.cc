#include "replay/sensitivity.h"

#include <algorithm>
#include <memory>

#include "core/hash.h"
#include "replay/sample.h"

namespace ace {
namespace {

constexpr double kChange = 0.2;  // of demand and of owned capacity
constexpr double kSlower = 1.3;  // ECONOMICS 12
constexpr std::int64_t kMore = 1'200'000, kLess = 800'000;

/// Uniform in [0, 1) by row, apart for each purpose.
double draw(std::int64_t row, std::uint64_t seed, std::string_view purpose) {
  return static_cast<double>(mix(mix(seed, hash_of(purpose)), static_cast<std::uint64_t>(row)) >> 11) * 0x1.0p-53;
}

std::int64_t times_ppm(std::int64_t value, std::int64_t ppm) {
  return static_cast<std::int64_t>(divide_half_away(int128{value} * ppm, 1'000'000));
}

PriceRow times_ppm(const PriceRow& row, std::int64_t ppm) {
  PriceRow other = row;
  for (ContextTier& tier : other.tiers)
    for (Rates& rates : tier.by_service)
      for (std::size_t u = 0; u < kUnits; ++u)
        if (const auto price = rates[static_cast<Unit>(u)])
          rates.set(static_cast<Unit>(u), {times_ppm(price->nano, ppm)});
  return other;
}

double share_of(Usd part, Usd whole) {
  return whole.nano > 0 ? static_cast<double>(part.nano) / static_cast<double>(whole.nano) : 0.0;
}

/// What a run says against its own baseline.
SensitivityRow row_of(std::string what, const Statement& s) {
  SensitivityRow row;
  row.what = std::move(what);
  row.against = name_of(s.baseline);
  row.baseline = s.baseline_cost();
  row.fixed = s.fixed;
  row.claimed = s.claimed_saving();
  row.counted = s.counted_saving();
  row.counted_marginal = s.counted_marginal();
  row.disallowed = s.disallowed_saving();
  row.failed_cells = static_cast<std::uint64_t>(
      std::count_if(s.cells.begin(), s.cells.end(), [](const Cell& cell) { return cell.failed != Reason::none; }));
  return row;
}

SensitivityRow against_cheapest(const Statement& s) {
  SensitivityRow row = row_of("baseline = cheapest compliant PAYG", s);
  row.against = "cheapest-compliant-payg";
  row.baseline = s.cheapest.baseline;
  row.claimed = s.cheapest.claimed - s.fixed;
  row.counted = s.cheapest.counted - s.fixed;
  row.counted_marginal = s.cheapest.counted;
  row.disallowed = s.cheapest.disallowed;
  return row;
}

/// Share of the trace's tokens that the sample holds, by reading it through once.
Result<double> sampled_tokens(RequestSource& source, const RunOptions& options, double share) {
  double all = 0.0, kept = 0.0;
  std::vector<Arrival> batch(16'384);
  while (true) {
    const Result<std::size_t> count = source.next(batch);
    if (!count) return Error(count.error());
    if (*count == 0) break;
    for (std::size_t i = 0; i < *count; ++i) {
      if (batch[i].at < options.from || batch[i].at >= options.to) continue;
      const auto tokens = static_cast<double>(batch[i].prompt + batch[i].output);
      all += tokens;
      if (in_sample(batch[i], share, options.seed)) kept += tokens;
    }
  }
  return all > 0.0 && kept > 0.0 ? kept / all : 1.0;
}

}  // namespace

Fleet with_prices(const Fleet& fleet, std::int64_t ppm) {
  Fleet other = fleet;
  std::vector<bool> payg(fleet.prices.rows.size());
  for (const Destination& d : fleet.destinations)
    for (const Serving& serving : d.serving)
      if (d.tier == Tier::payg && serving.price) payg[serving.price->value] = true;
  for (const Model& model : fleet.models)
    if (model.baseline) payg[model.baseline->price.value] = true;
  for (Destination& d : other.destinations)  // a reserved fee that shares a row keeps a copy of it as it was
    for (Serving& serving : d.serving) {
      if (d.tier == Tier::payg || !serving.price || !payg[serving.price->value]) continue;
      other.prices.rows.push_back(fleet.prices.rows[serving.price->value]);
      serving.price = PriceId{static_cast<std::uint32_t>(other.prices.rows.size() - 1)};
    }
  for (std::size_t r = 0; r < payg.size(); ++r)
    if (payg[r]) other.prices.rows[r] = times_ppm(fleet.prices.rows[r], ppm);
  return other;
}

Fleet with_electricity(const Fleet& fleet, std::int64_t ppm) {
  Fleet other = fleet;
  Electricity& e = other.electricity;
  e.flat.nano = times_ppm(e.flat.nano, ppm);
  for (UsdPerKwh& price : e.hourly) price.nano = times_ppm(price.nano, ppm);
  for (UsdPerKwh& price : e.day_ahead) price.nano = times_ppm(price.nano, ppm);
  return other;
}

Fleet with_capacity_prices(const Fleet& fleet, std::int64_t ppm) {
  Fleet other = fleet;
  for (Destination& d : other.destinations) {
    d.amortization_hourly.nano = times_ppm(d.amortization_hourly.nano, ppm);
    d.commitment_hourly.nano = times_ppm(d.commitment_hourly.nano, ppm);
    if (!d.rental) continue;
    d.rental->hourly.nano = times_ppm(d.rental->hourly.nano, ppm);
    for (Usd& hourly : d.rental->hourly_series) hourly.nano = times_ppm(hourly.nano, ppm);
  }
  return other;
}

Fleet with_epsilon(const Fleet& fleet, double factor) {
  Fleet other = fleet;
  for (SloClass& slo : other.slo_classes) slo.epsilon *= factor;
  if (other.policies.epsilon) *other.policies.epsilon *= factor;
  return other;
}

Repeated::Repeated(RequestSource& source, double extra, std::uint64_t seed)
    : source_(&source), extra_(extra), seed_(seed) {}
Repeated::~Repeated() = default;

Result<std::size_t> Repeated::next(std::span<Arrival> batch) {
  given_.clear();
  std::size_t n = 0;
  if (at_ == end_ && !ended_) {
    read_.resize(std::max<std::size_t>(batch.size(), 1));
    const Result<std::size_t> count = source_->next(read_);
    if (!count) return count;
    at_ = 0;
    end_ = *count;
    ended_ = end_ == 0;
  }
  given_.reserve(batch.size());  // so that borrowed blocks stay where they are
  while (n < batch.size()) {
    const bool original = at_ < end_;
    if (!copies_.empty() && (original ? copies_.front().arrival.at < read_[at_].at : ended_)) {
      std::pop_heap(copies_.begin(), copies_.end());
      given_.push_back(std::move(copies_.back()));
      copies_.pop_back();
      batch[n] = given_.back().arrival;
      batch[n++].blocks = given_.back().blocks;
      continue;
    }
    if (!original) break;
    const Arrival& arrival = read_[at_++];
    batch[n++] = arrival;
    if (draw(arrival.row, seed_, "repeat") >= extra_) continue;
    Copy copy{arrival, {arrival.blocks.begin(), arrival.blocks.end()}};
    copy.arrival.blocks = {};
    copy.arrival.row = -arrival.row;
    copy.arrival.at += Duration{static_cast<std::int64_t>(draw(arrival.row, seed_, "shift") * 1e9)};
    copies_.push_back(std::move(copy));
    std::push_heap(copies_.begin(), copies_.end());
  }
  return n;
}

Result<void> Repeated::rewind() {
  copies_.clear();
  given_.clear();
  at_ = end_ = 0;
  ended_ = false;
  return source_->rewind();
}

Result<Sensitivity> sensitivity(const Fleet& given, RequestSource& source, const RunOptions& main, SensitivityMode mode,
                                std::uint64_t total, const std::function<void(double)>& progress) {
  Sensitivity result;
  if (mode == SensitivityMode::off) return result;
  RunOptions options = main;
  options.compare_status_quo = !decomposes(main.baseline);
  options.shapley = false;
  options.facts = false;
  options.witness = {};
  options.each = {};
  options.beside = {};
  options.progress = {};
  const double share = mode == SensitivityMode::full ? 1.0 : sample_share(given, total);
  if (share < 1.0) {
    if (Result<void> back = source.rewind(); !back) return std::move(back).error().with("sampling the trace");
    const Result<double> tokens = sampled_tokens(source, options, share);
    if (!tokens) return Error(tokens.error());
    result.share = *tokens;
  }
  const Fleet base = scaled(given, result.share);
  const auto kept = [&](const Arrival& a) { return in_sample(a, share, options.seed); };

  struct Change {
    std::string what;
    Fleet fleet;
    double demand = 0.0;
    std::optional<Slowdown> servers = std::nullopt;
  };
  std::vector<Change> changes = {{"as given", base, 0.0},
                                 {"PAYG prices +20%", with_prices(base, kMore), 0.0},
                                 {"PAYG prices -20%", with_prices(base, kLess), 0.0},
                                 {"demand +20%", base, kChange},
                                 {"demand -20%", base, -kChange}};
  const bool owned = std::any_of(base.destinations.begin(), base.destinations.end(),
                                 [](const Destination& d) { return d.tier == Tier::owned; });
  if (owned) {
    changes.push_back({"owned capacity +20% (lower utilization)", scaled_owned(base, 1.0 + kChange), 0.0});
    changes.push_back({"owned capacity -20% (higher utilization)", scaled_owned(base, 1.0 - kChange), 0.0});
  }
  const bool held = std::any_of(base.destinations.begin(), base.destinations.end(),
                                [](const Destination& d) { return d.tier != Tier::payg; });
  if (held) {
    changes.push_back({"price of a GPU-hour and of fees +20%", with_capacity_prices(base, kMore), 0.0});
    changes.push_back({"price of a GPU-hour and of fees -20%", with_capacity_prices(base, kLess), 0.0});
  }
  changes.push_back({"epsilon halved", with_epsilon(base, 0.5), 0.0});
  changes.push_back({"epsilon doubled", with_epsilon(base, 2.0), 0.0});
  if (owned) {
    changes.push_back({"electricity +20%", with_electricity(base, kMore), 0.0});
    changes.push_back({"electricity -20%", with_electricity(base, kLess), 0.0});
  }

  bool gpus = false, other_world = false;
  const Snapshot offered(base);
  for (const Offer& offer : offered.offers()) {
    gpus = gpus || offer.profile.has_value();
    other_world = other_world || (offer.profile && main.plant.slowdown.of(*offer.profile) != 1.0);
  }
  if (other_world) changes.push_back({"servers as fast as their figures say", base, 0.0, 1.0});
  if (gpus) changes.push_back({"servers 30% slower than their figures say", base, 0.0, kSlower});

  std::optional<SensitivityRow> cheapest;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const Change& change = changes[i];
    Repeated repeated(source, std::max(change.demand, 0.0), options.seed);
    RequestSource& from = change.demand > 0.0 ? static_cast<RequestSource&>(repeated) : source;
    if (Result<void> back = from.rewind(); !back) return std::move(back).error().with("reading the trace again");
    const double thinned = std::max(-change.demand, 0.0);
    if (share < 1.0 || thinned > 0.0) {
      options.keep = [&, thinned](const Arrival& a) {
        Arrival original = a;
        if (a.row < 0) original.row = -a.row;
        return kept(original) && draw(a.row, options.seed, "thin") >= thinned;
      };
    } else {
      options.keep = {};
    }
    options.plant.slowdown = change.servers.value_or(main.plant.slowdown);
    const Snapshot snapshot(change.fleet);
    const Result<RunResult> done = run(snapshot, from, options);
    if (!done) return Error(done.error()).with("sensitivity to " + change.what);
    result.rows.push_back(row_of(change.what, done->statement));
    result.rows.back().servers = change.servers.has_value();
    if (i == 0) cheapest = against_cheapest(done->statement);
    if (progress) progress(static_cast<double>(i + 1) / static_cast<double>(changes.size()));
  }
  result.rows.push_back(*cheapest);
  for (SensitivityRow& row : result.rows) {
    row.claimed_share = share_of(row.claimed, row.baseline);
    row.saving_share = share_of(row.counted, row.baseline);
    row.change = row.saving_share - result.rows.front().saving_share;
  }
  return result;
}

}  // namespace ace
