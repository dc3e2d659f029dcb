#pragma once
/// Random fleets, worlds and requests for property tests. Few distinct prices and sizes, so that ties are common; every
/// kind of destination, rule and gap turns up. Header only, tests only.
#include <memory>
#include <string>
#include <vector>

#include "core/rng.h"
#include "dispatch/dispatch.h"

namespace ace::gen {

template <class T>
const T& one_of(Rng& rng, const std::vector<T>& items) {
  return items[rng.below(items.size())];
}
/// Each of `items` with this chance, in order.
template <class T>
std::vector<T> some_of(Rng& rng, const std::vector<T>& items, double chance) {
  std::vector<T> chosen;
  for (const T& item : items)
    if (rng.chance(chance)) chosen.push_back(item);
  return chosen;
}
/// "d03": sorts as numbers do.
inline std::string numbered(char prefix, std::size_t i) {
  return std::string(1, prefix) + (i < 10 ? "00" : i < 100 ? "0" : "") + std::to_string(i);
}

/// A replica that serves about 8,000 prompt tokens/s and 32 to 128 sequences.
inline ServerProfile profile(Rng& rng) {
  ServerProfile p;
  p.prefill_tokens_per_s = static_cast<double>(rng.between(4, 16)) * 1000.0;
  p.step_base_s = 0.010 + 0.002 * static_cast<double>(rng.below(5));
  p.step_per_sequence_s = 0.0001;
  p.step_per_kv_token_s = 2e-8;
  p.batch_max = std::int64_t{32} << rng.below(3);
  p.kv_tokens_max = p.batch_max * 4096;
  p.watts_idle = 400.0;
  p.watts_busy = 400.0 + 200.0 * static_cast<double>(rng.between(1, 10));
  p.measured = true;
  return p;
}

/// A price list of `rows` entries from a few round prices; every fourth with a long-context tier at 8k.
inline PriceBook prices(Rng& rng, std::size_t rows) {
  PriceBook book;
  for (std::size_t i = 0; i < rows; ++i) {
    PriceRow row;
    row.key = numbered('p', i);
    const std::int64_t input = one_of<std::int64_t>(rng, {100, 100, 250, 600, 3000}) * 1'000'000;
    const std::int64_t output = input * rng.between(1, 5);
    for (std::int64_t t = 0; t <= (rng.chance(0.25) ? 1 : 0); ++t) {
      ContextTier tier;
      tier.above = Tokens{t * 8192};
      for (Rates& rates : tier.by_service) {
        rates.set(Unit::input, {input * (t + 1)});
        rates.set(Unit::cached_input, {input * (t + 1) / 4});
        rates.set(Unit::output, {output * (t + 1)});
      }
      row.tiers.push_back(tier);
    }
    book.rows.push_back(row);
  }
  return book;
}

inline Destination destination(Rng& rng, const Fleet& fleet, std::size_t number, Tier tier) {
  Destination d;
  d.name = numbered('d', number);
  d.tier = tier;
  d.provider = ProviderId{static_cast<std::uint32_t>(rng.below(fleet.providers.size()))};
  const bool gpu = tier != Tier::payg && tier != Tier::reserved;
  if (gpu) {
    d.gpus_per_unit = 8;
    d.tp = 4;
    d.units.units = rng.between(0, 3);
    d.interconnect = rng.chance(0.5) ? "nvlink" : "pcie";
    if (tier != Tier::owned) d.rental.emplace().hourly = Usd{20'000'000'000};
  } else if (tier == Tier::payg) {
    if (rng.chance(0.5)) d.tpm = rng.between(20, 2000) * 1000;
    if (rng.chance(0.5)) d.rpm = rng.between(10, 1000);
    d.unlimited = !d.tpm && !d.rpm;
    if (rng.chance(0.2)) d.uplift_ppm = 1'100'000;
  }
  for (std::uint32_t m = 0; m < fleet.models.size(); ++m) {
    if (rng.chance(0.4)) continue;
    Serving s;
    s.model = ModelId{m};
    const bool has_price = tier == Tier::payg ? rng.chance(0.9) : tier == Tier::reserved && rng.chance(0.2);
    if (has_price) s.price = PriceId{static_cast<std::uint32_t>(rng.below(fleet.prices.rows.size()))};
    if (gpu) s.measured = profile(rng);
    if (tier == Tier::reserved) {
      if (rng.chance(0.5))
        s.ptu = PtuTerms{.units = 50, .tokens_per_minute_per_unit = 2500};
      else
        s.gsu = GsuTerms{.units = 4, .tokens_per_second_per_unit = 3000.0, .output_ratio = 4.0, .cached_weight = 0.25};
    }
    if (rng.chance(0.2)) s.context_max = Tokens{4096};
    d.serving.push_back(s);
  }
  return d;
}

/// A fleet of up to `destinations_max` destinations of all tiers. Behind a pointer, since a Snapshot keeps its address.
inline std::unique_ptr<Fleet> fleet(Rng& rng, std::size_t destinations_max = 12) {
  auto f = std::make_unique<Fleet>();
  const std::vector<std::string> places = {"asia", "eu", "us"};
  for (std::size_t i = 0; i < 4; ++i) {
    Provider p;
    p.name = numbered('v', i);
    p.jurisdictions = {one_of(rng, places)};
    p.retention = kDay * one_of<std::int64_t>(rng, {0, 7, 30});
    f->providers.push_back(p);
  }
  f->prices = prices(rng, 6);
  const auto models = static_cast<std::size_t>(rng.between(1, 4));
  for (std::size_t i = 0; i < models; ++i) {
    Model m;
    m.name = numbered('m', i);
    m.context_max = Tokens{std::int64_t{8192} << rng.below(5)};
    if (rng.chance(0.5)) m.output_max = Tokens{4096};
    m.capabilities = kText | (rng.chance(0.5) ? kTools : 0U) | (rng.chance(0.3) ? kImage : 0U);
    if (i > 0 && rng.chance(0.5))
      m.equivalents.push_back(
          {ModelId{static_cast<std::uint32_t>(rng.below(i))}, 0.97, rng.between(8, 13) * 100'000, "docs/q.md"});
    f->models.push_back(m);
  }
  for (std::size_t i = 0; i < 2; ++i) {
    SloClass s;
    s.name = i == 0 ? "batch" : "chat";
    if (i == 0)
      s.deadline = kHour * 24;
    else
      s.ttft = kSecond;
    if (i == 1 && rng.chance(0.5)) s.tpot = Duration{60'000'000};
    if (rng.chance(0.3)) s.miss_value = Usd{rng.between(0, 1'000'000)};
    if (rng.chance(0.1)) s.hardware.interconnect = "nvlink";
    f->slo_classes.push_back(s);
  }
  f->default_slo = SloId{1};
  for (std::size_t i = 0; i < 3; ++i) {
    Compliance c;
    c.name = numbered('c', i);
    c.jurisdictions = some_of(rng, places, 0.5);
    if (rng.chance(0.3)) c.providers = some_of<std::string>(rng, {"v000", "v001", "v002", "v003"}, 0.6);
    if (rng.chance(0.3)) c.data_classes = {"personal"};
    if (rng.chance(0.3)) c.retention_max = kDay * 7;
    f->compliance.push_back(c);
  }
  f->electricity.flat = {rng.between(-20, 300) * 1'000'000};
  f->electricity.pue = 1.3;
  if (rng.chance(0.5))
    f->policies.bias[static_cast<std::uint32_t>(rng.below(4))] = {rng.between(-100, 100) * 1'000'000};
  const std::size_t count = 1 + rng.below(destinations_max);
  const std::vector<Tier> tiers = {Tier::owned, Tier::reserved, Tier::spot, Tier::on_demand, Tier::payg, Tier::payg};
  for (std::size_t i = 0; i < count; ++i) f->destinations.push_back(destination(rng, *f, i, one_of(rng, tiers)));
  for (Model& m : f->models)
    for (std::uint32_t d = 0; d < f->destinations.size() && !m.baseline; ++d)
      for (const Serving& s : f->destinations[d].serving)
        if (&f->models[s.model.value] == &m && s.price && f->destinations[d].tier == Tier::payg && rng.chance(0.7))
          m.baseline = Baseline{DestinationId{d}, *s.price, "2026-11-01", false};
  return f;
}

/// A world somewhere between idle and overloaded, with failures, derates and shadow prices about.
inline Live live(Rng& rng, const Snapshot& snapshot, Instant now) {
  Live l(snapshot);
  const double busy = rng.uniform() * 1.2;
  for (std::size_t i = 0; i < snapshot.offers().size(); ++i) {
    for (std::size_t r = 0; r < kResources; ++r)
      if (l.per_unit[r][i] > 0.0) l.use[r][i] = busy * rng.uniform();
    if (snapshot.offers()[i].profile) {
      l.sustained[i] = busy * rng.uniform();
      l.wait[i] = busy * rng.uniform();
      l.wait_per_token[i] = 1e-4 * rng.uniform();
      for (auto& scales : l.wait_scale) scales[i] = rng.uniform();
    }
    l.knee[i] = 0.05 + 0.93 * rng.uniform();
    for (auto& knees : l.knee_by_class) knees[i] = 0.05 + 0.93 * rng.uniform();
    if (rng.chance(0.3)) l.shadow_price[i] = rng.uniform() * 1e9;
    if (rng.chance(0.3)) l.fail_probability[i] = rng.uniform() * 0.2;
    if (rng.chance(0.2)) l.derate[i] = 1.0 + rng.uniform();
    if (rng.chance(0.1)) l.warmth[i] = rng.uniform() * 1e6;
    if (rng.chance(0.1)) l.throttled_until[i] = nanos(now) + rng.between(-5, 5);
    if (rng.chance(0.1)) l.tripped_until[i] = nanos(now) + rng.between(-5, 5);
    if (rng.chance(0.05))
      for (auto& ready : l.ready) ready[i] = rng.chance(0.3) ? 1 : 0;
    l.cached[i] = rng.chance(0.3) ? static_cast<std::int32_t>(rng.below(5000)) : 0;
    l.scarce[i] = static_cast<std::uint8_t>(rng.below(kResources));
  }
  return l;
}

inline Request request(Rng& rng, const Fleet& fleet) {
  Request r;
  r.model = ModelId{static_cast<std::uint32_t>(rng.below(fleet.models.size()))};
  r.slo = SloId{static_cast<std::uint32_t>(rng.below(fleet.slo_classes.size()))};
  if (rng.chance(0.5)) r.compliance = ComplianceId{static_cast<std::uint32_t>(rng.below(fleet.compliance.size()))};
  if (rng.chance(0.3)) r.data_class = rng.chance(0.5) ? "personal" : "health";
  r.prompt = Tokens{rng.between(1, rng.chance(0.2) ? 40'000 : 3000)};
  r.max_output = Tokens{rng.chance(0.5) ? 0 : rng.between(1, 6000)};
  if (rng.chance(0.1)) r.needs |= kTools;
  if (rng.chance(0.1)) r.needs |= kImage;
  r.predicted.output_mean = static_cast<double>(rng.between(1, 800));
  r.predicted.output_p90 = r.predicted.output_mean * 2.0;
  return r;
}

}  // namespace ace::gen
