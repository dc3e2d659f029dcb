#pragma once
/// What the proxy counts of each request that has ended.
#include <array>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "core/money.h"
#include "gateway/metrics.h"
#include "wire/dialect.h"

namespace ace::gateway {

/// How a request ended.
enum class Outcome : std::uint8_t {
  served,
  from_cache,
  bad_request,   ///< a 4xx of the client's own making
  unauthorized,  ///< no key that opens, or one that may not
  over_limit,    ///< a limit of its key, or a budget
  no_capacity,   ///< no destination had room, or others were worth more
  upstream,      ///< a destination failed it
  unrecordable,  ///< the spine could not be written
  client_left,
};
inline constexpr std::size_t kOutcomes = 9;
std::string_view name_of(Outcome outcome);
/// By the status and the code of what the client was told.
Outcome outcome_of(int status, std::string_view code);

struct Ended {
  wire::Operation operation = wire::Operation::chat;
  Outcome outcome = Outcome::served;
  Duration took{0};
  std::optional<Duration> first_token{};  ///< since it came
  std::optional<Duration> overhead{};     ///< that we added, of those that were sent on
  std::string destination{};              ///< a name of the fleet; "" = it was sent nowhere
  std::size_t attempts = 0;
  std::int64_t input_tokens = 0, output_tokens = 0;
  Usd cost{}, baseline{};
};

/// For the whole process, from any thread.
class Meter {
 public:
  explicit Meter(MetricRegistry& registry);
  void ended(const Ended& request);
  /// Of a request that was handed on unread. @param destination "" = it was sent nowhere
  void unread(const std::string& destination, Outcome outcome);

 private:
  struct ByOperation {
    std::array<Counter*, kOutcomes> requests{};
    Histogram* took = nullptr;
  };
  struct ByDestination {
    Counter *requests = nullptr, *input = nullptr, *output = nullptr, *cost = nullptr, *baseline = nullptr;
    Histogram* first_token = nullptr;
  };
  const ByDestination& at(const std::string& destination);

  MetricRegistry& registry_;
  std::array<ByOperation, wire::kOperations> operations_;
  Histogram& overhead_;
  Counter& retries_;
  std::mutex mutex_;  ///< of the map alone
  std::map<std::string, ByDestination> destinations_;
};

}  // namespace ace::gateway
