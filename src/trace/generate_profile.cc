/// From a profile to the windows of its tenants.
#include <algorithm>
#include <numeric>
#include <utility>

#include "core/numeric.h"
#include "trace/generate.h"

namespace ace {
namespace {

constexpr std::int64_t kStep = nanos(5 * kMinute);  ///< rates are constant for this long

template <std::size_t N>
double mean_of(const std::array<double, N>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(N);
}

/// 1970-01-01 was a Thursday; Monday is 0.
std::size_t weekday_of(Instant t) {
  const std::int64_t days = day_of(t) + 3;
  return static_cast<std::size_t>(days - 7 * floor_div(days, 7));
}

std::size_t hour_of_day(Instant t) {
  const std::int64_t hours = hour_of(t);
  return static_cast<std::size_t>(hours - 24 * floor_div(hours, 24));
}

/// Requests per second of one tenant at an instant, episodes spread out.
double rate_at(const Profile& profile, const TenantProfile& tenant, double all_shares, Instant at) {
  const double shape =
      tenant.hours[hour_of_day(at)] / mean_of(tenant.hours) * tenant.days[weekday_of(at)] / mean_of(tenant.days);
  return profile.rate_per_s * tenant.share / all_shares * shape;
}

double shares_of(const Profile& profile) {
  double sum = 0.0;
  for (const TenantProfile& tenant : profile.tenants) sum += tenant.share;
  return sum;
}

TokenTable table_of(const TokenSpec& spec) {
  return spec.mixture.empty() ? TokenTable::from_knots(spec.quantiles) : TokenTable::from_mixture(spec.mixture);
}

class TenantFeed final : public WindowFeed {
 public:
  TenantFeed(const Profile& profile, const TenantProfile& tenant, double scale, std::int64_t end, Rng rng)
      : profile_(profile),
        tenant_(tenant),
        scale_(scale),
        shares_(shares_of(profile)),
        end_(end),
        rng_(rng),
        gaps_(tenant.gaps.family, shape_of(tenant.gaps.family, tenant.gaps.cv)),
        prompt_(table_of(tenant.prompt)),
        output_(table_of(tenant.output)) {
    profile_.tenants.clear();
    steps_in_episode_ = std::max<std::int64_t>(1, nanos(tenant.episodes.length) / kStep);
    starts_ = tenant.episodes.per_day * static_cast<double>(kStep) / static_cast<double>(nanos(kDay));
    const double outside = numeric::pow(1.0 - starts_, static_cast<double>(steps_in_episode_));
    level_ = 1.0 / (1.0 + (tenant.episodes.factor - 1.0) * (1.0 - outside));
    rewind();
  }

  bool next(PaceWindow& window) override {
    const std::int64_t from = nanos(profile_.start) + static_cast<std::int64_t>(step_) * kStep;
    if (from >= end_) return false;
    window.from = from;
    window.length = std::min(kStep, end_ - from);
    window.rate_per_s = scale_ * rate_at(profile_, tenant_, shares_, instant(from)) * episode_factor();
    window.gaps = gaps_;
    window.prompt = &prompt_;
    window.output = &output_;
    window.number = step_++;
    window.fresh = false;
    return true;
  }

  void rewind() override {
    step_ = 0;
    episode_left_ = 0;
  }

 private:
  double episode_factor() {
    if (starts_ <= 0.0) return 1.0;
    if (rng_.split(step_).uniform() < starts_) episode_left_ = steps_in_episode_;
    if (episode_left_ == 0) return level_;
    --episode_left_;
    return level_ * tenant_.episodes.factor;
  }

  Profile profile_;  ///< without its tenants
  TenantProfile tenant_;
  double scale_, shares_;
  std::int64_t end_;
  Rng rng_;
  Gaps gaps_;
  TokenTable prompt_, output_;
  std::int64_t steps_in_episode_ = 1;
  double starts_ = 0.0, level_ = 1.0;
  std::uint64_t step_ = 0;
  std::int64_t episode_left_ = 0;
};

}  // namespace

Result<std::unique_ptr<RequestSource>> generate(const Profile& profile, const GenerateOptions& options) {
  if (const auto faults = faults_of(profile); !faults.empty())
    return Error{Errc::bad_input, "profile " + profile.name + ": " + faults.front()};
  if (!(options.scale > 0.0) || options.first_day < 1 || options.last_day < options.first_day)
    return Error{Errc::bad_input, "expected a positive scale and days A-B with 1 <= A <= B"};
  const std::int64_t start = nanos(profile.start);
  const std::int64_t days = nanos(profile.length) / nanos(kDay) + 1;
  const std::int64_t last = std::min<std::int64_t>(options.last_day, days);
  const std::int64_t end = std::min(start + nanos(profile.length), start + last * nanos(kDay));
  const std::int64_t from = start + (std::min<std::int64_t>(options.first_day, days + 1) - 1) * nanos(kDay);
  const Rng root(options.seed, "trace/episodes");
  std::vector<ClientSpec> clients;
  for (const TenantProfile& tenant : profile.tenants) {
    ClientSpec& client = clients.emplace_back();
    client.name = tenant.name;
    client.team = tenant.team;
    client.model = tenant.model;
    client.correlation = tenant.correlation;
    client.max_output = tenant.max_output;
    std::sort(client.max_output.begin(), client.max_output.end());
    client.batch = tenant.batch;
    client.prefix = tenant.prefix;
    const Rng own = root.split(tenant.name + '\0' + tenant.team + '\0' + tenant.model);
    client.feed = std::make_unique<TenantFeed>(profile, tenant, options.scale, end, own);
  }
  return merge_clients(std::move(clients), "generated from " + profile.name, from, options);
}

double expected_requests(const Profile& profile, Instant from, Instant to) {
  const double all = shares_of(profile);
  const std::int64_t end = std::min(nanos(to), nanos(profile.start + profile.length));
  double sum = 0.0;
  for (std::int64_t step = nanos(profile.start); step < end; step += kStep) {
    const std::int64_t begin = std::max(step, nanos(from));
    const std::int64_t stop = std::min(step + kStep, end);
    if (stop <= begin) continue;
    for (const TenantProfile& tenant : profile.tenants)
      sum += rate_at(profile, tenant, all, instant(step)) * to_seconds(Duration{stop - begin});
  }
  return sum;
}

}  // namespace ace
