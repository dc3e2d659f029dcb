#pragma once
/// ace.yaml: where the gateway listens, where it records, how far it acts. What exists and what it costs is the fleet
/// file's.
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/fleet.h"
#include "gateway/desk.h"

namespace ace::gateway {

struct Config {
  struct Listen {
    std::string address = "127.0.0.1";
    std::uint16_t port = 8080;     ///< 0 = any free one
    std::string certificate, key;  ///< PEM files; empty = plain
    friend bool operator==(const Listen&, const Listen&) = default;
  };
  Listen listen;
  std::optional<Listen> admin;  ///< none = no admin API
  unsigned threads = 0;         ///< 0 = one for each CPU
  std::string fleet, prices;    ///< files; prices empty = none beside the fleet file
  std::string spine_dir;        ///< directory
  spine::Durability durability = spine::Durability::group;
  std::set<std::string, std::less<>> strict;  ///< tenants whose answers wait until they are recorded durably
  bool serve_unledgered = false;
  std::string keys;    ///< file; empty = nobody is asked for one
  std::string tenant;  ///< whose the requests are where nobody is asked for a key
  Mode mode = Mode::observe;
  std::int64_t canary_ppm = 0;
  bool alike = false;  ///< canary: A/A, both arms served alike
  TrialGates trial;
  std::map<std::string, std::string> routes;  ///< model -> destination
  std::size_t queue_length = 1000;
  Duration patience{30 * kSecond};
  struct Timeouts {
    Duration connect{kSecond}, first_token{30 * kSecond}, next_token{15 * kSecond}, total{600 * kSecond};
    friend bool operator==(const Timeouts&, const Timeouts&) = default;
  } timeouts;
  struct Cache {
    std::size_t bytes = 64U << 20U, answer_bytes = 1U << 20U;
    Duration ttl = kHour;
    bool sampled = false;  ///< also answers that were drawn at a temperature
    friend bool operator==(const Cache&, const Cache&) = default;
  };
  std::optional<Cache> cache;         ///< of answers; none = none
  std::optional<Endpoint> telemetry;  ///< an OpenTelemetry collector
  Duration drain{30 * kSecond};
  std::uint64_t body_bytes = 10 * 1024 * 1024;
  friend bool operator==(const Config&, const Config&) = default;
};

struct ConfigReading {
  Config config;
  std::vector<Mistake> mistakes;  ///< not empty = it must not be used
  std::vector<std::string> warnings;
};
/// All mistakes at once, as for a fleet file. A mode that cannot be read is `observe`, which acts on nothing, and a
/// warning.
ConfigReading parse_config(std::string_view yaml, const std::string& file);

/// Where the static route leads, by model: as configured, else the destination of its baseline, else the first declared
/// pay-as-you-go offer, else the first declared one. None where nobody who can be called serves the model.
/// @param callable by destination @return not_found or bad_input for a route that names what is not there
Result<std::vector<OfferId>> static_routes(const Snapshot& fleet, const std::map<std::string, std::string>& routes,
                                           const std::vector<bool>& callable);

}  // namespace ace::gateway
