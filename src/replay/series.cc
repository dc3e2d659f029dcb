#include "replay/series.h"

#include <algorithm>

#include "core/check.h"

namespace ace {
namespace {

void add(std::vector<std::int64_t>& into, const std::vector<std::int64_t>& from) {
  for (std::size_t i = 0; i < from.size(); ++i) into[i] += from[i];
}

void add(SeriesBucket& into, const SeriesBucket& from) {
  add(into.requests, from.requests);
  add(into.tokens, from.tokens);
  add(into.cost_nano, from.cost_nano);
  into.arrived += from.arrived;
  into.arrived_tokens += from.arrived_tokens;
  into.served += from.served;
  into.slo_met += from.slo_met;
  into.not_served += from.not_served;
}

SeriesBucket empty_bucket(std::size_t destinations) {
  SeriesBucket bucket;
  bucket.requests.resize(destinations);
  bucket.tokens.resize(destinations);
  bucket.cost_nano.resize(destinations);
  return bucket;
}

Instant floor_to(Instant t, Duration width) { return instant(floor_div(nanos(t), nanos(width)) * nanos(width)); }

}  // namespace

SeriesBucket& LoadSeries::at(Instant t) {
  if (!started_) {
    start_ = floor_to(t, width_);
    started_ = true;
  }
  ACE_CHECK(t >= start_, "a series only grows forward");
  auto index = static_cast<std::size_t>((t - start_) / width_);
  while (index >= kBucketsMax) {
    widen();
    index = static_cast<std::size_t>((t - start_) / width_);
  }
  while (buckets_.size() <= index) buckets_.push_back(empty_bucket(destinations_));
  return buckets_[index];
}

void LoadSeries::widen() {
  const Duration width = 2 * width_;
  const Instant start = floor_to(start_, width);
  std::vector<SeriesBucket> wider;
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    const auto index = static_cast<std::size_t>((start_ + static_cast<std::int64_t>(i) * width_ - start) / width);
    while (wider.size() <= index) wider.push_back(empty_bucket(destinations_));
    add(wider[index], buckets_[i]);
  }
  width_ = width;
  start_ = start;
  buckets_ = std::move(wider);
}

void LoadSeries::merge(const LoadSeries& other) {
  if (!other.started_) return;
  if (!started_) {
    *this = other;
    return;
  }
  LoadSeries mine = *this;
  LoadSeries theirs = other;
  while (mine.width_ < theirs.width_) mine.widen();
  while (theirs.width_ < mine.width_) theirs.widen();
  LoadSeries both(destinations_);
  both.width_ = mine.width_;
  both.started_ = true;
  both.start_ = std::min(mine.start_, theirs.start_);
  for (const LoadSeries* part : {&mine, &theirs})
    for (std::size_t i = 0; i < part->buckets_.size(); ++i) {
      const Instant t = std::max(part->start_ + static_cast<std::int64_t>(i) * part->width_, both.start_);
      add(both.at(t), part->buckets_[i]);
    }
  *this = std::move(both);
}

}  // namespace ace
