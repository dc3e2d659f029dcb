#pragma once
/// Who a request is from: a port, behind which keys are checked and limits kept.
#include <memory>
#include <span>
#include <variant>

#include "gateway/caller.h"
#include "gateway/world.h"
#include "net/http.h"
#include "wire/request.h"

namespace ace::gateway {

/// What a caller holds until its request has ended.
class Pass {
 public:
  virtual ~Pass() = default;
  /// It has ended. @param tokens that it used in all
  virtual void used(std::int64_t tokens, Instant now) = 0;
};

class Callers {
 public:
  struct Admitted {
    Caller caller;
    std::unique_ptr<Pass> pass{};  ///< null: nothing is held
  };
  struct Refused {
    wire::WireError error;
    Duration retry_after{0};  ///< 0: trying again does not help
  };
  virtual ~Callers() = default;
  /// From any thread. @param request null where only who asks is of interest
  virtual std::variant<Admitted, Refused> admit(std::span<const net::Field> fields, const Fleet& fleet,
                                                const wire::Request* request, Instant now) const = 0;
  /// Of a request that is handed on unread: its model and its tokens are not known.
  virtual std::variant<Admitted, Refused> admit_unread(std::span<const net::Field> fields, const Fleet& fleet,
                                                       Instant now) const = 0;
};

/// Nobody is asked for a key: all requests are of one tenant.
class OneCaller final : public Callers {
 public:
  explicit OneCaller(std::string tenant) : tenant_(std::move(tenant)) {}
  std::variant<Admitted, Refused> admit(std::span<const net::Field>, const Fleet& fleet, const wire::Request*,
                                        Instant) const override {
    return Admitted{caller_of(fleet, tenant_)};
  }
  std::variant<Admitted, Refused> admit_unread(std::span<const net::Field>, const Fleet& fleet,
                                               Instant) const override {
    return Admitted{caller_of(fleet, tenant_)};
  }

 private:
  std::string tenant_;
};

}  // namespace ace::gateway
