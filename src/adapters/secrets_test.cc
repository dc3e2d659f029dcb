/// Where the keys of providers may be read from.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "adapters/provider.h"

namespace ace {
namespace {

using testing::HasSubstr;
using testing::Not;

class Secrets : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "/ace_secrets_XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string write(const std::string& name, const std::string& text, mode_t mode) const {
    std::ofstream(folder_ + "/" + name) << text;
    EXPECT_EQ(::chmod((folder_ + "/" + name).c_str(), mode), 0);
    return folder_ + "/" + name;
  }
  std::string folder_;
};

TEST_F(Secrets, are_read_from_variables) {
  ::setenv("ACE_TEST_SECRET", "hunter2", 1);
  const Result<Secret> got = secrets_of_process("")(SecretName{.env = "ACE_TEST_SECRET", .file = {}});
  ::unsetenv("ACE_TEST_SECRET");
  ASSERT_TRUE(got);
  EXPECT_EQ(got->reveal(), "hunter2");
  const Result<Secret> none = secrets_of_process("")(SecretName{.env = "ACE_TEST_SECRET", .file = {}});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().what(), "the environment variable ACE_TEST_SECRET is not set");
}

TEST_F(Secrets, are_read_from_files_of_their_owner_alone) {
  const ReadSecret read = secrets_of_process(folder_);
  const std::string path = write("key", "hunter2\r\n", 0600);
  for (const std::string& name : {std::string("key"), path}) {
    const Result<Secret> got = read(SecretName{.env = {}, .file = name});
    ASSERT_TRUE(got) << got.error().what();
    EXPECT_EQ(got->reveal(), "hunter2") << "the line end is no part of it";
  }
  std::filesystem::create_symlink(path, folder_ + "/link");
  EXPECT_TRUE(read(SecretName{.env = {}, .file = "link"})) << "as Kubernetes mounts them";
  for (const mode_t mode : {0640U, 0604U, 0666U}) {
    write("open", "hunter2", mode);
    const Result<Secret> got = read(SecretName{.env = {}, .file = "open"});
    ASSERT_FALSE(got) << mode;
    EXPECT_THAT(got.error().what(), HasSubstr("others may read this key; chmod 600 it"));
    EXPECT_THAT(got.error().what(), Not(HasSubstr("hunter2")));
  }
}

TEST_F(Secrets, that_are_not_there_are_named) {
  const ReadSecret read = secrets_of_process(folder_);
  const Result<Secret> none = read(SecretName{.env = {}, .file = "none"});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code(), Errc::not_found);
  EXPECT_THAT(none.error().what(), HasSubstr(folder_ + "/none"));
  EXPECT_FALSE(read(SecretName{.env = {}, .file = "."})) << "a directory";
}

}  // namespace
}  // namespace ace
