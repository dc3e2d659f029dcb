#include <fmt/format.h>

#include <algorithm>

#include "core/text.h"
#include "wire/request.h"

namespace ace::wire {
namespace {

/// The API's name for the bound on an answer.
std::string_view max_tokens_name(Operation operation) {
  switch (operation) {
    case Operation::chat:
      return "max_completion_tokens";
    case Operation::responses:
      return "max_output_tokens";
    default:
      return "max_tokens";
  }
}

}  // namespace

std::string rewritten(std::string_view body, const Request& request, const Changes& changes) {
  struct Edit {
    Request::Span at;
    std::string text;
  };
  std::vector<Edit> edits;
  std::string added;  // members in front of the first one
  const auto add = [&](std::string_view name, std::string_view value) {
    added += fmt::format("{}:{},", json_text(name), value);
  };
  if (changes.model) edits.push_back({request.model_at, json_text(*changes.model)});
  if (changes.max_tokens) {
    if (request.max_tokens_at.empty()) {
      add(max_tokens_name(request.operation), std::to_string(*changes.max_tokens));
    } else {
      edits.push_back({request.max_tokens_at, std::to_string(*changes.max_tokens)});
    }
  }
  if (changes.cache_key) {
    bool replaced = false;
    for (const Request::Span at : request.cache_keys_at) {
      if (at.empty()) continue;
      edits.push_back({at, json_text(*changes.cache_key)});
      replaced = true;
    }
    if (!replaced && !changes.cache_field.empty()) add(changes.cache_field, json_text(*changes.cache_key));
  }
  const bool asks_already = request.include_usage || !request.stream;
  const bool has_option = request.operation == Operation::chat || request.operation == Operation::completions;
  if (changes.force_usage && has_option && !asks_already) {
    const Request::Span options = request.stream_options_at;
    if (!request.include_usage_at.empty()) {
      edits.push_back({request.include_usage_at, "true"});
    } else if (options.empty()) {
      add("stream_options", R"({"include_usage":true})");
    } else if (body[options.begin] != '{') {
      edits.push_back({options, R"({"include_usage":true})"});
    } else {
      const std::size_t inside = body.find_first_not_of(" \t\r\n", options.begin + 1);
      edits.push_back({{options.begin + 1, options.begin + 1},
                       body[inside] == '}' ? R"("include_usage":true)" : R"("include_usage":true,)"});
    }
  }
  if (!added.empty()) {
    const std::size_t open = body.find('{');
    edits.push_back({{open + 1, open + 1}, added});  // a request has members: its model at least
  }
  std::stable_sort(edits.begin(), edits.end(), [](const Edit& a, const Edit& b) { return a.at.begin < b.at.begin; });
  std::string out;
  std::size_t from = 0;
  for (const Edit& edit : edits) {
    out.append(body.substr(from, edit.at.begin - from)).append(edit.text);
    from = edit.at.end;
  }
  return out.append(body.substr(from));
}

}  // namespace ace::wire
