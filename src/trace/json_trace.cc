#include "trace/json_trace.h"

#include <algorithm>
#include <limits>

#include <fmt/core.h>

namespace ace {
namespace {

static_assert(Window::kPadding >= simdjson::SIMDJSON_PADDING);

Error not_json(simdjson::error_code code) {
  return Error(Errc::bad_input, fmt::format("not JSON: {}", simdjson::error_message(code)));
}

std::string_view without_blanks(std::string_view token) {
  const std::size_t last = token.find_last_not_of(" \t\r\n");
  return token.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

}  // namespace

JsonTrace::JsonTrace(std::unique_ptr<Window> window, std::string name, const ReadOptions& options, TimeColumn times,
                     JsonPlan plan)
    : RecordTrace(std::move(window), std::move(name), options, times, plan.format),
      plan_(std::move(plan)),
      documents_(*window_) {}

Result<void> JsonTrace::set_block_list(simdjson::ondemand::array list) {
  for (auto element : list) {
    std::uint64_t block = 0;
    if (const auto code = element.get_uint64().get(block); code != simdjson::SUCCESS) {
      return Error(Errc::bad_input, "expected a list of block numbers");
    }
    if (block > std::numeric_limits<std::uint32_t>::max()) {
      return Error(Errc::out_of_range, "out_of_range: a block number is above 4294967295");
    }
    builder_.add_block(static_cast<std::uint32_t>(block));
  }
  return {};
}

Result<void> JsonTrace::set_member(const Column& column, simdjson::ondemand::value value) {
  simdjson::ondemand::json_type type{};
  if (const auto code = value.type().get(type); code != simdjson::SUCCESS) return not_json(code);
  std::string_view text;
  switch (type) {
    case simdjson::ondemand::json_type::null: {
      bool null = false;
      if (const auto code = value.is_null().get(null); code != simdjson::SUCCESS || !null) return not_json(code);
      return builder_.set(column, {});
    }
    case simdjson::ondemand::json_type::string:
      if (const auto code = value.get_string().get(text); code != simdjson::SUCCESS) return not_json(code);
      break;
    case simdjson::ondemand::json_type::number: {
      double checked = 0;  // the parser's grammar for numbers; the value itself is read from the text
      text = without_blanks(value.raw_json_token());
      if (const auto code = value.get_double().get(checked); code != simdjson::SUCCESS) return not_json(code);
      break;
    }
    case simdjson::ondemand::json_type::boolean: {
      bool flag = false;
      if (const auto code = value.get_bool().get(flag); code != simdjson::SUCCESS) return not_json(code);
      text = flag ? "true" : "false";
      break;
    }
    case simdjson::ondemand::json_type::array: {
      simdjson::ondemand::array list;
      if (column.field != Field::blocks) return Error(Errc::bad_input, "expected one value, got a list");
      if (const auto code = value.get_array().get(list); code != simdjson::SUCCESS) return not_json(code);
      return set_block_list(list);
    }
    case simdjson::ondemand::json_type::object: {
      simdjson::ondemand::object object;
      if (column.field != Field::usage_metadata) return Error(Errc::bad_input, "expected one value, got an object");
      if (const auto code = value.get_object().get(object); code != simdjson::SUCCESS) return not_json(code);
      if (const auto code = object.raw_json().get(text); code != simdjson::SUCCESS) return not_json(code);
      break;
    }
  }
  return builder_.set(column, text);
}

Result<void> JsonTrace::set_members(std::string_view document) {
  simdjson::ondemand::document parsed;
  const std::size_t capacity = document.size() + Window::kPadding;
  if (const auto code = parser_.iterate(document.data(), document.size(), capacity).get(parsed);
      code != simdjson::SUCCESS) {
    return not_json(code);
  }
  simdjson::ondemand::object object;
  if (const auto code = parsed.get_object().get(object); code != simdjson::SUCCESS) return not_json(code);
  for (auto member : object) {
    std::string_view key;
    if (const auto code = member.unescaped_key().get(key); code != simdjson::SUCCESS) return not_json(code);
    const Column* column = nullptr;
    for (const Column& known : plan_.columns) {
      if (known.name == key) column = &known;
    }
    if (column == nullptr) {
      see_unused(key);
      continue;
    }
    simdjson::ondemand::value value;
    if (const auto code = member.value().get(value); code != simdjson::SUCCESS) return not_json(code);
    if (builder_.has(column->field)) return Error(Errc::bad_input, fmt::format("{}: given twice", column->name));
    if (Result<void> set = set_member(*column, value); !set) return std::move(set).error().with(column->name);
  }
  if (const char* rest = nullptr; parsed.current_location().get(rest) == simdjson::SUCCESS)
    return Error(Errc::bad_input, "not JSON: something follows the object");
  for (const Column& column : plan_.columns) {
    if (column.required && !builder_.has(column.field)) {
      return Error(Errc::bad_input, fmt::format("{} is missing", column.name));
    }
  }
  return {};
}

void JsonTrace::see_unused(std::string_view name) {
  constexpr std::size_t kNamesMax = 40;
  if (unused_next_ < unused_.size() && unused_[unused_next_] == name) {
    ++unused_next_;
    return;
  }
  const auto found = std::find(unused_.begin(), unused_.end(), name);
  unused_next_ = static_cast<std::size_t>(found - unused_.begin()) + 1;
  if (found == unused_.end() && unused_.size() < kNamesMax && name.size() < 60) unused_.emplace_back(name);
}

std::optional<RecordTrace::BadRecord> JsonTrace::set_fields() {
  unused_next_ = 0;
  const Result<void> set = set_members(documents_.document());
  if (set) return std::nullopt;
  const std::string_view what = set.error().what();
  return BadRecord{std::string(what.substr(0, what.find(", got"))), set.error()};
}

void JsonTrace::restart() {
  documents_.restart();
  unused_.clear();
}

void JsonTrace::add_notes(std::vector<std::string>& notes) const {
  if (!unused_.empty()) {
    std::string names;
    for (const std::string& name : unused_) names += (names.empty() ? "" : ", ") + name;
    notes.push_back("members not used: " + names.substr(0, 300));
  }
  if (row_ == 0) notes.emplace_back("0 rows: the file holds no object");
}

}  // namespace ace
