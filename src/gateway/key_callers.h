#pragma once
/// Callers by the keys they present, within the limits of each.
#include "gateway/callers.h"
#include "gateway/key_book.h"
#include "gateway/limits.h"
#include "gateway/metrics.h"

namespace ace::gateway {

/// What follows `Authorization: Bearer`; the scheme in any case of letters (RFC 9110, 11.1). Empty if there is none.
std::string_view bearer_of(std::span<const net::Field> fields);

class KeyCallers final : public Callers {
 public:
  /// All outlive it, and every Pass it gives.
  KeyCallers(KeyBook& keys, Limits& limits, MetricRegistry& metrics)
      : keys_(keys), limits_(limits), metrics_(metrics) {}
  /// The key is that of `Authorization: Bearer` or of `x-api-key`; two that differ open nothing. Whoever presents one
  /// that does not open is told only that.
  std::variant<Admitted, Refused> admit(std::span<const net::Field> fields, const Fleet& fleet,
                                        const wire::Request* request, Instant now) const override;
  /// One of rpm and of concurrency, no tokens. A key that is for certain models or operations opens no such path: which
  /// model is asked there nobody reads.
  std::variant<Admitted, Refused> admit_unread(std::span<const net::Field> fields, const Fleet& fleet,
                                               Instant now) const override;

 private:
  struct Known {
    std::shared_ptr<const KeyRing> ring;
    const Key* key = nullptr;  ///< of the ring
    Caller caller{};
  };
  std::variant<Known, Refused> known(std::span<const net::Field> fields, const Fleet& fleet, Instant now) const;
  std::variant<Admitted, Refused> within_limits(Known known, std::int64_t foreseen, Instant now) const;
  KeyBook& keys_;
  Limits& limits_;
  MetricRegistry& metrics_;
};

}  // namespace ace::gateway
