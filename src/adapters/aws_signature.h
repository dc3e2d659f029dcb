#pragma once
/// AWS Signature Version 4: what a call to AWS is signed with.
/// Source: "Create a signed AWS API request", AWS Identity and Access Management User Guide, 2026-09.
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/time.h"
#include "perimeter/secret.h"

namespace ace {

struct AwsKey {
  std::string_view id, secret;
  std::string_view region, service;
};

/// A call as it is signed. Names of fields are in small letters and values without blanks around them.
struct AwsCall {
  std::string_view method;
  std::string_view path;     ///< as sent; encoded once more for the signature, as every service but S3 asks for
  std::string_view query{};  ///< as sent, its parameters in order
  std::span<const std::pair<std::string_view, std::string_view>> fields;  ///< sorted by name; `x-amz-date` is one
  std::string_view body{};
};

/// "20150830T123600Z", the value of `x-amz-date`.
std::string aws_date(Instant now);
/// The value of `authorization`. @pre the fields are sorted, and have host and x-amz-date
std::string aws_authorization(const AwsKey& key, const AwsCall& call, Instant now);

}  // namespace ace
