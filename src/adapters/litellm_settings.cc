/// The sections around model_list.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "adapters/litellm_parts.h"

namespace ace::litellm {
namespace {

using fleet_file::Place;

struct Reason {
  std::string_view key, why;
};
constexpr Reason kRouter[] = {
    {"routing_strategy", "each request goes to the cheapest destination that can take it, in every mode above observe"},
    {"routing_strategy_args", "there is one strategy"},
    {"retry_after", "a provider's own word for how long to wait is taken, else a default"},
    {"retry_policy", "what is tried again follows from what failed; `policies.attempts_max` bounds it"},
    {"allowed_fails", "a destination trips at 5 failures in a row, or half of at least 20 in 10 s"},
    {"allowed_fails_policy", "a destination trips at 5 failures in a row, or half of at least 20 in 10 s"},
    {"cooldown_time", "a destination that trips is tried again after 5 s, doubling up to 5 min"},
    {"disable_cooldowns", "failures move a destination's price, and trip it, by themselves"},
    {"max_fallbacks", "`policies.attempts_max` bounds all attempts of a request"},
    {"enable_pre_call_checks", "windows, capabilities and compliance always decide who can take a request"},
    {"optional_pre_call_checks", "warm prompt caches are part of a destination's price"},
    {"provider_budget_config", "declare `budgets` in the fleet file; they are by tenant, team, project, key and model"},
    {"enable_tag_filtering", "who may go where is said by `tenants` and `compliance`"},
    {"redis_host", "a gateway keeps its state in its own log"},
    {"redis_port", "a gateway keeps its state in its own log"},
    {"redis_password", "a gateway keeps its state in its own log"},
    {"redis_url", "a gateway keeps its state in its own log"},
};
constexpr Reason kLitellm[] = {
    {"drop_params", "a request goes on as it came; what a destination cannot take is an error that names the field"},
    {"callbacks", "metrics and the log are built in"},
    {"success_callback", "metrics and the log are built in"},
    {"failure_callback", "metrics and the log are built in"},
    {"cache_params", "the cache holds exact matches in memory"},
    {"set_verbose", "nothing of a request is ever logged"},
};
constexpr Reason kGeneral[] = {
    {"database_url", "the spine is a directory: `spine.dir` in ace.yaml"},
    {"store_model_in_db", "the fleet file is the one place that says what exists"},
    {"proxy_batch_write_at", "`spine.durability` in ace.yaml says when an event is durable"},
    {"use_redis_transaction_buffer", "a gateway keeps its state in its own log"},
    {"alerting", "metrics and the log are built in"},
    {"background_health_checks", "health is learnt from the traffic"},
};

template <std::size_t N>
std::string why(const Reason (&reasons)[N], std::string_view key) {
  for (const Reason& r : reasons)
    if (r.key == key) return std::string(r.why);
  return "no counterpart";
}

/// Seconds as a time of ours, at most a day.
std::string seconds_at(const Place& at, Findings& findings) {
  double value = 0.0;
  const std::string_view text = at.text();
  const auto [stop, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault == std::errc() && stop == text.data() + text.size() && value >= 0.001 && value <= 86400.0)
    return fmt::format("{}ms", static_cast<std::int64_t>(value * 1000.0 + 0.5));
  findings.left_out(at, "expected seconds, up to a day");
  return "";
}

void read_attempts(const Place& at, Settings& into, Findings& findings) {
  std::int64_t retries = -1;
  const std::string_view text = at.text();
  const auto [stop, fault] = std::from_chars(text.data(), text.data() + text.size(), retries);
  if (fault != std::errc() || stop != text.data() + text.size() || retries < 0)
    return findings.left_out(at, "expected a whole number of retries");
  into.attempts_max = std::min<std::int64_t>(retries + 1, 10);
  findings.changed(at,
                   fmt::format("`policies.attempts_max: {}`, which counts the first attempt too", *into.attempts_max));
}

/// `fallbacks: [{a: [b, c]}]`: another model's answers in the place of what was asked for need somebody's word.
void read_fallbacks(const Place& at, Findings& findings) {
  findings.left_out(at,
                    "another model answers only where `models.M.equivalents` says that it may, with the quality that "
                    "was judged; destinations of the same model stand in for each other by themselves");
}

void read_aliases(const Place& at, Settings& into, Findings& findings) {
  for (const auto& [alias, place] : members(at)) {
    const Place model = place.is_map() ? member(place, "model") : place;
    if (model.is_scalar() && plain_name(alias) == alias && !alias.empty())
      into.aliases.emplace_back(alias, plain_name(model.text()));
    else
      findings.left_out(place, "expected the name of a model, and letters, digits and . _ - / : @ + in its alias");
  }
}

/// What may stand in either of two sections.
bool read_shared(const std::string& key, const Place& place, Settings& into, Findings& findings) {
  if (key == "num_retries")
    read_attempts(place, into, findings);
  else if (key == "timeout" || key == "request_timeout")
    into.total = seconds_at(place, findings);
  else if (key.ends_with("fallbacks") && key != "max_fallbacks")
    read_fallbacks(place, findings);
  else if (key == "model_group_alias")
    read_aliases(place, into, findings);
  else
    return false;
  return true;
}

}  // namespace

Settings read_settings(const Place& root, Findings& findings) {
  Settings out;
  for (const auto& [section, place] : members(root)) {
    if (section == "model_list") continue;
    if (section == "environment_variables") {
      for (const auto& [name, value] : members(place))
        findings.secret(value, name,
                        "set for the process by the configuration: set it for the gateway, if it still needs it");
      continue;
    }
    for (const auto& [key, value] : members(place)) {
      if (section == "router_settings") {
        if (!read_shared(key, value, out, findings)) findings.left_out(value, why(kRouter, key));
      } else if (section == "litellm_settings") {
        if (key == "cache") {
          out.response_cache = value.text() == "true" || value.text() == "True";
          if (out.response_cache)
            findings.changed(value, "`policies.response_cache: true`: exact matches of one tenant");
        } else if (!read_shared(key, value, out, findings)) {
          findings.left_out(value, why(kLitellm, key));
        }
      } else if (section == "general_settings") {
        if (key == "master_key")
          findings.secret(value, "", "no key opens everything: give each caller its own (`keys` in ace.yaml)");
        else
          findings.left_out(value, why(kGeneral, key));
      } else {
        findings.left_out(value, "no counterpart");
      }
    }
    if (members(place).empty()) findings.left_out(place, "no counterpart");
  }
  return out;
}

}  // namespace ace::litellm
