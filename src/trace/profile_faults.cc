/// What a usable profile satisfies.
#include <cmath>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "trace/profile.h"

namespace ace {
namespace {

constexpr double kTokensMax = 1e9;

class Faults {
 public:
  void unless(bool fine, std::string what) {
    if (!fine) faults_.push_back(where_ + std::move(what));
  }
  void at(std::string where) { where_ = std::move(where); }
  std::vector<std::string> take() { return std::move(faults_); }

 private:
  std::string where_;
  std::vector<std::string> faults_;
};

bool positive(double x) { return std::isfinite(x) && x > 0.0; }
bool within(double x, double low, double high) { return x >= low && x <= high; }

void check_tokens(Faults& faults, const TokenSpec& spec, const char* key) {
  faults.unless(spec.mixture.empty() != spec.quantiles.empty(),
                fmt::format("{}: expected either a log-normal mixture or quantiles", key));
  for (const LogNormal& part : spec.mixture)
    faults.unless(positive(part.weight) && within(part.median, 1.0, kTokensMax) && within(part.sigma, 0.0, 5.0),
                  fmt::format("{}: expected weight > 0, median in [1, 1e9], sigma in [0, 5]", key));
  if (spec.quantiles.empty()) return;
  bool rising = spec.quantiles.front().share == 0.0 && spec.quantiles.back().share == 1.0;
  for (std::size_t i = 0; i < spec.quantiles.size(); ++i) {
    const Knot& knot = spec.quantiles[i];
    rising &= within(knot.tokens, 0.0, kTokensMax);
    if (i > 0) rising &= knot.share > spec.quantiles[i - 1].share && knot.tokens >= spec.quantiles[i - 1].tokens;
  }
  faults.unless(rising,
                fmt::format("{}: expected quantiles with shares rising from 0 to 1 and tokens that never fall", key));
}

template <class Values>
bool usable_shape(const Values& values) {
  double sum = 0.0;
  bool fine = true;
  for (const double x : values) {
    fine &= std::isfinite(x) && x >= 0.0;
    sum += x;
  }
  return fine && sum > 0.0;
}

}  // namespace

std::vector<std::string> faults_of(const Profile& profile) {
  Faults faults;
  faults.unless(within(profile.rate_per_s, 1e-9, 1e6), "rate: expected a positive number up to 1e6 requests/s");
  faults.unless(profile.length > Duration{0} && profile.length <= 3660 * kDay, "length: expected up to ten years");
  faults.unless(!profile.tenants.empty(), "tenants: expected at least one");
  std::set<std::tuple<std::string, std::string, std::string>> names;
  for (const TenantProfile& tenant : profile.tenants) {
    faults.at(fmt::format("tenant {:?}: ", tenant.name));
    faults.unless(names.insert({tenant.name, tenant.team, tenant.model}).second,
                  "this name, team and model appear twice");
    faults.unless(positive(tenant.share), "share: expected a positive number");
    faults.unless(usable_shape(tenant.hours), "hours: expected numbers that are not negative and not all zero");
    faults.unless(usable_shape(tenant.days), "days: expected numbers that are not negative and not all zero");
    faults.unless(within(tenant.gaps.cv, 0.01, 50.0), "arrivals.cv: expected a number in [0.01, 50]");
    faults.unless(within(tenant.episodes.per_day, 0.0, 100.0), "episodes.per_day: expected a number in [0, 100]");
    faults.unless(within(tenant.episodes.factor, 0.0, 1000.0), "episodes.factor: expected a number in [0, 1000]");
    faults.unless(tenant.episodes.length > Duration{0} && tenant.episodes.length <= kDay,
                  "episodes.length: expected up to one day");
    check_tokens(faults, tenant.prompt, "prompt");
    check_tokens(faults, tenant.output, "output");
    faults.unless(within(tenant.correlation, -1.0, 1.0), "correlation: expected a number in [-1, 1]");
    faults.unless(within(tenant.batch, 0.0, 1.0), "batch: expected a share in [0, 1]");
    for (const std::int32_t limit : tenant.max_output)
      faults.unless(limit > 0, "max_output: expected positive numbers of tokens");
    faults.unless(tenant.prefix.system_blocks >= 0 && tenant.prefix.system_blocks <= 4096,
                  "prefix.system_blocks: expected 0 to 4096");
    faults.unless(within(tenant.prefix.continued, 0.0, 1.0), "prefix.continued: expected a share in [0, 1]");
    faults.unless(tenant.prefix.think >= Duration{0} && tenant.prefix.think <= 30 * kDay,
                  "prefix.think: expected up to 30 days");
    faults.unless(tenant.prefix.sessions > 0 && tenant.prefix.sessions <= 65536,
                  "prefix.sessions: expected 1 to 65536");
  }
  return faults.take();
}

}  // namespace ace
