#include "gateway/caller.h"

#include <gtest/gtest.h>

#include "gateway/desk_testing.h"

namespace ace::gateway {
namespace {

TEST(Caller, can_be_held_to_a_stricter_rule_only) {
  Compliance any, eu, eu_own;
  eu.jurisdictions = {"eu"};
  eu_own.jurisdictions = {"eu"};
  eu_own.providers = {"own"};
  eu_own.retention_max = Duration{0};
  EXPECT_TRUE(tightens(eu, any));
  EXPECT_TRUE(tightens(eu_own, eu));
  EXPECT_FALSE(tightens(eu, eu_own));
  EXPECT_FALSE(tightens(any, eu));
  EXPECT_TRUE(tightens(eu, eu));
  EXPECT_TRUE(tightens(eu_own, eu_own)) << "as short as it may be kept";
  Compliance day = eu, open = eu, secret = eu;
  day.retention_max = kDay;
  EXPECT_FALSE(tightens(eu, day)) << "no bound at all";
  open.data_classes = {"public"};
  secret.data_classes = {"public", "secret"};
  EXPECT_TRUE(tightens(open, secret));
  EXPECT_FALSE(tightens(secret, open));
}

}  // namespace
}  // namespace ace::gateway
