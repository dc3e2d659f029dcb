#include "net/fields.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

namespace ace::net {
namespace {

constexpr std::array<std::string_view, 24> kProtected = {"api-key",          "authorization",
                                                         "connection",       "content-encoding",
                                                         "content-length",   "content-type",
                                                         "cookie",           "expect",
                                                         "forwarded",        "host",
                                                         "keep-alive",       "proxy-authorization",
                                                         "set-cookie",       "te",
                                                         "trailer",          "transfer-encoding",
                                                         "upgrade",          "via",
                                                         "x-api-key",        "x-forwarded-for",
                                                         "x-forwarded-host", "x-forwarded-proto",
                                                         "x-real-ip",        "x-request-id"};

/// A decimal number; leading zeros count for nothing.
std::optional<std::uint64_t> decimal(std::string_view digits) {
  if (digits.empty()) return std::nullopt;
  std::uint64_t value = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') return std::nullopt;
    if (value > (INT64_MAX - 9) / 10) return std::nullopt;
    value = value * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return value;
}

}  // namespace

bool equals_ignoring_case(std::string_view text, std::string_view small_text) {
  return text.size() == small_text.size() &&
         std::equal(text.begin(), text.end(), small_text.begin(), [](char a, char b) { return small(a) == b; });
}

const Field* find(std::span<const Field> fields, std::string_view name) {
  for (const Field& field : fields) {
    if (equals_ignoring_case(field.name, name)) return &field;
  }
  return nullptr;
}

bool is_nominated(std::span<const Field> fields, std::string_view name) {
  bool nominated = false;
  for (const Field& field : fields) {
    if (!equals_ignoring_case(field.name, "connection")) continue;
    for_each_token(field.value, [&](std::string_view option) {
      nominated |= option.size() == name.size() && std::equal(option.begin(), option.end(), name.begin(),
                                                              [](char a, char b) { return small(a) == small(b); });
    });
  }
  return nominated;
}

bool is_protected(std::string_view name) {
  if (name.size() > 6 && equals_ignoring_case(name.substr(0, 6), "x-ace-")) return true;
  return std::any_of(kProtected.begin(), kProtected.end(),
                     [&](std::string_view known) { return equals_ignoring_case(name, known); });
}

Fault parse_field(std::string_view line, Field& field) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || colon == 0) return Fault::bad_field;
  field.name = line.substr(0, colon);
  field.value = without_blanks(line.substr(colon + 1));
  if (!is_all(field.name, kToken) || !is_all(field.value, kValue)) return Fault::bad_field;
  return Fault::none;
}

Fault parse_fields(std::string_view lines, std::vector<Field>& fields) {
  fields.clear();
  while (lines.substr(0, 2) != "\r\n") {
    const std::size_t end = lines.find('\n');
    if (end == std::string_view::npos || end == 0 || lines[end - 1] != '\r') return Fault::bad_line_end;
    const std::string_view line = lines.substr(0, end - 1);
    if (std::memchr(line.data(), '\r', line.size()) != nullptr) return Fault::bad_line_end;
    if (line.front() == ' ' || line.front() == '\t') return fields.empty() ? Fault::bad_field : Fault::obsolete_fold;
    Field field;
    if (const Fault fault = parse_field(line, field); fault != Fault::none) return fault;
    if (field.name.find('_') != std::string_view::npos) {
      std::string hyphened(field.name);
      std::replace(hyphened.begin(), hyphened.end(), '_', '-');
      if (is_protected(hyphened)) return Fault::underscore_twin;
    }
    fields.push_back(field);
    lines.remove_prefix(end + 1);
  }
  return Fault::none;
}

Fault take_framing(const Field& field, FramingFields& framing) {
  switch (field.name.size()) {
    case 10:
      if (equals_ignoring_case(field.name, "connection")) {
        bool nominates_protected = false;
        const bool tokens = for_each_token(field.value, [&](std::string_view option) {
          if (equals_ignoring_case(option, "close")) {
            framing.close = true;
          } else if (equals_ignoring_case(option, "keep-alive")) {
            framing.keep_alive = true;
          } else if (!equals_ignoring_case(option, "te") && !equals_ignoring_case(option, "upgrade")) {
            nominates_protected |= is_protected(option);
          }
        });
        if (!tokens || nominates_protected) return Fault::bad_connection;
      }
      return Fault::none;
    case 14:
      if (equals_ignoring_case(field.name, "content-length")) {
        if (framing.length) return Fault::length_conflict;
        framing.length = decimal(field.value);
        if (!framing.length) return Fault::bad_length;
      }
      return Fault::none;
    case 17:
      if (equals_ignoring_case(field.name, "transfer-encoding")) {
        if (framing.chunked || !equals_ignoring_case(field.value, "chunked")) return Fault::bad_transfer_coding;
        framing.chunked = true;
      }
      return Fault::none;
    default:
      return Fault::none;
  }
}

}  // namespace ace::net
