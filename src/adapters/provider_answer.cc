#include "adapters/provider_answer.h"

#include <fmt/format.h>

#include <cstring>

namespace ace {
namespace {

using wire::Dialect;
using wire::Operation;
using wire::WireError;

constexpr std::size_t kEventMost = std::size_t{1} << 20;

const WireError kCut{502, "provider_cut", "the provider ended the stream before the answer was complete"};
const WireError kBroken{502, "provider_invalid", "the provider sent what is no part of such a stream"};
const WireError kFailed{502, "provider_failed", "the provider failed in the middle of the answer"};
const WireError kNoAnswer{502, "provider_invalid", "the provider answered with what is no answer of this API"};

/// The event that ends a failed stream.
void append_error(std::string& out, Dialect dialect, const WireError& error) {
  net::append_event(out, {dialect == Dialect::anthropic ? "error" : "", wire::error_body(dialect, error)});
}

class NativeAnswer final : public Answer {
 public:
  NativeAnswer(const wire::Request& request, bool hide_usage)
      : operation_(request.operation), choices_(request.choices), hide_usage_(hide_usage), reader_(operation_) {}

  Whole whole(std::string body, wire::Json& json) override {
    Whole out;
    std::optional<wire::ResponseFacts> facts = wire::read_response(operation_, body, json);
    if (facts) whole_facts_ = out.facts = std::move(*facts);
    if (!facts || out.facts.error)
      out.error = kNoAnswer;
    else
      out.body = std::move(body);
    return out;
  }

  Step feed(std::string_view text, wire::Json& json) override {
    if (state_ != State::going) return {{}, state_};
    ours_.clear();
    std::size_t from = 0, keep = 0;  // [keep, from) passes as it stands
    const auto flush = [&](std::size_t end) { ours_.append(text.substr(keep, end - keep)); };
    const auto pass_lf = [&] {  // goes the way of the block that it belongs to
      if (!tail_.empty() || !blocks_.takes_lf(text, from)) return;
      ++from;
      if (!kept_) keep = from;
    };
    pass_lf();
    while (state_ == State::going) {
      const std::size_t end = blocks_.end_of_block(text, from);
      if (end == std::string_view::npos) break;
      const bool held = !tail_.empty();
      if (held) tail_.append(text.substr(from, end - from));
      judge(held ? std::string_view(tail_) : text.substr(from, end - from), json);
      if (held) {
        // The start of the block is in no view of the caller's.
        if (kept_) ours_.append(tail_);
        keep = end;
        tail_.clear();
      } else if (!kept_) {
        flush(from);
        keep = end;
      }
      from = end;
      if (state_ == State::going) pass_lf();
    }
    if (state_ == State::going) {
      tail_.append(text.substr(from));
      if (tail_.size() > kEventMost) fail_with(kBroken);
    }
    if (ours_.empty() && state_ != State::failed) return {text.substr(keep, from - keep), state_};
    flush(from);
    if (state_ == State::failed) append_error(ours_, wire::dialect_of(operation_), why_);
    return {ours_, state_};
  }

  Step end(bool clean) override {
    if (state_ != State::going) return {{}, state_};
    ours_.clear();
    // Some servers leave out the last line of a stream of chat; the answer says itself that it is whole.
    const bool complete = clean && choices_ == 1 && !reader_.facts().finish.empty() && tail_.empty() &&
                          (operation_ == Operation::chat || operation_ == Operation::completions);
    if (complete) {
      state_ = State::ended;
      net::append_event(ours_, {"", "[DONE]"});
      return {ours_, state_};
    }
    return {fail(kCut), state_};
  }

  std::string_view fail(const WireError& error) override {
    ours_.clear();
    state_ = State::failed;
    append_error(ours_, wire::dialect_of(operation_), error);
    return ours_;
  }

  const wire::ResponseFacts& facts() const override { return whole_facts_ ? *whole_facts_ : reader_.facts(); }
  std::int64_t content_events() const override { return reader_.content_events(); }

 private:
  void fail_with(const WireError& error) {
    state_ = State::failed;
    why_ = error;
    kept_ = false;
  }

  /// Reads one block: whether it is for the client, and whether the stream goes on.
  void judge(std::string_view block, wire::Json& json) {
    kept_ = true;
    const bool fits = parser_.feed(block, [&](const net::SseEvent& event) {
      switch (reader_.take(event.type, event.data, json)) {
        case wire::StreamReader::Kind::content:
          break;
        case wire::StreamReader::Kind::usage_only:
          kept_ = !hide_usage_;
          break;
        case wire::StreamReader::Kind::end:
          state_ = State::ended;
          break;
        case wire::StreamReader::Kind::error:
          fail_with(kFailed);
          break;
        case wire::StreamReader::Kind::broken:
          fail_with(kBroken);
          break;
      }
    });
    if (!fits) fail_with(kBroken);
  }

  Operation operation_;
  std::int64_t choices_;
  bool hide_usage_;
  wire::StreamReader reader_;
  net::SseParser parser_{kEventMost};
  EventBlocks blocks_;
  State state_ = State::going;
  WireError why_;
  bool kept_ = true;  // the last block went to the client
  std::string tail_;  // of a block whose end has not come
  std::string ours_;  // what the last step passed, where it was no view of the piece
  std::optional<wire::ResponseFacts> whole_facts_;
};

/// What both directions of a translation share.
template <class Stream>
class TranslatedAnswer final : public Answer {
 public:
  TranslatedAnswer(Operation theirs, Dialect dialect, std::int64_t created, Stream stream)
      : theirs_(theirs), dialect_(dialect), created_(created), reader_(theirs), stream_(std::move(stream)) {}

  Whole whole(std::string body, wire::Json& json) override {
    Whole out;
    std::optional<wire::ResponseFacts> facts = wire::read_response(theirs_, body, json);
    if (facts) whole_facts_ = out.facts = std::move(*facts);
    if (!facts || out.facts.error) {
      out.error = kNoAnswer;
      return out;
    }
    wire::Translated translated = dialect_ == Dialect::openai ? wire::response_to_openai(body, created_, json)
                                                              : wire::response_to_anthropic(body, json);
    out.body = std::move(translated.body);
    out.error = std::move(translated.error);
    return out;
  }

  Step feed(std::string_view bytes, wire::Json& json) override {
    if (state_ != State::going) return {{}, state_};
    ours_.clear();
    const bool fits = parser_.feed(bytes, [&](const net::SseEvent& event) { take(event, json); });
    if (!fits && state_ == State::going) broken(kBroken);
    return {ours_, state_};
  }

  Step end(bool clean) override {
    if (state_ != State::going) return {{}, state_};
    ours_.clear();
    wire::Json json;
    if (clean && theirs_ == Operation::chat && !reader_.facts().finish.empty() && !parser_.inside_event())
      take({"", "[DONE]"}, json);  // left out by some servers; the answer says itself that it is whole
    if (state_ == State::ended) return {ours_, state_};
    return {fail(kCut), state_};
  }

  std::string_view fail(const WireError& error) override {
    ours_.clear();
    broken(error);
    return ours_;
  }

  const wire::ResponseFacts& facts() const override { return whole_facts_ ? *whole_facts_ : reader_.facts(); }
  std::int64_t content_events() const override { return reader_.content_events(); }

 private:
  void broken(const WireError& error) {
    state_ = State::failed;
    append_error(ours_, dialect_, error);
  }

  void take(const net::SseEvent& event, wire::Json& json) {
    if (state_ != State::going) return;
    const wire::StreamReader::Kind kind = reader_.take(event.type, event.data, json);
    if (kind == wire::StreamReader::Kind::error) return broken(kFailed);
    if (kind == wire::StreamReader::Kind::broken || !stream_.take(event.data, ours_, json)) return broken(kBroken);
    if (stream_.ended()) state_ = State::ended;
  }

  Operation theirs_;
  Dialect dialect_;  // of the client
  std::int64_t created_;
  wire::StreamReader reader_;
  Stream stream_;
  net::SseParser parser_{kEventMost};
  State state_ = State::going;
  std::string ours_;
  std::optional<wire::ResponseFacts> whole_facts_;
};

}  // namespace

std::size_t EventBlocks::end_of_block(std::string_view bytes, std::size_t at) {
  while (at < bytes.size()) {
    const char* const start = bytes.data() + at;
    const std::size_t left = bytes.size() - at;
    if (after_cr_ && *start == '\n') {  // belongs to the line end that was counted
      after_cr_ = false;
      ++at;
      continue;
    }
    after_cr_ = false;
    const void* const lf = std::memchr(start, '\n', left);
    const std::size_t before = lf == nullptr ? left : static_cast<std::size_t>(static_cast<const char*>(lf) - start);
    const void* const cr = std::memchr(start, '\r', before);
    const std::size_t line = cr == nullptr ? before : static_cast<std::size_t>(static_cast<const char*>(cr) - start);
    if (line > 0) line_empty_ = false;
    if (line == left) return std::string_view::npos;
    at += line + 1;
    after_cr_ = cr != nullptr;
    if (line_empty_) return at;
    line_empty_ = true;
  }
  return std::string_view::npos;
}

bool EventBlocks::takes_lf(std::string_view bytes, std::size_t at) {
  if (!after_cr_ || at >= bytes.size() || bytes[at] != '\n') return false;
  after_cr_ = false;
  return true;
}

std::unique_ptr<Answer> native_answer(const wire::Request& request, bool hide_usage) {
  return std::make_unique<NativeAnswer>(request, hide_usage);
}

std::unique_ptr<Answer> chat_from_messages(const wire::Request& request, Instant now) {
  const std::int64_t created = floor_div(nanos(now), nanos(kSecond));
  return std::make_unique<TranslatedAnswer<wire::StreamToOpenAi>>(Operation::messages, Dialect::openai, created,
                                                                  wire::StreamToOpenAi(created, request.include_usage));
}

std::unique_ptr<Answer> messages_from_chat() {
  return std::make_unique<TranslatedAnswer<wire::StreamToAnthropic>>(Operation::chat, Dialect::anthropic, 0,
                                                                     wire::StreamToAnthropic());
}

}  // namespace ace
