/// Which column or member of a log is which field of a row.
#include <algorithm>

#include <fmt/core.h>

#include "trace/rows.h"

namespace ace {
namespace {

struct FieldName {
  Field field;
  const char* name;
  std::int64_t unit_ns;
  bool required;
};
constexpr FieldName kFields[] = {
    {Field::at, "at", 0, true},
    {Field::end, "end", 0, false},
    {Field::id, "id", 0, false},
    {Field::provider, "provider", 0, false},
    {Field::model, "model", 0, false},
    {Field::tenant, "tenant", 0, false},
    {Field::team, "team", 0, false},
    {Field::project, "project", 0, false},
    {Field::user, "user", 0, false},
    {Field::api_key, "api_key", 0, false},
    {Field::prompt, "prompt", 0, true},
    {Field::output, "output", 0, true},
    {Field::reasoning, "reasoning", 0, false},
    {Field::cached, "cached", 0, false},
    {Field::cache_write, "cache_write", 0, false},
    {Field::cache_write_1h, "cache_write_1h", 0, false},
    {Field::audio_prompt, "audio_prompt", 0, false},
    {Field::image_prompt, "image_prompt", 0, false},
    {Field::audio_output, "audio_output", 0, false},
    {Field::image_output, "image_output", 0, false},
    {Field::max_output, "max_output", 0, false},
    {Field::needs, "needs", 0, false},
    {Field::batch, "batch", 0, false},
    {Field::failed, "failed", 0, false},
    {Field::status, "status", 0, false},
    {Field::cache_hit, "cache_hit", 0, false},
    {Field::cost, "cost_usd", 0, false},
    {Field::ttft, "ttft_us", 1'000, false},
    {Field::duration, "duration_us", 1'000, false},
    {Field::blocks, "blocks", 0, false},
};

std::optional<std::int64_t> unit_from(std::string_view text) {
  if (text == "s") return 1'000'000'000;
  if (text == "ms") return 1'000'000;
  if (text == "us") return 1'000;
  if (text == "ns") return 1;
  return std::nullopt;
}

}  // namespace

std::string_view name_of(Field field) {
  for (const FieldName& known : kFields) {
    if (known.field == field) return known.name;
  }
  return "ignored";
}

std::vector<Column> own_columns() {
  std::vector<Column> columns;
  for (const FieldName& known : kFields) columns.push_back({known.field, known.name, known.unit_ns, known.required});
  return columns;
}

Result<std::vector<Column>> parse_columns(const std::string& text) {
  std::vector<Column> columns;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    const std::string part = text.substr(begin, comma - begin);
    begin = comma + 1;
    const std::size_t equals = part.find('=');
    const FieldName* field = nullptr;
    for (const FieldName& known : kFields) {
      const std::string_view name = known.name;
      const std::string given = part.substr(0, equals);
      const bool same = given == name || (known.field == Field::cost && given == "cost") ||
                        (known.field == Field::ttft && given == "ttft") ||
                        (known.field == Field::duration && given == "duration");
      if (equals != std::string::npos && same) field = &known;
    }
    if (field == nullptr || equals + 1 == part.size()) {
      std::string names;
      for (const FieldName& known : kFields) names += std::string(names.empty() ? "" : ", ") + known.name;
      return Error(Errc::bad_input, fmt::format("--columns: expected FIELD=COLUMN with FIELD one of {}, got \"{}\"",
                                                names, part.substr(0, 64)));
    }
    Column column{field->field, part.substr(equals + 1), field->unit_ns, true};
    const std::size_t colon = column.name.rfind(':');
    if (colon != std::string::npos) {
      if (const auto unit = unit_from(std::string_view(column.name).substr(colon + 1))) {
        column.unit_ns = *unit;
        column.name.resize(colon);
      }
    }
    for (const Column& other : columns) {
      if (other.field == column.field) {
        return Error(Errc::bad_input, fmt::format("--columns: {} is given twice", field->name));
      }
    }
    columns.push_back(std::move(column));
  }
  for (const FieldName& known : kFields) {
    const bool given =
        std::any_of(columns.begin(), columns.end(), [&](const Column& c) { return c.field == known.field; });
    if (known.required && !given) {
      return Error(Errc::bad_input,
                   fmt::format("--columns: {} is missing; every trace needs at, prompt and output, e.g. "
                               "--columns at=ts,prompt=in,output=out",
                               known.name));
    }
  }
  return columns;
}

TimeKind time_kind(const std::vector<Column>& columns) {
  for (const Column& column : columns) {
    if (column.field != Field::at) continue;
    switch (column.unit_ns) {
      case 1'000'000'000:
        return TimeKind::seconds;
      case 1'000'000:
        return TimeKind::millis;
      case 1'000:
        return TimeKind::micros;
      case 1:
        return TimeKind::nanos;
      default:
        break;
    }
  }
  return TimeKind::unknown;
}

}  // namespace ace
