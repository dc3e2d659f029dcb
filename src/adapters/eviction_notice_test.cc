#include "adapters/eviction_notice.h"

#include <gtest/gtest.h>

namespace ace {
namespace {

Instant at(const char* text) { return *parse_rfc3339(text); }

TEST(EvictionNotice, of_aws_says_what_and_when) {
  const Result<EvictionNotice> notice = parse_aws_action(R"({"action": "stop", "time": "2026-12-01T08:22:00Z"})");
  ASSERT_TRUE(notice);
  EXPECT_EQ(*notice, (EvictionNotice{EvictionNotice::What::stop, at("2026-12-01T08:22:00Z"), ""}));
  for (const char* bad : {"", "{}", "[]", "null", R"({"action":"eat","time":"2026-12-01T08:22:00Z"})",
                          R"({"action":"stop","time":"soon"})", R"({"action":"stop","time":17})", "<html>404</html>"}) {
    const Result<EvictionNotice> refused = parse_aws_action(bad);
    ASSERT_FALSE(refused) << bad;
    EXPECT_EQ(refused.error().code(), Errc::corrupt);
  }
}

TEST(EvictionNotice, of_gcp_is_a_word) {
  EXPECT_EQ(parse_gcp_preempted("TRUE").value(), true);
  EXPECT_EQ(parse_gcp_preempted("FALSE\n").value(), false);
  for (const char* bad : {"", "true", "TRUE FALSE", "<html>"}) EXPECT_FALSE(parse_gcp_preempted(bad)) << bad;
}

constexpr const char* kAzure = R"({"DocumentIncarnation":2,"Events":[
  {"EventId":"E1","EventType":"Reboot","ResourceType":"VirtualMachine","Resources":["vm_0"],"EventStatus":"Scheduled",
   "NotBefore":"Thu, 22 Jul 2021 04:00:00 GMT","Description":"","EventSource":"Platform","DurationInSeconds":9},
  {"EventId":"E2","EventType":"Preempt","ResourceType":"VirtualMachine","Resources":["vm_1","vm_0"],
   "EventStatus":"Scheduled","NotBefore":"Thu, 22 Jul 2021 04:50:17 GMT","EventSource":"Platform","DurationInSeconds":-1},
  {"EventId":"E3","EventType":"Preempt","ResourceType":"VirtualMachine","Resources":["vm_2"],"EventStatus":"Started",
   "NotBefore":"","EventSource":"Platform","DurationInSeconds":-1}]})";

TEST(EvictionNotice, of_azure_counts_only_for_the_machine_that_it_names) {
  const Instant now = at("2021-07-22T04:49:00Z");
  EXPECT_EQ(parse_azure_events(kAzure, "vm_0", now).value(),
            (EvictionNotice{EvictionNotice::What::terminate, at("2021-07-22T04:50:17Z"), "E2"}));
  EXPECT_EQ(parse_azure_events(kAzure, "vm_2", now).value(),
            (EvictionNotice{EvictionNotice::What::terminate, now, "E3"}));  // it has started
  EXPECT_EQ(parse_azure_events(kAzure, "vm_3", now).value(), std::nullopt);
  EXPECT_EQ(parse_azure_events(R"({"DocumentIncarnation":1,"Events":[]})", "vm_0", now).value(), std::nullopt);
  for (const char* bad :
       {"", "{}", R"({"Events":{}})", R"({"Events":[1]})",
        R"({"Events":[{"EventType":"Preempt","Resources":["vm_0"],"NotBefore":"2021-07-22T04:50:17Z"}]})"})
    EXPECT_FALSE(parse_azure_events(bad, "vm_0", now)) << bad;
}

TEST(EvictionNotice, clouds_have_names_and_leads) {
  for (const Cloud cloud : {Cloud::aws, Cloud::gcp, Cloud::azure}) EXPECT_EQ(cloud_of(name_of(cloud)), cloud);
  EXPECT_EQ(cloud_of("ibm"), std::nullopt);
  EXPECT_EQ(least_lead(Cloud::aws), 2 * kMinute);
  EXPECT_EQ(least_lead(Cloud::azure), 30 * kSecond);
}

}  // namespace
}  // namespace ace
