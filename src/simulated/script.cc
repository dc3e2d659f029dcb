#include "simulated/script.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "fleet/yaml_file.h"

namespace ace::simulated {
namespace {

using fleet_file::Findings;
using fleet_file::Map;
using Kind = Fault::Kind;

constexpr std::array<std::pair<std::string_view, Kind>, 20> kKinds{{
    {"status", Kind::status},
    {"close", Kind::close},
    {"stall", Kind::stall},
    {"trickle", Kind::trickle},
    {"slow", Kind::slow},
    {"raw", Kind::raw},
    {"event", Kind::event},
    {"error_event", Kind::error_event},
    {"no_terminator", Kind::no_terminator},
    {"html", Kind::html},
    {"empty", Kind::empty},
    {"redirect", Kind::redirect},
    {"no_usage", Kind::no_usage},
    {"usage_twice", Kind::usage_twice},
    {"usage_negative", Kind::usage_negative},
    {"usage_absurd", Kind::usage_absurd},
    {"usage_decreasing", Kind::usage_decreasing},
    {"model", Kind::model},
    {"fields", Kind::fields},
    {"refuse", Kind::refuse},
}};

constexpr std::array<std::pair<std::string_view, Place>, 7> kPlaces{{
    {"before_body", Place::before_body},
    {"before_head", Place::before_head},
    {"inside_head", Place::inside_head},
    {"after_head", Place::after_head},
    {"inside_event", Place::inside_event},
    {"after_event", Place::after_event},
    {"before_end", Place::before_end},
}};

std::vector<std::string> texts(Findings& findings, const fleet_file::Place& at, std::string_view of_what) {
  std::vector<std::string> out;
  for (const fleet_file::Place& entry : findings.list(at, of_what))
    if (const auto text = findings.text(entry)) out.push_back(*text);
  return out;
}

/// Position of one of the words in its table.
template <class Value, std::size_t kSize>
void one_of(Findings& findings, const fleet_file::Place& at,
            const std::array<std::pair<std::string_view, Value>, kSize>& table, Value& out) {
  std::vector<std::string> words;
  for (const auto& entry : table) words.emplace_back(entry.first);
  if (const auto position = findings.word(at, words)) out = table[*position].second;
}

template <class Whole>
void whole(Findings& findings, const fleet_file::Place& at, std::int64_t low, std::int64_t high, Whole& out) {
  if (const auto value = findings.count(at, low, high)) out = static_cast<Whole>(*value);
}

Fault read_fault(Findings& findings, const fleet_file::Place& at) {
  constexpr std::int64_t kMost = 1'000'000'000;
  Fault f;
  Map map(findings, at);
  one_of(findings, map.need("do", "say what goes wrong, e.g. do: close"), kKinds, f.kind);
  const fleet_file::Place numbers = map.get("at");
  for (const fleet_file::Place& number : findings.list(numbers, "numbers of requests"))
    if (const auto n = findings.count(number, 1, kMost)) f.at.push_back(*n);
  whole(findings, map.get("every"), 1, kMost, f.every);
  f.share = findings.ratio(map.get("share"), 0.0, 1.0).value_or(f.share);
  f.from = findings.duration(map.get("from"));
  f.length = findings.duration(map.get("length"));
  whole(findings, map.get("status"), 200, 599, f.status);
  f.retry_after = findings.text(map.get("retry_after"));
  f.retry_after_ms = findings.text(map.get("retry_after_ms"));
  one_of(findings, map.get("place"), kPlaces, f.place);
  whole(findings, map.get("event"), 1, kMost, f.event);
  f.pause = findings.duration(map.get("pause")).value_or(f.pause);
  f.factor = findings.ratio(map.get("factor"), 0.0, 1e6).value_or(f.factor);
  f.text = findings.text(map.get("text")).value_or("");
  whole(findings, map.get("count"), 1, 100'000'000, f.count);
  if (f.kind == Kind::refuse && map.readable() && (!f.from || !f.length || numbers || f.every != 0 || f.share < 1.0))
    findings.mistake(at, "refuse is of a time, for there are no requests to count",
                     "give from and length, nothing else");
  map.done();
  return f;
}

bool meets(const Fault& f, std::int64_t number, Duration since_start, Rng& rng) {
  const bool drawn = rng.uniform() < f.share;  // drawn for every fault, so that one does not shift the others
  if (!f.at.empty() && std::find(f.at.begin(), f.at.end(), number) == f.at.end()) return false;
  if (f.every > 0 && number % f.every != 0) return false;
  if (f.from && since_start < *f.from) return false;
  if (f.length && since_start >= f.from.value_or(Duration{0}) + *f.length) return false;
  return drawn;
}

}  // namespace

Plan plan_of(const Script& script, std::int64_t number, Duration since_start, Rng& rng) {
  Plan plan;
  for (const Fault& f : script.faults) {
    if (!meets(f, number, since_start, rng)) continue;
    for (const auto& [name, kind] : kKinds)
      if (kind == f.kind) plan.names += (plan.names.empty() ? "" : ",") + std::string(name);
    switch (f.kind) {
      case Kind::status:
        plan.status = &f;
        break;
      case Kind::close:
        plan.close = &f;
        break;
      case Kind::stall:
        plan.stall = &f;
        break;
      case Kind::trickle:
        plan.trickle = &f;
        break;
      case Kind::slow:
        plan.factor *= f.factor;
        break;
      case Kind::raw:
        plan.raw = &f;
        break;
      case Kind::event:
        plan.event = &f;
        break;
      case Kind::error_event:
        plan.error_event = &f;
        break;
      case Kind::no_terminator:
        plan.no_terminator = true;
        break;
      case Kind::html:
        plan.html = true;
        break;
      case Kind::empty:
        plan.empty = true;
        break;
      case Kind::redirect:
        plan.redirect = &f;
        break;
      case Kind::no_usage:
      case Kind::usage_twice:
      case Kind::usage_negative:
      case Kind::usage_absurd:
      case Kind::usage_decreasing:
        plan.usage = f.kind;
        break;
      case Kind::model:
        plan.model = &f;
        break;
      case Kind::fields:
        plan.fields = &f;
        break;
      case Kind::refuse:
        break;  // nothing reaches us then
    }
  }
  return plan;
}

Result<Script> read_script(std::string_view yaml, const std::string& file) {
  constexpr std::int64_t kMost = 1'000'000'000;
  Script s;
  Result<void> readable = read_yaml(yaml, file, [&](Findings& findings, Map& root) {
    whole(findings, root.get("seed"), 0, std::numeric_limits<std::int64_t>::max(), s.seed);
    s.models = texts(findings, root.get("models"), "models");
    s.keys = texts(findings, root.get("keys"), "keys");
    for (const auto& [name, place] : findings.named(root.get("fields"), "fields"))
      if (const auto value = findings.text(place)) s.fields += name + ": " + *value + "\r\n";
    s.ttft = findings.duration(root.get("ttft")).value_or(s.ttft);
    s.prefill = findings.duration(root.get("prefill")).value_or(s.prefill);
    s.tpot = findings.duration(root.get("tpot")).value_or(s.tpot);
    s.jitter = findings.ratio(root.get("jitter"), 0.0, 1.0).value_or(s.jitter);
    whole(findings, root.get("tokens"), 1, 10'000'000, s.tokens);
    s.spread = findings.boolean(root.get("spread")).value_or(s.spread);
    s.cached = findings.ratio(root.get("cached"), 0.0, 1.0).value_or(s.cached);
    whole(findings, root.get("slots"), 1, 1'000'000, s.slots);
    s.slowdown = findings.ratio(root.get("slowdown"), 1.0, 1e6).value_or(s.slowdown);
    whole(findings, root.get("rpm"), 1, kMost, s.rpm);
    whole(findings, root.get("tpm"), 1, kMost, s.tpm);
    for (const fleet_file::Place& fault : findings.list(root.get("faults"), "faults"))
      s.faults.push_back(read_fault(findings, fault));
  });
  if (!readable) return std::move(readable).error();
  return s;
}

}  // namespace ace::simulated
