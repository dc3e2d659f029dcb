#include <stdexcept>

#include <date/tz.h>
#include <fmt/core.h>

#include "trace/numbers.h"

namespace ace {
namespace {

class FixedZone : public Zone {
 public:
  explicit FixedZone(Duration offset) : offset_(offset) {}
  [[nodiscard]] Result<Instant> to_utc(Instant as_if_utc) const override { return as_if_utc - offset_; }
  [[nodiscard]] Duration offset_at(Instant) const override { return offset_; }

 private:
  Duration offset_;
};

class NamedZone : public Zone {
 public:
  explicit NamedZone(const date::time_zone* zone) : zone_(zone) {}
  [[nodiscard]] Result<Instant> to_utc(Instant as_if_utc) const override {
    const date::local_seconds local{std::chrono::seconds{floor_div(nanos(as_if_utc), nanos(kSecond))}};
    const std::int64_t rest = nanos(as_if_utc) - local.time_since_epoch().count() * nanos(kSecond);
    const date::local_info info = zone_->get_info(local);
    if (info.result == date::local_info::nonexistent) {
      return Error(Errc::bad_input,
                   fmt::format("there was no such local time in {}: the clock was put forward", zone_->name()));
    }
    const std::chrono::seconds utc = local.time_since_epoch() - info.first.offset;
    return instant(utc.count() * nanos(kSecond) + rest);
  }
  [[nodiscard]] Duration offset_at(Instant utc) const override {
    return zone_->get_info(date::sys_seconds{std::chrono::seconds{floor_div(nanos(utc), nanos(kSecond))}}).offset;
  }

 private:
  const date::time_zone* zone_;
};

}  // namespace

Result<std::shared_ptr<const Zone>> zone_of(const std::string& name) {
  const auto unknown = [&] {
    return Error(Errc::bad_input,
                 fmt::format("--tz: expected UTC, an offset such as +02:00 or an IANA name such as Europe/Berlin, got "
                             "\"{}\"",
                             name.substr(0, 64)));
  };
  if (name == "UTC" || name == "Z") return std::shared_ptr<const Zone>(std::make_shared<FixedZone>(Duration{0}));
  if (!name.empty() && (name[0] == '+' || name[0] == '-')) {
    TimeColumn column(TimeKind::zoned, nullptr);
    const Result<Instant> at = column.parse("2000-01-01T00:00:00" + name);
    if (!at) return unknown();
    return std::shared_ptr<const Zone>(
        std::make_shared<FixedZone>(instant_of({.year = 2000, .month = 1, .day = 1}) - *at));
  }
  if (name.find('/') == std::string::npos) return unknown();  // "CEST", "EST": abbreviations carry no rule
  try {
    return std::shared_ptr<const Zone>(std::make_shared<NamedZone>(date::locate_zone(name)));
  } catch (const std::runtime_error&) {
    return unknown();
  }
}

}  // namespace ace
