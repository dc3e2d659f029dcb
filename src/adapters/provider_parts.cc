#include "adapters/provider_parts.h"

#include <fmt/format.h>

#include "adapters/provider_refusal.h"

namespace ace {

bool HttpUpstream::speaks(wire::Operation operation) const {
  return has(operation) || (operation == wire::Operation::messages && has(wire::Operation::chat)) ||
         (operation == wire::Operation::chat && has(wire::Operation::messages));
}

bool HttpUpstream::passes(std::string_view path) const {
  static constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._~-/";
  if (!base() || path.find_first_not_of(plain) != std::string_view::npos) return false;
  for (const std::string_view part : {"//", "/./", "/../"})
    if ((std::string(path) + "/").find(part) != std::string::npos) return false;
  for (const std::string& declared : contact_.paths)
    if (path == declared || (path.starts_with(declared) && path[declared.size()] == '/')) return true;
  return false;
}

Prepared HttpUpstream::pass(const Unread& unread) const {
  constexpr std::string_view version = "/v1";  // of every path that the fleet file can name
  Prepared out;
  out.target = base().value_or("") + std::string(unread.target.substr(version.size()));
  std::string fields;
  net::HeadWriter head(fields);
  for (const std::string_view name : {"content-type", "accept", "openai-beta", "anthropic-beta"})
    if (const net::Field* field = net::find(unread.fields, name)) head.field(name, field->value);
  head.field("user-agent", "ace");
  if (!unread.request_id.empty()) head.field("x-request-id", unread.request_id);
  write_own_fields(fields);
  out.fields = Secret(std::move(fields));
  return out;
}

Refusal HttpUpstream::refusal(int status, std::span<const net::Field> fields, std::string_view body, Instant now,
                              wire::Json& json) const {
  return read_refusal(status, fields, body, now, json);
}

Told HttpUpstream::told(std::span<const net::Field> fields, Instant now) const {
  Told out;
  for (const std::string_view name : {"x-request-id", "request-id", "apim-request-id", "x-amzn-requestid"}) {
    const net::Field* field = net::find(fields, name);
    if (field != nullptr && out.request_id.empty()) out.request_id = field->value;
  }
  out.windows = read_windows(fields, now);
  return out;
}

void write_common_fields(net::HeadWriter& head, const Ask& ask) {
  head.field("content-type", "application/json");
  head.field("accept", ask.request.stream ? "text/event-stream" : "application/json");
  head.field("user-agent", "ace");
  if (!ask.request_id.empty()) head.field("x-request-id", ask.request_id);
}

void write_bearer(std::string& fields, const Secret& key) {
  if (key.empty()) return;
  fields.append("authorization: Bearer ").append(key.reveal()).append("\r\n");
}

std::string percent_encoded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool unreserved = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                            c == '.' || c == '_' || c == '~';
    if (unreserved)
      out += c;
    else
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

wire::WireError unspoken(wire::Operation operation) {
  return {400, "unsupported_operation",
          fmt::format("{} is not offered by the destination of this request", wire::name_of(operation))};
}

}  // namespace ace
