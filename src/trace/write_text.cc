#include "trace/write_text.h"

#include <iterator>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/csv.h"
#include "core/text.h"
#include "trace/parts.h"

namespace ace {
namespace {

/// Digits of a whole number; the hot part of a CSV.
template <class T>
void put(std::string& out, T value) {
  const fmt::format_int digits(value);
  out.append(digits.data(), digits.size());
}

/// "2026-01-05T00:00:00.123456789Z"; the date is kept between rows of one second.
class Times {
 public:
  void put(std::string& out, Instant at) {
    const std::int64_t second = floor_div(nanos(at), nanos(kSecond));
    if (second != second_ || second_text_.empty()) {
      second_ = second;
      second_text_ = to_rfc3339(instant(second * nanos(kSecond)));
      second_text_.pop_back();  // the Z
    }
    out += second_text_;
    auto rest = nanos(at) - second * nanos(kSecond);
    if (rest != 0) {
      char digits[10];
      digits[0] = '.';
      for (std::size_t i = 9; i >= 1; --i, rest /= 10) digits[i] = static_cast<char>('0' + rest % 10);
      std::size_t length = 10;
      while (digits[length - 1] == '0') --length;
      out.append(digits, length);
    }
    out += 'Z';
  }

 private:
  std::int64_t second_ = 0;
  std::string second_text_;
};

/// Nano-dollars as a decimal number of dollars.
void put_usd(std::string& out, std::int64_t nano) {
  const std::uint64_t size = nano < 0 ? 0 - static_cast<std::uint64_t>(nano) : static_cast<std::uint64_t>(nano);
  std::string text = fmt::format("{}{}.{:09}", nano < 0 ? "-" : "", size / 1'000'000'000, size % 1'000'000'000);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  out += text;
}

/// Names by symbol in the form they are written.
class Names {
 public:
  Names(const Interner& interner, std::string (*form)(std::string_view)) : interner_(interner), form_(form) {}
  const std::string& operator[](std::uint32_t symbol) {
    while (text_.size() <= symbol) text_.push_back(form_(interner_[static_cast<std::uint32_t>(text_.size())]));
    return text_[symbol];
  }

 private:
  const Interner& interner_;
  std::string (*form_)(std::string_view);
  std::vector<std::string> text_;
};

void put_blocks(std::string& out, std::span<const std::uint32_t> blocks, char between) {
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (i > 0) out += between;
    put(out, blocks[i]);
  }
}

template <class Line>
Result<std::uint64_t> write_lines(RequestSource& source, const ByteSink& sink, std::string head, Line line) {
  std::vector<Arrival> batch(4096);
  std::string out = std::move(head);
  std::uint64_t rows = 0;
  while (true) {
    const auto n = source.next(batch);
    if (!n) return n.error();
    for (const Arrival& arrival : std::span(batch).first(*n)) line(out, arrival);
    if (!out.empty())
      if (auto sent = sink(out); !sent) return std::move(sent).error();
    out.clear();
    if (*n == 0) return rows;
    rows += *n;
  }
}

}  // namespace

Result<std::uint64_t> write_csv(RequestSource& source, const ByteSink& sink, const TextColumns& columns) {
  std::string head = "at,model,tenant";
  if (columns.team) head += ",team";
  if (columns.owners) head += ",project,api_key";
  head += ",prompt,output";
  if (columns.usage) head += ",reasoning,cached,cache_write";
  if (columns.parts)
    for (const Part& part : kRareParts) head += std::string(",") + part.name;
  if (columns.limit) head += ",max_output";
  if (columns.batch) head += ",batch";
  if (columns.outcome) head += ",needs,failed,cache_hit,cost_usd,ttft_us,duration_us";
  if (columns.blocks) head += ",blocks";
  Times times;
  Names models(source.models(), csv_text), tenants(source.tenants(), csv_text), teams(source.teams(), csv_text);
  Names projects(source.projects(), csv_text), keys(source.keys(), csv_text);
  const auto number = [](std::string& out, std::int64_t value, std::int64_t unsaid) {
    out += ',';
    if (value != unsaid) put(out, value);
  };
  return write_lines(source, sink, head + '\n', [&](std::string& out, const Arrival& a) {
    times.put(out, a.at);
    out += ',';
    out += models[a.model];
    out += ',';
    out += tenants[a.tenant];
    if (columns.team) (out += ',') += teams[a.team];
    if (columns.owners) (((out += ',') += projects[a.project]) += ',') += keys[a.key];
    out += ',';
    put(out, a.prompt);
    out += ',';
    put(out, a.output);
    if (columns.usage) {
      number(out, a.reasoning, 0);
      number(out, a.cached, -1);
      number(out, a.cache_write, 0);
    }
    if (columns.parts)
      for (const Part& part : kRareParts) number(out, a.*part.member, 0);
    if (columns.limit) number(out, a.max_output, 0);
    if (columns.batch) out += a.batch ? ",true" : ",";
    if (columns.outcome) {
      number(out, a.needs, 0);
      out += a.failed ? ",true" : ",";
      out += a.cache_hit ? ",true," : ",,";
      if (a.cost_nano != -1) put_usd(out, a.cost_nano);
      number(out, a.ttft_us, -1);
      number(out, a.duration_us, -1);
    }
    if (columns.blocks) {
      out += ',';
      put_blocks(out, a.blocks, ' ');
    }
    out += '\n';
  });
}

Result<std::uint64_t> write_jsonl(RequestSource& source, const ByteSink& sink) {
  Times times;
  Names models(source.models(), json_text), tenants(source.tenants(), json_text), teams(source.teams(), json_text);
  Names projects(source.projects(), json_text), keys(source.keys(), json_text);
  const auto number = [](std::string& out, std::string_view key, std::int64_t value, std::int64_t unsaid) {
    if (value == unsaid) return;
    out += key;
    put(out, value);
  };
  const auto name = [](std::string& out, std::string_view key, const std::string& text) {
    if (text.size() > 2) (out += key) += text;  // more than its quotes
  };
  return write_lines(source, sink, "", [&](std::string& out, const Arrival& a) {
    out += "{\"at\":\"";
    times.put(out, a.at);
    out += '"';
    name(out, ",\"model\":", models[a.model]);
    name(out, ",\"tenant\":", tenants[a.tenant]);
    name(out, ",\"team\":", teams[a.team]);
    name(out, ",\"project\":", projects[a.project]);
    name(out, ",\"api_key\":", keys[a.key]);
    number(out, ",\"prompt\":", a.prompt, -1);
    number(out, ",\"output\":", a.output, -1);
    number(out, ",\"reasoning\":", a.reasoning, 0);
    number(out, ",\"cached\":", a.cached, -1);
    number(out, ",\"cache_write\":", a.cache_write, 0);
    for (const Part& part : kRareParts)
      if (a.*part.member != 0) number(((out += ",\"") += part.name), "\":", a.*part.member, 0);
    number(out, ",\"max_output\":", a.max_output, 0);
    number(out, ",\"needs\":", a.needs, 0);
    if (a.batch) out += ",\"batch\":true";
    if (a.failed) out += ",\"failed\":true";
    if (a.cache_hit) out += ",\"cache_hit\":true";
    if (a.cost_nano != -1) {
      out += ",\"cost_usd\":\"";
      put_usd(out, a.cost_nano);
      out += '"';
    }
    number(out, ",\"ttft_us\":", a.ttft_us, -1);
    number(out, ",\"duration_us\":", a.duration_us, -1);
    if (!a.blocks.empty()) {
      out += ",\"blocks\":[";
      put_blocks(out, a.blocks, ',');
      out += ']';
    }
    out += "}\n";
  });
}

}  // namespace ace
