#include "trace/own_layout.h"

#include <algorithm>
#include <cstring>

namespace ace {
namespace {

constexpr std::size_t kLineMost = 512;

bool digit(char c) { return static_cast<unsigned char>(c - '0') <= 9; }
unsigned two(const char* p) { return static_cast<unsigned>(p[0] - '0') * 10 + static_cast<unsigned>(p[1] - '0'); }

}  // namespace

std::optional<OwnLayout> OwnLayout::of(std::span<const Column> columns) {
  OwnLayout layout;
  bool at = false, tenant = false, prompt = false, output = false;
  for (const Column& column : columns) {
    Cell cell;
    switch (column.field) {
      case Field::at:
        cell.kind = Kind::time;
        at = true;
        break;
      case Field::model:
        cell.kind = Kind::model;
        break;
      case Field::tenant:
        cell.kind = Kind::tenant;
        tenant = true;
        break;
      case Field::team:
        cell.kind = Kind::team;
        break;
      case Field::prompt:
        cell = {Kind::count, true, &Arrival::prompt};
        prompt = true;
        break;
      case Field::output:
        cell = {Kind::count, true, &Arrival::output};
        output = true;
        break;
      case Field::max_output:
        cell = {Kind::count, false, &Arrival::max_output};
        break;
      case Field::batch:
        cell.kind = Kind::flag;
        break;
      case Field::blocks:
        cell.kind = Kind::nothing;
        break;
      default:
        return std::nullopt;
    }
    layout.cells_.push_back(cell);
  }
  if (!at || !tenant || !prompt || !output) return std::nullopt;
  return layout;
}

void OwnLayout::Names::remember(std::string_view text, std::uint32_t symbol) {
  if (known_.size() < kMost)
    known_.push_back({std::string(text), symbol});
  else
    known_[next_++ % kMost] = {std::string(text), symbol};
}

/// Seconds and fraction are digits at fixed places; the date is nearly always that of the row before.
bool OwnLayout::time(std::string_view text, RowBuilder& builder, Instant& at) {
  if (text.size() < 20 || text.size() == 21 || text.size() > 30 || text.back() != 'Z') return false;
  const char* const p = text.data();
  if (date_.empty() || std::memcmp(p, date_.data(), 11) != 0) {
    if (builder.times().kind() != TimeKind::zoned || p[10] != 'T') return false;
    const Result<Instant> whole = builder.times().parse(text);
    if (!whole) return false;
    date_.assign(p, 11);
    date_nanos_ = day_of(*whole) * nanos(kDay);
  }
  for (const std::size_t i : {11U, 12U, 14U, 15U, 17U, 18U})
    if (!digit(p[i])) return false;
  const unsigned hour = two(p + 11), minute = two(p + 14), second = two(p + 17);
  if (p[13] != ':' || p[16] != ':' || hour > 23 || minute > 59 || second > 59) return false;
  std::int64_t fraction = 0;
  if (text.size() > 20) {
    if (p[19] != '.') return false;
    std::int64_t unit = 100'000'000;
    for (std::size_t i = 20; i + 1 < text.size(); ++i, unit /= 10) {
      if (!digit(p[i])) return false;
      fraction += unit * (p[i] - '0');
    }
  }
  at = instant(date_nanos_ + (hour * 3600LL + minute * 60LL + second) * nanos(kSecond) + fraction);
  return true;
}

bool OwnLayout::count(std::string_view text, std::int32_t& into) {
  if (text.empty() || text.size() > 9 || (text.size() > 1 && text[0] == '0')) return false;
  std::int32_t value = 0;
  for (const char c : text) {
    if (!digit(c)) return false;
    value = value * 10 + (c - '0');
  }
  into = value;
  return true;
}

OwnLayout::Read OwnLayout::rows(std::string_view text, RowBuilder& builder, std::int64_t& row,
                                std::span<Arrival> batch) {
  Read read;
  const char* p = text.data();
  const char* const end = p + text.size();
  while (read.rows < batch.size()) {
    const std::size_t most = std::min(static_cast<std::size_t>(end - p), kLineMost);
    const auto* const stop = most == 0 ? nullptr : static_cast<const char*>(std::memchr(p, '\n', most));
    if (stop == nullptr) break;
    Arrival arrival;
    std::string_view model, tenant, team;
    const char* at = p;
    bool good = true;
    for (std::size_t i = 0; good && i < cells_.size(); ++i) {
      const char* to = at;
      while (to != stop && *to != ',') ++to;
      good = (to != stop) == (i + 1 < cells_.size());  // the last cell ends with the line
      const std::string_view cell(at, static_cast<std::size_t>(to - at));
      const Cell& column = cells_[i];
      switch (column.kind) {
        case Kind::time:
          good = good && time(cell, builder, arrival.at);
          break;
        case Kind::model:
          model = cell;
          break;
        case Kind::tenant:
          tenant = cell;
          break;
        case Kind::team:
          team = cell;
          break;
        case Kind::count:
          if (!cell.empty() || column.required) good = good && count(cell, arrival.*column.member);
          break;
        case Kind::flag:
          good = good && (cell.empty() || cell == "true");
          arrival.batch = !cell.empty();
          break;
        case Kind::nothing:
          good = good && cell.empty();
          break;
      }
      at = to + 1;
    }
    if (!good || tenant.empty()) break;
    // Names in the order in which the careful way would meet them; a quote or a carriage return is its matter.
    const auto symbol = [&](Names& names, std::string_view name, auto look_up, std::uint32_t& into) {
      if (const Known* known = names.find(name)) {
        into = known->symbol;
        return true;
      }
      if (name.find_first_of("\"\r") != std::string_view::npos) return false;
      const Result<std::uint32_t> found = look_up(name);
      if (!found) return false;
      names.remember(name, *found);
      into = *found;
      return true;
    };
    Symbols& symbols = builder.symbols();
    if (!symbol(
            models_, model, [&](std::string_view n) { return symbols.model(n); }, arrival.model) ||
        !symbol(
            tenants_, tenant, [&](std::string_view n) { return symbols.tenant(n); }, arrival.tenant) ||
        !symbol(
            teams_, team, [&](std::string_view n) { return symbols.team(n); }, arrival.team))
      break;
    arrival.row = ++row;
    batch[read.rows++] = arrival;
    p = stop + 1;
  }
  read.bytes = static_cast<std::size_t>(p - text.data());
  return read;
}

}  // namespace ace
