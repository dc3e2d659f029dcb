#pragma once
/// A small world to look at: three simulated destinations of one model, their fleet file, and traffic that rises and
/// falls. What `ace serve --demo` runs.
#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "core/money.h"
#include "gateway/config.h"
#include "net/client.h"
#include "simulated/upstream.h"

namespace ace::gateway {

class DemoUpstreams {
 public:
  static Result<std::unique_ptr<DemoUpstreams>> start();
  /// GPUs of our own that cost energy alone and hold a dozen answers at a time, a cheap API with a quota, and the API
  /// that everything would go to without ACE.
  [[nodiscard]] std::string fleet_file() const;

 private:
  std::array<std::unique_ptr<simulated::Upstream>, 3> upstreams_;
};

/// Clients of a gateway on this machine, from a quiet second to a busy one and back within a minute.
class DemoTraffic {
 public:
  struct Tally {
    std::map<std::string, std::uint64_t> answers;  ///< by destination
    std::uint64_t failures = 0;
    Usd cost{}, baseline{};
  };
  explicit DemoTraffic(std::uint16_t port);
  ~DemoTraffic();  ///< waits for what is under way, for at most some seconds
  /// Since the last call.
  Tally take();

 private:
  net::Task<> drive();
  net::Task<> ask(std::uint64_t number);
  static net::Detached run(DemoTraffic* traffic);
  static net::Detached run_one(DemoTraffic* traffic, std::uint64_t number);

  net::Origin origin_;
  net::Loop loop_;
  net::Client client_;
  net::Cancel never_;
  std::atomic<bool> stopping_ = false, driving_ = true;
  std::atomic<std::int64_t> under_way_ = 0;
  std::mutex mutex_;
  Tally tally_;
  std::thread thread_;
};

}  // namespace ace::gateway
