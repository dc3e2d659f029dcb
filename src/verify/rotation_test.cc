/// Signing keys that follow one another.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "verify/log_testing.h"

namespace ace::verify {
namespace {

const spine::Signer& signer(std::size_t i) {
  static const std::vector<spine::Signer> all = [] {
    std::vector<spine::Signer> made;
    for (const char seed : {'a', 'b', 'c'}) made.push_back(*spine::Signer::from_seed(std::string(32, seed)));
    return made;
  }();
  return all[i];
}

/// How the next stretch of a log is signed.
struct Stretch {
  std::size_t by;  ///< which signer
  bool introduced = true;
};

struct Signed {
  std::map<std::string, std::string> files;
  std::vector<std::string> notes;  ///< the last of each stretch
  spine::LogSummary read;          ///< by the spine's own reader, with the first key
  bool readable = true;
};

/// Stretches of 30 events, a checkpoint every 8 records.
Signed signed_by_turns(const std::vector<Stretch>& stretches) {
  spine::MemoryDisk disk;
  Rng rng(7, "rotation");
  Signed made;
  const Instant now = instant(1'800'000'000'000'000'000);
  std::size_t last = stretches.front().by;
  for (const Stretch& stretch : stretches) {
    spine::LogOptions options;
    options.origin = "acme/spine";
    options.id = {1, 2, 3};
    options.segment_bytes = 4 * spine::kSealMax;
    options.reserve_bytes = 2 * spine::kSealMax;
    options.checkpoint_records = 8;
    options.signer = &signer(stretch.introduced ? last : stretch.by);
    spine::Recovery recovery;
    Result<spine::Log> log = spine::Log::open(disk, options, now, recovery);
    ACE_CHECK(log.has_value(), "the log of a test cannot be opened");
    if (stretch.introduced && stretch.by != last) {
      ACE_CHECK(log->hand_over(signer(stretch.by), now).has_value() && log->commit(now).has_value(), "no hand-over");
    }
    last = stretch.by;
    for (int i = 0; i < 30; ++i) {
      const event::Record record = event::gen::record(rng);
      ACE_CHECK(log->append(event::key_of(record), *event::encode(record), now).has_value(), "an event was refused");
      ACE_CHECK(log->commit(now).has_value(), "a batch was refused");
    }
    ACE_CHECK(log->checkpoint(now).has_value() && log->commit(now).has_value(), "the log of a test refused to end");
    made.notes.push_back(log->last_checkpoint());
  }
  const Result<std::vector<std::string>> names = disk.list();
  for (const std::string& name : *names) made.files[name] = disk.bytes(name);
  spine::ReadOptions reading;
  reading.key = signer(stretches.front().by).public_key();
  Result<spine::LogSummary> read =
      spine::read_log(disk, reading, [](const spine::Frame&) -> Result<void> { return {}; });
  made.readable = read.has_value();
  if (read) made.read = *std::move(read);
  return made;
}

std::string found(const Signed& log, std::size_t pin, const std::vector<std::string>& held = {}) {
  Pins pins;
  pins.key = signer(pin).public_key();
  for (const std::string& note : held) pins.held.push_back({"held", note});
  const Finding finding = check(log.files, pins);
  return finding.difference ? to_text(*finding.difference) : "holds";
}

TEST(Rotation, every_key_of_the_chain_vouches_for_the_log) {
  const Signed log = signed_by_turns({{0}, {1}, {2}});
  for (std::size_t pin = 0; pin < 3; ++pin) EXPECT_EQ(found(log, pin), "holds") << pin;
  EXPECT_TRUE(log.readable);
  EXPECT_EQ(log.read.successor, signer(2).public_key());
  Pins pins;
  pins.key = signer(0).public_key();
  EXPECT_EQ(check(log.files, pins).summary.signatures, log.read.checkpoints);
}

TEST(Rotation, a_key_that_nobody_introduced_is_refused_whoever_is_asked) {
  const Signed log = signed_by_turns({{0}, {1}, {2, false}});
  for (std::size_t pin = 0; pin < 3; ++pin)
    EXPECT_NE(found(log, pin).find("expected a checkpoint signed by"), std::string::npos) << pin;
  EXPECT_FALSE(log.readable);
  const Signed from_the_start = signed_by_turns({{0}, {1, false}});
  for (std::size_t pin = 0; pin < 3; ++pin)
    EXPECT_NE(found(from_the_start, pin).find("expected a checkpoint signed by the given key"), std::string::npos);
}

TEST(Rotation, a_key_that_handed_over_signs_no_more) {
  const Signed log = signed_by_turns({{0}, {1}, {0, false}});
  EXPECT_NE(found(log, 0).find("signed by the key that was handed over to"), std::string::npos) << found(log, 0);
  EXPECT_NE(found(log, 1), "holds");
  EXPECT_FALSE(log.readable);
  EXPECT_EQ(found(signed_by_turns({{0}, {1}, {0}}), 0), "holds") << "but it can be handed back to it";
}

TEST(Rotation, checkpoints_kept_elsewhere_are_of_any_key_of_the_chain) {
  const Signed log = signed_by_turns({{0}, {1}, {2}});
  EXPECT_EQ(found(log, 0, log.notes), "holds");
  EXPECT_EQ(found(log, 2, {log.notes[2]}), "holds");
  // Whoever knows the last key alone cannot tell who signed before it.
  EXPECT_NE(found(log, 2, {log.notes[0]}).find("held, offset 0"), std::string::npos);
  const Signed other = signed_by_turns({{2}});
  EXPECT_NE(found(log, 0, {other.notes[0]}).find("held, offset 0"), std::string::npos);
}

TEST(Rotation, a_hand_over_is_read_as_it_was_written_and_no_part_of_it_can_go) {
  const std::string note = spine::to_hand_over({"acme", 3, {}, {}, instant(5), {}}, signer(0), signer(1));
  const Result<spine::Checkpoint> read = spine::checkpoint_from(note, signer(0).public_key());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->successor, signer(1).public_key());
  EXPECT_TRUE(spine::checkpoint_from(note, signer(1).public_key()));
  EXPECT_FALSE(spine::checkpoint_from(note, signer(2).public_key()));
  ASSERT_TRUE(note_from(note));
  EXPECT_EQ(note_from(note)->successor, signer(1).public_key());
  const std::size_t line = note.find("successor "), end = note.find('\n', line);
  const std::string without = note.substr(0, line) + note.substr(end + 1);
  EXPECT_FALSE(spine::checkpoint_from(without, signer(0).public_key())) << "it is signed with the successor in it";
  for (const std::string& wrong :
       {note.substr(0, end) + "\nmore" + note.substr(end), note.substr(0, line + 12) + note.substr(end)}) {
    EXPECT_FALSE(spine::unverified_checkpoint(wrong)) << wrong;
    EXPECT_FALSE(note_from(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace ace::verify
