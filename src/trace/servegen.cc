#include "trace/servegen.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace ace {
namespace {

constexpr std::int64_t kWindow = kServegenWindowSeconds * nanos(kSecond);

/// The statistics in force at a second: the latest at or before it, else the first.
std::size_t in_force(const ServegenClient& client, std::int64_t second) {
  const auto after = std::upper_bound(client.tokens.begin(), client.tokens.end(), second,
                                      [](std::int64_t s, const ServegenTokens& tokens) { return s < tokens.second; });
  return after == client.tokens.begin() ? 0 : static_cast<std::size_t>(after - client.tokens.begin()) - 1;
}

TokenTable prompt_of(const ServegenTokens& t) {
  return TokenTable::from_statistics(t.prompt_mean, t.prompt_p50, t.prompt_p90, t.prompt_p99);
}
TokenTable output_of(const ServegenTokens& t) {
  return TokenTable::from_statistics(t.output_mean, t.output_p50, t.output_p90, t.output_p99);
}

struct Lengths {
  TokenTable prompt, output;
};

/// The lengths of all requests whose clients have statistics, 100 points per window of statistics.
Lengths pool(const Servegen& tables) {
  std::vector<Knot> prompts, outputs;
  for (const ServegenClient& client : tables.clients) {
    if (client.tokens.empty()) continue;
    std::vector<double> requests(client.tokens.size(), 0.0);
    for (const ServegenRate& rate : client.rates) requests[in_force(client, rate.second)] += rate.rate_per_s;
    for (std::size_t i = 0; i < client.tokens.size(); ++i) {
      if (requests[i] <= 0.0) continue;
      const TokenTable prompt = prompt_of(client.tokens[i]);
      const TokenTable output = output_of(client.tokens[i]);
      for (int point = 0; point < 100; ++point) {
        const double share = (point + 0.5) / 100.0;
        prompts.push_back({requests[i], prompt.at(share)});
        outputs.push_back({requests[i], output.at(share)});
      }
    }
  }
  return {TokenTable::from_samples(std::move(prompts)), TokenTable::from_samples(std::move(outputs))};
}

class ClientFeed final : public WindowFeed {
 public:
  ClientFeed(std::shared_ptr<const Servegen> tables, std::size_t client, std::shared_ptr<const Lengths> pooled,
             const ServegenOptions& options, std::int64_t from, std::int64_t to)
      : tables_(std::move(tables)),
        client_(&tables_->clients[client]),
        pooled_(std::move(pooled)),
        start_(nanos(options.start)),
        scale_(options.generate.scale),
        from_(from),
        to_(to) {
    rewind();
  }

  bool next(PaceWindow& window) override {
    while (at_ < client_->rates.size() && client_->rates[at_].second < from_) ++at_;
    if (at_ == client_->rates.size() || client_->rates[at_].second >= to_) return false;
    const ServegenRate& rate = client_->rates[at_++];
    window.from = start_ + rate.second * nanos(kSecond);
    window.length = kWindow;
    window.rate_per_s = rate.rate_per_s * scale_;
    window.gaps = Gaps(rate.family, rate.shape);
    window.number = static_cast<std::uint64_t>(rate.second / kServegenWindowSeconds);
    window.fresh = true;
    if (!client_->tokens.empty()) {
      const std::size_t now = in_force(*client_, rate.second);
      if (now != tokens_) {
        own_ = {prompt_of(client_->tokens[now]), output_of(client_->tokens[now])};
        tokens_ = now;
      }
    }
    const Lengths& lengths = client_->tokens.empty() ? *pooled_ : own_;
    window.prompt = &lengths.prompt;
    window.output = &lengths.output;
    return true;
  }

  void rewind() override { at_ = 0; }

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};
  std::shared_ptr<const Servegen> tables_;
  const ServegenClient* client_;
  std::shared_ptr<const Lengths> pooled_;
  std::int64_t start_;
  double scale_;
  std::int64_t from_, to_;  ///< seconds
  std::size_t at_ = 0;
  std::size_t tokens_ = kNone;  ///< which statistics own_ is made of
  Lengths own_;
};

}  // namespace

Result<std::unique_ptr<RequestSource>> generate(std::shared_ptr<const Servegen> tables,
                                                const ServegenOptions& options) {
  const GenerateOptions& want = options.generate;
  if (!(want.scale > 0.0) || want.scale > 1e6 || want.first_day < 1 || want.last_day < want.first_day)
    return Error{Errc::bad_input, "expected a positive scale and days A-B with 1 <= A <= B"};
  const std::int64_t day = nanos(kDay) / nanos(kSecond);
  const std::int64_t from = (std::int64_t{want.first_day} - 1) * day;
  const std::int64_t to = std::int64_t{want.last_day} * day;
  std::shared_ptr<const Lengths> pooled;
  if (pooled_of(*tables).clients > 0) pooled = std::make_shared<const Lengths>(pool(*tables));
  std::vector<ClientSpec> clients;
  for (std::size_t i = 0; i < tables->clients.size(); ++i) {
    ClientSpec& client = clients.emplace_back();
    client.name = fmt::format("client-{:03}", tables->clients[i].number);
    client.model = options.model;
    client.feed = std::make_unique<ClientFeed>(tables, i, pooled, options, from, to);
  }
  const std::int64_t first = nanos(options.start) + from * nanos(kSecond);
  return merge_clients(std::move(clients), "generated from ServeGen client tables", first, want);
}

ServegenPooled pooled_of(const Servegen& tables) {
  ServegenPooled pooled;
  double all = 0.0;
  for (const ServegenClient& client : tables.clients) {
    double requests = 0.0;
    for (const ServegenRate& rate : client.rates) requests += rate.rate_per_s;
    all += requests;
    if (!client.tokens.empty() || client.rates.empty()) continue;
    ++pooled.clients;
    pooled.request_share += requests;
  }
  if (all > 0.0) pooled.request_share /= all;
  return pooled;
}

}  // namespace ace
