#include <algorithm>

#include <fmt/core.h>

#include "core/money.h"
#include "core/text.h"
#include "trace/stats.h"

namespace ace {
namespace {

constexpr std::size_t kNamesShown = 12;

std::string plain(int128 value) {
  std::string text = grouped(value);
  text.erase(std::remove(text.begin(), text.end(), ','), text.end());
  return text;
}

/// Exact, as a decimal: totals of a log may go beyond what one booked amount can hold.
std::string usd(int128 nano) {
  std::string fraction = fmt::format("{:09}", static_cast<std::int64_t>(nano % 1'000'000'000));
  while (fraction.size() > 2 && fraction.back() == '0') fraction.pop_back();
  return plain(nano / 1'000'000'000) + "." + fraction;
}

double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::string token_line(const char* name, const ExactCounts& c) {
  return fmt::format("{:<10}{:>17} tokens    mean {:.2f}  p50 {}  p90 {}  p99 {}  max {}\n", name, grouped(c.sum()),
                     c.mean(), c.quantile(0.5), c.quantile(0.9), c.quantile(0.99), c.max());
}

std::string token_json(const ExactCounts& c) {
  return fmt::format(
      "{{\"tokens\":{},\"mean_tokens\":{:.6f},\"p50_tokens\":{},\"p90_tokens\":{},\"p99_tokens\":{},\"max_tokens\":{}}"
      "}",
      plain(c.sum()), c.mean(), c.quantile(0.5), c.quantile(0.9), c.quantile(0.99), c.max());
}

std::string names_text(const char* title, const std::vector<NameCount>& names, std::uint64_t rows) {
  if (names.empty() || (names.size() == 1 && names[0].name.empty())) return {};
  std::string out = fmt::format("{:<10}{:>17}\n", title, names.size());
  for (std::size_t i = 0; i < std::min(names.size(), kNamesShown); ++i) {
    const NameCount& n = names[i];
    out += fmt::format("  {:<24} {:>14} requests {:>6.2f} %  {:>16} prompt {:>14} output tokens\n",
                       n.name.empty() ? "(none)" : n.name, grouped(n.requests), 100.0 * share(n.requests, rows),
                       grouped(n.prompt), grouped(n.output));
  }
  if (names.size() > kNamesShown)
    out += fmt::format("  and {} more; --json has them all\n", names.size() - kNamesShown);
  return out;
}

std::string names_json(const std::vector<NameCount>& names) {
  std::string out = "[";
  for (const NameCount& n : names) {
    out += fmt::format("{}{{\"name\":{},\"requests\":{},\"prompt_tokens\":{},\"output_tokens\":{}}}",
                       out.size() > 1 ? "," : "", json_text(n.name), n.requests, n.prompt, n.output);
  }
  return out + "]";
}

std::string hours_text(const TraceStats& s) {
  const std::uint64_t most = *std::max_element(s.by_hour.begin(), s.by_hour.end());
  if (most == 0) return {};
  std::string out = "by hour   ";
  constexpr std::string_view kSteps[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  for (const std::uint64_t n : s.by_hour) out += kSteps[(n * 8 + most - 1) / most];
  const auto peak = static_cast<std::size_t>(std::max_element(s.by_hour.begin(), s.by_hour.end()) - s.by_hour.begin());
  return out + fmt::format("  00-23 UTC, peak {:02}h with {:.1f} %\n", peak, 100.0 * share(most, s.rows));
}

}  // namespace

std::string to_text(const TraceStats& s) {
  std::string out = fmt::format("format    {}\nrows      {:>17}\n", s.format, grouped(s.rows));
  if (s.rows > 0) {
    out += fmt::format("span      {:>17.2f} s    {} to {}\n", s.span_s(), to_rfc3339(s.first), to_rfc3339(s.last));
    out += fmt::format("rate      {:>17.5f} requests/s    inter-arrival CV {:.3f}\n", s.rate_per_s(), s.gaps.cv());
    out += fmt::format("second    {:>17} arrivals at p99    max {}  empty {:.2f} %  index of dispersion {:.2f}\n",
                       s.per_second.quantile(0.99), s.per_second.max(), 100.0 * s.empty_seconds(), s.dispersion());
    out += token_line("prompt", s.prompt) + token_line("output", s.output);
    if (s.reasoning.count() > 0) out += token_line("reasoning", s.reasoning);
    out += hours_text(s);
  }
  if (s.prefix.references > 0) {
    const PrefixReuse& p = s.prefix;
    out += fmt::format(
        "prefix    {:>17.2f} % of {} block references hit an unbounded cache ({:.2f} % as an unbroken prefix)\n"
        "          {:>17} blocks of {} tokens, {:.2f} % referenced once; {} requests fully cached\n",
        100.0 * share(p.hits, p.references), grouped(p.references), 100.0 * share(p.prefix_hits, p.references),
        grouped(p.distinct), s.block_tokens.value, 100.0 * share(p.once, p.distinct), grouped(p.fully_cached));
  }
  if (s.cached_known > 0) {
    out += fmt::format("cached    {:>17} prompt tokens as logged, in {} requests that say so\n", grouped(s.cached),
                       grouped(s.cached_known));
  }
  if (s.failed > 0) out += fmt::format("failed    {:>17} requests\n", grouped(s.failed));
  if (s.batch > 0) out += fmt::format("batch     {:>17} requests\n", grouped(s.batch));
  if (s.cache_hits > 0)
    out += fmt::format("hits      {:>17} requests answered from a response cache\n", grouped(s.cache_hits));
  if (s.cost_known > 0) {
    out += fmt::format("cost      {:>17} USD as logged, in {} requests that say so\n", usd(s.cost_nano),
                       grouped(s.cost_known));
  }
  out += names_text("models", s.models, s.rows) + names_text("tenants", s.tenants, s.rows);
  for (const SkippedRows& skipped : s.skipped) {
    std::string lines;
    for (const std::int64_t line : skipped.lines) lines += fmt::format("{}{}", lines.empty() ? "" : ", ", line);
    out += fmt::format("skipped   {:>17} rows: {} (lines {}{})\n", grouped(skipped.count), skipped.reason, lines,
                       skipped.count > skipped.lines.size() ? ", ..." : "");
  }
  for (const std::string& note : s.notes) out += "note      " + note + "\n";
  return out;
}

std::string to_json(const TraceStats& s) {
  std::string hours, skipped, notes;
  for (const std::uint64_t n : s.by_hour) hours += fmt::format("{}{:.6f}", hours.empty() ? "" : ",", share(n, s.rows));
  for (const SkippedRows& rows : s.skipped) {
    std::string lines;
    for (const std::int64_t line : rows.lines) lines += fmt::format("{}{}", lines.empty() ? "" : ",", line);
    skipped += fmt::format("{}{{\"reason\":{},\"rows\":{},\"first_lines\":[{}]}}", skipped.empty() ? "" : ",",
                           json_text(rows.reason), rows.count, lines);
  }
  for (const std::string& note : s.notes) notes += (notes.empty() ? "" : ",") + json_text(note);
  const PrefixReuse& p = s.prefix;
  std::string out = fmt::format("{{\"format\":{},\"requests\":{}", json_text(s.format), s.rows);
  if (s.rows > 0) {
    out += fmt::format(",\"first\":\"{}\",\"last\":\"{}\",\"span_s\":{:.9f},\"rate_per_s\":{:.9f}", to_rfc3339(s.first),
                       to_rfc3339(s.last), s.span_s(), s.rate_per_s());
    out += fmt::format(
        ",\"inter_arrival_cv\":{:.6f},\"arrivals_per_s_p99\":{},\"arrivals_per_s_max\":{},"
        "\"empty_seconds_share\":{:.6f},\"index_of_dispersion\":{:.6f}",
        s.gaps.cv(), s.per_second.quantile(0.99), s.per_second.max(), s.empty_seconds(), s.dispersion());
    out += fmt::format(",\"prompt\":{},\"output\":{},\"reasoning\":{}", token_json(s.prompt), token_json(s.output),
                       token_json(s.reasoning));
  }
  out += fmt::format(",\"by_hour_utc_share\":[{}]", hours);
  out += fmt::format(
      ",\"prefix\":{{\"block_tokens\":{},\"requests\":{},\"block_references\":{},\"distinct_blocks\":{},"
      "\"hits\":{},\"prefix_hits\":{},\"fully_cached_requests\":{},\"blocks_referenced_once\":{},"
      "\"most_references\":{}}}",
      s.block_tokens.value, p.requests, p.references, p.distinct, p.hits, p.prefix_hits, p.fully_cached, p.once,
      p.most);
  out += fmt::format(
      ",\"cached_tokens\":{},\"cached_known_requests\":{},\"failed_requests\":{},\"batch_requests\":{}"
      ",\"response_cache_hit_requests\":{}",
      s.cached, s.cached_known, s.failed, s.batch, s.cache_hits);
  out += fmt::format(",\"cost_usd\":{},\"cost_known_requests\":{}",
                     s.cost_known > 0 ? "\"" + usd(s.cost_nano) + "\"" : "null", s.cost_known);
  return out + fmt::format(",\"models\":{},\"tenants\":{},\"skipped\":[{}],\"notes\":[{}]}}\n", names_json(s.models),
                           names_json(s.tenants), skipped, notes);
}

}  // namespace ace
