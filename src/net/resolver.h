#pragma once
/// Names to addresses, off the loop's thread.
#include <memory>
#include <string>
#include <vector>

#include "core/ip.h"
#include "net/loop.h"

namespace ace::net {

class Resolver {
 public:
  explicit Resolver(Loop& loop);
  ~Resolver();
  /// An address is its own answer. @return empty if the name has none, or none came before the deadline
  Task<std::vector<Ip>> resolve(const std::string& host, Steady deadline);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ace::net
