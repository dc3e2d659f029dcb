#pragma once
/// Test helpers: traces made in memory, and fleets small enough to count on one's fingers. Header only, tests only.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "replay/run.h"

namespace ace::replay_testing {

/// A request and its prefix blocks.
struct Made {
  Arrival arrival;
  std::vector<std::uint32_t> blocks;
};

/// Requests held in memory, in time order, rows numbered from 1. Tenants and models are names given once.
class MemorySource : public RequestSource {
 public:
  explicit MemorySource(std::vector<Made> requests, std::vector<std::string> models = {""},
                        std::vector<std::string> tenants = {""})
      : requests_(std::move(requests)) {
    std::stable_sort(requests_.begin(), requests_.end(),
                     [](const Made& a, const Made& b) { return a.arrival.at < b.arrival.at; });
    for (std::size_t i = 0; i < requests_.size(); ++i) requests_[i].arrival.row = static_cast<std::int64_t>(i + 1);
    for (const std::string& name : models) models_(name);
    for (const std::string& name : tenants) tenants_(name);
    teams_("");
  }
  /// `count` requests as `make(i)` says.
  template <class Make>
  static MemorySource of(std::size_t count, Make make) {
    std::vector<Made> requests;
    for (std::size_t i = 0; i < count; ++i) requests.push_back(make(i));
    return MemorySource(std::move(requests));
  }

  Result<std::size_t> next(std::span<Arrival> batch) override {
    std::size_t n = 0;
    for (; n < batch.size() && at_ < requests_.size(); ++n, ++at_) {
      batch[n] = requests_[at_].arrival;
      batch[n].blocks = requests_[at_].blocks;
    }
    return n;
  }
  Result<void> rewind() override {
    if (once) return Error(Errc::unavailable, "this trace can be read only once");
    at_ = 0;
    return {};
  }
  [[nodiscard]] const Interner& models() const override { return models_; }
  [[nodiscard]] const Interner& tenants() const override { return tenants_; }
  [[nodiscard]] const Interner& teams() const override { return teams_; }
  [[nodiscard]] std::string format() const override { return "made in memory"; }

  bool once = false;  ///< behaves like a pipe

 private:
  std::vector<Made> requests_;
  Interner models_, tenants_, teams_;
  std::size_t at_ = 0;
};

inline Made made(double at_s, std::int32_t prompt, std::int32_t output, std::vector<std::uint32_t> blocks = {}) {
  Made m;
  m.arrival.at = instant(0) + from_seconds(at_s);
  m.arrival.prompt = prompt;
  m.arrival.output = output;
  m.blocks = std::move(blocks);
  return m;
}

inline PriceRow price_row(std::string key, std::int64_t input, std::int64_t cached, std::int64_t output) {
  PriceRow row;
  row.key = std::move(key);
  row.tiers.resize(1);
  for (Rates& rates : row.tiers.front().by_service) {
    rates.set(Unit::input, {input});
    rates.set(Unit::cached_input, {cached});
    rates.set(Unit::output, {output});
  }
  return row;
}

/// One model "m" and one pay-as-you-go destination "api" (1 USD per million tokens of any kind, no quota) that is its
/// baseline; a chat class with 2 s to the first token. Destinations are added behind it by the test.
inline std::unique_ptr<Fleet> api_fleet(std::int64_t price = 1'000'000'000) {
  auto f = std::make_unique<Fleet>();
  f->providers.resize(1);
  f->providers[0].name = "p";
  f->prices.rows = {price_row("api/m", price, price, price)};
  f->models.resize(1);
  f->models[0].name = "m";
  f->models[0].context_max = Tokens{100'000};
  f->models[0].baseline = Baseline{DestinationId{0}, PriceId{0}, "2026-11-01", true};
  f->slo_classes.resize(1);
  f->slo_classes[0].name = "chat";
  f->slo_classes[0].ttft = 2 * kSecond;
  f->default_slo = SloId{0};
  Destination api;
  api.name = "api";
  api.provider = ProviderId{0};
  api.tier = Tier::payg;
  api.unlimited = true;
  api.serving.resize(1);
  api.serving[0].model = ModelId{0};
  api.serving[0].price = PriceId{0};
  f->destinations = {api};
  return f;
}

/// 10,000 prompt tokens/s; a step takes 10 ms, so up to 8 sequences get 100 tokens/s each.
inline ServerProfile simple_profile() {
  ServerProfile p;
  p.prefill_tokens_per_s = 10'000.0;
  p.step_base_s = 0.010;
  p.batch_max = 8;
  p.kv_tokens_max = 1'000'000;
  p.watts_idle = 100.0;
  p.watts_busy = 100.0;
  p.measured = true;
  return p;
}

/// An owned pool of single-GPU units.
inline Destination owned_pool(const ServerProfile& profile, std::int64_t units = 1) {
  Destination d;
  d.name = "own";
  d.provider = ProviderId{0};
  d.tier = Tier::owned;
  d.gpus_per_unit = 1;
  d.tp = 1;
  d.units.units = units;
  d.serving.resize(1);
  d.serving[0].model = ModelId{0};
  d.serving[0].measured = profile;
  return d;
}

}  // namespace ace::replay_testing
