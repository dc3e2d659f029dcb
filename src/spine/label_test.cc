#include "spine/label.h"

#include <gtest/gtest.h>

#include "core/testing.h"

namespace ace::event {
namespace {

TEST(Label, of_any_text_is_a_label_and_tells_what_it_was_made_of) {
  for_each_seed(500, [](Rng& rng) {
    std::string text(1 + rng.below(40), ' ');
    for (char& c : text) c = static_cast<char>(rng.below(4) == 0 ? rng.below(256) : 'a' + rng.below(26));
    const std::string label = label_of(text);
    EXPECT_TRUE(is_label(label)) << text;
    EXPECT_EQ(label_of(text_of(label)), label);
    if (label.size() < kLabelMax - 3) {
      EXPECT_EQ(text_of(label), text);
    }
  });
}

TEST(Label, of_a_secret_hides_it) {
  EXPECT_EQ(label_of("sk-live-1234"), "masked");
  EXPECT_EQ(text_of("masked"), "masked");
  EXPECT_EQ(label_of("gsk_0123456789abcdefghij"), "masked");
  EXPECT_EQ(label_of("hf_0123456789abcdefghijkl"), "masked");
  EXPECT_EQ(label_of("AKIAIOSFODNN7EXAMPLE"), "masked");
  EXPECT_EQ(label_of("AIzaSy0123456789012345678901234567890"), "masked");
  EXPECT_EQ(text_of("50%25 off%"), "50% off%");
}

/// Two names with one label would be one line of the chargeback.
TEST(Label, keeps_apart_what_only_begins_like_a_secret_and_says_what_it_cannot_keep) {
  EXPECT_EQ(label_of("ASIA-east"), "ASIA-east");
  EXPECT_EQ(label_of("hf_models"), "hf_models");
  EXPECT_TRUE(is_kept("search@acme"));
  EXPECT_TRUE(is_kept("50% off"));
  EXPECT_FALSE(is_kept("sk-team"));
  EXPECT_FALSE(is_kept(std::string(97, 'a')));
  EXPECT_FALSE(is_kept(std::string(40, '@'))) << "120 as a label";
}

}  // namespace
}  // namespace ace::event
