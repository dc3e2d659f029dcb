#include "cli/verify_log.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "adapters/posix_disk.h"
#include "cli/command_testing.h"
#include "core/rng.h"
#include "spine/record_testing.h"
#include "verify/verify.h"

namespace ace::cli {
namespace {

class VerifyLog : public ::testing::Test {
 protected:
  VerifyLog() {
    std::filesystem::remove_all(directory_);
    const Result<std::unique_ptr<PosixDisk>> disk = PosixDisk::open(directory_, PosixDisk::Access::own);
    ACE_CHECK(disk.has_value(), "no directory for the test");
    spine::LogOptions options;
    options.segment_bytes = 1 << 16;
    options.signer = &signer_;
    const Instant now = instant(1'800'000'000'000'000'000);
    spine::Recovery recovery;
    Result<spine::Log> log = spine::Log::open(**disk, options, now, recovery);
    ACE_CHECK(log.has_value(), "no log for the test");
    Rng rng(1, "verify");
    for (int i = 0; i < 20; ++i) {
      event::Record record;  // of no fleet, as there is none here to decide by again
      record.id = {rng.next(), rng.next()};
      record.event = event::Gap{event::Gap::Cause::overload, now, now + kSecond, i};
      ACE_CHECK(log->append(event::key_of(record), *event::encode(record), now).has_value(), "an event was refused");
    }
    ACE_CHECK(log->checkpoint(now).has_value() && log->commit(now).has_value(), "the log did not end");
    std::ofstream(note_, std::ios::binary) << log->last_checkpoint();
    const spine::PublicKey key = signer_.public_key();
    key_ = verify::hex({reinterpret_cast<const char*>(key.data()), key.size()});
  }
  ~VerifyLog() override {
    std::filesystem::remove_all(directory_);
    std::filesystem::remove(note_);
  }
  int run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "verify");
    const CommandRun ran = run_command(add_verify, arguments);
    out_.str(ran.out);
    err_.str(ran.err);
    return ran.code;
  }

  std::string directory_ = ::testing::TempDir() + "ace_verify_log_" + std::to_string(::getpid()),
              note_ = directory_ + ".note", key_;
  spine::Signer signer_ = *spine::Signer::from_seed(std::string(32, 'v'));
  std::ostringstream out_, err_;
};

TEST_F(VerifyLog, accepts_what_the_spine_wrote) {
  EXPECT_EQ(run({directory_}), 0) << err_.str();
  EXPECT_NE(out_.str().find("verified: 21 records of ace/spine from 0 on, in 1 segments"), std::string::npos)
      << out_.str();
  EXPECT_NE(out_.str().find("signatures not checked"), std::string::npos);
  EXPECT_EQ(run({"--key", key_, "--checkpoint", note_, directory_}), 0) << err_.str();
  EXPECT_NE(out_.str().find("1 in the log, 1 outside; 2 signatures hold"), std::string::npos) << out_.str();
}

TEST_F(VerifyLog, names_the_first_difference_and_its_offset) {
  {
    std::fstream segment(directory_ + "/00000001.seg", std::ios::binary | std::ios::in | std::ios::out);
    segment.seekp(512 + 60);
    segment.put('\x7f');
  }
  EXPECT_EQ(run({directory_}), 1);
  EXPECT_NE(err_.str().find("00000001.seg, offset 512: expected a record with checksum"), std::string::npos)
      << err_.str();
  EXPECT_EQ(out_.str(), "");
}

TEST_F(VerifyLog, refuses_another_key_and_asks_for_what_is_missing) {
  std::string other = key_;
  other[0] = other[0] == '0' ? '1' : '0';
  EXPECT_EQ(run({directory_, "--key", other}), 1);
  EXPECT_NE(err_.str().find("signed by the given key"), std::string::npos) << err_.str();
  EXPECT_EQ(run({directory_, "--key", "beef"}), 2);
  EXPECT_EQ(run({directory_, "--checkpoint", note_}), 2);
  EXPECT_NE(err_.str().find("--key"), std::string::npos) << err_.str();
  EXPECT_NE(run({directory_ + "/none"}), 0);
  EXPECT_NE(err_.str().find("No such file"), std::string::npos) << err_.str();
  EXPECT_EQ(run({note_}), 2) << "a report needs its trace and fleet";
  EXPECT_NE(err_.str().find("--trace"), std::string::npos) << err_.str();
}

}  // namespace
}  // namespace ace::cli
