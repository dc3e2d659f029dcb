#pragma once
/// The process that serves: a loop for each thread, each with a server, a client and a proxy, around one desk.
#include <functional>
#include <memory>
#include <string>

#include "gateway/config.h"
#include "gateway/proxy.h"

namespace ace::gateway {

class Gateway {
 public:
  struct Parts {
    Config config;
    Desk* desk = nullptr;  ///< outlives the gateway, as do the others
    const Callers* callers = nullptr;
    Meter* meter = nullptr;
    AnswerCache* cache = nullptr;            ///< null = none
    std::function<void(SpanRecord)> tell{};  ///< of requests that have ended; empty: nobody wants to know
    std::string salt{};                      ///< random bytes, for what tenants must not share
    std::string authorities{};               ///< PEM file trusted in place of the system's; for tests
  };
  /// Listens and serves when this returns. @return unavailable if it cannot listen, bad_input for certificates
  static Result<std::unique_ptr<Gateway>> start(const Parts& parts);
  /// Cuts what is left; drain first.
  ~Gateway();

  [[nodiscard]] std::uint16_t port() const { return port_; }
  /// Stops accepting, says that it is not ready, lets what is under way end. Returns when it has, or at the limit, when
  /// what is left was cut.
  void drain(Duration limit);

 private:
  struct Lane;  ///< one thread
  explicit Gateway(const Parts& parts);
  ProxyShared shared_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::uint16_t port_ = 0;
  bool drained_ = false;
};

}  // namespace ace::gateway
