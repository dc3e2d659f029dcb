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
  EXPECT_EQ(text_of("50%25 off%"), "50% off%");
}

}  // namespace
}  // namespace ace::event
