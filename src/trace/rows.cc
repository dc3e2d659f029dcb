#include "trace/rows.h"

#include <algorithm>
#include <charconv>

#include <fmt/core.h>

namespace ace {
namespace {

constexpr std::size_t kNamesMax = 1U << 20;  // distinct names of one kind, so that memory stays bounded
constexpr std::size_t kLinesShown = 5;

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
    {Field::model, "model", 0, false},
    {Field::tenant, "tenant", 0, false},
    {Field::team, "team", 0, false},
    {Field::user, "user", 0, false},
    {Field::api_key, "api_key", 0, false},
    {Field::prompt, "prompt", 0, true},
    {Field::output, "output", 0, true},
    {Field::reasoning, "reasoning", 0, false},
    {Field::cached, "cached", 0, false},
    {Field::cache_write, "cache_write", 0, false},
    {Field::max_output, "max_output", 0, false},
    {Field::needs, "needs", 0, false},
    {Field::batch, "batch", 0, false},
    {Field::failed, "failed", 0, false},
    {Field::status, "status", 0, false},
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

Symbols::Symbols(const ReadOptions& options) : masks_(options.masks), fixed_model_(options.model) {
  if (!masks_.model || !masks_.tenant || !masks_.team || !masks_.identity) {
    const Masks random = masks_with(random_mask_key());
    if (!masks_.model) masks_.model = random.model;
    if (!masks_.tenant) masks_.tenant = random.tenant;
    if (!masks_.team) masks_.team = random.team;
    if (!masks_.identity) masks_.identity = random.identity;
  }
  for (const auto& [theirs, ours] : options.model_map) model_map_.emplace(theirs, ours);
}

Result<std::uint32_t> Symbols::look_up(Table& table, std::string_view raw, char kind, const Masks::Mask& mask,
                                       const char* what) {
  // The kind goes first: a user called like a tenant is still a user.
  const auto same = [&](std::string_view key) {
    return key.size() == raw.size() + 1 && key[0] == kind && key.substr(1) == raw;
  };
  if (table.any && same(table.last)) return table.last_symbol;
  table.last.assign(1, kind);
  table.last.append(raw);
  auto found = table.memo.find(std::string_view(table.last));
  if (found == table.memo.end()) {
    if (table.names.size() >= kNamesMax) {
      table.any = false;
      return Error(Errc::out_of_range,
                   fmt::format("more than {} different {}s; is this the right column?", kNamesMax, what));
    }
    found = table.memo.emplace(table.last, table.names(raw.empty() ? std::string() : mask(raw))).first;
  }
  table.any = true;
  return table.last_symbol = found->second;
}

Result<std::uint32_t> Symbols::model(std::string_view raw) {
  if (!fixed_model_.empty()) return models_.names(fixed_model_);
  const auto mapped = model_map_.find(raw);
  // What the user's own map or option names is a label by declaration.
  if (mapped != model_map_.end()) return models_.names(mapped->second);
  return look_up(models_, raw, 'n', masks_.model, "model");
}
Result<std::uint32_t> Symbols::tenant(std::string_view raw, bool identity) {
  return look_up(tenants_, raw, identity ? 'i' : 'n', identity ? masks_.identity : masks_.tenant, "tenant");
}
Result<std::uint32_t> Symbols::team(std::string_view raw, bool identity) {
  return look_up(teams_, raw, identity ? 'i' : 'n', identity ? masks_.identity : masks_.team, "team");
}

void RowBuilder::begin() {
  row_ = Arrival{};
  seen_ = 0;
  end_.reset();
  first_token_.reset();
  id_ = model_ = tenant_ = team_ = organization_ = api_key_ = user_ = {};
}

void RowBuilder::restart() {
  times_.restart();
  ends_.restart();
  firsts_.restart();
  long_requests_ = 0;
}

Result<void> RowBuilder::set_count(std::int32_t Arrival::*member, std::string_view text) {
  const Result<std::int32_t> tokens = parse_tokens(text);
  if (!tokens) return tokens.error();
  row_.*member = *tokens;
  return {};
}

Result<void> RowBuilder::set_blocks(std::string_view text) {
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  while (at != end) {
    std::uint32_t block = 0;
    const auto [stop, error] = std::from_chars(at, end, block);
    if (error != std::errc{} || (stop != end && *stop != ' ')) {
      return Error(Errc::bad_input, "expected block numbers below 4294967296 with blanks between, got " + shown(text));
    }
    blocks_.push_back(block);
    at = stop == end ? end : stop + 1;
  }
  return {};
}

Result<void> RowBuilder::set(const Column& column, std::string_view text) {
  const bool required = column.field == Field::at || column.field == Field::prompt || column.field == Field::output;
  if (text.empty() && !required) return {};  // an empty cell says nothing
  seen_ |= std::uint64_t{1} << static_cast<unsigned>(column.field);
  const auto time = [&](TimeColumn& times, auto& into) -> Result<void> {
    const Result<Instant> at = times.parse(text);
    if (!at) return at.error();
    into = *at;
    return {};
  };
  const auto micros = [&](std::int64_t& into) -> Result<void> {
    const Result<std::int64_t> us = parse_micros(text, column.unit_ns == 0 ? 1'000 : column.unit_ns);
    if (!us) return us.error();
    into = *us;
    return {};
  };
  const auto flag = [&](bool& into) -> Result<void> {
    const std::optional<bool> value = parse_bool(text);
    if (!value) return Error(Errc::bad_input, "expected true or false, got " + shown(text));
    into = *value;
    return {};
  };
  switch (column.field) {
    case Field::at:
      return time(times_, row_.at);
    case Field::end:
      return time(ends_, end_);
    case Field::first_token_at:
      return time(firsts_, first_token_);
    case Field::id:
      id_ = text;
      return {};
    case Field::model:
      model_ = text;
      return {};
    case Field::tenant:
      tenant_ = text;
      return {};
    case Field::team:
      team_ = text;
      return {};
    case Field::organization:
      organization_ = text;
      return {};
    case Field::api_key:
      api_key_ = text;
      return {};
    case Field::user:
      user_ = text;
      return {};
    case Field::prompt:
      return set_count(&Arrival::prompt, text);
    case Field::output:
      return set_count(&Arrival::output, text);
    case Field::reasoning:
      return set_count(&Arrival::reasoning, text);
    case Field::cached:
      return set_count(&Arrival::cached, text);
    case Field::cache_write:
      return set_count(&Arrival::cache_write, text);
    case Field::max_output:
      return set_count(&Arrival::max_output, text);
    case Field::needs: {
      const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), row_.needs);
      if (error == std::errc{} && stop == text.data() + text.size()) return {};
      return Error(Errc::bad_input, "expected capability bits as a number, got " + shown(text));
    }
    case Field::batch:
      return flag(row_.batch);
    case Field::failed:
      return flag(row_.failed);
    case Field::status:
      row_.failed = text != "success" && text != "200" && text != "ok";
      return {};
    case Field::cost: {
      const Result<std::int64_t> nano = parse_nano_usd(text);
      if (!nano) return nano.error();
      row_.cost_nano = *nano;
      return {};
    }
    case Field::ttft:
      return micros(row_.ttft_us);
    case Field::duration:
      return micros(row_.duration_us);
    case Field::blocks:
      return set_blocks(text);
    case Field::usage_metadata:
      return metadata_.read(text, row_);
    case Field::ignored:
      return {};
  }
  return {};
}

Result<Arrival> RowBuilder::finish() {
  constexpr std::int64_t kMicrosPerDay = 86'400'000'000;
  if (end_) {
    if (*end_ < row_.at) return Error(Errc::bad_input, "the request ends before it starts");
    row_.duration_us = nanos(*end_ - row_.at) / 1'000;
  }
  if (first_token_ && *first_token_ >= row_.at) row_.ttft_us = nanos(*first_token_ - row_.at) / 1'000;
  if (row_.duration_us >= 400 * kMicrosPerDay) ++long_requests_;
  if (row_.cached > row_.prompt) return Error(Errc::bad_input, "more cached tokens than prompt tokens");
  if (row_.reasoning > row_.output) return Error(Errc::bad_input, "more reasoning tokens than output tokens");
  if (row_.cache_write > row_.prompt) return Error(Errc::bad_input, "more cache-write tokens than prompt tokens");
  if (std::int64_t{std::max(row_.cached, 0)} + row_.cache_write > row_.prompt) {
    // A token is read from a cache or written to it. Clipping either would change what the row costs.
    return Error(Errc::bad_input, "more cached and cache-write tokens than prompt tokens");
  }
  const Result<std::uint32_t> model = symbols_.model(model_);
  if (!model) return model.error();
  // The tenant is the widest name the log has: organization, team, key, user; people and keys always masked.
  Result<std::uint32_t> tenant = !tenant_.empty()         ? symbols_.tenant(tenant_)
                                 : !organization_.empty() ? symbols_.tenant(organization_)
                                 : !team_.empty()         ? symbols_.tenant(team_)
                                 : !api_key_.empty()      ? symbols_.tenant(api_key_, true)
                                                          : symbols_.tenant(user_, true);
  if (!tenant) return tenant.error();
  const Result<std::uint32_t> team = symbols_.team(team_);
  if (!team) return team.error();
  row_.model = *model;
  row_.tenant = *tenant;
  row_.team = *team;
  return row_;
}

std::vector<std::string> RowBuilder::notes() const {
  std::vector<std::string> notes;
  const std::uint64_t leaps = times_.leap_seconds() + ends_.leap_seconds();
  if (leaps > 0) notes.push_back(fmt::format("{} leap seconds were read as 59.999 s", leaps));
  if (long_requests_ > 0) notes.push_back(fmt::format("{} requests took 400 days or more", long_requests_));
  return notes;
}

Result<void> BadRows::reject(std::int64_t line, const std::string& reason, Errc code, const std::string& detail) {
  if (policy_ == OnBadRow::fail) return Error(code, fmt::format("line {}: {}", line, detail));
  count(line, reason);
  return {};
}

void BadRows::count(std::int64_t line, const std::string& reason) {
  auto found = std::find_if(rows_.begin(), rows_.end(), [&](const SkippedRows& r) { return r.reason == reason; });
  if (found == rows_.end()) found = rows_.insert(rows_.end(), {reason, 0, {}});
  ++found->count;
  if (found->lines.size() < kLinesShown) found->lines.push_back(line);
}

}  // namespace ace
