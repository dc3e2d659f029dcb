#include "gateway/metrics.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/check.h"

namespace ace::gateway {
namespace {

void append_escaped(std::string& out, std::string_view text, bool quotes) {
  for (const char c : text) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '"' && quotes) {
      out += "\\\"";
    } else {
      out += c;
    }
  }
}

/// `a="x",b="y"`, by name.
std::string text_of(MetricRegistry::Labels labels) {
  std::sort(labels.begin(), labels.end());
  std::string out;
  for (const auto& [name, value] : labels) {
    out += fmt::format("{}{}=\"", out.empty() ? "" : ",", name);
    append_escaped(out, value, true);
    out += '"';
  }
  return out;
}

std::string braced(std::string_view labels) { return labels.empty() ? "" : fmt::format("{{{}}}", labels); }

std::string seconds(Duration d) { return to_decimal(Usd{nanos(d)}); }  // both are 1e-9 of their unit

bool is_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

}  // namespace

void Histogram::observe(Duration length) {
  const auto bound = std::lower_bound(bounds_.begin(), bounds_.end(), length);
  counts_[static_cast<std::size_t>(bound - bounds_.begin())].fetch_add(1, std::memory_order_relaxed);
  sum_.fetch_add(nanos(length), std::memory_order_relaxed);
}

Histogram::Reading Histogram::read() const {
  Reading out;
  out.bounds = bounds_;
  for (const auto& count : counts_) {
    out.counts.push_back(count.load(std::memory_order_relaxed));
    out.count += out.counts.back();
  }
  out.sum = Duration{sum_.load(std::memory_order_relaxed)};
  return out;
}

MetricRegistry::Family& MetricRegistry::family(std::string_view name, std::string_view help, Kind kind) {
  ACE_CHECK(is_name(name), "a metric's name is small letters, digits and _");
  const auto [at, fresh] = families_.try_emplace(std::string(name));
  if (fresh) {
    at->second.kind = kind;
    at->second.help = help;
  }
  ACE_CHECK(at->second.kind == kind && at->second.help == help, "a metric has one kind and one help text");
  return at->second;
}

Counter& MetricRegistry::counter_of(Kind kind, std::string_view name, std::string_view help, const Labels& labels) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<Counter>& counter = family(name, help, kind).counters[text_of(labels)];
  if (!counter) counter = std::make_unique<Counter>();
  return *counter;
}

Counter& MetricRegistry::counter(std::string_view name, std::string_view help, const Labels& labels) {
  return counter_of(Kind::counter, name, help, labels);
}

Counter& MetricRegistry::money(std::string_view name, std::string_view help, const Labels& labels) {
  return counter_of(Kind::money, name, help, labels);
}

Histogram& MetricRegistry::histogram(std::string_view name, std::string_view help, std::span<const Duration> bounds,
                                     const Labels& labels) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<Histogram>& histogram = family(name, help, Kind::histogram).histograms[text_of(labels)];
  if (!histogram) histogram = std::make_unique<Histogram>(bounds);
  return *histogram;
}

void MetricRegistry::gauge(std::string_view name, std::string_view help, std::function<double()> read,
                           const Labels& labels) {
  const std::lock_guard lock(mutex_);
  family(name, help, Kind::gauge).reads[text_of(labels)] = std::move(read);
}

void MetricRegistry::gauges(std::string_view name, std::string_view help, std::function<std::vector<Sample>()> read) {
  const std::lock_guard lock(mutex_);
  family(name, help, Kind::gauge).samples = std::move(read);
}

std::string MetricRegistry::expose() const {
  const std::lock_guard lock(mutex_);
  std::string out;
  for (const auto& [name, family] : families_) {
    constexpr std::array<std::string_view, 4> kKinds = {"counter", "counter", "gauge", "histogram"};
    out += fmt::format("# HELP {} ", name);
    append_escaped(out, family.help, false);
    out += fmt::format("\n# TYPE {} {}\n", name, kKinds[static_cast<std::size_t>(family.kind)]);
    for (const auto& [labels, counter] : family.counters)
      out += fmt::format(
          "{}{} {}\n", name, braced(labels),
          family.kind == Kind::money ? to_decimal(Usd{counter->value()}) : std::to_string(counter->value()));
    for (const auto& [labels, read] : family.reads) out += fmt::format("{}{} {}\n", name, braced(labels), read());
    if (family.samples)
      for (const Sample& sample : family.samples())
        out += fmt::format("{}{} {}\n", name, braced(text_of(sample.labels)), sample.value);
    for (const auto& [labels, histogram] : family.histograms) {
      const Histogram::Reading reading = histogram->read();
      const std::string before = labels.empty() ? "" : labels + ",";
      std::int64_t below = 0;
      for (std::size_t i = 0; i < reading.bounds.size(); ++i) {
        below += reading.counts[i];
        out += fmt::format("{}_bucket{{{}le=\"{}\"}} {}\n", name, before, seconds(reading.bounds[i]), below);
      }
      out += fmt::format("{}_bucket{{{}le=\"+Inf\"}} {}\n", name, before, reading.count);
      out +=
          fmt::format("{0}_sum{1} {2}\n{0}_count{1} {3}\n", name, braced(labels), seconds(reading.sum), reading.count);
    }
  }
  return out;
}

}  // namespace ace::gateway
