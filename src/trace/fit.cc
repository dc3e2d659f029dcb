#include "trace/fit.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "trace/fit_series.h"
#include "trace/generate.h"

namespace ace {
namespace {

using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  ///< tenant, team, model symbols

Key key_of(const Arrival& a) { return {a.tenant, a.team, a.model}; }

template <class Use>
Result<void> each(RequestSource& source, Use use) {
  std::vector<Arrival> batch(4096);
  while (true) {
    const auto n = source.next(batch);
    if (!n) return n.error();
    if (*n == 0) return {};
    for (const Arrival& arrival : std::span(batch).first(*n)) use(arrival);
  }
}

}  // namespace

Result<Profile> fit(RequestSource& source, const FitOptions& options) {
  std::map<Key, Counted> counted;
  Instant first = Instant::max(), last = Instant::min();
  if (auto read = each(source,
                       [&](const Arrival& arrival) {
                         counted[key_of(arrival)].add(arrival);
                         first = std::min(first, arrival.at);
                         last = std::max(last, arrival.at);
                       });
      !read)
    return std::move(read).error();
  if (last <= first) return Error{Errc::bad_input, "fitting a profile: expected requests at two times or more"};

  std::vector<Key> order;  // most requests first, then by name: symbols depend on where a trace was cut
  for (const auto& [key, count] : counted) order.push_back(key);
  const auto names = [&](const Key& key) {
    const auto& [tenant, team, model] = key;
    return std::tie(source.tenants()[tenant], source.teams()[team], source.models()[model]);
  };
  std::sort(order.begin(), order.end(), [&](const Key& a, const Key& b) {
    const auto &x = counted[a], &y = counted[b];
    return x.requests != y.requests ? x.requests > y.requests : names(a) < names(b);
  });
  const std::size_t own = std::min(order.size(), std::max<std::size_t>(options.tenants_max, 1));

  std::map<Key, std::size_t> place;
  std::vector<Counted> totals(own + (order.size() > own ? 1 : 0));
  for (std::size_t i = 0; i < order.size(); ++i) {
    place[order[i]] = std::min(i, own);
    totals[std::min(i, own)].merge(counted[order[i]]);
  }
  std::vector<TenantSeries> series;
  for (std::size_t i = 0; i < totals.size(); ++i)
    series.emplace_back(totals[i], shape_between(totals[i], first, last), first, i);
  if (auto back = source.rewind(); !back) return std::move(back).error().with("fitting a profile, second pass");
  const std::int64_t block_tokens = source.block_tokens().value;
  if (auto read = each(source, [&](const Arrival& a) { series[place[key_of(a)]].add(a, block_tokens); }); !read)
    return std::move(read).error();

  Profile profile;
  profile.name = options.name;
  profile.source = options.source;
  profile.start = instant(floor_div(nanos(first), nanos(kSecond)) * nanos(kSecond));
  profile.length = kSecond * (floor_div(nanos(last) - nanos(profile.start), nanos(kSecond)) + 1);
  double rate = 0.0;
  for (std::size_t i = 0; i < totals.size(); ++i) {
    TenantProfile tenant = series[i].profile(block_tokens);
    if (i < own) {
      std::tie(tenant.name, tenant.team, tenant.model) = names(order[i]);
    } else {
      tenant.name = "other";
    }
    Profile alone = profile;  // the rate that makes this tenant's expected count the measured one
    alone.rate_per_s = 1.0;
    alone.tenants = {tenant};
    tenant.share = static_cast<double>(totals[i].requests) / expected_requests(alone, first, last);
    rate += tenant.share;
    profile.tenants.push_back(std::move(tenant));
  }
  for (TenantProfile& tenant : profile.tenants) tenant.share /= rate;
  profile.rate_per_s = rate;
  return profile;
}

}  // namespace ace
