#include "dispatch/predictor.h"

#include <algorithm>
#include <bit>

namespace ace {
namespace {

constexpr std::uint32_t kNoCell = 0xffff'ffff;
/// Shipped priors, our choice: interactive answers between those of Azure's code trace (mean 28, p90 55 tokens) and
/// Mooncake's conversations (mean 343, p90 597), batch answers longer. Sixteen completions replace them.
constexpr Prediction kInteractive{211.0, 420.0}, kDeferred{350.0, 800.0};

Prediction cap_prior(Prediction prior, std::int64_t cap) {
  if (cap <= 0) return prior;
  const double most = static_cast<double>(cap);
  return {std::min(prior.output_mean, most), std::min(prior.output_p90, most)};
}

}  // namespace

/// Two buckets per octave: [2^k, 1.5 x 2^k) and [1.5 x 2^k, 2^(k+1)).
std::size_t LengthSketch::bucket_of(std::int64_t tokens) {
  const auto n = static_cast<std::uint64_t>(std::max<std::int64_t>(tokens, 1));
  const auto octave = static_cast<std::size_t>(std::bit_width(n) - 1);
  const std::size_t upper = octave == 0 ? 0 : (n >> (octave - 1)) & 1U;
  return std::min(2 * octave + upper, kBuckets - 1);
}

double LengthSketch::lower_edge(std::size_t bucket) {
  const double octave = static_cast<double>(std::uint64_t{1} << (bucket / 2));
  return bucket % 2 == 0 ? octave : 1.5 * octave;
}

void LengthSketch::add(std::int64_t tokens) {
  const std::int64_t n = std::clamp<std::int64_t>(tokens, 0, std::int64_t{1} << 20);
  const std::size_t b = bucket_of(n);
  ++counts_[b];
  sums_[b] += n;
  ++added_;
  if (++total_ < kRemembered) return;
  total_ = 0;
  for (std::size_t i = 0; i < kBuckets; ++i) {
    const std::uint32_t before = counts_[i];
    counts_[i] /= 2;
    if (before > 0) sums_[i] = sums_[i] / before * counts_[i];
    total_ += counts_[i];
  }
}

Prediction LengthSketch::compute(std::int64_t cap) const {
  const double most = cap > 0 ? static_cast<double>(cap) : 1e18;
  double sum = 0.0, p90 = 0.0;
  std::uint64_t below = 0;
  const std::uint64_t rank = (std::uint64_t{total_} * 9 + 9) / 10;  // nearest rank: ceil(0.9 n)
  bool found = false;
  for (std::size_t i = 0; i < kBuckets; ++i) {
    if (counts_[i] == 0) continue;
    const double n = counts_[i], mean = static_cast<double>(sums_[i]) / n;
    sum += n * std::min(mean, most);
    below += counts_[i];
    if (!found && below >= rank) {
      found = true;  // placed linearly inside its bucket
      const double into = (static_cast<double>(rank) - static_cast<double>(below - counts_[i])) / n;
      p90 = lower_edge(i) + (lower_edge(i + 1) - lower_edge(i)) * into;
    }
  }
  const double mean = total_ > 0 ? sum / total_ : 0.0;
  return {mean, std::max(mean, std::min(p90, most))};
}

Prediction LengthSketch::capped(std::int64_t cap) const {
  if (cap == cap_ && added_ < fresh_until_) return answer_;
  answer_ = compute(cap);
  cap_ = cap;
  added_ = 0;
  fresh_until_ = 1 + total_ / 32;
  return answer_;
}

Predictor::Predictor(const Snapshot& snapshot) : tenants_(snapshot.fleet().tenants.size() + 1) {
  const Fleet& fleet = snapshot.fleet();
  cell_of_.assign(fleet.models.size() * tenants_, kNoCell);
  by_model_.resize(fleet.models.size());
  by_class_.resize(fleet.slo_classes.size());
  for (const SloClass& slo : fleet.slo_classes) deferrable_.push_back(slo.deferrable());
}

std::size_t Predictor::pair_of(ModelId model, TenantId tenant) const {
  const std::size_t t = tenant.value < tenants_ - 1 ? tenant.value : tenants_ - 1;
  return model.value * tenants_ + t;
}

Prediction Predictor::predict(ModelId model, TenantId tenant, SloId slo, Tokens max_output) const {
  const std::int64_t cap = max_output.value;
  if (model.value < by_model_.size()) {
    if (const std::uint32_t cell = cell_of_[pair_of(model, tenant)]; cell != kNoCell)
      if (const LengthSketch& own = cells_[cell]; own.count() >= kEnough) return own.capped(cap);
    if (const LengthSketch& own = by_model_[model.value]; own.count() >= kEnough) return own.capped(cap);
  }
  if (slo.value >= by_class_.size()) return cap_prior(kInteractive, cap);
  if (const LengthSketch& own = by_class_[slo.value]; own.count() >= kEnough) return own.capped(cap);
  return cap_prior(deferrable_[slo.value] ? kDeferred : kInteractive, cap);
}

void Predictor::completed(ModelId model, TenantId tenant, SloId slo, Tokens output) {
  if (model.value < by_model_.size()) {
    std::uint32_t& cell = cell_of_[pair_of(model, tenant)];
    if (cell == kNoCell && cells_.size() < kCells) {
      cell = static_cast<std::uint32_t>(cells_.size());
      cells_.emplace_back();
    }
    if (cell != kNoCell) cells_[cell].add(output.value);
    by_model_[model.value].add(output.value);
  }
  if (slo.value < by_class_.size()) by_class_[slo.value].add(output.value);
}

void Predictor::inherit(const Predictor& before, const Kin& kin) {
  for (std::uint32_t m = 0; m < kin.models.size(); ++m) {
    const ModelId model = kin.models[m];
    if (!model.valid()) continue;
    by_model_[m] = before.by_model_[model.value];
    for (std::uint32_t t = 0; t < tenants_; ++t) {
      const bool declared = t < kin.tenants.size();
      if (declared && !kin.tenants[t].valid()) continue;
      const std::uint32_t cell = before.cell_of_[before.pair_of(model, declared ? kin.tenants[t] : TenantId{})];
      if (cell == kNoCell) continue;
      cell_of_[m * tenants_ + t] = static_cast<std::uint32_t>(cells_.size());
      cells_.push_back(before.cells_[cell]);
    }
  }
  for (std::uint32_t s = 0; s < kin.slo_classes.size(); ++s)
    if (kin.slo_classes[s].valid()) by_class_[s] = before.by_class_[kin.slo_classes[s].value];
}

}  // namespace ace
