#pragma once
/// ServeGen client tables: the rates and token statistics of each client of a production model, as published.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "trace/generate.h"

namespace ace {

/// 600 seconds of one client.
struct ServegenRate {
  std::int64_t second = 0;  ///< start of the window
  double rate_per_s = 0.0;
  GapFamily family = GapFamily::gamma;
  double shape = 1.0;
};

/// Token statistics of one client from a second on, until its next ones.
struct ServegenTokens {
  std::int64_t second = 0;
  double prompt_mean = 0, prompt_p50 = 0, prompt_p90 = 0, prompt_p99 = 0;
  double output_mean = 0, output_p50 = 0, output_p90 = 0, output_p99 = 0;
};

struct ServegenClient {
  std::uint32_t number = 0;
  std::vector<ServegenRate> rates;     ///< ascending; idle windows are absent
  std::vector<ServegenTokens> tokens;  ///< ascending; empty if the client's lengths were not published
};

/// Clients by number.
struct Servegen {
  std::vector<ServegenClient> clients;
};

inline constexpr std::int64_t kServegenWindowSeconds = 600;

/// Reads both tables: client,t_s,rate_per_s,cv,pattern,arg1,arg2 and client,window_start_s,in_mean,...,out_p99.
/// @param tokens  may be empty only if no client needs it
/// @return bad_input with the line if a row is malformed, out of order or twice there, or if no client has lengths
Result<Servegen> parse_servegen(std::string_view rates, std::string_view tokens);

struct ServegenOptions {
  GenerateOptions generate;
  std::string model = "servegen";                      ///< every request's model
  Instant start = instant(1'767'571'200'000'000'000);  ///< what second 0 becomes: Monday 2026-01-05T00:00:00Z
};

/// Each client is a tenant ("client-000"). Every window is a stationary renewal process of the published family and
/// shape, its scale such that the expected count is rate x 600 s; windows draw from streams of their own, so days A-B
/// are the same bytes as in the whole run, except for row numbers. Lengths of a window come from the latest statistics
/// at or before it (before the first: from the first); prompt and output are independent, since only their marginals
/// are published. A client without statistics gets the pooled lengths of those that have them, each window weighted by
/// its requests.
/// @return bad_input for unusable options
Result<std::unique_ptr<RequestSource>> generate(std::shared_ptr<const Servegen> tables, const ServegenOptions& options);

/// How many clients, and what share of the requests, take the pooled lengths; for reports.
struct ServegenPooled {
  std::size_t clients = 0;
  double request_share = 0.0;
};
ServegenPooled pooled_of(const Servegen& tables);

}  // namespace ace
