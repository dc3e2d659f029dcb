#include "wire/dialect.h"

#include <gtest/gtest.h>

#include "wire/json.h"

namespace ace::wire {
namespace {

TEST(Dialect, a_path_is_an_operation_only_in_its_exact_bytes) {
  EXPECT_EQ(operation_of("POST", "/v1/chat/completions"), Operation::chat);
  EXPECT_EQ(operation_of("POST", "/v1/messages"), Operation::messages);
  EXPECT_EQ(operation_of("GET", "/v1/models"), Operation::models);
  for (const char* path :
       {"/v1/../admin/kill", "//admin", "/v1/%2e%2e/admin", "/v1/chat%2fcompletions", "/V1/chat/completions",
        "/v1/chat/completions/", "/v1/chat/completions;x", "/v1//chat/completions", "", "/"}) {
    EXPECT_FALSE(operation_of("POST", path)) << path;  // H24
  }
  EXPECT_FALSE(operation_of("GET", "/v1/chat/completions"));
  EXPECT_FALSE(operation_of("POST", "/v1/models"));
  EXPECT_EQ(dialect_of("/v1/messages/count_tokens"), Dialect::anthropic);
  EXPECT_EQ(dialect_of("/v1/messagesx"), Dialect::openai);
}

TEST(Dialect, errors_come_in_the_shape_of_the_api_that_was_called) {
  const WireError error{429, "rate_limited", "slow \"down\"", "model"};
  EXPECT_EQ(error_body(Dialect::openai, error),
            R"({"error":{"message":"slow \"down\"","type":"rate_limit_error","param":"model","code":"rate_limited"}})");
  EXPECT_EQ(error_body(Dialect::anthropic, error),
            R"({"type":"error","error":{"type":"rate_limit_error","message":"slow \"down\"","code":"rate_limited"}})");
  for (const int status : {400, 401, 402, 403, 404, 409, 413, 415, 429, 500, 502, 503, 504, 529}) {
    for (const Dialect dialect : {Dialect::openai, Dialect::anthropic}) {
      Json json;
      EXPECT_TRUE(json.parse(error_body(dialect, {status, "c", "m\n\x01<script>", ""})));
    }
  }
}

}  // namespace
}  // namespace ace::wire
