#include "adapters/posix_disk.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace ace {
namespace {

namespace fs = std::filesystem;
using Access = PosixDisk::Access;

class PosixDiskTest : public ::testing::Test {
 protected:
  PosixDiskTest() { fs::remove_all(path_); }
  ~PosixDiskTest() override {
    std::error_code none;
    fs::permissions(path_, fs::perms::owner_all, none);
    fs::remove_all(path_);
  }
  std::string path_ = ::testing::TempDir() + "ace_posix_disk_" + std::to_string(::getpid());
};

TEST_F(PosixDiskTest, does_what_the_port_says) {
  const auto disk = *PosixDisk::open(path_, Access::own);
  EXPECT_EQ(disk->open("a", false).error().code(), Errc::not_found);
  EXPECT_EQ(disk->map("a", 8).error().code(), Errc::not_found);
  {
    const auto file = *disk->open("a", true);
    ASSERT_TRUE(file->allocate(1000));
    EXPECT_EQ(*file->size(), 1000U);
    EXPECT_EQ(*file->read(0, 1000), std::string(1000, '\0'));
    ASSERT_TRUE(file->write(990, "0123456789abcdef"));
    EXPECT_EQ(*file->read(988, 100), std::string(2, '\0') + "0123456789abcdef") << "no further than its end";
    ASSERT_TRUE(file->truncate(992));
    ASSERT_TRUE(file->sync());
    EXPECT_EQ(*file->read(990, 100), "01");
  }
  EXPECT_EQ(disk->map("a", 4096).error().code(), Errc::conflict) << "another size";
  {
    const auto mapping = *disk->map("a", 992);
    mapping->bytes()[0] = 'x';
  }
  EXPECT_EQ(*(*disk->open("a", false))->read(0, 1), "x");
  ASSERT_TRUE(disk->rename("a", "b"));
  ASSERT_TRUE(disk->sync_directory());
  EXPECT_EQ(*disk->list(), (std::vector<std::string>{"b", "lock"}));
  ASSERT_TRUE(disk->remove("b"));
  EXPECT_EQ(disk->remove("b").error().code(), Errc::not_found);
}

TEST_F(PosixDiskTest, is_owned_by_one_process_and_free_again_when_that_is_killed) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto disk = PosixDisk::open(path_, Access::own);
    (void)!::write(ready[1], disk ? "y" : "n", 1);
    ::pause();
    ::_exit(0);
  }
  char held = 0;
  ASSERT_EQ(::read(ready[0], &held, 1), 1);
  ASSERT_EQ(held, 'y');
  const auto second = PosixDisk::open(path_, Access::own);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), Errc::conflict);
  EXPECT_NE(second.error().what().find("locked by process " + std::to_string(child)), std::string::npos)
      << second.error().what();
  EXPECT_TRUE(PosixDisk::open(path_, Access::read)) << "to look at it is always allowed";
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(PosixDisk::open(path_, Access::own)) << "a lock of a process that is gone is none";
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_F(PosixDiskTest, refuses_links_and_what_is_no_directory_in_one_line) {
  std::ofstream(path_) << "a file";
  const auto file = PosixDisk::open(path_, Access::own);
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code(), Errc::bad_input) << file.error().what();
  fs::remove(path_);
  ASSERT_TRUE(PosixDisk::open(path_, Access::own));
  const std::string link = path_ + "_link";
  fs::remove(link);
  fs::create_directory_symlink(path_, link);
  const auto linked = PosixDisk::open(link, Access::own);
  ASSERT_FALSE(linked);
  EXPECT_NE(linked.error().what().find("no symbolic link"), std::string::npos) << linked.error().what();
  fs::remove(link);

  const auto disk = *PosixDisk::open(path_, Access::own);
  std::ofstream(path_ + "_elsewhere") << "bytes of somebody else";
  fs::create_symlink(path_ + "_elsewhere", path_ + "/00000001.seg");
  for (const bool create : {false, true}) {
    const auto segment = disk->open("00000001.seg", create);
    ASSERT_FALSE(segment);
    EXPECT_EQ(segment.error().what(), "00000001.seg: it is a symbolic link");
  }
  EXPECT_FALSE(disk->map("00000001.seg", 22));
  fs::remove(path_ + "_elsewhere");
  EXPECT_EQ(PosixDisk::open(path_ + "/missing", Access::read).error().code(), Errc::not_found);
}

TEST_F(PosixDiskTest, of_somebody_else_or_read_only_is_refused) {
  ASSERT_TRUE(PosixDisk::open(path_, Access::own));
  const bool root = ::geteuid() == 0;  // who is root is asked as somebody else
  const auto in_child = [&](const std::function<int()>& look) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(look());
    int status = 0;
    ::waitpid(child, &status, 0);
    return WEXITSTATUS(status);
  };
  fs::permissions(path_, fs::perms::owner_read | fs::perms::owner_exec | fs::perms::group_all | fs::perms::others_all);
  EXPECT_EQ(in_child([&] {
              if (root && ::setuid(65'534) != 0) return 9;
              const auto disk = PosixDisk::open(path_, Access::own);
              if (disk) return 1;
              if (!root) return disk.error().code() == Errc::unavailable ? 0 : 2;
              return disk.error().what().find("it belongs to user 0") != std::string::npos ? 0 : 3;
            }),
            0);
  EXPECT_EQ(in_child([&] { return PosixDisk::open(path_, Access::read) ? 0 : 1; }), 0);
}

TEST_F(PosixDiskTest, that_was_opened_to_be_read_writes_nothing) {
  {
    const auto disk = *PosixDisk::open(path_, Access::own);
    ASSERT_TRUE((*disk->open("a", true))->write(0, "abc"));
  }
  const auto disk = *PosixDisk::open(path_, Access::read);
  const auto file = *disk->open("a", false);
  EXPECT_EQ(*file->read(0, 3), "abc");
  EXPECT_FALSE(file->write(0, "x"));
  EXPECT_FALSE(file->truncate(0));
  EXPECT_EQ(*file->read(0, 3), "abc");
}

TEST_F(PosixDiskTest, keeps_a_signing_key_that_nobody_else_may_read) {
  const auto disk = *PosixDisk::open(path_, Access::own);
  const std::string key = path_ + "/signing.pem";
  const spine::PublicKey made = signer_at(key)->public_key();
  EXPECT_EQ(fs::status(key).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(signer_at(key)->public_key(), made) << "the same the next time";
  fs::permissions(key, fs::perms::group_read, fs::perm_options::add);
  const auto open = signer_at(key);
  ASSERT_FALSE(open);
  EXPECT_NE(open.error().what().find("chmod 600"), std::string::npos);
  fs::permissions(key, fs::perms::owner_read | fs::perms::owner_write);
  std::ofstream(key) << "no key";
  EXPECT_EQ(signer_at(key).error().code(), Errc::bad_input);
}

}  // namespace
}  // namespace ace
