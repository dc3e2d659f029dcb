#pragma once
/// A profile: what a workload looks like, without the seed that makes one run of it. See docs/GENERATE.md for the file.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "core/time.h"
#include "trace/generate_gaps.h"
#include "trace/generate_tokens.h"

namespace ace {

/// Lengths in tokens; exactly one of the two descriptions is not empty.
struct TokenSpec {
  std::vector<LogNormal> mixture;
  std::vector<Knot> quantiles;  ///< shares ascending from 0 to 1
  friend bool operator==(const TokenSpec&, const TokenSpec&) = default;
};

struct GapSpec {
  GapFamily family = GapFamily::gamma;
  double cv = 1.0;  ///< of the gaps with the shape of day and week taken out
  friend bool operator==(const GapSpec&, const GapSpec&) = default;
};

/// Times of raised load, in steps of five minutes; the mean rate stays what the profile says.
struct EpisodeSpec {
  double per_day = 0.0;
  Duration length = 10 * kMinute;
  double factor = 1.0;
  friend bool operator==(const EpisodeSpec&, const EpisodeSpec&) = default;
};

/// What the prompts of a tenant have in common, in blocks of 512 tokens.
struct PrefixSpec {
  std::int32_t system_blocks = 0;  ///< the same first blocks in every prompt that is long enough
  double continued = 0.0;          ///< share of requests that go on with an earlier conversation, if one is due
  Duration think = 30 * kSecond;   ///< mean time between an answer and the next turn, exponential
  std::int32_t sessions = 256;     ///< conversations remembered; the oldest is forgotten first
  friend bool operator==(const PrefixSpec&, const PrefixSpec&) = default;
};

struct TenantProfile {
  std::string name;
  std::string team;
  std::string model;
  std::string slo;                 ///< the SLO class a fleet file would give it; not written into a trace
  double share = 1.0;              ///< of the load, relative to the other tenants
  std::array<double, 24> hours{};  ///< relative load by hour of day (UTC)
  std::array<double, 7> days{};    ///< relative load, Monday first
  GapSpec gaps;
  EpisodeSpec episodes;
  TokenSpec prompt;
  TokenSpec output;
  double correlation = 0.0;              ///< Spearman's, of prompt and output, in [-1, 1]
  std::vector<std::int32_t> max_output;  ///< limits asked for: the least that holds the output; empty: none stated
  double batch = 0.0;                    ///< share sent through a batch API
  PrefixSpec prefix;
  TenantProfile() {
    hours.fill(1.0);
    days.fill(1.0);
  }
  friend bool operator==(const TenantProfile&, const TenantProfile&) = default;
};

struct Profile {
  std::string name;
  std::string source;  ///< where the figures come from
  Instant start{};
  Duration length = kDay;
  double rate_per_s = 1.0;  ///< requests per second, mean over whole weeks, all tenants
  std::vector<TenantProfile> tenants;
  friend bool operator==(const Profile&, const Profile&) = default;
};

/// Reads a profile from YAML (or JSON, which is YAML). Every mistake is reported, with file:line:column.
/// @return bad_input with one line per mistake
Result<Profile> parse_profile(std::string_view text, const std::string& file);
/// The same profile as text; parse_profile() of it is equal.
std::string to_yaml(const Profile& profile);
/// What is wrong with the values, empty if nothing; parse_profile() has checked already.
std::vector<std::string> faults_of(const Profile& profile);

}  // namespace ace
