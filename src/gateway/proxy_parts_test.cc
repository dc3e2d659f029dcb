#include "gateway/proxy_parts.h"

#include <gtest/gtest.h>

#include "ledger/ledger_testing.h"

namespace ace::gateway {
namespace {

using net::SendFault;

TEST(ProxyParts, take_a_response_that_did_not_come_for_what_it_says_of_the_destination) {
  const struct {
    SendFault fault;
    Rejection why;
    bool local, billed;
  } cases[] = {
      // No byte of the request got through, or none of it was read: nobody worked.
      {SendFault::unresolved, Rejection::refused, false, false},
      {SendFault::forbidden, Rejection::refused, false, false},
      {SendFault::refused, Rejection::refused, false, false},
      {SendFault::connect_timeout, Rejection::refused, false, false},
      {SendFault::tls, Rejection::refused, false, false},
      {SendFault::overloaded, Rejection::overloaded, true, false},  // our own queue: nobody was asked
      {SendFault::protocol, Rejection::failed, false, false},
      // It may have begun to answer.
      {SendFault::reset, Rejection::failed, false, true},
      {SendFault::first_byte_timeout, Rejection::failed, false, true},
      {SendFault::next_byte_timeout, Rejection::failed, false, true},
      {SendFault::deadline, Rejection::failed, false, true},
  };
  for (const auto& c : cases) {
    const Desk::Failed failure = failure_of(c.fault);
    EXPECT_EQ(failure.why, c.why) << name_of(c.fault);
    EXPECT_EQ(failure.local, c.local) << name_of(c.fault);
    EXPECT_EQ(may_be_billed(c.fault), c.billed) << name_of(c.fault);
    EXPECT_GE(error_of(c.fault, "api").status, 502) << name_of(c.fault);
  }
}

TEST(ProxyParts, tell_a_client_when_to_come_again_and_never_too_early) {
  const auto told = [](int status, Duration after, bool again) {
    std::string fields;
    append_retry(fields, status, after, again);
    return fields;
  };
  const Duration ms{1'000'000};
  EXPECT_EQ(told(429, 1500 * ms, true), "retry-after-ms: 1500\r\nRetry-After: 2\r\nx-should-retry: true\r\n");
  EXPECT_EQ(told(503, kSecond, true), "retry-after-ms: 1000\r\nRetry-After: 1\r\nx-should-retry: true\r\n");
  EXPECT_EQ(told(429, kHour, true), "retry-after-ms: 60000\r\nRetry-After: 60\r\nx-should-retry: true\r\n");
  for (const std::string& nothing :
       {told(429, Duration{0}, true), told(502, kSecond, true)})  // not known; not a matter of time
    EXPECT_EQ(nothing, "x-should-retry: true\r\n");
  EXPECT_EQ(told(429, kSecond, false), "x-should-retry: false\r\n");
}

TEST(ProxyParts, find_the_deployment_that_a_provider_names_among_those_of_the_model) {
  Fleet fleet = ledger_testing::small_fleet();
  fleet.destinations[ledger_testing::kApi.value].serving[0].name = "large-eu";
  const World world(std::move(fleet));
  const auto destination = [&](OfferId id) { return world.snapshot[id].destination; };
  EXPECT_EQ(destination(offer_named(world, "large-eu", ledger_testing::kLarge)), ledger_testing::kApi);
  EXPECT_FALSE(offer_named(world, "large-us", ledger_testing::kLarge).valid());
  EXPECT_FALSE(offer_named(world, "large-eu", ledger_testing::kSmall).valid()) << "of another model";
}

TEST(ProxyParts, keep_the_prompts_of_tenants_apart_at_providers) {
  EXPECT_EQ(salted("a", "acme"), salted("a", "acme"));
  EXPECT_NE(salted("a", "acme"), salted("a", "other"));
  EXPECT_NE(salted("a", "acme"), salted("b", "acme")) << "another process";
}

}  // namespace
}  // namespace ace::gateway
