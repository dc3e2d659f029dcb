#pragma once
/// What clouds tell a machine that they are about to take.
///
/// Sources: EC2 user guide, "Spot Instance interruption notices"; Compute Engine, "Spot VMs", preempted metadata key;
/// Azure, "Scheduled Events for Linux VMs", api-version 2020-07-01. All as of 2026-09.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/result.h"
#include "core/time.h"

namespace ace {

enum class Cloud : std::uint8_t { aws, gcp, azure };
std::string_view name_of(Cloud cloud);
std::optional<Cloud> cloud_of(std::string_view name);

/// From the notice until the machine is gone, at least: 2 minutes, and 30 seconds on GCP (best effort) and Azure.
Duration least_lead(Cloud cloud);

struct EvictionNotice {
  enum class What : std::uint8_t { terminate, stop, hibernate };
  What what = What::terminate;
  Instant gone{};     ///< not before; what is not done then is lost
  std::string event;  ///< Azure's EventId; whoever is done may release the machine early by it
  friend bool operator==(const EvictionNotice&, const EvictionNotice&) = default;
};
std::string_view name_of(EvictionNotice::What what);

/// The body of /latest/meta-data/spot/instance-action: {"action":"terminate","time":"2026-12-01T08:22:00Z"}. (A machine
/// without a notice answers 404.) @return corrupt, saying what was expected
Result<EvictionNotice> parse_aws_action(std::string_view body);

/// The body of instance/preempted: TRUE or FALSE. @return whether it is being taken; corrupt for anything else
Result<bool> parse_gcp_preempted(std::string_view body);

/// The body of /metadata/scheduledevents. Events name every machine of a scale set, so only those that name this one
/// count; Preempt and Terminate take it away, Freeze, Reboot and Redeploy do not. Of several the first to come. Once an
/// event has started its NotBefore is empty: gone is `now`.
/// @param machine  its name as in Resources
/// @return nothing if none takes it away; corrupt, saying what was expected
Result<std::optional<EvictionNotice>> parse_azure_events(std::string_view body, std::string_view machine, Instant now);

}  // namespace ace
