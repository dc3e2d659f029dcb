#include "simulated/stream.h"

#include <fmt/format.h>

#include "core/check.h"
#include "core/text.h"
#include "net/sse.h"

namespace ace::simulated {
namespace {

using wire::Operation;
using Events = std::vector<Event>;

void add(Events& events, std::string_view type, const std::string& data, bool content = false) {
  Event event{{}, content};
  net::append_event(event.bytes, {type, data});
  events.push_back(std::move(event));
}

bool reports_twice(Counted counted) { return counted == Counted::twice || counted == Counted::decreasing; }

/// Chat completions and completions.
void add_choices(Events& events, Operation operation, const Speech& s, bool usage, Counted counted) {
  const bool is_chat = operation == Operation::chat;
  const std::string head =
      fmt::format(R"({{"id":"{}-{}","object":"{}","created":{},"model":{},"system_fingerprint":"fp_simulated")",
                  is_chat ? "chatcmpl" : "cmpl", s.number, is_chat ? "chat.completion.chunk" : "text_completion",
                  s.created, json_text(s.model));
  const std::string_view none_yet = usage ? R"(,"usage":null)" : "";
  const auto choice = [&](std::int64_t index, const std::string& inside, std::string_view finish, bool content) {
    add(events, "",
        fmt::format(R"({},"choices":[{{"index":{},{},"logprobs":null,"finish_reason":{}}}]{}}})", head, index, inside,
                    finish, none_yet),
        content);
  };
  for (std::int64_t i = 0; is_chat && i < s.choices; ++i)
    choice(
        i,
        s.call
            ? fmt::format(
                  R"("delta":{{"role":"assistant","content":null,"tool_calls":[{{"index":0,"id":"call_{}","type":"function","function":{{"name":{},"arguments":""}}}}]}})",
                  s.number, json_text(s.call->name))
            : R"("delta":{"role":"assistant","content":"","refusal":null})",
        "null", false);
  for (const std::string& token : s.tokens) {
    const std::string text = json_text(token);
    const std::string inside = !is_chat ? R"("text":)" + text
                               : s.call
                                   ? R"("delta":{"tool_calls":[{"index":0,"function":{"arguments":)" + text + "}}]}"
                                   : R"("delta":{"content":)" + text + "}";
    for (std::int64_t i = 0; i < s.choices; ++i) choice(i, inside, "null", true);
  }
  for (std::int64_t i = 0; i < s.choices; ++i)
    choice(i, is_chat ? R"("delta":{})" : R"("text":"")", fmt::format("\"{}\"", openai_finish(s)), false);
  if (usage && counted != Counted::not_at_all) {
    const auto report = [&](bool last) {
      add(events, "", fmt::format(R"({},"choices":[],"usage":{}}})", head, usage_of(operation, s, counted, last)));
    };
    if (reports_twice(counted)) report(false);
    report(true);
  }
  add(events, "", "[DONE]");
}

void add_message(Events& events, const Speech& s, Counted counted) {
  const std::string first = usage_of(Operation::messages, s, counted, false);
  add(events, "message_start",
      fmt::format(
          R"({{"type":"message_start","message":{{"id":"msg_{}","type":"message","role":"assistant","model":{},"content":[],"stop_reason":null,"stop_sequence":null{}}}}})",
          s.number, json_text(s.model), first.empty() ? "" : ",\"usage\":" + first));
  add(events, "content_block_start",
      s.call
          ? fmt::format(
                R"({{"type":"content_block_start","index":0,"content_block":{{"type":"tool_use","id":"toolu_{}","name":{},"input":{{}}}}}})",
                s.number, json_text(s.call->name))
          : R"({"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}})");
  add(events, "ping", R"({"type":"ping"})");
  for (const std::string& token : s.tokens)
    add(events, "content_block_delta",
        fmt::format(R"({{"type":"content_block_delta","index":0,"delta":{{"type":"{}","{}":{}}}}})",
                    s.call ? "input_json_delta" : "text_delta", s.call ? "partial_json" : "text", json_text(token)),
        true);
  add(events, "content_block_stop", R"({"type":"content_block_stop","index":0})");
  const auto delta = [&](bool last) {
    const std::string usage = usage_of(Operation::messages, s, counted, last);
    add(events, "message_delta",
        fmt::format(R"({{"type":"message_delta","delta":{{"stop_reason":"{}","stop_sequence":null}}{}}})",
                    anthropic_stop(s), usage.empty() ? "" : ",\"usage\":" + usage));
  };
  if (reports_twice(counted)) delta(false);
  delta(true);
  add(events, "message_stop", R"({"type":"message_stop"})");
}

std::string output_item(const Speech& s, bool complete) {
  const std::string_view status = complete ? "completed" : "in_progress";
  if (s.call)
    return fmt::format(
        R"({{"type":"function_call","id":"fc_{0}","call_id":"call_{0}","name":{1},"arguments":{2},"status":"{3}"}})",
        s.number, json_text(s.call->name), complete ? json_text(s.text()) : "\"\"", status);
  const std::string content =
      complete
          ? fmt::format(R"({{"type":"output_text","text":{},"annotations":[],"logprobs":[]}})", json_text(s.text()))
          : "";
  return fmt::format(R"({{"type":"message","id":"item_{}","status":"{}","role":"assistant","content":[{}]}})", s.number,
                     status, content);
}

void add_response(Events& events, const Speech& s, Counted counted) {
  int sequence = 0;
  const auto say = [&](std::string_view type, const std::string& inside, bool content = false) {
    add(events, type, fmt::format(R"({{"type":"{}","sequence_number":{},{}}})", type, sequence++, inside), content);
  };
  const auto report = [&](bool last) {
    const std::string usage = usage_of(Operation::responses, s, counted, last);
    return usage.empty() ? std::string() : ",\"usage\":" + usage;
  };
  say("response.created", "\"response\":" + response_object(s, "in_progress", ""));
  say("response.in_progress",
      "\"response\":" + response_object(s, "in_progress", reports_twice(counted) ? report(false) : ""));
  say("response.output_item.added", R"("output_index":0,"item":)" + output_item(s, false));
  const std::string item = fmt::format(R"("item_id":"{}_{}","output_index":0)", s.call ? "fc" : "item", s.number);
  if (s.call) {
    for (const std::string& token : s.tokens)
      say("response.function_call_arguments.delta", item + ",\"delta\":" + json_text(token), true);
    say("response.function_call_arguments.done",
        item + fmt::format(R"(,"name":{},"arguments":{})", json_text(s.call->name), json_text(s.text())));
  } else {
    const std::string part = item + R"(,"content_index":0)";
    say("response.content_part.added",
        part + R"(,"part":{"type":"output_text","text":"","annotations":[],"logprobs":[]})");
    for (const std::string& token : s.tokens)
      say("response.output_text.delta", part + R"(,"logprobs":[],"delta":)" + json_text(token), true);
    say("response.output_text.done", part + R"(,"logprobs":[],"text":)" + json_text(s.text()));
    say("response.content_part.done",
        part + fmt::format(R"(,"part":{{"type":"output_text","text":{},"annotations":[],"logprobs":[]}})",
                           json_text(s.text())));
  }
  say("response.output_item.done", R"("output_index":0,"item":)" + output_item(s, true));
  const std::string_view status = s.cut_short ? "incomplete" : "completed";
  say(fmt::format("response.{}", status), "\"response\":" + response_object(s, "completed", report(true)));
}

}  // namespace

std::string usage_of(Operation operation, const Speech& s, Counted counted, bool last) {
  if (counted == Counted::not_at_all) return {};
  std::int64_t in = s.prompt_tokens, cached = s.cached_tokens, out = s.output_tokens();
  if (counted == Counted::negative) in = -5, cached = 0, out = -1;
  if (counted == Counted::absurd) out = 1'000'000'000'000;
  if (counted == Counted::twice && !last) out = out / 2;
  if (counted == Counted::decreasing && !last) out += 10;
  if (operation == Operation::messages) {
    if (!last && !reports_twice(counted)) out = 1;  // message_start counts the beginning
    return fmt::format(
        R"({{"input_tokens":{},"cache_creation_input_tokens":0,"cache_read_input_tokens":{},"output_tokens":{},"service_tier":"standard"}})",
        in - cached, cached, out);
  }
  if (operation == Operation::responses)
    return fmt::format(
        R"({{"input_tokens":{},"input_tokens_details":{{"cached_tokens":{}}},"output_tokens":{},"output_tokens_details":{{"reasoning_tokens":0}},"total_tokens":{}}})",
        in, cached, out, in + out);
  return fmt::format(
      R"({{"prompt_tokens":{},"completion_tokens":{},"total_tokens":{},"prompt_tokens_details":{{"cached_tokens":{}}},"completion_tokens_details":{{"reasoning_tokens":0}}}})",
      in, out, in + out, cached);
}

std::string response_object(const Speech& s, std::string_view status, std::string_view usage) {
  const bool complete = status == "completed";
  const bool incomplete = complete && s.cut_short;
  return fmt::format(
      R"({{"id":"resp_{}","object":"response","created_at":{},"status":"{}","error":null,"incomplete_details":{},"instructions":null,"max_output_tokens":null,"model":{},"output":[{}],"parallel_tool_calls":true,"previous_response_id":null,"reasoning":{{"effort":null,"summary":null}},"service_tier":"default","store":false,"temperature":1.0,"text":{{"format":{{"type":"text"}}}},"tool_choice":"auto","tools":[],"top_p":1.0,"truncation":"disabled"{},"user":null,"metadata":{{}}}})",
      s.number, s.created, incomplete ? "incomplete" : status,
      incomplete ? R"({"reason":"max_output_tokens"})" : "null", json_text(s.model),
      complete ? output_item(s, true) : "", usage);
}

std::vector<Event> stream_answer(Operation operation, const Speech& s, bool usage, Counted counted) {
  Events events;
  events.reserve(s.tokens.size() * static_cast<std::size_t>(s.choices) + 12);
  switch (operation) {
    case Operation::chat:
    case Operation::completions:
      add_choices(events, operation, s, usage, counted);
      break;
    case Operation::messages:
      add_message(events, s, counted);
      break;
    case Operation::responses:
      add_response(events, s, counted);
      break;
    default:
      ACE_CHECK(false, "this operation does not stream");
  }
  return events;
}

}  // namespace ace::simulated
