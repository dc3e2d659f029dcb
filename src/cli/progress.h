#pragma once
/// One line on stderr that says how far long work is, at what rate, and how long it will take.
#include <chrono>
#include <cstdint>
#include <string>

#include "cli/cli.h"

namespace ace::cli {

class Progress {
 public:
  /// Silent unless stderr is a terminal. @param what "replaying"
  Progress(Context& context, std::string what);
  ~Progress();  // clears the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  /// @param share in [0, 1], negative if unknown  @param done requests so far
  void operator()(double share, std::uint64_t done);

 private:
  using SteadyClock = std::chrono::steady_clock;
  Context* context_;
  std::string what_;
  SteadyClock::time_point began_, shown_;
  bool dirty_ = false;
};

}  // namespace ace::cli
