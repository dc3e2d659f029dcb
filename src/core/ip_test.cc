#include "core/ip.h"

#include <gtest/gtest.h>

namespace ace {
namespace {

TEST(Ip, reaches_as_far_as_its_registry_says) {
  const struct {
    const char* text;
    Reach want;
  } cases[] = {
      {"8.8.8.8", Reach::open},
      {"2606:4700::1111", Reach::open},
      {"127.0.0.1", Reach::local},
      {"127.255.0.9", Reach::local},
      {"::1", Reach::local},
      {"10.0.0.1", Reach::private_range},
      {"172.16.0.1", Reach::private_range},
      {"172.32.0.1", Reach::open},
      {"192.168.9.9", Reach::private_range},
      {"100.64.0.1", Reach::private_range},
      {"fd12::1", Reach::private_range},
      {"fc00::1", Reach::private_range},
      {"169.254.169.254", Reach::forbidden},
      {"100.100.100.200", Reach::forbidden},
      {"168.63.129.16", Reach::forbidden},
      {"0.0.0.0", Reach::forbidden},
      {"224.0.0.1", Reach::forbidden},
      {"255.255.255.255", Reach::forbidden},
      {"::", Reach::forbidden},
      {"::ffff:127.0.0.1", Reach::forbidden},
      {"::127.0.0.1", Reach::forbidden},
      {"64:ff9b::a9fe:a9fe", Reach::forbidden},
      {"2002:7f00:1::", Reach::forbidden},
      {"fe80::1", Reach::forbidden},
      {"ff02::1", Reach::forbidden},
      {"fd00:ec2::254", Reach::forbidden},
      {"fd00:0ec2:0::0254", Reach::forbidden},
  };
  for (const auto& c : cases) {
    const std::optional<Ip> ip = parse_ip(c.text);
    ASSERT_TRUE(ip) << c.text;
    EXPECT_EQ(reach_of(*ip), c.want) << c.text;
  }
}

TEST(Ip, has_one_spelling_in_four_decimals) {
  for (const char* text : {"2852039166", "0xa9fea9fe", "0251.0376.0251.0376", "169.254.43518", "1.2.3", "1.2.3.4.5",
                           "256.1.1.1", "1.2.3.04", "", "a.b.c.d", "1.2.3.4 ", "::1%lo", "[::1]", "1::2::3", ":"}) {
    EXPECT_FALSE(parse_ip(text)) << text;
  }
}

}  // namespace
}  // namespace ace
