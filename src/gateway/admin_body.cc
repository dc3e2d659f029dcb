#include "gateway/admin_body.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/text.h"

namespace ace::gateway {

using Json = nlohmann::ordered_json;

const Json* BodyReader::take(const char* name) {
  known_.emplace_back(name);
  const auto at = body_.is_object() ? body_.find(name) : body_.end();
  return at == body_.end() || at->is_null() ? nullptr : &*at;
}

bool BodyReader::text(const char* name, std::string& into, std::size_t bytes_max) {
  const Json* const value = take(name);
  if (value == nullptr) return false;
  if (!value->is_string() || value->get_ref<const std::string&>().size() > bytes_max) {
    wrong(name, fmt::format("a text of at most {} bytes", bytes_max));
    return false;
  }
  into = value->get<std::string>();
  return true;
}

void BodyReader::texts(const char* name, std::vector<std::string>& into) {
  const Json* const value = take(name);
  if (value == nullptr) return;
  if (!value->is_array() || !std::all_of(value->begin(), value->end(), [](const Json& v) { return v.is_string(); }))
    return wrong(name, "a list of texts");
  into = value->get<std::vector<std::string>>();
}

void BodyReader::boolean(const char* name, bool& into) {
  const Json* const value = take(name);
  if (value == nullptr) return;
  if (!value->is_boolean()) return wrong(name, "true or false");
  into = value->get<bool>();
}

void BodyReader::share(const char* name, double& into) {
  const Json* const value = take(name);
  if (value == nullptr) return;
  if (!value->is_number() || *value < 0.0 || *value > 1.0) return wrong(name, "a number from 0 to 1");
  into = value->get<double>();
}

void BodyReader::limit(const char* name, std::int64_t& into) {
  const Json* const value = take(name);
  if (value == nullptr) return;
  if (!value->is_number_integer() || value->get<std::int64_t>() < 1) return wrong(name, "a whole number from 1 on");
  into = value->get<std::int64_t>();
}

void BodyReader::seconds(const char* name, std::optional<Duration>& into) {
  const Json* const value = take(name);
  if (value == nullptr) return;
  const std::int64_t whole = value->is_number_integer() ? value->get<std::int64_t>() : -1;
  if (whole < 0 || whole > 3'153'600'000) return wrong(name, "seconds, from 0 to a hundred years");
  into = whole * kSecond;
}

void BodyReader::wrong(std::string_view name, std::string_view expected) {
  if (wrong_.empty()) wrong_ = fmt::format("{}: expected {}", name, expected);
}

void BodyReader::done() {
  for (const auto& [name, value] : body_.items())
    if (std::find(known_.begin(), known_.end(), name) == known_.end() && wrong_.empty())
      wrong_ = fmt::format("{}: no such member; there are {}", name.substr(0, 64), listed(known_));
}

std::optional<Admin::Answer> BodyReader::refused() const {
  if (wrong_.empty()) return std::nullopt;
  return refusal(400, "invalid", wrong_);
}

}  // namespace ace::gateway
