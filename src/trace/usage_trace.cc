#include "trace/usage_trace.h"

#include <algorithm>
#include <span>

#include <fmt/core.h>

#include "core/int128.h"
#include "fleet/fleet.h"

namespace ace {
namespace {

/// What part number `i` of `parts` equal ones gets of a total, so that all of them sum to it.
std::int64_t share(std::int64_t total, std::int64_t i, std::int64_t parts) {
  return static_cast<std::int64_t>(int128{total} * (i + 1) / parts - int128{total} * i / parts);
}

Result<std::int64_t> integer(simdjson::dom::element object, const char* name, bool required) {
  simdjson::dom::element value;
  const bool absent = object[name].get(value) != simdjson::SUCCESS || value.is_null();
  if (absent && !required) return std::int64_t{0};
  std::int64_t number = 0;
  if (absent || value.get_int64().get(number) != simdjson::SUCCESS || number < 0) {
    return Error(Errc::bad_input, fmt::format("{}: expected a whole number that is not negative", name));
  }
  return number;
}

bool given(simdjson::dom::element object, const char* name) {
  simdjson::dom::element value;
  return object[name].get(value) == simdjson::SUCCESS && !value.is_null();
}

bool is_one_of(std::string_view name, std::span<const std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}
constexpr std::string_view kStandardTiers[] = {"", "default", "standard", "auto"};
/// Numbers of a result that are read, or that follow from those.
constexpr std::string_view kKnown[] = {"num_model_requests",
                                       "input_tokens",
                                       "output_tokens",
                                       "input_cached_tokens",
                                       "input_cache_write_tokens",
                                       "input_uncached_tokens",
                                       "input_text_tokens",
                                       "output_text_tokens",
                                       "input_cached_text_tokens",
                                       "input_audio_tokens",
                                       "input_cached_audio_tokens",
                                       "output_audio_tokens",
                                       "input_image_tokens",
                                       "input_cached_image_tokens",
                                       "output_image_tokens"};

std::string_view text(simdjson::dom::element object, const char* name) {
  std::string_view value;
  return object[name].get_string().get(value) == simdjson::SUCCESS ? value : std::string_view();
}

}  // namespace

UsageTrace::UsageTrace(std::unique_ptr<Window> window, std::string name, const ReadOptions& options)
    : FileTrace(std::move(window), std::move(name), options, TimeColumn(TimeKind::seconds, nullptr),
                "OpenAI usage export (aggregated)"),
      documents_(*window_) {
  window_->set_record_max(kPageMax);
}

Instant UsageTrace::Group::at() const {
  return from + Duration{static_cast<std::int64_t>(int128{nanos(to - from)} * (2 * done + 1) / (int128{2} * requests))};
}

/// The token classes of a result, made disjoint.
Result<void> UsageTrace::read_tokens(simdjson::dom::element result, Group& group) {
  const std::string_view object = text(result, "object");
  const bool answers =
      object != "organization.usage.embeddings.result" && object != "organization.usage.moderations.result";
  if (answers && !object.empty() && object != "organization.usage.completions.result")
    return Error(Errc::bad_input, "object: a result that is not billed by the tokens of requests");
  std::int64_t input = 0, output = 0, uncached = 0;
  const struct {
    const char* name;
    std::int64_t* into;
    bool required;
  } counts[] = {{"num_model_requests", &group.requests, true},
                {"input_tokens", &input, true},
                {"output_tokens", &output, answers},
                {"input_cached_tokens", &group.cached, false},
                {"input_cache_write_tokens", &group.written, false},
                {"input_uncached_tokens", &uncached, false},
                {"input_audio_tokens", &group.audio, false},
                {"input_image_tokens", &group.image, false},
                {"output_audio_tokens", &group.audio_output, false},
                {"output_image_tokens", &group.image_output, false}};
  for (const auto& count : counts) {
    const Result<std::int64_t> number = integer(result, count.name, count.required);
    if (!number) return number.error();
    constexpr std::int64_t kTotalMax = std::int64_t{1} << 60;  // sums of a few fit
    if (*number > kTotalMax) return Error(Errc::out_of_range, fmt::format("out_of_range: {}", count.name));
    *count.into = *number;
  }
  if (!given(result, "input_uncached_tokens") && !given(result, "input_text_tokens") &&
      !given(result, "input_cache_write_tokens")) {  // the older meaning: text alone
    input += group.audio + group.image;
    output += group.audio_output + group.image_output;
  }
  if (group.cached > input) return Error(Errc::bad_input, "input_cached_tokens: more than input_tokens");
  group.text = input - group.cached - group.written - group.audio - group.image;
  if (group.text < 0)
    return Error(Errc::bad_input, "input_tokens: less than its cached, written, audio and image parts");
  if (given(result, "input_uncached_tokens") && uncached + group.cached + group.written != input)
    return Error(Errc::bad_input, "input_uncached_tokens: with the cached and written ones not input_tokens");
  group.text_output = output - group.audio_output - group.image_output;
  if (group.text_output < 0) return Error(Errc::bad_input, "output_tokens: less than its audio and image parts");
  group.cached_known = given(result, "input_cached_tokens");

  constexpr std::int64_t kRequestsMax = 1'000'000'000'000;
  if (group.requests > kRequestsMax) {
    return Error(Errc::out_of_range, "out_of_range: at most 1000000000000 requests in one total");
  }
  if (group.requests == 0 && input + output > 0)
    return Error(Errc::bad_input, "num_model_requests: tokens of no request");
  if (group.requests > 0 && (input / group.requests >= kTokensMax - 8 || output / group.requests >= kTokensMax - 8)) {
    return Error(Errc::out_of_range, "out_of_range: at most 1000000000 tokens per request");
  }
  return {};
}

/// What carries money and has no place in a row.
void UsageTrace::tell(simdjson::dom::element result, const Group& group) {
  Remarks& remarks = builder_.remarks();
  for (const char* name : {"input_cached_audio_tokens", "input_cached_image_tokens"})
    if (const Result<std::int64_t> n = integer(result, name, false); n && *n > 0)
      remarks.see(name, *n, "tokens", "priced as cached text");
  const std::string_view tier = text(result, "service_tier");
  if (!is_one_of(tier, kStandardTiers) && tier != "batch")
    remarks.see(fmt::format("service tier {}", tier.substr(0, 32)), group.requests, "requests",
                "replayed at the standard tier");
  simdjson::dom::object members;
  if (result.get_object().get(members) != simdjson::SUCCESS) return;
  for (const auto& [name, value] : members) {
    std::int64_t amount = 0;
    if (is_one_of(name, kKnown) || value.get_int64().get(amount) != simdjson::SUCCESS || amount <= 0) continue;
    remarks.see(name, amount, "units", "unknown to this reader and not replayed");
  }
}

Result<UsageTrace::Group> UsageTrace::read_group(simdjson::dom::element result, Instant from, Instant to) {
  Group group{.from = from, .to = to};
  if (Result<void> read = read_tokens(result, group); !read) return read.error();
  tell(result, group);

  builder_.begin();
  for (const auto& [field, name] : {std::pair{Field::model, "model"}, std::pair{Field::organization, "project_id"},
                                    std::pair{Field::project, "project_id"}, std::pair{Field::api_key, "api_key_id"},
                                    std::pair{Field::user, "user_id"}}) {
    if (Result<void> set = builder_.set({field, name}, text(result, name)); !set) return set.error();
  }
  if (Result<void> set = builder_.set({Field::provider, "provider"}, "openai"); !set) return set.error();
  bool batch = false;
  builder_.row().batch =
      (result["batch"].get_bool().get(batch) == simdjson::SUCCESS && batch) || text(result, "service_tier") == "batch";
  // Any request of the total may be one of those that need it.
  if (group.audio > 0 || group.audio_output > 0) builder_.row().needs |= kAudio;
  if (group.image > 0 || group.image_output > 0) builder_.row().needs |= kImage;
  Result<Arrival> like = builder_.finish();
  if (!like) return std::move(like).error();
  group.like = *like;
  return group;
}

Result<void> UsageTrace::read_bucket(simdjson::dom::element bucket) {
  const auto reject = [&](const Error& error) {
    ++row_;
    return bad_.reject(documents_.line(), error.what(), error.code(), "in this page: " + error.what());
  };
  const Result<std::int64_t> from = integer(bucket, "start_time", true), to = integer(bucket, "end_time", true);
  if (!from || !to) return reject(from ? to.error() : from.error());
  constexpr std::int64_t kSecondsMax = 9'214'646'400;  // 2262-01-01
  if (*from >= *to || *to >= kSecondsMax)
    return reject(Error(Errc::bad_input, "end_time: expected a time after start_time"));
  simdjson::dom::array results;
  // "results" is what the API sends; its first months called it "result".
  if (bucket["results"].get_array().get(results) != simdjson::SUCCESS &&
      bucket["result"].get_array().get(results) != simdjson::SUCCESS) {
    return reject(Error(Errc::bad_input, "results: expected a list"));
  }
  for (const simdjson::dom::element result : results) {
    Result<Group> group = read_group(result, instant(*from * nanos(kSecond)), instant(*to * nanos(kSecond)));
    if (!group) {
      if (Result<void> bad = reject(group.error()); !bad) return bad;
      continue;
    }
    ++row_;
    ++totals_;
    if (group->requests > 0) groups_.push_back(std::move(*group));
  }
  return {};
}

Result<void> UsageTrace::read_page(std::string_view document) {
  groups_.clear();
  first_ = last_ = 0;
  simdjson::dom::element page;
  const auto code = parser_.parse(document.data(), document.size(), true).get(page);
  if (code != simdjson::SUCCESS || !page.is_object()) {
    return Error(Errc::bad_input,
                 fmt::format("line {}: not JSON: {}", documents_.line(), simdjson::error_message(code)));
  }
  simdjson::dom::array buckets;
  if (page["data"].get_array().get(buckets) != simdjson::SUCCESS) return read_bucket(page);
  for (const simdjson::dom::element bucket : buckets) {
    if (Result<void> read = read_bucket(bucket); !read) return read;
  }
  return {};
}

Arrival UsageTrace::deal(Group& group) {
  Arrival row = group.like;
  row.at = group.at();
  row.row = ++dealt_;  // a request of the total, not the total: rows are how requests are told apart
  const auto part = [&](std::int64_t total) {
    return static_cast<std::int32_t>(share(total, group.done, group.requests));
  };
  const std::int32_t cached = part(group.cached);
  row.cache_write = part(group.written);
  row.audio_prompt = part(group.audio);
  row.image_prompt = part(group.image);
  row.prompt = part(group.text) + cached + row.cache_write + row.audio_prompt + row.image_prompt;
  row.cached = group.cached_known ? cached : -1;
  row.audio_output = part(group.audio_output);
  row.image_output = part(group.image_output);
  row.output = part(group.text_output) + row.audio_output + row.image_output;
  ++group.done;
  return row;
}

Result<std::size_t> UsageTrace::fill(std::span<Arrival> batch) {
  std::size_t count = 0;
  while (count < batch.size()) {
    // Groups of one bucket run side by side: the earliest next request first, ties in order of the file.
    Group* next = nullptr;
    for (std::size_t i = first_; i < last_; ++i) {
      Group& group = groups_[i];
      if (group.done < group.requests && (next == nullptr || group.at() < next->at())) next = &group;
    }
    if (next != nullptr) {
      batch[count++] = deal(*next);
      continue;
    }
    first_ = last_;
    if (first_ < groups_.size()) {
      while (last_ < groups_.size() && groups_[last_].from == groups_[first_].from) ++last_;
      continue;
    }
    const Result<bool> got = documents_.next();
    if (!got) return got.error();
    if (!*got) break;
    if (Result<void> page = read_page(documents_.document()); !page) return page.error();
  }
  return count;
}

void UsageTrace::restart() {
  documents_.restart();
  groups_.clear();
  first_ = last_ = 0;
  totals_ = 0;
  dealt_ = 0;
}

void UsageTrace::add_notes(std::vector<std::string>& notes) const {
  notes.push_back(
      fmt::format("aggregated: {} totals were spread evenly over their buckets with average tokens; arrival "
                  "times and the spread of sizes are not those of the requests",
                  totals_));
}

}  // namespace ace
