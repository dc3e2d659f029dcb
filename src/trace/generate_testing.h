#pragma once
/// For the tests of generator, fit and binary format: profiles and rows that outlive their batch.
#include <vector>

#include "core/hash.h"
#include "core/rng.h"
#include "replay/source.h"
#include "trace/profile.h"

namespace ace::fixture {

inline constexpr Instant kMonday = instant(1'767'571'200'000'000'000);  ///< 2026-01-05T00:00:00Z

/// One tenant, 100 requests/s for an hour, Poisson.
inline Profile small() {
  Profile profile;
  profile.name = "small";
  profile.start = kMonday;
  profile.length = kHour;
  profile.rate_per_s = 100.0;
  TenantProfile& tenant = profile.tenants.emplace_back();
  tenant.name = "acme";
  tenant.model = "llama";
  tenant.prompt.mixture = {{1.0, 1000.0, 0.8}};
  tenant.output.quantiles = {{0.0, 1.0}, {0.5, 100.0}, {1.0, 1000.0}};
  return profile;
}

/// Every feature once, 3 tenants, about 18,000 requests.
inline Profile rich() {
  Profile profile = small();
  profile.name = "rich";
  profile.source = "made up";
  profile.rate_per_s = 5.0;
  TenantProfile chat = profile.tenants[0];
  chat.name = "chat";
  chat.team = "search";
  chat.slo = "fast";
  chat.share = 3.0;
  chat.gaps = {GapFamily::gamma, 2.5};
  chat.prefix = {3, 0.5, 20 * kSecond, 64};
  chat.max_output = {256, 1024};
  TenantProfile batch = profile.tenants[0];
  batch.name = "batch";
  batch.model = "qwen";
  batch.batch = 0.75;
  batch.gaps = {GapFamily::weibull, 1.7};
  batch.episodes = {20.0, 5 * kMinute, 4.0};
  batch.correlation = 0.25;
  batch.prompt.mixture = {{3.0, 200.0, 0.5}, {1.0, 8000.0, 1.0}};
  for (std::size_t hour = 0; hour < 24; ++hour) batch.hours[hour] = 1.0 + 0.1 * static_cast<double>(hour % 12);
  batch.days = {1, 1, 1, 1, 1, 0.5, 0.25};
  profile.tenants.push_back(chat);
  profile.tenants.push_back(batch);
  return profile;
}

/// An arrival with its blocks.
struct Kept {
  Arrival a;
  std::vector<std::uint32_t> blocks;
};

inline std::vector<Kept> all_of(RequestSource& source, std::size_t batch_size = 1000) {
  std::vector<Kept> all;
  std::vector<Arrival> batch(batch_size);
  while (true) {
    const auto n = source.next(batch);
    if (!n || *n == 0) return all;
    for (std::size_t i = 0; i < *n; ++i) {
      all.push_back({batch[i], {batch[i].blocks.begin(), batch[i].blocks.end()}});
      all.back().a.blocks = {};
    }
  }
}

inline std::uint64_t digest(const std::vector<Kept>& rows) {
  std::uint64_t hash = 0;
  for (const Kept& row : rows) {
    const Arrival& a = row.a;
    for (const std::int64_t x :
         {nanos(a.at), a.row, std::int64_t{a.model}, std::int64_t{a.tenant}, std::int64_t{a.team},
          std::int64_t{a.prompt}, std::int64_t{a.output}, std::int64_t{a.max_output}, std::int64_t{a.batch},
          static_cast<std::int64_t>(row.blocks.size())})
      hash = mix(hash, static_cast<std::uint64_t>(x));
    for (const std::uint32_t block : row.blocks) hash = mix(hash, block);
  }
  return hash;
}

inline TokenSpec random_tokens(Rng& rng) {
  TokenSpec spec;
  if (rng.chance(0.5)) {
    for (std::uint64_t i = 0; i <= rng.below(3); ++i)
      spec.mixture.push_back({0.1 + rng.uniform(), 1.0 + 5000.0 * rng.uniform(), 1.5 * rng.uniform()});
    return spec;
  }
  double tokens = static_cast<double>(rng.below(3));
  spec.quantiles.push_back({0.0, tokens});
  for (const double share : {0.1, 0.5, 0.9, 1.0})
    spec.quantiles.push_back({share, tokens += static_cast<double>(rng.below(4000))});
  return spec;
}

inline Profile random_profile(Rng& rng) {
  Profile profile;
  profile.name = "random";
  profile.start = kMonday + kHour * rng.between(0, 200);
  profile.length = kMinute * rng.between(1, 3000);
  profile.rate_per_s = 0.01 + 100.0 * rng.uniform() * rng.uniform();
  for (std::uint64_t i = 0; i <= rng.below(6); ++i) {
    TenantProfile& tenant = profile.tenants.emplace_back();
    tenant.name = "tenant-" + std::to_string(i);
    tenant.model = rng.chance(0.5) ? "a" : "b";
    tenant.share = 0.1 + rng.uniform();
    tenant.gaps = {rng.chance(0.5) ? GapFamily::gamma : GapFamily::weibull, 0.1 + 12.0 * rng.uniform() * rng.uniform()};
    if (rng.chance(0.5)) tenant.episodes = {10.0 * rng.uniform(), kMinute * rng.between(1, 60), 5.0 * rng.uniform()};
    if (rng.chance(0.5))
      for (double& hour : tenant.hours) hour = rng.chance(0.2) ? 0.0 : rng.uniform();
    tenant.hours[3] = 1.0;
    tenant.prompt = random_tokens(rng);
    tenant.output = random_tokens(rng);
    if (rng.chance(0.3)) tenant.correlation = 2.0 * rng.uniform() - 1.0;
    if (rng.chance(0.5))
      tenant.prefix = {static_cast<std::int32_t>(rng.below(5)), rng.uniform(), kSecond * rng.between(0, 90), 64};
    if (rng.chance(0.3)) tenant.max_output = {256, 4096};
    if (rng.chance(0.3)) tenant.batch = rng.uniform();
  }
  return profile;
}

}  // namespace ace::fixture
