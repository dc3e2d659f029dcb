#include "adapters/eviction_notice.h"

#include <fmt/format.h>

#include <algorithm>

#include "adapters/http_date.h"
#include "wire/json.h"

namespace ace {
namespace {

using wire::JsonKind;
using wire::JsonValue;

Error corrupt(std::string_view what, std::string_view body) {
  return {Errc::corrupt, fmt::format("reading an eviction notice: expected {}, got \"{}\"", what, body.substr(0, 200))};
}

std::string text_at(JsonValue object, std::string_view name) {
  const std::optional<JsonValue> value = object.get(name);
  return value && value->is(JsonKind::string) ? value->text() : std::string();
}

bool names(JsonValue event, std::string_view machine) {
  const std::optional<JsonValue> resources = event.get("Resources");
  if (!resources || !resources->is(JsonKind::array)) return false;
  for (const JsonValue::Item item : resources->items())
    if (item.value.is(JsonKind::string) && item.value.equals(machine)) return true;
  return false;
}

}  // namespace

std::string_view name_of(Cloud cloud) {
  constexpr std::string_view kNames[] = {"aws", "gcp", "azure"};
  return kNames[static_cast<std::size_t>(cloud)];
}

std::optional<Cloud> cloud_of(std::string_view name) {
  for (const Cloud cloud : {Cloud::aws, Cloud::gcp, Cloud::azure})
    if (name == name_of(cloud)) return cloud;
  return std::nullopt;
}

Duration least_lead(Cloud cloud) { return cloud == Cloud::aws ? 2 * kMinute : 30 * kSecond; }

std::string_view name_of(EvictionNotice::What what) {
  constexpr std::string_view kNames[] = {"terminate", "stop", "hibernate"};
  return kNames[static_cast<std::size_t>(what)];
}

Result<EvictionNotice> parse_aws_action(std::string_view body) {
  constexpr std::string_view kShape = R"({"action":"terminate|stop|hibernate","time":"2026-12-01T08:22:00Z"})";
  wire::Json json;
  if (!json.parse(body) || !json.root().is(JsonKind::object)) return corrupt(kShape, body);
  EvictionNotice notice;
  const std::string action = text_at(json.root(), "action");
  const auto whats = {EvictionNotice::What::terminate, EvictionNotice::What::stop, EvictionNotice::What::hibernate};
  const auto* const found =
      std::find_if(whats.begin(), whats.end(), [&](auto what) { return action == name_of(what); });
  const Result<Instant> at = parse_rfc3339(text_at(json.root(), "time"));
  if (found == whats.end() || !at) return corrupt(kShape, body);
  notice.what = *found;
  notice.gone = *at;
  return notice;
}

Result<bool> parse_gcp_preempted(std::string_view body) {
  while (!body.empty() && (body.back() == '\n' || body.back() == '\r')) body.remove_suffix(1);
  if (body == "TRUE") return true;
  if (body == "FALSE") return false;
  return corrupt("TRUE or FALSE", body);
}

Result<std::optional<EvictionNotice>> parse_azure_events(std::string_view body, std::string_view machine, Instant now) {
  constexpr std::string_view kShape = R"({"DocumentIncarnation":N,"Events":[{"EventId","EventType","Resources",...}]})";
  wire::Json json;
  if (!json.parse(body) || !json.root().is(JsonKind::object)) return corrupt(kShape, body);
  const std::optional<JsonValue> events = json.root().get("Events");
  if (!events || !events->is(JsonKind::array)) return corrupt(kShape, body);
  std::optional<EvictionNotice> first;
  for (const JsonValue::Item item : events->items()) {
    if (!item.value.is(JsonKind::object)) return corrupt(kShape, body);
    const std::string type = text_at(item.value, "EventType"), before = text_at(item.value, "NotBefore");
    if ((type != "Preempt" && type != "Terminate") || !names(item.value, machine)) continue;
    const std::optional<Instant> at = before.empty() ? now : read_http_date(before);
    if (!at) return corrupt(R"(NotBefore as "Thu, 22 Jul 2021 04:50:17 GMT")", before);
    if (!first || *at < first->gone)
      first = EvictionNotice{EvictionNotice::What::terminate, *at, text_at(item.value, "EventId")};
  }
  return first;
}

}  // namespace ace
