#include "trace/spine_trace.h"

#include <algorithm>
#include <limits>
#include <map>
#include <unordered_map>

#include <fmt/core.h>

#include "spine/spine.h"

namespace ace {
namespace {

std::int32_t tokens(std::int64_t count) {
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(count, 0, std::numeric_limits<std::int32_t>::max()));
}

}  // namespace

struct SpineTrace::State {
  struct IdHash {
    std::size_t operator()(RequestId id) const { return id.high * 31 ^ id.low; }
  };
  struct Names {
    Interner models, tenants, teams, projects, keys;
    Names() {
      for (Interner* names : {&projects, &keys}) (*names)("");
    }
  } names;
  event::Symbols symbols;
  std::map<std::uint64_t, std::vector<std::string>> model_names;  ///< by snapshot
  std::unordered_map<RequestId, Arrival, IdHash> open;            ///< looked up only
  std::vector<Arrival> ready;
  std::size_t taken = 0;
  std::uint64_t from = 0, end = 0;  ///< sequence numbers: where to go on, and where the log ends
  std::int64_t rows = 0;
  std::uint64_t unended = 0, gaps = 0, nameless = 0, unknown_kind = 0;
  bool ended = false;

  void admit(const event::Record& record, const event::Admitted& a) {
    Arrival row;
    row.at = a.at;
    row.model = names.models(model_name(record.snapshot, a.requested));
    row.tenant = names.tenants(name(a.tenant));
    row.team = names.teams(name(a.team));
    row.project = names.projects(name(a.project));
    row.key = names.keys(name(a.key));
    row.prompt = tokens(a.prompt.value);
    row.max_output = tokens(a.max_output.value);
    row.needs = a.needs & ~static_cast<std::uint32_t>(kText);
    row.batch = a.batch;
    open.insert_or_assign(a.id, row);
  }
  void complete(const event::Completed& c) {
    const auto found = open.find(c.id);
    if (found == open.end()) return;  // another snapshot's, or one that began before what was pruned
    Arrival row = found->second;
    open.erase(found);
    row.row = ++rows;
    row.cost_nano = c.observed_cost_nano;
    row.failed = c.outcome == event::Outcome::not_served;
    row.cache_hit = c.outcome == event::Outcome::cache_hit;
    if (!row.failed) {
      const auto count = [&](Unit unit) { return tokens(c.usage[unit]); };
      row.output = tokens(c.output_requested.value);
      // Of an equivalent's answer, as much of each class as of the whole.
      const std::int64_t used = c.usage.completion().value;
      const auto of_output = [&](Unit unit) {
        return used > 0 ? tokens(static_cast<std::int64_t>(int128{c.usage[unit]} * row.output / used)) : 0;
      };
      row.cached = count(Unit::cached_input);
      row.cache_write_1h = count(Unit::cache_write_1h);
      row.cache_write = count(Unit::cache_write) + row.cache_write_1h;
      row.audio_prompt = count(Unit::audio_input);
      row.image_prompt = count(Unit::image_input);
      row.reasoning = of_output(Unit::reasoning);
      row.audio_output = of_output(Unit::audio_output);
      row.image_output = of_output(Unit::image_output);
    }
    if (c.ttft.count() > 0) row.ttft_us = c.ttft.count() / 1'000;
    if (c.at > row.at) row.duration_us = (c.at - row.at).count() / 1'000;
    ready.push_back(row);
  }
  std::string model_name(std::uint64_t snapshot, ModelId model) {
    const auto found = model_names.find(snapshot);
    if (found != model_names.end() && model.value < found->second.size())
      return event::text_of(found->second[model.value]);
    ++nameless;
    return fmt::format("snapshot {} model {}", snapshot, model.value);
  }
  std::string name(std::uint32_t symbol) {
    if (symbol == 0) return {};
    const std::string_view known = symbols.name(symbol);
    if (!known.empty()) return event::text_of(known);
    ++nameless;
    return fmt::format("symbol {}", symbol);
  }
};

SpineTrace::SpineTrace(std::unique_ptr<spine::Disk> disk, Options options)
    : disk_(std::move(disk)), options_(std::move(options)), state_(std::make_unique<State>()) {}
SpineTrace::~SpineTrace() = default;

Result<void> SpineTrace::read_segment() {
  State& s = *state_;
  std::optional<std::uint32_t> segment;
  bool enough = false;
  const auto visit = [&](const spine::Frame& frame) -> Result<void> {
    enough = segment && frame.address.segment != *segment;
    if (enough) return Error(Errc::out_of_range, "the next segment");  // ends the reading, and goes no further
    segment = frame.address.segment;
    s.from = frame.sequence + 1;
    if (frame.type != spine::RecordType::event) return {};
    const Result<event::Record> record = event::decode(frame.payload);
    if (!record) {
      if (record.error().code() != Errc::bad_input) return Error(record.error());
      ++s.unknown_kind;
      return {};
    }
    if (const auto* named = std::get_if<event::Named>(&record->event)) s.symbols.hear(*named);
    if (const auto* fleet = std::get_if<event::FleetChanged>(&record->event))
      s.model_names.insert_or_assign(record->snapshot, fleet->models);
    if (std::holds_alternative<event::Gap>(record->event)) ++s.gaps;
    if (!options_.snapshot || record->snapshot == *options_.snapshot) {
      if (const auto* admitted = std::get_if<event::Admitted>(&record->event)) s.admit(*record, *admitted);
      if (const auto* completed = std::get_if<event::Completed>(&record->event)) s.complete(*completed);
    }
    return options_.each ? options_.each(*record) : Result<void>();
  };
  spine::ReadOptions options;
  options.from = s.from;
  const Result<spine::LogSummary> read = spine::read_log(*disk_, options, visit);
  if (!read) return enough ? Result<void>() : Result<void>(read.error());
  s.end = read->next;
  s.ended = true;
  s.unended = s.open.size();
  return {};
}

Result<std::size_t> SpineTrace::next(std::span<Arrival> batch) {
  State& s = *state_;
  while (s.taken == s.ready.size() && !s.ended) {
    s.ready.clear();
    s.taken = 0;
    if (Result<void> read = read_segment(); !read) return std::move(read).error().with("reading the spine");
  }
  const std::size_t count = std::min(batch.size(), s.ready.size() - s.taken);
  std::copy_n(s.ready.begin() + static_cast<std::ptrdiff_t>(s.taken), count, batch.begin());
  s.taken += count;
  return count;
}

Result<void> SpineTrace::rewind() {
  State fresh;  // names keep their symbols, and those who look at them their place
  fresh.names = std::move(state_->names);
  *state_ = std::move(fresh);
  return {};
}

const Interner& SpineTrace::models() const { return state_->names.models; }
const Interner& SpineTrace::tenants() const { return state_->names.tenants; }
const Interner& SpineTrace::teams() const { return state_->names.teams; }
const Interner& SpineTrace::projects() const { return state_->names.projects; }
const Interner& SpineTrace::keys() const { return state_->names.keys; }

std::vector<SkippedRows> SpineTrace::skipped() const {
  if (state_->unended == 0) return {};
  return {{"admitted, but the spine holds no end", state_->unended, {}}};
}

std::vector<std::string> SpineTrace::notes() const {
  const State& s = *state_;
  std::vector<std::string> notes = {
      "prefix blocks are not on a spine: what a cache held is what it held when this was recorded"};
  if (s.gaps > 0) notes.push_back(fmt::format("the spine has {} gaps, in which requests were not recorded", s.gaps));
  if (s.nameless > 0) notes.push_back(fmt::format("{} names lie in what was pruned and are numbers here", s.nameless));
  if (s.unknown_kind > 0)
    notes.push_back(fmt::format("{} events are of kinds that a newer version wrote", s.unknown_kind));
  return notes;
}

double SpineTrace::progress() const { return state_->ended ? 1.0 : -1.0; }

}  // namespace ace
