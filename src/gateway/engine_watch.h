#pragma once
/// Looks at what the engines of our pools tell of their load (`metrics` of a destination), every other second, and
/// tells the desk.
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "adapters/wall_clock.h"
#include "gateway/desk.h"
#include "gateway/metrics.h"
#include "net/client.h"

namespace ace::gateway {

class EngineWatch {
 public:
  struct Options {
    Duration interval{2 * kSecond};  ///< between two looks: a fifth of how long one counts
    Duration patience{kSecond};      ///< with one server, its connection included
  };
  /// @param loop, client of one loop, on which everything is asked; all outlive the watch
  EngineWatch(Options options, net::Loop& loop, net::Client& client, Desk& desk, MetricRegistry& metrics);
  /// On the loop, after stop().
  ~EngineWatch();
  /// On the loop: begins to look.
  void start();
  /// On the loop. @param done called when nothing is under way any longer
  void stop(std::function<void()> done);

 private:
  /// One round at one destination.
  struct Look {
    Desk::Scraped seen;
    std::string name;
    std::vector<EngineLoad> loads;
    std::size_t left = 0;  ///< servers that have not been heard
  };
  static net::Detached run(EngineWatch* watch);
  static net::Detached ask(EngineWatch* watch, std::shared_ptr<Look> look, Endpoint server);
  net::Task<> rounds();
  net::Task<std::string> read(const Endpoint& server);
  void look_around();
  void heard(Look& look);

  const Options options_;
  net::Loop& loop_;
  net::Client& client_;
  Desk& desk_;
  MetricRegistry& metrics_;
  WallClock clock_;
  net::Cancel cancel_;
  std::size_t under_way_ = 0;  ///< of the loop, as is what follows
  bool stopping_ = false, running_ = false;
  std::function<void()> stopped_;
  struct Shown {
    EngineLoad load;
    std::int64_t answered = 0;
  };
  std::mutex mutex_;
  std::map<std::string, Shown> shown_;  ///< by destination, of the last round
};

}  // namespace ace::gateway
