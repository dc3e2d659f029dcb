#include "adapters/eviction_watch.h"

#include <fmt/format.h>

#include <algorithm>

#include "net/write_head.h"

namespace ace {
namespace {

constexpr std::size_t kAnswerMost = std::size_t{256} << 10;
/// GCP answers by then at the latest, change or no change.
constexpr int kHoldSeconds = 60;
constexpr std::chrono::nanoseconds kHeldAtLeast = std::chrono::seconds{1};

Error unexpected(Cloud cloud, std::string_view what, int status, std::string_view why) {
  return {Errc::unavailable,
          status == 0 ? fmt::format("the metadata service of {} did not answer {}: {}", name_of(cloud), what, why)
                      : fmt::format("the metadata service of {} answered {} to {}", name_of(cloud), status, what)};
}

}  // namespace

net::Origin metadata_of(Cloud cloud) {
  return {cloud == Cloud::gcp ? "metadata.google.internal" : "169.254.169.254", 80, false, false, true};
}

EvictionWatch::EvictionWatch(net::Loop& loop, net::Client& client, Options options)
    : loop_(loop), client_(client), options_(std::move(options)) {}

net::Task<EvictionWatch::Answer> EvictionWatch::ask(std::string method, std::string target, std::string fields,
                                                    net::Cancel& cancel) {
  ++counts_.asked;
  net::Outgoing request;
  request.method = method;
  request.target = target;
  request.fields = fields;
  net::Patience patience;
  patience.first_byte = options_.patience + (waits_ ? std::chrono::seconds{kHoldSeconds} : std::chrono::seconds{0});
  patience.next_byte = options_.patience;
  Answer answer;
  const net::Sent sent = co_await client_.send(options_.metadata, request, patience, cancel);
  if (!sent.response) {
    answer.why = name_of(sent.fault);
    co_return answer;
  }
  for (;;) {
    const net::Incoming::Piece piece = co_await sent.response->next();
    if (piece.fault != net::SendFault::none) {
      answer.why = name_of(piece.fault);
      co_return answer;
    }
    answer.body += piece.data;
    if (answer.body.size() > kAnswerMost) {
      answer.why = "the answer is longer than any that is documented";
      co_return answer;
    }
    if (piece.end) break;
  }
  answer.status = sent.response->head().status;
  co_return answer;
}

net::Task<Result<std::optional<EvictionNotice>>> EvictionWatch::look_aws(net::Cancel& cancel) {
  if (token_.empty()) {
    std::string fields;
    net::HeadWriter(fields).field("X-aws-ec2-metadata-token-ttl-seconds", std::uint64_t{21600});
    Answer token = co_await ask("PUT", "/latest/api/token", fields, cancel);
    if (token.status != 200 || token.body.empty())
      co_return unexpected(Cloud::aws, "PUT /latest/api/token", token.status, token.why);
    token_ = std::move(token.body);
  }
  std::string fields;
  if (!net::HeadWriter(fields).field("X-aws-ec2-metadata-token", token_)) {
    token_.clear();
    co_return Error(Errc::corrupt, "the metadata service of aws gave a token that is no field value");
  }
  const Answer answer = co_await ask("GET", "/latest/meta-data/spot/instance-action", fields, cancel);
  if (answer.status == 404) co_return std::optional<EvictionNotice>();
  if (answer.status == 401) token_.clear();  // it has run out: the next look gets another
  if (answer.status != 200) co_return unexpected(Cloud::aws, "GET spot/instance-action", answer.status, answer.why);
  Result<EvictionNotice> notice = parse_aws_action(answer.body);
  if (!notice) co_return Error(notice.error());
  co_return std::optional<EvictionNotice>(*std::move(notice));
}

net::Task<Result<std::optional<EvictionNotice>>> EvictionWatch::look_gcp(net::Cancel& cancel) {
  std::string fields, target = "/computeMetadata/v1/instance/preempted";
  net::HeadWriter(fields).field("Metadata-Flavor", "Google");
  if (waits_) target += fmt::format("?wait_for_change=true&timeout_sec={}", kHoldSeconds);
  const Answer answer = co_await ask("GET", target, fields, cancel);
  waits_ = false;
  if (answer.status != 200) co_return unexpected(Cloud::gcp, "GET instance/preempted", answer.status, answer.why);
  const Result<bool> taken = parse_gcp_preempted(answer.body);
  if (!taken) co_return Error(taken.error());
  waits_ = !*taken;
  if (!*taken) co_return std::optional<EvictionNotice>();
  co_return std::optional<EvictionNotice>(
      EvictionNotice{EvictionNotice::What::terminate, loop_.utc() + least_lead(Cloud::gcp), {}});
}

net::Task<Result<std::optional<EvictionNotice>>> EvictionWatch::look_azure(net::Cancel& cancel) {
  std::string fields;
  net::HeadWriter(fields).field("Metadata", "true");
  if (options_.machine.empty()) {
    const Answer name =
        co_await ask("GET", "/metadata/instance/compute/name?api-version=2021-02-01&format=text", fields, cancel);
    if (name.status != 200 || name.body.empty())
      co_return unexpected(Cloud::azure, "GET instance/compute/name", name.status, name.why);
    options_.machine = name.body;
  }
  const Answer answer = co_await ask("GET", "/metadata/scheduledevents?api-version=2020-07-01", fields, cancel);
  if (answer.status != 200) co_return unexpected(Cloud::azure, "GET scheduledevents", answer.status, answer.why);
  co_return parse_azure_events(answer.body, options_.machine, loop_.utc());
}

net::Task<Result<std::optional<EvictionNotice>>> EvictionWatch::look(net::Cancel& cancel) {
  switch (options_.cloud) {
    case Cloud::aws:
      co_return co_await look_aws(cancel);
    case Cloud::gcp:
      co_return co_await look_gcp(cancel);
    case Cloud::azure:
      break;
  }
  co_return co_await look_azure(cancel);
}

net::Task<std::optional<EvictionNotice>> EvictionWatch::next(net::Cancel& cancel,
                                                             std::function<void(const Error&)> trouble) {
  bool told = false;
  while (!cancel.cancelled()) {
    const net::Steady asked = loop_.now();
    const Result<std::optional<EvictionNotice>> seen = co_await look(cancel);
    if (cancel.cancelled()) break;
    if (!seen) {
      ++counts_.failed;
      if (!told) trouble(seen.error());
    } else if (*seen) {
      co_return *seen;
    }
    told = !seen;
    // A question that was held has waited already; one that was not, whoever asked for it, must not become a storm.
    if (waits_ && loop_.now() - asked >= kHeldAtLeast) continue;
    const net::Steady until = loop_.now() + (waits_ ? std::min(options_.every, kHeldAtLeast) : options_.every);
    while (loop_.now() < until && !cancel.cancelled())  // in short naps, so that a cancelled watch ends soon
      co_await loop_.sleep(std::min<std::chrono::nanoseconds>(until - loop_.now(), std::chrono::milliseconds{200}));
  }
  co_return std::nullopt;
}

}  // namespace ace
