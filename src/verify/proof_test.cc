#include "verify/proof.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/testing.h"
#include "verify/log_testing.h"

namespace ace::verify {
namespace {

/// A log with everything that can be proven of it.
struct Log {
  Written written;
  spine::MemoryDisk disk;
  std::vector<std::string> records;  ///< header and payload
  std::vector<std::string> notes;    ///< checkpoints, by size
  std::uint64_t first = 0;           ///< record that is still there

  Log(Rng& rng, int events, std::uint32_t prune = 0) : written(written_log(rng, events, prune)) {
    for (const auto& [name, bytes] : written.files) disk.put(name, bytes);
    const auto read = spine::read_log(disk, {}, [&](const spine::Frame& frame) -> Result<void> {
      records.emplace_back(frame.bytes);
      if (frame.type == spine::RecordType::checkpoint) notes.emplace_back(frame.payload);
      return {};
    });
    ACE_CHECK(read.has_value(), "the log of a test does not read");
    first = read->first;
    notes.push_back(
        to_note(spine::Checkpoint{"acme/spine", written.next, written.root, written.chain, Instant{}}, test_signer()));
  }
  spine::LogTree tree() {
    return *spine::LogTree::read(disk, [](const spine::Frame&) { return Result<void>(); });
  }
};

TEST(Proof, of_every_record_holds_against_every_later_checkpoint_also_of_a_pruned_log) {
  for (const std::uint32_t prune : {0U, 2U}) {
    Rng rng(1 + prune, "inclusion");
    Log log(rng, 260, prune);
    EXPECT_EQ(log.first != 0, prune != 0);
    spine::LogTree tree = log.tree();
    for (std::size_t i = 0; i < log.records.size(); ++i) {
      const std::uint64_t index = log.first + i;
      const std::string& note = log.notes[rng.below(log.notes.size())];
      const Result<std::string> proof = spine::prove_inclusion(tree, index, log.records[i], note);
      const std::uint64_t size = spine::unverified_checkpoint(note)->size;
      ASSERT_EQ(proof.has_value(), index < size) << index << " of " << size;
      if (!proof) continue;
      const ProofFinding found = check_proof("p", *proof, log.written.key, {});
      ASSERT_FALSE(found.difference) << to_text(*found.difference);
      EXPECT_EQ(found.proven.index, index);
      EXPECT_EQ(found.proven.size, size);
      EXPECT_EQ(found.proven.payload, log.records[i].substr(spine::kFrameHeader));
    }
    if (prune != 0) {
      const auto gone = spine::prove_inclusion(tree, 0, log.records[0], log.notes.back());
      EXPECT_TRUE(!gone && gone.error().code() == Errc::out_of_range);
    }
  }
}

TEST(Proof, is_not_made_of_a_record_that_is_not_there) {
  Rng rng(6, "other");
  Log log(rng, 40);
  spine::LogTree tree = log.tree();
  const auto other = spine::prove_inclusion(tree, 17, log.records[18], log.notes.back());
  EXPECT_TRUE(!other && other.error().code() == Errc::check_failed);
}

TEST(Proof, between_two_checkpoints_holds_for_those_and_for_no_others) {
  Rng rng(3, "consistency");
  Log log(rng, 60);
  spine::LogTree tree = log.tree();
  for (std::size_t from = 0; from < log.notes.size(); ++from)
    for (std::size_t to = from; to < log.notes.size(); ++to) {
      const std::string proof = *spine::prove_consistency(tree, log.notes[from], log.notes[to]);
      for (std::size_t other = 0; other < log.notes.size(); ++other) {
        const ProofFinding found = check_proof("p", proof, log.written.key, Held{"older", log.notes[other]});
        EXPECT_EQ(found.difference.has_value(), other != from) << other << " for " << from << ", to " << to;
        if (other == from) {
          EXPECT_EQ(found.proven.index, spine::unverified_checkpoint(log.notes[from])->size);
        }
      }
      EXPECT_TRUE(check_proof("p", proof, log.written.key, {}).difference) << "without the older one it says nothing";
    }
  // Another log of the same name and key, whose writer says that it is this one.
  Log other(rng, 60);
  EXPECT_EQ(spine::prove_consistency(tree, other.notes[0], log.notes.back()).error().code(), Errc::check_failed);
  const std::string proof = *spine::prove_consistency(tree, log.notes[1], log.notes.back());
  EXPECT_TRUE(check_proof("p", proof, log.written.key, Held{"older", other.notes[1]}).difference);
}

TEST(Proof, with_any_bit_changed_proves_nothing) {
  Rng rng(4, "bits");
  Log log(rng, 40);
  spine::LogTree tree = log.tree();
  const std::string inclusion = *spine::prove_inclusion(tree, 17, log.records[17], log.notes.back());
  const std::string continuation = *spine::prove_consistency(tree, log.notes[1], log.notes.back());
  const Held older{"older", log.notes[1]};
  for (std::string proof : {inclusion, continuation}) {
    ASSERT_FALSE(check_proof("p", proof, log.written.key, older).difference);
    for (std::size_t bit = 0; bit < proof.size() * 8; ++bit) {
      proof[bit / 8] = static_cast<char>(proof[bit / 8] ^ (1 << (bit % 8)));
      EXPECT_TRUE(check_proof("p", proof, log.written.key, older).difference) << "byte " << bit / 8;
      proof[bit / 8] = static_cast<char>(proof[bit / 8] ^ (1 << (bit % 8)));
    }
    for (std::size_t size = 0; size < proof.size(); ++size)
      EXPECT_TRUE(check_proof("p", proof.substr(0, size), log.written.key, older).difference) << "cut to " << size;
  }
}

TEST(Proof, says_which_line_is_not_as_it_must_be) {
  Rng rng(5, "lines");
  Log log(rng, 40);
  spine::LogTree tree = log.tree();
  const std::string proof = *spine::prove_inclusion(tree, 17, log.records[17], log.notes.back());
  const auto with = [&](std::string_view before, const std::string& after) {
    std::string changed = proof;
    changed.replace(changed.find(before), before.size(), after);
    const ProofFinding found = check_proof("p", changed, log.written.key, {});
    return found.difference ? to_text(*found.difference) : "accepted";
  };
  const std::string index_at = fmt::format("p, offset {}: ", proof.find("index "));
  const struct {
    std::string got, expected;
  } cases[] = {
      {with("@v1", "@v2"),
       "p, offset 0: expected a line \"c2sp.org/tlog-proof@v1...\", got \"c2sp.org/tlog-proof@v2\""},
      {with("index 17", "index 017"), index_at + "expected a number, got \"017\""},
      {with("index 17", "index 16"), "p, offset 23: expected record 16 of the"},
      {with("extra ", "extra =="), "p, offset 23: expected a record in base64, got other bytes"},
      {with("\n\nacme", "\nacme"), "expected a digest in base64, got \"acme/spine\""},
      {with("\n\nacme", "\n\nacme2"), "expected a checkpoint signed by the given key, got no such signature"},
  };
  for (const auto& c : cases) EXPECT_NE(c.got.find(c.expected), std::string::npos) << c.got;
}

}  // namespace
}  // namespace ace::verify
