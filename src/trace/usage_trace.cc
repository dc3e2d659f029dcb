#include "trace/usage_trace.h"

#include <fmt/core.h>

#include "core/int128.h"

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

Result<UsageTrace::Group> UsageTrace::read_group(simdjson::dom::element result, Instant from, Instant to) {
  Group group{.from = from, .to = to};
  const Result<std::int64_t> requests = integer(result, "num_model_requests", true);
  const Result<std::int64_t> input = integer(result, "input_tokens", true);
  const Result<std::int64_t> output = integer(result, "output_tokens", true);
  const Result<std::int64_t> cached = integer(result, "input_cached_tokens", false);
  for (const auto* number : {&requests, &input, &output, &cached}) {
    if (!*number) return number->error();
  }
  constexpr std::int64_t kRequestsMax = 1'000'000'000'000;
  if (*requests > kRequestsMax) {
    return Error(Errc::out_of_range, "out_of_range: at most 1000000000000 requests in one total");
  }
  if (*requests == 0 && *input + *output > 0) return Error(Errc::bad_input, "num_model_requests: tokens of no request");
  if (*cached > *input) return Error(Errc::bad_input, "input_cached_tokens: more than input_tokens");
  if (*requests > 0 && (*input / *requests >= kTokensMax || *output / *requests >= kTokensMax)) {
    return Error(Errc::out_of_range, "out_of_range: at most 1000000000 tokens per request");
  }
  simdjson::dom::element cached_member;
  group.requests = *requests;
  group.uncached = *input - *cached;
  group.cached = *cached;
  group.cached_known =
      result["input_cached_tokens"].get(cached_member) == simdjson::SUCCESS && !cached_member.is_null();
  group.output = *output;

  builder_.begin();
  for (const auto& [field, name] : {std::pair{Field::model, "model"}, std::pair{Field::organization, "project_id"},
                                    std::pair{Field::api_key, "api_key_id"}, std::pair{Field::user, "user_id"}}) {
    if (Result<void> set = builder_.set({field, name}, text(result, name)); !set) return set.error();
  }
  bool batch = false;
  builder_.row().batch = result["batch"].get_bool().get(batch) == simdjson::SUCCESS && batch;
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
    group->like.row = row_;
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
  const auto part = [&](std::int64_t total) {
    return static_cast<std::int32_t>(share(total, group.done, group.requests));
  };
  const std::int32_t cached = part(group.cached);
  row.prompt = part(group.uncached) + cached;
  row.cached = group.cached_known ? cached : -1;
  row.output = part(group.output);
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
}

void UsageTrace::add_notes(std::vector<std::string>& notes) const {
  notes.push_back(
      fmt::format("aggregated: {} totals were spread evenly over their buckets with average tokens; arrival "
                  "times and the spread of sizes are not those of the requests",
                  totals_));
}

}  // namespace ace
