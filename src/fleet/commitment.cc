#include "fleet/commitment.h"

#include <algorithm>
#include <cmath>

namespace ace {
namespace {

constexpr double as_double(Tokens tokens) { return static_cast<double>(tokens.value); }

struct PtuRow {
  std::string_view model;
  std::int64_t tokens_per_minute;
  double output_ratio, cached_weight;
  std::int64_t global_min, global_increment, regional_min, regional_increment;
};

// Azure's table of 2026-05-21/22, with the rows that the page of 2026-09-23 added; tokens per minute and unit are
// normalized input tokens. Data-zone deployments have the sizes of global ones. Where a page gives no sizes for a
// kind of deployment, any size passes (1/1): ours is not to guess what is sold.
constexpr PtuRow kPtu[] = {
    {"deepseek-r1", 4'000, 4, 0, 100, 100, 1, 1},
    {"deepseek-v3-0324", 4'000, 4, 0, 100, 100, 1, 1},
    {"gpt-4.1", 3'000, 4, 0, 15, 5, 50, 50},
    {"gpt-4.1-mini", 14'900, 4, 0, 15, 5, 25, 25},
    {"gpt-4.1-nano", 59'400, 4, 0, 15, 5, 25, 25},
    {"gpt-4o", 2'500, 4, 0, 15, 5, 50, 50},
    {"gpt-4o-mini", 37'000, 4, 0, 15, 5, 25, 25},
    {"gpt-5", 4'750, 8, 0, 15, 5, 50, 50},
    {"gpt-5-mini", 23'750, 8, 0, 15, 5, 25, 25},
    {"gpt-5.1", 4'750, 8, 0, 15, 5, 50, 50},
    {"gpt-5.1-codex", 4'750, 8, 0, 15, 5, 50, 50},
    {"gpt-5.2", 3'400, 8, 0, 15, 5, 50, 50},
    {"gpt-5.2-codex", 3'400, 8, 0, 15, 5, 50, 50},
    {"gpt-5.3-codex", 3'400, 8, 0, 15, 5, 50, 50},
    {"gpt-5.4", 2'400, 6, 0, 15, 5, 50, 50},
    {"gpt-5.4-mini", 7'900, 6, 0, 1, 1, 1, 1},
    {"gpt-5.5", 1'200, 6, 0, 15, 5, 50, 50},
    {"gpt-5.6-luna", 30'000, 6, 0, 1, 1, 1, 1},
    {"gpt-5.6-sol", 1'200, 6, 0, 1, 1, 1, 1},
    {"gpt-5.6-terra", 3'000, 6, 0, 1, 1, 1, 1},
    {"gpt-6-astra", 600, 5, 0.1, 1, 1, 1, 1},
    {"gpt-6-sol", 3'000, 5, 0.1, 1, 1, 1, 1},
    {"llama-3.3-70b", 8'450, 4, 0, 100, 100, 1, 1},
    {"o1", 230, 4, 0, 15, 5, 25, 50},
    {"o3", 3'000, 4, 0, 15, 5, 50, 50},
    {"o3-mini", 2'500, 4, 0, 15, 5, 25, 25},
    {"o4-mini", 5'400, 4, 0, 15, 5, 25, 25},
};

/// least + k x step at or above `wanted`; 0 for nothing.
std::int64_t size_for(double wanted, std::int64_t least, std::int64_t step) {
  if (wanted <= 0.0) return 0;
  if (wanted <= static_cast<double>(least)) return least;
  const double steps = std::ceil((wanted - static_cast<double>(least)) / static_cast<double>(step));
  return least + static_cast<std::int64_t>(steps) * step;
}

}  // namespace

std::optional<PtuTerms> ptu_terms(std::string_view model, bool regional) {
  const auto* row = std::find_if(std::begin(kPtu), std::end(kPtu), [&](const PtuRow& r) { return r.model == model; });
  if (row == std::end(kPtu)) return std::nullopt;
  PtuTerms terms;
  terms.tokens_per_minute_per_unit = row->tokens_per_minute;
  terms.output_ratio = row->output_ratio;
  terms.cached_weight = row->cached_weight;
  terms.units_min = regional ? row->regional_min : row->global_min;
  terms.units_increment = regional ? row->regional_increment : row->global_increment;
  return terms;
}

double gsu_tokens_per_second(std::string_view model) {
  if (model == "gemini-2.0-flash-001" || model == "gemini-2.0-flash") return 3360.0;
  if (model == "gemini-live-2.5-flash") return 1620.0;
  return 0.0;
}

double normalized_tokens(const PtuTerms& terms, Tokens uncached, Tokens cached, Tokens output) {
  return as_double(uncached) + terms.cached_weight * as_double(cached) + terms.output_ratio * as_double(output);
}

double normalized_tokens(const GsuTerms& terms, Tokens uncached, Tokens cached, Tokens output) {
  return as_double(uncached) + terms.cached_weight * as_double(cached) + terms.output_ratio * as_double(output);
}

std::int64_t ptu_units_for(const PtuTerms& terms, double normalized_per_minute) {
  return size_for(normalized_per_minute / static_cast<double>(terms.tokens_per_minute_per_unit), terms.units_min,
                  terms.units_increment);
}

std::int64_t gsu_units_for(const GsuTerms& terms, double burndown_per_second) {
  return size_for(burndown_per_second / terms.tokens_per_second_per_unit, terms.units_increment, terms.units_increment);
}

std::int64_t hourly_overage(std::int64_t reserved, std::int64_t in_use) {
  return std::max<std::int64_t>(in_use - reserved, 0);
}

Duration gsu_window_for(std::int64_t units) {
  struct Point {
    std::int64_t units, seconds;
  };
  constexpr Point points[] = {{1, 615}, {10, 100}, {123, 5}};
  if (units <= points[0].units) return points[0].seconds * kSecond;
  for (std::size_t i = 1; i < std::size(points); ++i) {
    const Point a = points[i - 1], b = points[i];
    if (units > b.units) continue;
    // Integers throughout, so that the window is the same number everywhere.
    return a.seconds * kSecond + (b.seconds - a.seconds) * kSecond * (units - a.units) / (b.units - a.units);
  }
  return points[2].seconds * kSecond;
}

// The depth of Azure's bucket is not published. Quotas are stated per minute, so a minute of the committed rate is the
// burst that they promise.
CommitmentMeter::CommitmentMeter(const PtuTerms& terms)
    : CommitmentMeter(static_cast<double>(terms.units * terms.tokens_per_minute_per_unit) / 60.0, kMinute) {}

CommitmentMeter::CommitmentMeter(const GsuTerms& terms)
    : CommitmentMeter(static_cast<double>(terms.units) * terms.tokens_per_second_per_unit, terms.window) {}

void CommitmentMeter::drain(Instant now) {
  if (now <= last_) return;  // a reading from the past drains nothing
  level_ = std::max(0.0, level_ - rate_ * to_seconds(now - last_));
  last_ = now;
}

double CommitmentMeter::level(Instant now) const {
  CommitmentMeter later = *this;
  later.drain(now);
  if (later.level_ <= 0.0) return 0.0;
  return capacity() > 0.0 ? later.level_ / capacity() : 1.0;
}

bool CommitmentMeter::admit(Instant now, double weighted_estimate) {
  drain(now);
  if (level_ >= capacity()) return false;
  level_ += weighted_estimate;
  return true;
}

Duration CommitmentMeter::retry_after(Instant now) const {
  CommitmentMeter later = *this;
  later.drain(now);
  const double over = later.level_ - capacity();
  if (over < 0.0 || rate_ <= 0.0) return Duration{0};
  return from_seconds(over / rate_) + Duration{1};  // full is not below full: one nanosecond more
}

void CommitmentMeter::reconcile(Instant now, double weighted_estimate, double weighted_actual) {
  drain(now);
  level_ = std::max(0.0, level_ + weighted_actual - weighted_estimate);
}

}  // namespace ace
