/// Whatever two tables hold (a `|` parts them): reading them twice gives the same, clients and their windows ascend,
/// no rate or length is negative or no number, and the share that takes pooled lengths is a share.
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "core/check.h"
#include "trace/servegen.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t bar = text.find('|');
  const std::string_view rates = text.substr(0, bar);
  const std::string_view tokens = bar == std::string_view::npos ? std::string_view() : text.substr(bar + 1);
  const ace::Result<ace::Servegen> read = ace::parse_servegen(rates, tokens);
  const ace::Result<ace::Servegen> twice = ace::parse_servegen(rates, tokens);
  ACE_CHECK(read.has_value() == twice.has_value(), "reading twice gave two answers");
  if (!read) {
    ACE_CHECK(read.error() == twice.error(), "reading twice gave two errors");
    return 0;
  }
  const auto amount = [](double value) { return std::isfinite(value) && value >= 0.0; };
  const ace::ServegenClient* before = nullptr;
  for (const ace::ServegenClient& client : read->clients) {
    ACE_CHECK(before == nullptr || before->number < client.number, "clients do not ascend");
    before = &client;
    for (std::size_t i = 0; i < client.rates.size(); ++i) {
      ACE_CHECK(i == 0 || client.rates[i - 1].second < client.rates[i].second, "windows of a rate do not ascend");
      ACE_CHECK(amount(client.rates[i].rate_per_s) && amount(client.rates[i].shape), "a rate that is none");
    }
    for (std::size_t i = 0; i < client.tokens.size(); ++i) {
      const ace::ServegenTokens& t = client.tokens[i];
      ACE_CHECK(i == 0 || client.tokens[i - 1].second < t.second, "windows of lengths do not ascend");
      for (const double length : {t.prompt_mean, t.prompt_p50, t.prompt_p90, t.prompt_p99, t.output_mean, t.output_p50,
                                  t.output_p90, t.output_p99})
        ACE_CHECK(amount(length), "a length that is none");
    }
  }
  const ace::ServegenPooled pooled = ace::pooled_of(*read);
  ACE_CHECK(pooled.clients <= read->clients.size(), "more pooled clients than clients");
  ACE_CHECK(pooled.request_share >= 0.0 && pooled.request_share <= 1.0, "a share beyond the whole");
  return 0;
}
