#include "adapters/provider_refusal.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "adapters/http_date.h"

namespace ace {
namespace {

constexpr std::size_t kMessageMost = 512;

std::string string_at(wire::JsonValue object, std::string_view name) {
  const auto value = object.get(name);
  if (!value) return {};
  if (value->is(wire::JsonKind::string)) return value->text();
  return value->is(wire::JsonKind::number) ? std::string(value->raw()) : std::string();
}

/// Digits with an optional fraction, times `unit`, at most a day. Nothing for any other spelling.
std::optional<Duration> scaled(std::string_view digits, Duration unit) {
  const std::size_t dot = digits.find('.');
  const std::string_view whole = digits.substr(0, dot);
  const std::string_view fraction = dot == std::string_view::npos ? std::string_view() : digits.substr(dot + 1);
  const auto is_number = [](std::string_view s) { return s.find_first_not_of("0123456789") == std::string_view::npos; };
  if (whole.empty() || whole.size() > 15 || !is_number(whole) || !is_number(fraction)) return std::nullopt;
  std::int64_t count = 0;
  std::from_chars(whole.data(), whole.data() + whole.size(), count);
  if (count > kDay / unit) return kDay;
  Duration sum = unit * count, part = unit;
  for (const char c : fraction) sum += (part /= 10) * (c - '0');
  return std::min<Duration>(sum, kDay);
}

std::string_view value_of(std::span<const net::Field> fields, std::string_view name) {
  const net::Field* field = net::find(fields, name);
  return field == nullptr ? std::string_view() : field->value;
}

Duration until(Instant then, Instant now) { return std::clamp<Duration>(then - now, Duration{0}, kDay); }

std::int64_t count_of(std::string_view text) {
  std::int64_t value = -1;
  const auto [stop, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  return fault == std::errc() && stop == text.data() + text.size() && value >= 0 ? value : -1;
}

/// At most so many bytes of a provider's text, whole characters, control bytes left out. @param text UTF-8
std::string clipped(std::string_view text) {
  std::size_t size = std::min(text.size(), kMessageMost);
  while (size < text.size() && size > 0 && (static_cast<unsigned char>(text[size]) & 0xc0) == 0x80) --size;
  std::string out(text.substr(0, size));
  std::erase_if(out, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  return out;
}

bool is_token(std::string_view text) {
  return !text.empty() && text.size() <= 64 &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-.") == std::string_view::npos;
}

/// The limit that is used up, else the one that the body names.
RateLimit limit_of(const Windows& windows, const ErrorBody& error) {
  for (std::size_t i = 0; i < windows.size(); ++i)
    if (windows[i].remaining == 0) return static_cast<RateLimit>(i);
  if (error.type == "tokens") return RateLimit::tokens;
  if (error.type == "requests") return RateLimit::requests;
  const auto says = [&](std::string_view words) { return error.message.find(words) != std::string::npos; };
  if (says("output tokens per")) return RateLimit::output_tokens;
  if (says("input tokens per")) return RateLimit::input_tokens;
  if (says("okens per")) return RateLimit::tokens;
  if (says("equests per")) return RateLimit::requests;
  return RateLimit::unknown;
}

/// Out of money or of a monthly quota: waiting a second does not help.
bool is_out_of_credit(const ErrorBody& error) {
  for (const std::string_view word : {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"})
    if (error.code == word || error.type == word) return true;
  return false;
}

/// A 404 that means the model or the deployment, and so the destination, not something that the request names.
bool is_no_such_model(const ErrorBody& error) {
  if (error.message.empty() && error.code.empty()) return true;  // no API stands there at all
  for (const std::string_view word :
       {"model_not_found", "DeploymentNotFound", "NotFoundError", "NOT_FOUND", "Not Found"})
    if (error.code == word || error.type == word || error.message == word) return true;
  return error.type == "not_found_error" && error.message.find("model") != std::string::npos;
}

Rejection why_of(int status, const ErrorBody& error) {
  switch (status) {
    case 429:
      return is_out_of_credit(error) ? Rejection::refused : Rejection::throttled;
    case 401:
    case 402:
    case 403:
      return Rejection::refused;
    case 404:
      return is_no_such_model(error) ? Rejection::refused : Rejection::request;
    case 408:
    case 409:
    case 424:
    case 425:
      return Rejection::failed;
    case 503:
    case 529:
      return Rejection::overloaded;
    default:
      if (status >= 400 && status < 500) return Rejection::request;
      // A redirect is never followed: the URL in the fleet file is wrong.
      return status >= 300 && status < 400 ? Rejection::refused : Rejection::failed;
  }
}

wire::WireError told_to_client(int status, Rejection why, const ErrorBody& error) {
  switch (why) {
    case Rejection::request:
      return {status, is_token(error.code) ? error.code : "rejected_by_provider",
              error.message.empty() ? fmt::format("the provider refused the request with status {}", status)
                                    : clipped(error.message),
              is_token(error.param) ? error.param : ""};
    case Rejection::throttled:
      return {429, "provider_rate_limited", "the provider's rate limit is reached"};
    case Rejection::overloaded:
      return {503, "provider_overloaded", "the provider is overloaded"};
    case Rejection::refused:
      return refused_call(status);
    case Rejection::failed:
      break;
  }
  return {502, "provider_failed", fmt::format("the provider failed with status {}", status)};
}

}  // namespace

wire::WireError refused_call(int status) {
  return {502, "provider_refused", fmt::format("the provider refused our call with status {}", status)};
}

ErrorBody read_error_body(std::string_view body, wire::Json& json) {
  ErrorBody out;
  if (body.empty() || !json.parse(body)) return out;
  wire::JsonValue root = json.root();
  if (root.is(wire::JsonKind::array)) {
    if (root.size() == 0) return out;
    root = (*root.begin_items()).value;
  }
  if (!root.is(wire::JsonKind::object)) return out;
  wire::JsonValue at = root;
  if (const auto inner = root.get("error")) {
    if (inner->is(wire::JsonKind::object))
      at = *inner;
    else
      out.message = string_at(root, "error");
  }
  if (out.message.empty()) out.message = string_at(at, "message");
  if (out.message.empty()) out.message = string_at(at, "detail");
  out.type = string_at(at, "type");
  if (out.type.empty()) out.type = string_at(at, "status");
  out.code = string_at(at, "code");
  out.param = string_at(at, "param");
  const auto details = at.get("details");
  if (!details || !details->is(wire::JsonKind::array)) return out;
  for (const auto item : details->items()) {
    const std::string delay = string_at(item.value, "retryDelay");
    if (delay.ends_with('s')) out.retry_after = scaled(std::string_view(delay).substr(0, delay.size() - 1), kSecond);
  }
  return out;
}

std::optional<Duration> read_retry_after(std::span<const net::Field> fields, Instant now) {
  if (const auto ms = scaled(value_of(fields, "retry-after-ms"), kSecond / 1000)) return ms;
  const std::string_view value = value_of(fields, "retry-after");
  if (const auto seconds = scaled(value, kSecond)) return seconds;
  if (const auto date = read_http_date(value)) return until(*date, now);
  return std::nullopt;
}

std::optional<Duration> read_go_duration(std::string_view text) {
  if (text.empty() || text.size() > 32) return std::nullopt;
  Duration sum{0};
  while (!text.empty()) {
    const std::size_t digits = text.find_first_not_of("0123456789.");
    if (digits == std::string_view::npos || digits == 0) return std::nullopt;
    std::string_view unit = text.substr(digits);
    unit = unit.substr(0, unit.find_first_of("0123456789."));
    const Duration one = unit == "h"    ? Duration(kHour)
                         : unit == "m"  ? Duration(kMinute)
                         : unit == "s"  ? Duration(kSecond)
                         : unit == "ms" ? Duration{1'000'000}
                         : unit == "us" ? Duration{1'000}
                         : unit == "ns" ? Duration{1}
                                        : Duration{0};
    if (one == Duration{0}) return std::nullopt;
    const auto part = scaled(text.substr(0, digits), one);
    if (!part) return std::nullopt;
    sum = std::min<Duration>(sum + *part, kDay);
    text.remove_prefix(digits + unit.size());
  }
  return sum;
}

Windows read_windows(std::span<const net::Field> fields, Instant now) {
  struct Names {
    RateLimit limit;
    std::string_view limit_name, remaining, reset;
  };
  static constexpr Names names[] = {
      {RateLimit::requests, "x-ratelimit-limit-requests", "x-ratelimit-remaining-requests",
       "x-ratelimit-reset-requests"},
      {RateLimit::tokens, "x-ratelimit-limit-tokens", "x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"},
      {RateLimit::requests, "anthropic-ratelimit-requests-limit", "anthropic-ratelimit-requests-remaining",
       "anthropic-ratelimit-requests-reset"},
      {RateLimit::tokens, "anthropic-ratelimit-tokens-limit", "anthropic-ratelimit-tokens-remaining",
       "anthropic-ratelimit-tokens-reset"},
      {RateLimit::input_tokens, "anthropic-ratelimit-input-tokens-limit", "anthropic-ratelimit-input-tokens-remaining",
       "anthropic-ratelimit-input-tokens-reset"},
      {RateLimit::output_tokens, "anthropic-ratelimit-output-tokens-limit",
       "anthropic-ratelimit-output-tokens-remaining", "anthropic-ratelimit-output-tokens-reset"},
  };
  Windows windows;
  for (const Names& n : names) {
    const std::int64_t remaining = count_of(value_of(fields, n.remaining));
    if (remaining < 0) continue;
    Window& window = windows[static_cast<std::size_t>(n.limit)];
    window.remaining = remaining;
    window.limit = count_of(value_of(fields, n.limit_name));
    const std::string_view reset = value_of(fields, n.reset);
    if (const auto duration = read_go_duration(reset))
      window.reset = *duration;
    else if (const Result<Instant> then = parse_rfc3339(reset))
      window.reset = until(*then, now);
  }
  return windows;
}

Refusal read_refusal(int status, std::span<const net::Field> fields, std::string_view body, Instant now,
                     wire::Json& json) {
  const ErrorBody error = read_error_body(body, json);
  Refusal out;
  out.why = why_of(status, error);
  const auto stated = read_retry_after(fields, now);
  out.retry_after = stated ? *stated : error.retry_after.value_or(Duration{0});
  if (out.why == Rejection::throttled) {
    const Windows windows = read_windows(fields, now);
    out.limit = limit_of(windows, error);
    // Some tell only when the window that is used up will be full again.
    if (!stated && !error.retry_after && out.limit != RateLimit::unknown)
      out.retry_after = windows[static_cast<std::size_t>(out.limit)].reset;
  }
  out.error = told_to_client(status, out.why, error);
  return out;
}

}  // namespace ace
