#include "cli/trace_arguments.h"

#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <filesystem>
#include <ostream>

#include "adapters/log_view.h"
#include "cli/files.h"

namespace ace::cli {

void add_format_arguments(CLI::App& command, FormatArguments& a) {
  command
      .add_option("--format", a.format,
                  "azure, burstgpt, mooncake, litellm, openai-usage, csv, jsonl; else told by content")
      ->type_name("NAME");
  command.add_option("--columns", a.columns, "for generic CSV and JSONL: at=ts:ms,prompt=in,output=out,model=m")
      ->type_name("MAP");
  command.add_option("--delimiter", a.delimiter, "of generic CSV; \\t is a tab")->capture_default_str();
  command.add_option("--tz", a.tz, "zone of times without one in generic files: UTC, +02:00, Europe/Berlin")
      ->type_name("ZONE");
  command.add_flag("--sort", a.sort, "rows may go back in time");
  command.add_option("--on-bad-row", a.on_bad_row, "fail, or skip: counted with reason and line")
      ->check(CLI::IsMember({"fail", "skip"}))
      ->capture_default_str();
  command
      .add_option("--salt-file", a.salt_file, "key for pseudonyms of undeclared names; random for this run if absent")
      ->type_name("FILE");
}

Result<char> delimiter_from(const FormatArguments& a) {
  if (a.delimiter == "\\t") return '\t';
  if (a.delimiter.size() == 1) return a.delimiter[0];
  return Error(Errc::bad_input, "--delimiter: expected one character, or \\t for a tab");
}

Result<ReadOptions> read_options(const FormatArguments& a, const Fleet* fleet, const std::vector<std::string>& models) {
  ReadOptions options;
  if (!a.format.empty()) {
    options.format = trace_format_from(a.format);
    if (!options.format)
      return Error(Errc::bad_input,
                   fmt::format("--format: expected azure, burstgpt, mooncake, litellm, openai-usage, csv or "
                               "jsonl, got \"{}\"",
                               a.format));
  }
  const Result<char> delimiter = delimiter_from(a);
  if (!delimiter) return Error(delimiter.error());
  options.delimiter = *delimiter;
  options.columns = a.columns;
  options.tz = a.tz;
  options.sort = a.sort;
  options.on_bad_row = a.on_bad_row == "skip" ? OnBadRow::skip : OnBadRow::fail;
  MaskKey key = random_mask_key();
  if (!a.salt_file.empty()) {
    Result<std::string> salt = read_file(a.salt_file);
    if (!salt) return std::move(salt).error().with("--salt-file");
    Result<MaskKey> given = key_from(*salt);
    if (!given) return std::move(given).error().with("--salt-file");
    key = *given;
  }
  options.masks = fleet == nullptr ? masks_with(key, models) : masks_for(key, *fleet, models);
  return options;
}

CLI::Validator whole_number() {
  return {[](const std::string& text) {
            std::uint64_t value = 0;
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
            return error == std::errc{} && end == text.data() + text.size() && !text.empty()
                       ? std::string()
                       : "expected a whole number from 0 to 18446744073709551615, got \"" + text + "\"";
          },
          "", "whole_number"};
}

namespace {

CLI::Validator number_where(bool (*holds)(double), const char* expected) {
  return {[holds, expected](const std::string& text) {
            double value = 0.0;
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
            return error == std::errc{} && end == text.data() + text.size() && std::isfinite(value) && holds(value)
                       ? std::string()
                       : fmt::format("expected {}, got \"{}\"", expected, text);
          },
          "", "number"};
}

}  // namespace

CLI::Validator number_from_zero() {
  return number_where([](double value) { return value >= 0.0; }, "a number from 0 up");
}

CLI::Validator number_above_zero() {
  return number_where([](double value) { return value > 0.0; }, "a number above 0");
}

bool is_spine(const std::string& path) {
  std::error_code none;
  return std::filesystem::is_directory(path, none) && std::filesystem::exists(path + "/log", none);
}

Result<std::unique_ptr<RequestSource>> open_spine(const std::string& directory, const std::string& archive,
                                                  SpineTrace::Options options) {
  Result<std::unique_ptr<spine::Disk>> disk = LogView::whole(directory, archive);
  if (!disk) return std::move(disk).error();
  return sorted(std::make_unique<SpineTrace>(*std::move(disk), std::move(options)));
}

void say_what_was_left_out(const RequestSource& source, Context& context) {
  for (const SkippedRows& rows : source.skipped()) {
    *context.err << fmt::format("ace: skipped {} rows: {} (first at line {})\n", rows.count, rows.reason,
                                rows.lines.empty() ? 0 : rows.lines.front());
  }
  for (const std::string& note : source.notes()) *context.err << "ace: note: " << note << "\n";
}

}  // namespace ace::cli
