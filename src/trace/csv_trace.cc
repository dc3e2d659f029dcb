#include "trace/csv_trace.h"

#include <algorithm>
#include <cstring>

#include <fmt/core.h>

#include "core/csv.h"

namespace ace {
namespace {

bool same_but_case(std::string_view a, std::string_view b) {
  const auto low = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return low(x) == low(y); });
}

/// A header cell for a message; a name of sixty characters or more is no header.
std::string shown_name(std::string_view name) { return name.size() < 60 ? std::string(name) : shown(name); }

}  // namespace

CsvTrace::CsvTrace(std::unique_ptr<Window> window, std::string name, const ReadOptions& options, TimeColumn times,
                   CsvPlan plan)
    : RecordTrace(std::move(window), std::move(name), options, times, plan.format),
      plan_(std::move(plan)),
      delimiter_(options.delimiter),
      records_(*window_, options.delimiter) {}

Result<void> CsvTrace::read_header() {
  while (window_->view().size() < 3 && !window_->ended()) {
    if (const Result<bool> more = window_->more(); !more) return more.error();
  }
  if (window_->view().starts_with("\xef\xbb\xbf")) window_->consume(3);
  Result<bool> got = records_.next();
  if (!got) return std::move(got).error();
  if (!*got) return Error(Errc::bad_input, "the file is empty, expected a header line");
  if (Result<void> matched = match(records_.fields()); !matched) {
    return std::move(matched).error().with(fmt::format("line {}", records_.line()));
  }
  header_read_ = true;
  const bool plain = by_position_.size() == 3 && by_position_[0].field == Field::at &&
                     by_position_[1].field == Field::prompt && by_position_[2].field == Field::output;
  fixed_layout_ = plain && delimiter_ == ',' && plan_.utc;
  own_layout_.reset();
  if (delimiter_ == ',' && !plan_.zero_output_failed && !fixed_layout_) own_layout_ = OwnLayout::of(by_position_);
  date_[0] = '\0';
  if (fixed_layout_) {
    builder_.begin();
    const Result<Arrival> blank = builder_.finish();
    if (!blank) return blank.error();
    blank_ = *blank;
  }
  return {};
}

Result<void> CsvTrace::match(std::span<const std::string_view> header) {
  std::vector<std::string_view> names;
  for (const std::string_view cell : header) names.push_back(trim(cell));
  const bool data = std::all_of(names.begin(), names.end(), [](std::string_view name) {
    return !name.empty() && name.find_first_not_of("0123456789.:-+TZ ") == std::string_view::npos;
  });
  if (data)
    return Error(Errc::bad_input, "this looks like a row of data, expected a header with the names of the columns");
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!names[i].empty() && std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i), names[i]) !=
                                 names.begin() + static_cast<std::ptrdiff_t>(i)) {
      return Error(Errc::bad_input, fmt::format("column {} appears twice", shown_name(names[i])));
    }
  }
  by_position_.assign(names.size(), Column{});
  std::string missing;
  for (const Column& column : plan_.columns) {
    auto found = std::find(names.begin(), names.end(), std::string_view(column.name));
    if (found == names.end()) {
      const auto alike = [&](std::string_view name) { return same_but_case(name, column.name); };
      const auto many = std::count_if(names.begin(), names.end(), alike);
      if (many > 1) return Error(Errc::bad_input, fmt::format("column {} appears twice but for its case", column.name));
      found = std::find_if(names.begin(), names.end(), alike);
    }
    if (found != names.end()) {
      by_position_[static_cast<std::size_t>(found - names.begin())] = column;
    } else if (column.required) {
      missing += (missing.empty() ? "" : ", ") + column.name;
    }
  }
  if (!missing.empty()) {
    for (const char other : {';', '\t', ',', '|'}) {
      if (other != delimiter_ && names.size() == 1 && names[0].find(other) != std::string_view::npos) {
        return Error(Errc::bad_input,
                     fmt::format("one column only; is this separated by \"{0}\"? Say --delimiter \"{0}\"",
                                 other == '\t' ? "\\t" : std::string(1, other)));
      }
    }
    std::string present;
    for (const std::string_view name : names) present += (present.empty() ? "" : ", ") + shown_name(name);
    return Error(Errc::bad_input, fmt::format("missing column {}; the header has {}", missing, present.substr(0, 300)));
  }
  extra_.clear();
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (by_position_[i].field == Field::ignored) extra_.push_back(shown_name(names[i]));
  }
  return {};
}

std::size_t CsvTrace::fill_fixed_layout(std::span<Arrival> batch) {
  // 2023-11-16 18:17:03.9799600,4808,10 : the date is nearly always that of the row before, everything else is digits
  // at fixed places. Whatever does not fit exactly is left to the careful way.
  const std::string_view view = window_->view();
  const char* p = view.data();
  const char* const end = p + view.size();
  std::size_t count = 0;
  while (count < batch.size() && end - p >= 64) {
    if (std::memcmp(p, date_, 11) != 0) {
      if (p[10] != ' ' || p[19] != '.' || p[27] != ',') break;
      const Result<Instant> at = builder_.times().parse(std::string_view(p, 27));  // also sees that no zone is the rule
      if (!at) break;
      std::memcpy(date_, p, 11);
      date_nanos_ = day_of(*at) * nanos(kDay);
    }
    unsigned bad = 0;
    const auto digit = [&](int i) {
      const auto value = static_cast<unsigned>(static_cast<unsigned char>(p[i])) - '0';
      bad |= static_cast<unsigned>(value > 9);
      return value;
    };
    const unsigned hour = digit(11) * 10 + digit(12), minute = digit(14) * 10 + digit(15);
    const unsigned second = digit(17) * 10 + digit(18);
    const unsigned high = (digit(20) * 10 + digit(21)) * 10 + digit(22);
    const unsigned low = ((digit(23) * 10 + digit(24)) * 10 + digit(25)) * 10 + digit(26);
    bad |= static_cast<unsigned>(p[13] != ':') | static_cast<unsigned>(p[16] != ':') |
           static_cast<unsigned>(p[19] != '.') | static_cast<unsigned>(p[27] != ',') |
           static_cast<unsigned>(hour > 23) | static_cast<unsigned>(minute > 59) | static_cast<unsigned>(second > 59);
    if (bad != 0) break;
    const char* q = p + 28;
    const auto number = [&](std::uint32_t& value) {
      value = 0;
      const char* const first = q;
      for (unsigned d = static_cast<unsigned char>(*q) - unsigned{'0'}; d <= 9 && q - first < 9;
           d = static_cast<unsigned char>(*++q) - unsigned{'0'}) {
        value = value * 10 + d;
      }
      return q != first;
    };
    std::uint32_t prompt = 0, output = 0;
    if (!number(prompt) || *q++ != ',' || !number(output)) break;
    if (*q == '\r') ++q;
    if (*q++ != '\n') break;
    Arrival& row = batch[count++];
    row = blank_;
    row.at =
        instant(date_nanos_ + (hour * 3600LL + minute * 60LL + second) * 1'000'000'000 + (high * 10'000LL + low) * 100);
    row.row = ++row_;
    row.prompt = static_cast<std::int32_t>(prompt);
    row.output = static_cast<std::int32_t>(output);
    p = q;
  }
  window_->consume(static_cast<std::size_t>(p - view.data()));
  records_.skip_lines(static_cast<std::int64_t>(count));
  return count;
}

std::optional<RecordTrace::BadRecord> CsvTrace::set_fields() {
  const std::span<const std::string_view> fields = records_.fields();
  if (fields.size() != by_position_.size()) {
    return BadRecord{
        fields.size() < by_position_.size() ? "too few fields" : "too many fields",
        Error(Errc::bad_input, fmt::format("expected {} fields, got {}", by_position_.size(), fields.size()))};
  }
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const Column& column = by_position_[i];
    if (column.field == Field::ignored) continue;
    Result<void> set = builder_.set(column, fields[i]);
    if (set) continue;
    const char* kind = set.error().code() == Errc::out_of_range ? "out_of_range" : "not readable";
    return BadRecord{fmt::format("{}: {}", column.name, kind), std::move(set).error().with(column.name)};
  }
  if (plan_.zero_output_failed && builder_.row().output == 0) builder_.row().failed = true;
  return std::nullopt;
}

std::string_view CsvTrace::content() {
  content_.clear();
  for (const std::string_view field : records_.fields()) content_.append(field).push_back('\x1f');
  return content_;
}

Result<std::size_t> CsvTrace::fill_ahead(std::span<Arrival> batch) {
  if (!header_read_) {
    if (Result<void> header = read_header(); !header) return header.error();
  }
  if (fixed_layout_) return fill_fixed_layout(batch);
  if (!own_layout_) return std::size_t{0};
  const OwnLayout::Read read = own_layout_->rows(window_->view(), builder_, row_, batch);
  window_->consume(read.bytes);
  records_.skip_lines(static_cast<std::int64_t>(read.rows));
  return read.rows;
}

void CsvTrace::restart() {
  records_.restart();
  header_read_ = false;
}

void CsvTrace::add_notes(std::vector<std::string>& notes) const {
  if (!extra_.empty()) {
    std::string names;
    for (const std::string& name : extra_) names += (names.empty() ? "" : ", ") + name;
    notes.push_back("columns not used: " + names.substr(0, 300));
  }
  if (records_.blank_lines() > 0) notes.push_back(fmt::format("{} blank lines skipped", records_.blank_lines()));
  if (row_ == 0) notes.push_back("0 rows: the file has a header and nothing else");
}

}  // namespace ace
