#include "trace/rows.h"

#include <algorithm>
#include <charconv>

#include <fmt/core.h>

#include "core/hash.h"
#include "fleet/fleet.h"
#include "trace/parts.h"

namespace ace {
namespace {

constexpr std::size_t kNamesMax = 1U << 20;  // distinct names of one kind, so that memory stays bounded
constexpr std::size_t kLinesShown = 5;

}  // namespace

Symbols::Symbols(const ReadOptions& options) : masks_(options.masks) {
  if (!masks_.model || !masks_.tenant || !masks_.team || !masks_.project || !masks_.identity || !masks_.provider) {
    const Masks random = masks_with(random_mask_key());
    if (!masks_.model) masks_.model = random.model;
    if (!masks_.tenant) masks_.tenant = random.tenant;
    if (!masks_.team) masks_.team = random.team;
    if (!masks_.project) masks_.project = random.project;
    if (!masks_.identity) masks_.identity = random.identity;
    if (!masks_.provider) masks_.provider = random.provider;
  }
  for (Table* table : {&providers_, &projects_, &keys_}) table->names("");
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

Result<std::uint32_t> Symbols::model(std::string_view raw) { return look_up(models_, raw, 'n', masks_.model, "model"); }
Result<std::uint32_t> Symbols::tenant(std::string_view raw, bool identity) {
  return look_up(tenants_, raw, identity ? 'i' : 'n', identity ? masks_.identity : masks_.tenant, "tenant");
}
Result<std::uint32_t> Symbols::team(std::string_view raw, bool identity) {
  return look_up(teams_, raw, identity ? 'i' : 'n', identity ? masks_.identity : masks_.team, "team");
}

Result<std::uint32_t> Symbols::provider(std::string_view raw) {
  return look_up(providers_, raw, 'n', masks_.provider, "provider");
}

Result<std::uint32_t> Symbols::project(std::string_view raw) {
  return look_up(projects_, raw, 'n', masks_.project, "project");
}

Result<std::uint32_t> Symbols::key(std::string_view raw) {
  return look_up(keys_, raw, 'i', masks_.identity, "API key");
}

std::uint64_t Symbols::id(std::string_view raw) const {
  return std::max<std::uint64_t>(hash_of(masks_.identity(raw)), 1);
}

void RowBuilder::begin() {
  row_ = Arrival{};
  seen_ = 0;
  end_.reset();
  first_token_.reset();
  id_ = provider_ = model_ = tenant_ = team_ = project_ = organization_ = api_key_ = user_ = call_type_ = {};
  extras_ = {};
}

void RowBuilder::restart() {
  times_.restart();
  ends_.restart();
  firsts_.restart();
  long_requests_ = 0;
  remarks_.restart();
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
    case Field::provider:
      provider_ = text;
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
    case Field::project:
      project_ = text;
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
    case Field::cache_write_1h:
      return set_count(&Arrival::cache_write_1h, text);
    case Field::audio_prompt:
      return set_count(&Arrival::audio_prompt, text);
    case Field::image_prompt:
      return set_count(&Arrival::image_prompt, text);
    case Field::audio_output:
      return set_count(&Arrival::audio_output, text);
    case Field::image_output:
      return set_count(&Arrival::image_output, text);
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
    case Field::cache_hit:
      if (text == "None") return {};  // LiteLLM: no cache was asked
      return flag(row_.cache_hit);
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
    case Field::usage_metadata: {
      const Result<LiteLlmExtras> extras = metadata_.read(text, row_, remarks_);
      if (!extras) return extras.error();
      extras_ = *extras;
      return {};
    }
    case Field::call_type:
      call_type_ = text;
      return {};
    case Field::ignored:
      return {};
  }
  return {};
}

/// What the metadata of a row say can be judged when all of the row is there.
void RowBuilder::settle_extras() {
  if (call_type_.find("batch") != std::string_view::npos) row_.batch = true;
  if (row_.cost_nano > 0 && !billed_by_tokens(call_type_)) {
    remarks_.see(fmt::format("call type {}", call_type_.substr(0, 32)), row_.cost_nano, "nano-USD",
                 "not billed by tokens: not replayed, in no saving");
    for (std::int32_t Arrival::*const tokens :
         {&Arrival::prompt, &Arrival::output, &Arrival::reasoning, &Arrival::cache_write, &Arrival::cache_write_1h,
          &Arrival::audio_prompt, &Arrival::image_prompt, &Arrival::audio_output, &Arrival::image_output})
      row_.*tokens = 0;  // they are not what it cost (Arrival::billed_otherwise)
    row_.cached = std::min(row_.cached, 0);
  }
  if (row_.cost_nano > 0) row_.cost_nano -= std::min(row_.cost_nano, extras_.beyond_tokens_nano);
  // Where a provider does not tell how much of the audio was cached, the least overlap that its counts allow.
  const std::int64_t room = std::int64_t{row_.prompt} - std::max(row_.cached, 0) - row_.cache_write;
  for (std::int32_t* part : {&row_.image_prompt, &row_.audio_prompt}) {
    const std::int64_t over = std::int64_t{row_.audio_prompt} + row_.image_prompt - room;
    const std::int64_t shared = std::clamp<std::int64_t>(over, 0, *part);
    if (shared == 0 || room < 0) continue;
    *part -= static_cast<std::int32_t>(shared);
    remarks_.see("audio and image tokens that were cached or written too", shared, "tokens", "priced as those");
  }
}

Result<Arrival> RowBuilder::finish() {
  constexpr std::int64_t kMicrosPerDay = 86'400'000'000;
  if (end_) {
    if (*end_ < row_.at) return Error(Errc::bad_input, "the request ends before it starts");
    row_.duration_us = nanos(*end_ - row_.at) / 1'000;
  }
  if (first_token_ && *first_token_ >= row_.at) row_.ttft_us = nanos(*first_token_ - row_.at) / 1'000;
  if (row_.duration_us >= 400 * kMicrosPerDay) ++long_requests_;
  if (has(Field::usage_metadata) || has(Field::call_type)) settle_extras();
  if (const char* fault = parts_fault(row_)) return Error(Errc::bad_input, fault);
  if (row_.audio_prompt > 0 || row_.audio_output > 0) row_.needs |= kAudio;
  if (row_.image_prompt > 0 || row_.image_output > 0) row_.needs |= kImage;
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
  if (!project_.empty()) {
    const Result<std::uint32_t> project = symbols_.project(project_);
    if (!project) return project.error();
    row_.project = *project;
  }
  if (!api_key_.empty()) {
    const Result<std::uint32_t> key = symbols_.key(api_key_);
    if (!key) return key.error();
    row_.key = *key;
  }
  if (origins_) {
    const Result<std::uint32_t> provider = symbols_.provider(provider_);
    if (!provider) return provider.error();
    row_.provider = *provider;
    if (!id_.empty()) row_.id = symbols_.id(id_);
  }
  return row_;
}

std::vector<std::string> RowBuilder::notes() const {
  std::vector<std::string> notes;
  const std::uint64_t leaps = times_.leap_seconds() + ends_.leap_seconds();
  if (leaps > 0) notes.push_back(fmt::format("{} leap seconds were read as 59.999 s", leaps));
  if (long_requests_ > 0) notes.push_back(fmt::format("{} requests took 400 days or more", long_requests_));
  for (std::string& remark : remarks_.notes()) notes.push_back(std::move(remark));
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
