#include "perimeter/perimeter.h"

#include <gtest/gtest.h>

#include <set>

#include "core/testing.h"

namespace ace {
namespace {

std::string hex(const std::array<std::uint8_t, 32>& bytes) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

MaskKey key_of(std::uint8_t fill) {
  MaskKey key{};
  key.fill(fill);
  return key;
}

std::string bytes(Rng& rng, std::size_t size) {
  std::string text(size, '\0');
  for (char& c : text) c = static_cast<char>(static_cast<unsigned char>(rng.below(256)));
  return text;
}

TEST(Hmac, agrees_with_rfc_4231) {
  const struct {
    const char* why;
    std::string key, message, want;
  } cases[] = {
      {"case 1", std::string(20, '\x0b'), "Hi There",
       "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"},
      {"case 2", "Jefe", "what do ya want for nothing?",
       "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
      {"case 3", std::string(20, '\xaa'), std::string(50, '\xdd'),
       "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"},
      {"case 6, a key longer than a block", std::string(131, '\xaa'),
       "Test Using Larger Than Block-Size Key - Hash Key First",
       "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"},
  };
  for (const auto& c : cases) EXPECT_EQ(hex(hmac_sha256(c.key, c.message)), c.want) << c.why;
}

TEST(Masker, gives_the_same_token_for_the_same_bytes_and_key_in_every_run) {
  // RFC 4231's message of case 1 under 32 bytes of 0x0b, by an independent implementation (Python's hmac):
  // first bytes of the digest 198a607eb44bfbc6, the first 50 bits in Crockford base32.
  Masker masker(key_of(0x0b));
  EXPECT_EQ(masker.token("Hi There"), "t_36560znm9f");
  EXPECT_EQ(masker.token("Hi There"), Masker(key_of(0x0b)).token("Hi There"));
}

TEST(Masker, gives_another_token_under_another_key) {
  EXPECT_NE(Masker(key_of(1)).token("ada@example.org"), Masker(key_of(2)).token("ada@example.org"));
}

TEST(Masker, lets_declared_labels_pass_and_masks_all_else) {
  Masker masker(key_of(7));
  masker.declare("acme");
  EXPECT_EQ(masker.token("acme"), "acme");
  for (const char* raw : {"acm", "acme ", "Acme", "acme/search", "t_0123456789"}) EXPECT_NE(masker.token(raw), raw);
}

TEST(Masker, declares_a_label_even_after_it_was_masked) {
  Masker masker(key_of(7));
  EXPECT_NE(masker.token("acme"), "acme");
  masker.declare("acme");
  EXPECT_EQ(masker.token("acme"), "acme");
}

TEST(Masker, leaves_no_identity_without_one) { EXPECT_EQ(Masker(key_of(7)).token(""), ""); }

TEST(Masker, writes_only_its_alphabet_whatever_the_bytes) {
  for_each_seed(300, [](Rng& rng) {
    Masker masker(key_of(static_cast<std::uint8_t>(rng.below(256))));
    const std::string raw = bytes(rng, 1 + rng.below(400));
    const std::string token = masker.token(raw);
    ASSERT_EQ(token.size(), 12U);
    EXPECT_TRUE(token.starts_with("t_"));
    EXPECT_EQ(token.find_first_not_of("0123456789abcdefghjkmnpqrstvwxyz", 2), std::string::npos) << token;
    // Eight raw bytes in a row would be no accident (32^-8); shorter inputs may meet by chance.
    EXPECT_TRUE(raw.size() < 8 || token.find(raw.substr(0, 8)) == std::string::npos);
  });
}

TEST(Masker, keeps_names_apart) {
  Masker masker(key_of(3));
  std::set<std::string> tokens;
  for (int i = 0; i < 20'000; ++i) tokens.insert(masker.token("user-" + std::to_string(i)));
  EXPECT_EQ(tokens.size(), 20'000U);  // 2e8 pairs over 2^50 tokens: a clash has a chance of 2e-7
}

TEST(Masker, gives_the_same_tokens_with_a_small_memo_a_large_one_and_none) {
  Masker none(key_of(5), 0);
  Masker small(key_of(5), 3);
  Masker large(key_of(5));
  for_each_seed(50, [&](Rng& rng) {
    const std::string raw = "user-" + std::to_string(rng.below(10));
    const std::string want = none.token(raw);
    EXPECT_EQ(small.token(raw), want);
    EXPECT_EQ(large.token(raw), want);
  });
}

TEST(SaltFile, gives_a_key_or_says_how_to_mend_it) {
  const std::string digits = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1E1F";
  const struct {
    const char* why;
    std::string text;
    std::string want;  // the key in hex, or a part of the error
  } cases[] = {
      {"64 digits", digits, "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"},
      {"with the newline of an editor", digits + "\r\n",
       "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"},
      {"a digit lost", digits.substr(1),
       "has 63 hexadecimal digits, expected 64; make one with `openssl rand -hex 32`"},
      {"a digit too many", digits + "0", "has 65 hexadecimal digits"},
      {"empty", "", "has 0 bytes, expected 64 hexadecimal digits or at least 32 bytes; make one with"},
      {"a password", "correct horse battery staple", "has 28 bytes"},
      // SHA-256 of 32 blanks, by sha256sum.
      {"32 raw bytes", std::string(32, ' '), "85e7eac2862f1cbd85bc18769c75172c3fdcd899ab468b9e973d59ec620d9991"},
  };
  for (const auto& c : cases) {
    const Result<MaskKey> key = key_from(c.text);
    if (key) {
      EXPECT_EQ(hex(*key), c.want) << c.why;
    } else {
      EXPECT_NE(key.error().what().find(c.want), std::string::npos) << c.why << ": " << key.error().what();
      EXPECT_EQ(key.error().code(), Errc::bad_input) << c.why;
    }
  }
}

TEST(SaltFile, is_never_repeated_in_an_error) {
  const Result<MaskKey> key = key_from("hunter2-hunter2");
  ASSERT_FALSE(key);
  EXPECT_EQ(key.error().what().find("hunter2"), std::string::npos);
}

}  // namespace
}  // namespace ace
