#pragma once
/// Asks a cloud's metadata service whether this machine is about to be taken.
#include <cstdint>
#include <functional>
#include <string>

#include "adapters/eviction_notice.h"
#include "net/client.h"

namespace ace {

/// One machine's watch, on one loop.
class EvictionWatch {
 public:
  struct Options {
    Cloud cloud = Cloud::aws;
    net::Origin metadata;  ///< metadata_of(cloud), but for tests
    std::string machine;   ///< Azure: its name as events have it; empty = asked once of the metadata service
    std::chrono::nanoseconds every = std::chrono::seconds{5};      ///< between two questions; GCP holds the question
    std::chrono::nanoseconds patience = std::chrono::seconds{10};  ///< for one answer
  };
  /// What happened since the last notice was told.
  struct Counts {
    std::uint64_t asked = 0, failed = 0;
  };

  /// @param loop, client  outlive the watch
  EvictionWatch(net::Loop& loop, net::Client& client, Options options);

  /// Asks until there is a notice, or forever. A service that does not answer, or not as documented, is told to
  /// `trouble` (once, until it answers again) and asked again: silence is no all-clear.
  /// @return nothing only if cancelled
  net::Task<std::optional<EvictionNotice>> next(net::Cancel& cancel, std::function<void(const Error&)> trouble);

  [[nodiscard]] Counts counts() const { return counts_; }

 private:
  struct Answer {
    int status = 0;  ///< 0: there was none
    std::string body, why;
  };
  net::Task<Answer> ask(std::string method, std::string target, std::string fields, net::Cancel& cancel);
  net::Task<Result<std::optional<EvictionNotice>>> look(net::Cancel& cancel);
  net::Task<Result<std::optional<EvictionNotice>>> look_aws(net::Cancel& cancel);
  net::Task<Result<std::optional<EvictionNotice>>> look_gcp(net::Cancel& cancel);
  net::Task<Result<std::optional<EvictionNotice>>> look_azure(net::Cancel& cancel);

  net::Loop& loop_;
  net::Client& client_;
  Options options_;
  Counts counts_;
  std::string token_;   ///< of AWS's service; empty = none yet, or refused
  bool waits_ = false;  ///< GCP: the state is known, so the question may wait for a change
};

/// Where the service is: 169.254.169.254, and metadata.google.internal. Plain HTTP, link-local.
net::Origin metadata_of(Cloud cloud);

}  // namespace ace
