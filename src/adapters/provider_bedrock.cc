/// Anthropic's models behind AWS: messages in another envelope, signed, and streamed in AWS's own frames.
#include <fmt/format.h>

#include <algorithm>

#include "adapters/aws_signature.h"
#include "adapters/event_stream.h"
#include "adapters/provider_messages.h"
#include "adapters/provider_refusal.h"
#include "core/text.h"
#include "net/sse.h"
#include "spine/spine.h"

namespace ace {
namespace {

using wire::Operation;

const wire::WireError kBroken{502, "provider_invalid", "the provider sent what is no part of such a stream"};
const wire::WireError kFailed{502, "provider_failed", "the provider failed in the middle of the answer"};

/// Takes the events of messages out of their frames and hands them to the answer that knows them.
///
///   {"bytes": BASE64 of an event's data, "p": padding}
class FramedAnswer final : public Answer {
 public:
  explicit FramedAnswer(std::unique_ptr<Answer> inner) : inner_(std::move(inner)) {}

  Whole whole(std::string body, wire::Json& json) override { return inner_->whole(std::move(body), json); }

  Step feed(std::string_view bytes, wire::Json& json) override {
    if (state_ != State::going) return {{}, state_};
    out_.clear();
    const bool fits = parser_.feed(bytes, [&](const EventStreamMessage& message) {
      take(message, json);
      return state_ == State::going;
    });
    if (!fits && state_ == State::going) broken(kBroken);
    return {out_, state_};
  }

  Step end(bool clean) override {
    if (state_ != State::going) return {{}, state_};
    const Step last = inner_->end(clean && !parser_.inside_message());
    state_ = last.state;
    return last;
  }

  std::string_view fail(const wire::WireError& error) override {
    state_ = State::failed;
    return inner_->fail(error);
  }

  const wire::ResponseFacts& facts() const override { return inner_->facts(); }
  std::int64_t content_events() const override { return inner_->content_events(); }

 private:
  void broken(const wire::WireError& error) { out_ += fail(error); }

  void take(const EventStreamMessage& message, wire::Json& json) {
    if (message.message_type != "event") return broken(kFailed);
    if (message.event_type != "chunk") return;
    if (!json.parse(message.payload)) return broken(kBroken);
    const auto coded = json.root().get("bytes");
    if (!coded || !coded->is(wire::JsonKind::string)) return broken(kBroken);
    const Result<std::string> data = from_base64(coded->text());
    if (!data || !json.parse(*data)) return broken(kBroken);
    const auto type = json.root().get("type");
    if (!type || !type->is(wire::JsonKind::string)) return broken(kBroken);
    const std::string name = type->text();
    if (name.find_first_of("\r\n") != std::string::npos) return broken(kBroken);
    event_.clear();
    net::append_event(event_, {name, *data});
    const Step step = inner_->feed(event_, json);
    out_ += step.pass;
    state_ = step.state;
  }

  std::unique_ptr<Answer> inner_;
  EventStreamParser parser_;
  State state_ = State::going;
  std::string event_, out_;
};

class Bedrock final : public MessagesUpstream {
 public:
  using MessagesUpstream::MessagesUpstream;

  [[nodiscard]] Refusal refusal(int status, std::span<const net::Field> fields, std::string_view body, Instant now,
                                wire::Json& json) const override {
    Refusal out = read_refusal(status, fields, body, now, json);
    const net::Field* field = net::find(fields, "x-amzn-errortype");
    const std::string_view type =
        field == nullptr ? std::string_view() : field->value.substr(0, field->value.find(':'));
    if (type == "ServiceQuotaExceededException" || type == "ThrottlingException") {
      out.why = Rejection::throttled;
      out.error = {429, "provider_rate_limited", "the provider's rate limit is reached"};
    } else if (type == "ModelNotReadyException") {
      out.why = Rejection::overloaded;
      out.error = {503, "provider_overloaded", "the provider is overloaded"};
    } else if (type == "ResourceNotFoundException" || type == "IncompleteSignature" || type == "NotAuthorized" ||
               type == "RequestExpired" || type == "UnrecognizedClientException") {
      out.why = Rejection::refused;
      out.error = refused_call(status);
    }
    return out;
  }

 protected:
  void finish(const Ask& ask, Operation /*operation*/, wire::Json& json, Prepared& out) const override {
    const bool stream = ask.request.stream;
    out.target = fmt::format("{}/model/{}/{}", contact_.path, percent_encoded(ask.model),
                             stream ? "invoke-with-response-stream" : "invoke");
    out.body = enveloped(out.body.empty() ? ask.body : std::string_view(out.body), betas_of(ask.fields), json);
    if (stream) out.answer = std::make_unique<FramedAnswer>(std::move(out.answer));
    std::string fields;
    net::HeadWriter head(fields);
    head.field("content-type", "application/json");
    head.field("accept", stream ? "application/vnd.amazon.eventstream" : "application/json");
    head.field("user-agent", "ace");
    write_own_fields(fields);
    if (!contact_.key_id.empty()) sign(ask, out, fields);
    out.fields = Secret(std::move(fields));
  }

  void write_own_fields(std::string& fields) const override {
    if (contact_.key_id.empty()) write_bearer(fields, contact_.key);  // else each call is signed
  }

 private:
  /// The model stands in the path, and whether to stream too. What else the body says stays as it is written.
  [[nodiscard]] static std::string enveloped(std::string_view body, std::string_view betas, wire::Json& json) {
    std::string out = R"({"anthropic_version":"bedrock-2023-05-31")";
    if (!betas.empty()) {
      out += R"(,"anthropic_beta":[)";
      for (std::size_t at = 0; at <= betas.size();) {
        const std::size_t comma = std::min(betas.find(',', at), betas.size());
        std::string_view name = betas.substr(at, comma - at);
        while (!name.empty() && name.front() == ' ') name.remove_prefix(1);
        while (!name.empty() && name.back() == ' ') name.remove_suffix(1);
        if (!name.empty()) out.append(out.back() == '[' ? "" : ",").append(json_text(name));
        at = comma + 1;
      }
      out += ']';
    }
    ACE_CHECK(json.parse(body), "a body that was read before");
    for (const auto item : json.root().items()) {
      if (item.name == "model" || item.name == "stream" || item.name == "anthropic_version") continue;
      out.append(",\"").append(item.name).append("\":").append(item.value.raw());
    }
    return out + "}";
  }

  void sign(const Ask& ask, const Prepared& out, std::string& fields) const {
    const net::Origin& to = contact_.origin;
    const bool default_port = to.port == (to.tls ? 443 : 80);
    const std::string host = default_port ? to.host : fmt::format("{}:{}", to.host, to.port);
    const std::string date = aws_date(ask.now);
    std::vector<std::pair<std::string_view, std::string_view>> lines = {
        {"content-type", "application/json"}, {"host", host}, {"x-amz-date", date}};
    if (!contact_.session_token.empty()) lines.emplace_back("x-amz-security-token", contact_.session_token.reveal());
    const AwsKey key{contact_.key_id.reveal(), contact_.key.reveal(), contact_.region, "bedrock"};
    const std::string authorization =
        aws_authorization(key, {.method = "POST", .path = out.target, .fields = lines, .body = out.body}, ask.now);
    net::HeadWriter head(fields);
    for (const auto& [name, value] : lines)
      if (name.starts_with("x-amz-")) head.field(name, value);
    head.field("authorization", authorization);
  }
};

}  // namespace

std::unique_ptr<Upstream> bedrock_upstream(Contact contact) { return std::make_unique<Bedrock>(std::move(contact)); }

}  // namespace ace
