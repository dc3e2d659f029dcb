#include "gateway/keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/testing.h"

namespace ace::gateway {
namespace {

using ::testing::HasSubstr;

constexpr Instant kNow = instant(1'800'000'000'000'000'000);

std::string key_from(Rng& rng, Role role = Role::client) {
  std::array<std::uint8_t, 32> entropy{};
  for (auto& byte : entropy) byte = static_cast<std::uint8_t>(rng.below(256));
  return make_key(role, entropy);
}

Key holder(std::string id, const std::string& secret) {
  Key key;
  key.id = std::move(id);
  key.tenant = "acme";
  key.secrets.push_back({digest_of(secret)});
  return key;
}

KeyRefusal refusal(const KeyRing& ring, std::string_view secret, Instant at = kNow, Role role = Role::client) {
  const auto found = ring.find(secret, role, at);
  EXPECT_TRUE(std::holds_alternative<KeyRefusal>(found)) << "it opens";
  return std::holds_alternative<KeyRefusal>(found) ? std::get<KeyRefusal>(found) : KeyRefusal::none_given;
}

bool opens(const KeyRing& ring, std::string_view secret, Instant at = kNow) {
  return std::holds_alternative<const Key*>(ring.find(secret, Role::client, at));
}

TEST(Keys, have_a_form_that_says_what_they_are_and_a_checksum) {
  std::array<std::uint8_t, 32> zeros{};
  const std::string key = make_key(Role::client, zeros);
  EXPECT_EQ(key.size(), 45U);
  EXPECT_TRUE(key.starts_with("ace_sk_00000000000000000000000000000000")) << key;
  EXPECT_EQ(role_of(key), Role::client);
  EXPECT_TRUE(make_key(Role::admin, zeros).starts_with("ace_ak_"));
  EXPECT_NE(key.substr(39), make_key(Role::admin, zeros).substr(39)) << "the checksum covers the role";
}

TEST(Keys, any_character_changed_left_out_or_added_is_noticed) {
  for_each_seed(200, [](Rng& rng) {
    const std::string key = key_from(rng);
    ASSERT_TRUE(role_of(key));
    std::string changed = key;
    const std::size_t at = rng.below(key.size());
    changed[at] = changed[at] == 'x' ? 'y' : 'x';
    ASSERT_FALSE(role_of(changed)) << key << " " << changed;
    std::string shorter = key;
    shorter.erase(at, 1);
    ASSERT_FALSE(role_of(shorter));
    ASSERT_FALSE(role_of(key + "0"));
    ASSERT_NE(key_id_of(key), key_id_of(key_from(rng)));
  });
}

TEST(Keys, use_every_digit_about_equally) {
  Rng rng(1, "keys");
  std::array<int, 256> seen{};
  for (int i = 0; i < 2000; ++i)
    for (const char c : key_from(rng).substr(7, 32)) ++seen[static_cast<unsigned char>(c)];
  for (const char c : std::string_view("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"))
    EXPECT_NEAR(seen[static_cast<unsigned char>(c)], 64000 / 62, 200) << c;  // six standard deviations of 32
}

TEST(KeyRing, opens_to_those_it_knows_and_says_why_not) {
  Rng rng(1, "keys");
  const std::string good = key_from(rng), later = key_from(rng), revoked = key_from(rng),
                    admin = key_from(rng, Role::admin);
  KeyRing ring;
  ASSERT_TRUE(ring.add(holder("a", good)));
  Key timed = holder("b", later);
  timed.secrets[0].from = kNow + kHour;
  timed.secrets[0].until = kNow + 2 * kHour;
  ASSERT_TRUE(ring.add(timed));
  ASSERT_TRUE(ring.add(holder("c", revoked)));
  ASSERT_TRUE(ring.revoke("c", kNow));
  Key operators = holder("d", admin);
  operators.role = Role::admin;
  ASSERT_TRUE(ring.add(operators));
  EXPECT_EQ(std::get<const Key*>(ring.find(good, Role::client, kNow))->id, "a");
  EXPECT_EQ(refusal(ring, ""), KeyRefusal::none_given);
  EXPECT_EQ(refusal(ring, "sk-123"), KeyRefusal::malformed);
  EXPECT_EQ(refusal(ring, key_from(rng)), KeyRefusal::unknown);
  EXPECT_EQ(refusal(ring, later), KeyRefusal::not_yet);
  EXPECT_TRUE(opens(ring, later, kNow + kHour));
  EXPECT_EQ(refusal(ring, later, kNow + 2 * kHour), KeyRefusal::expired);
  EXPECT_EQ(refusal(ring, revoked), KeyRefusal::revoked);
  EXPECT_EQ(refusal(ring, admin), KeyRefusal::wrong_role);
  EXPECT_EQ(refusal(ring, good, kNow, Role::admin), KeyRefusal::wrong_role);
}

TEST(KeyRing, two_secrets_overlap_while_one_is_exchanged) {
  Rng rng(2, "keys");
  const std::string first = key_from(rng), second = key_from(rng), third = key_from(rng);
  KeyRing ring;
  ASSERT_TRUE(ring.add(holder("a", first)));
  ASSERT_TRUE(ring.rotate("a", second, kHour, kNow));
  EXPECT_TRUE(opens(ring, first));
  EXPECT_TRUE(opens(ring, second));
  EXPECT_FALSE(opens(ring, first, kNow + kHour));
  EXPECT_TRUE(opens(ring, second, kNow + kHour));
  ASSERT_TRUE(ring.rotate("a", third, Duration{0}, kNow + kHour));
  EXPECT_EQ(ring.at("a")->secrets.size(), 1U) << "what has ended is not kept";
  EXPECT_EQ(ring.rotate("none", third, kHour, kNow).error().code(), Errc::not_found);
  EXPECT_EQ(ring.rotate("a", third, kHour, kNow).error().code(), Errc::conflict) << "the same secret twice";
  EXPECT_EQ(ring.rotate("a", key_from(rng, Role::admin), kHour, kNow).error().code(), Errc::bad_input);
  ASSERT_TRUE(ring.revoke("a", kNow));
  EXPECT_EQ(ring.rotate("a", first, kHour, kNow).error().code(), Errc::conflict) << "revoked for good";
}

TEST(KeyRing, prolongs_nothing_that_ends_sooner) {
  Rng rng(4, "keys");
  const std::string first = key_from(rng), second = key_from(rng), third = key_from(rng);
  KeyRing ring;
  ASSERT_TRUE(ring.add(holder("a", first)));
  ASSERT_TRUE(ring.rotate("a", second, kHour, kNow));
  ASSERT_TRUE(ring.rotate("a", third, kHour, kNow + kHour / 2));
  EXPECT_TRUE(opens(ring, first, kNow + kHour - Duration{1}));
  EXPECT_EQ(refusal(ring, first, kNow + kHour), KeyRefusal::expired);
  EXPECT_TRUE(opens(ring, second, kNow + kHour));
  ASSERT_TRUE(ring.revoke("a", kNow + kHour));
  ASSERT_TRUE(ring.revoke("a", kNow + 2 * kHour)) << "again";
  EXPECT_EQ(refusal(ring, third, kNow + kHour), KeyRefusal::revoked);
}

TEST(KeyRing, opens_to_no_key_whose_digest_only_begins_as_one_does) {
  Rng rng(5, "keys");
  KeyRing ring;
  for (int i = 0; i < 40; ++i) ASSERT_TRUE(ring.add(holder("k" + std::to_string(i), key_from(rng))));
  int alike = 0;
  for (int i = 0; i < 500; ++i) {
    const std::string stranger = key_from(rng);
    for (const Key& key : ring.keys()) alike += key.secrets[0].digest[0] == digest_of(stranger)[0] ? 1 : 0;
    ASSERT_EQ(refusal(ring, stranger), KeyRefusal::unknown);
  }
  EXPECT_GE(alike, 20) << "some do, else nothing was tried";
}

TEST(KeyRing, holds_an_id_and_a_secret_once) {
  Rng rng(3, "keys");
  const std::string secret = key_from(rng);
  KeyRing ring;
  ASSERT_TRUE(ring.add(holder("a", secret)));
  EXPECT_EQ(ring.add(holder("a", key_from(rng))).error().code(), Errc::conflict);
  EXPECT_EQ(ring.add(holder("b", secret)).error().code(), Errc::conflict);
  EXPECT_EQ(ring.keys().size(), 1U) << "nothing of a refused change stays";
}

TEST(KeyRing, limits_a_holder_to_operations_and_models) {
  Key key = holder("a", "x");
  EXPECT_TRUE(key.may(wire::Operation::embeddings));
  EXPECT_TRUE(key.may_ask("any"));
  key.operations = {wire::Operation::chat};
  key.models = {"m"};
  EXPECT_FALSE(key.may(wire::Operation::embeddings));
  EXPECT_TRUE(key.may(wire::Operation::chat));
  EXPECT_FALSE(key.may_ask("any"));
  EXPECT_TRUE(key.may_ask("m"));
}

TEST(KeyRing, reads_what_it_writes_and_writes_no_secret) {
  for_each_seed(200, [](Rng& rng) {
    KeyRing ring;
    std::vector<std::string> secrets;
    for (std::uint64_t i = 0, n = rng.below(5); i < n; ++i) {
      secrets.push_back(key_from(rng));
      Key key = holder("k" + std::to_string(i), secrets.back());
      if (rng.chance(0.5)) key.name = "a \"name\": with\ttabs, #";
      if (rng.chance(0.3)) key.role = Role::admin;
      if (rng.chance(0.3)) key.revoked = kNow + Duration{rng.between(0, 1'000'000'000)};
      if (rng.chance(0.5)) key.secrets.push_back({digest_of(key_from(rng)), kNow, kNow + kDay});
      if (rng.chance(0.5)) key.team = "ml", key.project = "p-1";
      if (rng.chance(0.5)) key.models = {"a/b:c", "d"};
      if (rng.chance(0.5)) key.operations = {wire::Operation::chat, wire::Operation::count_tokens};
      if (rng.chance(0.5)) key.compliance = "eu", key.slo = "fast";
      if (rng.chance(0.5)) key.rpm = rng.between(1, 100), key.tpm = 1'000'000, key.concurrency = 3;
      ASSERT_TRUE(ring.add(key));
    }
    const std::string text = ring.write();
    const Result<KeyRing> again = KeyRing::read(text, "keys.yaml");
    ASSERT_TRUE(again) << again.error().what();
    ASSERT_EQ(again->keys(), ring.keys());
    ASSERT_EQ(again->write(), text);
    for (const std::string& secret : secrets) ASSERT_EQ(text.find(secret.substr(7, 8)), std::string::npos);
  });
}

TEST(KeyRing, says_all_that_is_wrong_with_its_file_and_where) {
  const Result<KeyRing> ring = KeyRing::read(R"(version: 2
keys:
  - {id: a, tenant: t, secrets: [{sha256: ace_sk_1}]}
  - {id: b, secrets: [{sha256: "0000000000000000000000000000000000000000000000000000000000000000", until: tomorrow}]}
  - {id: c, tenant: t, secrets: [], operations: [chat], rpm: 0, secret: x}
)",
                                             "keys.yaml");
  ASSERT_FALSE(ring);
  EXPECT_EQ(ring.error().code(), Errc::bad_input);
  for (const char* part :
       {"keys.yaml:1:10: version: expected version 1, got 2",
        "keys.yaml:3:", "keys[0].secrets[0].sha256: expected 64 hexadecimal", "keys[1]", "tenant",
        "keys[1].secrets[0].until: expected a time", "keys[2].operations[0]", "keys[2].rpm", "keys[2].secret"})
    EXPECT_THAT(ring.error().what(), HasSubstr(part));
}

}  // namespace
}  // namespace ace::gateway
