#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "gateway/key_book.h"

namespace ace::gateway {
namespace {

using ::testing::HasSubstr;

/// A file of keys in a folder of its own.
struct Place {
  Place() {
    folder = testing::TempDir() + "ace-keys-XXXXXX";
    EXPECT_NE(::mkdtemp(folder.data()), nullptr);
    path = folder + "/keys.yaml";
  }
  ~Place() { std::filesystem::remove_all(folder); }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  /// Adds a client of this tenant. @return its secret
  std::string add(const std::string& tenant) const {
    const std::string secret = new_key(Role::client);
    Key key;
    key.id = key_id_of(secret);
    key.tenant = tenant;
    key.secrets.push_back({digest_of(secret)});
    const Result<void> added = change_keys(path, [&](KeyRing& ring) { return ring.add(key); });
    EXPECT_TRUE(added) << added.error().what();
    return secret;
  }
  std::string folder, path;
};

constexpr Instant kNow = instant(1'800'000'000'000'000'000);
bool opens(const KeyRing& ring, std::string_view secret) {
  return std::holds_alternative<const Key*>(ring.find(secret, Role::client, kNow));
}

TEST(KeysStore, makes_a_file_that_nobody_else_may_read_and_keys_that_differ) {
  const Place place;
  const std::string first = place.add("acme"), second = place.add("other");
  EXPECT_NE(first, second);
  struct stat found {};
  ASSERT_EQ(::stat(place.path.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777U, 0600U);
  const Result<KeyRing> ring = load_keys(place.path);
  ASSERT_TRUE(ring);
  EXPECT_TRUE(opens(*ring, first));
  EXPECT_TRUE(opens(*ring, second));
  EXPECT_FALSE(std::filesystem::exists(place.path + ".new"));
}

TEST(KeysStore, refuses_a_file_that_others_could_change_or_read) {
  const Place place;
  (void)place.add("acme");
  for (const mode_t mode : {0644U, 0660U, 0602U}) {
    ASSERT_EQ(::chmod(place.path.c_str(), mode), 0);
    const Result<KeyRing> ring = load_keys(place.path);
    ASSERT_FALSE(ring) << mode;
    EXPECT_EQ(ring.error().code(), Errc::bad_input);
    EXPECT_THAT(ring.error().what(), HasSubstr("chmod 600"));
  }
  EXPECT_EQ(load_keys(place.folder + "/none").error().code(), Errc::not_found);
  EXPECT_EQ(load_keys(place.folder).error().code(), Errc::bad_input);
}

TEST(KeysStore, leaves_the_file_as_it_is_when_a_change_fails_or_another_is_at_work) {
  const Place place;
  const std::string secret = place.add("acme");
  const Result<void> refused = change_keys(place.path, [](KeyRing& ring) { return ring.revoke("none", kNow); });
  EXPECT_EQ(refused.error().code(), Errc::not_found);
  EXPECT_TRUE(opens(*load_keys(place.path), secret));
  std::ofstream(place.path + ".new") << "";
  const Result<void> busy = change_keys(place.path, [](KeyRing&) -> Result<void> { return {}; });
  EXPECT_EQ(busy.error().code(), Errc::conflict);
  EXPECT_THAT(busy.error().what(), HasSubstr("keys.yaml.new"));
  EXPECT_TRUE(std::filesystem::exists(place.path + ".new")) << "it is another's";
}

TEST(KeysStore, loses_nothing_where_many_change_it_at_once) {
  const Place place;
  constexpr std::size_t kWriters = 4, kKeysEach = 25;
  std::vector<std::thread> writers;
  for (std::size_t w = 0; w < kWriters; ++w)
    writers.emplace_back([&] {
      for (std::size_t i = 0; i < kKeysEach;) {
        const std::string secret = new_key(Role::client);
        Key key;
        key.id = key_id_of(secret);
        key.tenant = "acme";
        key.secrets.push_back({digest_of(secret)});
        const Result<void> added = change_keys(place.path, [&](KeyRing& ring) { return ring.add(key); });
        if (added)
          ++i;
        else if (added.error().code() != Errc::conflict)
          return ADD_FAILURE() << added.error().what();
      }
    });
  for (std::thread& writer : writers) writer.join();
  const Result<KeyRing> ring = load_keys(place.path);
  ASSERT_TRUE(ring) << ring.error().what();
  EXPECT_EQ(ring->keys().size(), kWriters * kKeysEach);
}

TEST(KeyBook, takes_over_what_others_made_of_the_file_and_keeps_what_it_had_if_that_is_wrong) {
  const Place place;
  const std::string first = place.add("acme");
  const Result<std::unique_ptr<KeyBook>> book = KeyBook::open(place.path);
  ASSERT_TRUE(book);
  const std::shared_ptr<const KeyRing> before = (*book)->ring();
  EXPECT_FALSE((*book)->refresh().value());
  const std::string second = place.add("acme");
  EXPECT_FALSE(opens(*(*book)->ring(), second));
  EXPECT_TRUE((*book)->refresh().value());
  EXPECT_TRUE(opens(*(*book)->ring(), second));
  EXPECT_FALSE(opens(*before, second)) << "a request under way keeps what it came in under";
  std::ofstream(place.path) << "version: 1\nkeys: [{id: x}]\n";
  EXPECT_FALSE((*book)->refresh());
  EXPECT_TRUE(opens(*(*book)->ring(), first));
  EXPECT_FALSE(KeyBook::open(place.folder + "/none"));
}

TEST(KeyBook, a_change_is_in_force_and_on_the_disk_at_once) {
  const Place place;
  const std::string secret = place.add("acme");
  const Result<std::unique_ptr<KeyBook>> book = KeyBook::open(place.path);
  ASSERT_TRUE(book);
  const std::string id = (*book)->ring()->keys().at(0).id;
  ASSERT_TRUE((*book)->change([&](KeyRing& ring) { return ring.revoke(id, kNow); }));
  EXPECT_FALSE(opens(*(*book)->ring(), secret));
  EXPECT_FALSE(opens(*load_keys(place.path), secret));
  EXPECT_FALSE((*book)->refresh().value()) << "nothing that it did not know";
}

}  // namespace
}  // namespace ace::gateway
