#include "replay/log_events.h"

#include <algorithm>
#include <string>

#include "core/hash.h"
#include "core/per_token.h"
#include "replay/usage_of.h"

namespace ace {
namespace {

Duration micros(std::int64_t us) { return Duration{us * 1'000}; }

/// Everything the row says but its number, names by their letters.
std::uint64_t content_of(const Arrival& row, const RequestSource& source) {
  std::uint64_t hash = hash_of(source.models()[row.model]);
  hash = mix(hash, hash_of(source.tenants()[row.tenant]));
  hash = mix(hash, hash_of(source.teams()[row.team]));
  hash = mix(hash, hash_of(source.providers()[row.provider]));
  if (row.project != 0) hash = mix(hash, hash_of(source.projects()[row.project]));
  if (row.key != 0) hash = mix(hash, hash_of(source.keys()[row.key]));
  const auto add = [&](auto value) { hash = mix(hash, static_cast<std::uint64_t>(value)); };
  for (const std::int32_t count :
       {row.prompt, row.output, row.reasoning, row.cached, row.cache_write, row.cache_write_1h, row.audio_prompt,
        row.image_prompt, row.audio_output, row.image_output, row.max_output})
    add(count);
  for (const std::int64_t value : {nanos(row.at), row.cost_nano, row.ttft_us, row.duration_us}) add(value);
  add(row.needs);
  add((row.batch ? 1 : 0) + (row.failed ? 2 : 0) + (row.cache_hit ? 4 : 0));
  for (const std::uint32_t block : row.blocks) add(block);
  return hash;
}

}  // namespace

std::string_view name_of(Origin origin) {
  constexpr std::string_view names[] = {"known", "unnamed", "unknown", "ambiguous"};
  return names[static_cast<std::size_t>(origin)];
}

RequestId LogEvents::id_of(const Demand& demand) {
  const Arrival& row = demand.arrival;
  std::string what = "id/" + std::to_string(row.id);
  if (row.id == 0) {
    const std::int64_t ms = floor_div(nanos(row.at), 1'000'000);
    if (ms != ms_) alike_.clear();
    ms_ = ms;
    const std::uint64_t content = content_of(row, *source_);
    what = "row/" + std::to_string(content) + "/" + std::to_string(alike_[content]++);
  }
  const event::EventId id = event::id_from(row.at, what);
  return {id.high, id.low};
}

/// A destination of that name; else the only one with the model at a provider of that name, in the fleet's words or in
/// those of its price list.
LogEvents::Served LogEvents::served_by(ModelId model, std::uint32_t provider) {
  if (served_.size() <= model.value) served_.resize(model.value + 1);
  auto& known = served_[model.value];
  if (known.size() <= provider) known.resize(provider + 1);
  std::optional<Served>& served = known[provider];
  if (served) return *served;
  served.emplace();
  const std::string& name = source_->providers()[provider];
  if (name.empty()) return *served;
  const Fleet& fleet = fleet_->fleet();
  std::size_t found = 0;
  for (const OfferId id : fleet_->candidates(model)) {
    const Offer& offer = (*fleet_)[id];
    if (offer.model != model) break;  // from here on equivalents
    const Destination& at = fleet.destinations[offer.destination.value];
    if (at.name == name) {
      found = 1;
      served->offer = id;
      break;
    }
    const Provider& by = fleet.providers[at.provider.value];
    const bool listed = offer.price && fleet.prices.rows[offer.price->value].provider == name;
    if (by.name != name && name_of(by.api) != name && !listed) continue;
    ++found;
    served->offer = id;
  }
  served->origin = found == 1 ? Origin::known : found == 0 ? Origin::unknown : Origin::ambiguous;
  if (found != 1) served->offer = OfferId{};
  return *served;
}

std::vector<event::Record> LogEvents::operator()(const Demand& demand) {
  const Arrival& row = demand.arrival;
  const RequestId id = id_of(demand);
  const Served by = served_by(demand.model, row.provider);
  origin_ = by.origin;
  const std::int32_t cached = std::clamp(row.cached, 0, row.prompt);
  const Usage usage = row.failed ? Usage{} : usage_of(row, cached, row.output);
  const Duration took = micros(std::max<std::int64_t>({row.duration_us, row.ttft_us, 0}));
  const Duration ttft = micros(std::max<std::int64_t>(row.ttft_us, 0));

  event::Admitted admitted;
  admitted.id = id;
  admitted.at = row.at;
  admitted.tenant = row.tenant;
  admitted.team = row.team;
  admitted.project = row.project;
  admitted.key = row.key;
  admitted.declared_tenant = demand.tenant;
  admitted.requested = demand.model;
  admitted.slo = demand.slo;
  admitted.compliance = demand.compliance;
  admitted.prompt = Tokens{row.prompt};
  admitted.max_output = Tokens{row.max_output};
  admitted.needs = kText | row.needs;
  admitted.h0 = Tokens{cached};  // what the provider's own cache had is what was logged
  admitted.batch = row.batch;

  event::Completed completed;
  completed.id = id;
  completed.at = row.at + took;
  completed.observed_cost_nano = row.cost_nano;
  completed.usage = usage;
  completed.output_requested = Tokens{row.failed ? 0 : row.output};
  completed.h1 = Tokens{row.failed ? 0 : cached};
  if (row.cache_hit) {
    completed.outcome = event::Outcome::cache_hit;
    completed.slo_met = true;
    completed.exact_match = fleet_->fleet().policies.response_cache;  // the log does not say
  } else if (row.failed) {
    completed.outcome = event::Outcome::not_served;
  } else {
    completed.offer = by.offer;
    completed.ttft = ttft;
    if (row.ttft_us >= 0 && row.duration_us >= row.ttft_us) completed.tpot = per_token(took - ttft, row.output);
    completed.slo_met = fleet_->fleet().slo_classes[demand.slo.value].kept(completed.ttft, completed.tpot, took);
  }

  std::vector<event::Record> records;
  const auto say = [&](event::Event event) {
    event::Record record;
    record.id = {id.high, id.low};
    record.tenant = row.tenant;
    record.snapshot = fleet_->fleet().number;
    record.event = std::move(event);
    records.push_back(std::move(record));
  };
  say(admitted);
  if (row.cache_hit) {
    event::CacheHit hit;
    hit.id = id;
    hit.at = row.at;
    say(hit);
  } else {
    event::Attempted attempted;
    attempted.id = id;
    attempted.offer = attempted.billed_as = by.offer;
    attempted.from = attempted.energy_hour = row.at;
    attempted.to = completed.at;
    attempted.answered = !row.failed;
    attempted.billed = usage;
    if (!row.failed && row.ttft_us >= 0) say(event::FirstToken{id, row.at + ttft, by.offer, ttft});
    say(attempted);
  }
  say(completed);
  return records;
}

}  // namespace ace
