/// The published test suite of the signature, as far as its cases are calls that we make.
/// Source: AWS Signature Version 4 test suite (aws-sig-v4-test-suite), also among the tests of aws-c-auth; looked up
/// 2026-11.
#include "adapters/aws_signature.h"

#include <gtest/gtest.h>

#include <vector>

namespace ace {
namespace {

using Lines = std::vector<std::pair<std::string_view, std::string_view>>;

const Instant kThen = instant_of({2015, 8, 30, 12, 36, 0, 0});
constexpr AwsKey kKey{"AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "us-east-1", "service"};

TEST(AwsSignature, is_that_of_the_published_test_suite) {
  const Lines plain = {{"host", "example.amazonaws.com"}, {"x-amz-date", "20150830T123600Z"}};
  const Lines form = {{"content-type", "application/x-www-form-urlencoded"},
                      {"host", "example.amazonaws.com"},
                      {"x-amz-date", "20150830T123600Z"}};
  const struct {
    const char* name;
    AwsCall call;
    const char *signed_names, *signature;
  } cases[] = {
      {"get-vanilla",
       {.method = "GET", .path = "/", .fields = plain},
       "host;x-amz-date",
       "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
      {"post-vanilla",
       {.method = "POST", .path = "/", .fields = plain},
       "host;x-amz-date",
       "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
      {"post-vanilla-query",
       {.method = "POST", .path = "/", .query = "Param1=value1", .fields = plain},
       "host;x-amz-date",
       "28038455d6de14eafc1f9222cf5aa6f1a96197d7deb8263271d420d138af7f11"},
      {"get-utf8: a path that was not encoded yet",
       {.method = "GET", .path = "/\xe1\x88\xb4", .fields = plain},
       "host;x-amz-date",
       "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85"},
      {"get-space",
       {.method = "GET", .path = "/example space/", .fields = plain},
       "host;x-amz-date",
       "652487583200325589f1fba4c7e578f72c47cb61beeca81406b39ddec1366741"},
      {"post-x-www-form-urlencoded",
       {.method = "POST", .path = "/", .fields = form, .body = "Param1=value1"},
       "content-type;host;x-amz-date",
       "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(aws_authorization(kKey, c.call, kThen),
              std::string("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
                          "SignedHeaders=") +
                  c.signed_names + ", Signature=" + c.signature)
        << c.name;
  }
}

TEST(AwsSignature, says_the_second_it_was_made) { EXPECT_EQ(aws_date(kThen), "20150830T123600Z"); }

}  // namespace
}  // namespace ace
