#include <gtest/gtest.h>

#include "core/testing.h"
#include "verify/log_testing.h"
#include "verify/segment.h"

namespace ace::verify {
namespace {

/// Where each record and seal lies: found with the spine's reader, which is not the one under test.
struct Span {
  std::string file;
  std::size_t begin = 0, end = 0;
};
std::vector<Span> spans_of(const Written& written) {
  std::vector<Span> spans;
  for (const auto& [name, bytes] : written.files) {
    const std::optional<std::uint32_t> number = spine::segment_number(name);
    if (!number) continue;
    for (std::size_t at = spine::kSegmentHead; at < bytes.size() && bytes[at] != '\0';) {
      const Result<spine::Frame> frame =
          spine::frame_from(std::string_view(bytes).substr(at), {*number, static_cast<std::uint32_t>(at)});
      ACE_CHECK(frame.has_value(), "the writer wrote no record");
      spans.push_back({name, at, at + spine::frame_size(frame->payload.size())});
      at = spans.back().end;
    }
  }
  return spans;
}

std::string expect_difference(const std::map<std::string, std::string>& files, const Pins& pins = {}) {
  const Finding found = check(files, pins);
  EXPECT_TRUE(found.difference) << "accepted";
  return found.difference ? to_text(*found.difference) : "";
}

TEST(Log, that_the_spine_wrote_holds) {
  for_each_seed(20, [](Rng& rng) {
    const int events = static_cast<int>(rng.below(300));
    const Written written = written_log(rng, events);
    Pins pins;
    pins.key = written.key;
    pins.held = {{"note.txt", written.note}};
    const Finding found = check(written.files, pins);
    ASSERT_FALSE(found.difference) << to_text(*found.difference);
    ASSERT_FALSE(found.unfinished) << to_text(*found.unfinished);
    EXPECT_EQ(found.summary.next, written.next);
    EXPECT_EQ(found.summary.chain, written.chain);
    EXPECT_EQ(found.summary.root, written.root);
    EXPECT_EQ(found.summary.origin, "acme/spine");
    EXPECT_EQ(found.summary.events + found.summary.conflicts + found.summary.checkpoints, written.next);
    EXPECT_EQ(found.summary.signatures, found.summary.checkpoints + 1) << "and the one outside";
  });
}

TEST(Log, that_was_pruned_holds_and_continues_a_checkpoint_of_before) {
  Rng rng(1, "pruned");
  const Written written = written_log(rng, 400, 2);
  Pins pins;
  pins.key = written.key;
  pins.held = {{"note.txt", written.note}};
  const Finding found = check(written.files, pins);
  ASSERT_FALSE(found.difference) << to_text(*found.difference);
  EXPECT_EQ(found.summary.pruned_segments, 2U);
  EXPECT_GT(found.summary.first, 0U);
  EXPECT_EQ(found.summary.root, written.root);
  for (std::size_t bit = 0; bit < written.files.at("pruned").size() * 8; ++bit) {
    std::map<std::string, std::string> files = written.files;
    files["pruned"][bit / 8] = static_cast<char>(files["pruned"][bit / 8] ^ (1 << (bit % 8)));
    EXPECT_EQ(check(files).difference->file, "pruned") << "bit " << bit;
  }
}

TEST(Log, shows_every_flipped_bit_at_the_record_it_lies_in) {
  Rng rng(2, "flips");
  const Written written = written_log(rng, 90);
  ASSERT_TRUE(written.files.contains("00000002.seg"));
  ASSERT_FALSE(written.files.contains("00000003.seg"));
  const std::vector<Span> spans = spans_of(written);
  std::map<std::string, std::string> files = written.files;
  std::size_t flips = 0;
  const auto flip = [&](const std::string& name, std::size_t bit, const auto& expected) {
    char& byte = files[name][bit / 8];
    byte = static_cast<char>(byte ^ (1 << (bit % 8)));
    const Finding found = check(files);
    byte = static_cast<char>(byte ^ (1 << (bit % 8)));
    ++flips;
    ASSERT_TRUE(found.difference) << name << ", bit " << bit << " of byte " << bit / 8;
    EXPECT_EQ(found.difference->file, name) << to_text(*found.difference);
    EXPECT_PRED1(expected, found.difference->offset) << name << ", byte " << bit / 8;
  };
  for (const Span& span : spans)
    for (std::size_t bit = span.begin * 8; bit < span.end * 8 && !HasFailure(); ++bit)
      flip(span.file, bit, [&](std::uint64_t offset) { return offset == span.begin; });
  for (const auto& [name, bytes] : written.files) {
    if (!segment_number(name)) continue;
    for (std::size_t bit = 0; bit < kSegmentHead * 8 && !HasFailure(); ++bit)
      flip(name, bit, [](std::uint64_t offset) { return offset < kSegmentHead; });
  }
  // Behind everything that was acknowledged it may be what a write left that never came to its end.
  const Span& last = spans.back();
  for (std::size_t at = last.end; at < files[last.file].size(); ++at) {
    files[last.file][at] = static_cast<char>(1 << (at % 8));
    const Finding found = check(files);
    files[last.file][at] = '\0';
    ASSERT_TRUE(found.unfinished && !found.difference) << "byte " << at;
    EXPECT_EQ(found.unfinished->offset, at < last.end + 4 ? last.end : at) << "where a record would begin with it";
  }
  for (std::size_t bit = 0; bit < files["log"].size() * 8 && !HasFailure(); ++bit) {
    files["log"][bit / 8] = static_cast<char>(files["log"][bit / 8] ^ (1 << (bit % 8)));
    EXPECT_TRUE(check(files).difference) << "log, bit " << bit;
    files["log"] = written.files.at("log");
  }
  EXPECT_GT(flips, 50'000U);
}

/// What a writer promises that nobody else can: that it would have known the event.
TEST(Log, shows_an_event_that_is_there_a_second_time) {
  Rng rng(5, "twice");
  const Written written = written_log(rng, 60);
  ASSERT_FALSE(written.files.contains("00000002.seg"));
  const std::vector<Span> spans = spans_of(written);
  const auto with = [&](const Span& copied, std::uint32_t other_ordinal) {
    std::map<std::string, std::string> files = written.files;
    std::string& segment = files["00000001.seg"];
    const auto at = static_cast<std::uint32_t>(spans.back().end);
    spine::Frame frame = *spine::frame_from(std::string_view(segment).substr(copied.begin),
                                            {1, static_cast<std::uint32_t>(copied.begin)});
    event::Record record = *event::decode(frame.payload);
    record.ordinal += other_ordinal;
    const std::string payload = *event::encode(record);
    frame.first_of_batch = true;
    frame.sequence = written.next;
    frame.address = {1, at};
    frame.previous = spine::beginning_of(written.chain);
    frame.payload = payload;
    std::string bytes;
    spine::append_frame(bytes, frame);
    segment.replace(at, bytes.size(), bytes);
    return std::pair(check(files), at);
  };
  std::size_t tried = 0;
  for (const Span& span : spans) {
    const Result<spine::Frame> frame = spine::frame_from(
        std::string_view(written.files.at(span.file)).substr(span.begin), {1, static_cast<std::uint32_t>(span.begin)});
    if (frame->type != spine::RecordType::event) continue;
    ++tried;
    const auto [twice, at] = with(span, 0);
    ASSERT_TRUE(twice.difference) << "record " << frame->sequence;
    EXPECT_EQ(twice.difference->file, "00000001.seg");
    EXPECT_EQ(twice.difference->offset, at) << to_text(*twice.difference);
    if (event::decode(frame->payload)->ordinal != 0 ||
        event::kind_of(event::decode(frame->payload)->event) == event::Kind::action)
      continue;  // the ordinal of an action is its stage
    const auto [another, place] = with(span, 1000);
    EXPECT_FALSE(another.difference) << to_text(*another.difference);
  }
  EXPECT_GT(tried, 40U);
}

TEST(Log, shows_records_that_were_swapped_dropped_inserted_or_cut_off) {
  Rng rng(3, "moves");
  const Written written = written_log(rng, 90);
  const std::vector<Span> spans = spans_of(written);
  const auto expect_at = [&](const std::map<std::string, std::string>& files, const Span& span, const char* what) {
    const Finding found = check(files);
    ASSERT_TRUE(found.difference) << what << " at " << span.file << ", " << span.begin;
    EXPECT_EQ(found.difference->file, span.file) << what;
    EXPECT_EQ(found.difference->offset, span.begin) << what;
  };
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const Span& span = spans[i];
    const std::string& bytes = written.files.at(span.file);
    const std::string record = bytes.substr(span.begin, span.end - span.begin);
    std::map<std::string, std::string> files = written.files;

    files[span.file] = bytes.substr(0, span.begin) + bytes.substr(span.end);
    expect_at(files, span, "dropped");
    files[span.file] = bytes.substr(0, span.begin);
    expect_at(files, span, "cut off from here");
    files[span.file] = bytes.substr(0, span.begin) + std::string(bytes.size() - span.begin, '\0');
    expect_at(files, span, "zeros from here");
    files[span.file] = bytes.substr(0, span.end - 8);
    expect_at(files, span, "cut off within");
    files[span.file].insert(span.begin, spans[0].file == span.file ? record : record + record);
    expect_at(files, {span.file, span.end, 0}, "written twice");
    if (i + 1 == spans.size() || spans[i + 1].file != span.file) continue;
    const Span& next = spans[i + 1];
    files[span.file] =
        bytes.substr(0, span.begin) + bytes.substr(next.begin, next.end - next.begin) + record + bytes.substr(next.end);
    expect_at(files, span, "swapped");
  }
}

TEST(Log, shows_segments_that_are_missing_swapped_or_of_another_log) {
  Rng rng(4, "segments");
  const Written written = written_log(rng, 250);
  std::map<std::string, std::string> files = written.files;
  files.erase("00000002.seg");
  EXPECT_EQ(expect_difference(files).substr(0, 23), "00000002.seg, offset 0:");
  files = written.files;
  std::swap(files["00000001.seg"], files["00000002.seg"]);
  EXPECT_EQ(expect_difference(files).substr(0, 24), "00000001.seg, offset 48:");
  files = written.files;
  files.erase(std::prev(files.lower_bound("acked")));  // the segment that grows
  EXPECT_NE(expect_difference(files).find("were acknowledged"), std::string::npos);
  files = written.files;
  files.erase("log");
  EXPECT_EQ(expect_difference(files), "log, offset 0: expected a file that says which log this is, got no file");
  files = written.files;
  files["00000001.seg"] = written_log(rng, 250).files.at("00000001.seg");
  EXPECT_EQ(expect_difference(files).substr(0, 24), "00000001.seg, offset 16:");
  EXPECT_NE(expect_difference({}), "");
}

TEST(Log, is_refused_when_its_checkpoints_are_signed_by_another_key) {
  Rng rng(5, "keys");
  const Written written = written_log(rng, 30);
  Pins pins;
  pins.key = written.key;
  (*pins.key)[7] ^= 1;
  EXPECT_NE(expect_difference(written.files, pins).find("a checkpoint signed by the given key"), std::string::npos);
  EXPECT_FALSE(check(written.files).difference) << "without a key it can only be held against itself";
}

TEST(Log, is_refused_when_a_checkpoint_from_outside_is_not_of_its_past) {
  Rng rng(6, "outside");
  const Written written = written_log(rng, 60);
  const auto with_note = [&](std::string note) {
    Pins pins;
    pins.key = written.key;
    pins.held = {{"note.txt", std::move(note)}};
    return pins;
  };
  ASSERT_FALSE(check(written.files, with_note(written.note)).difference);
  // Other events under the same name: every file of it is sound.
  const Written other = written_log(rng, 60);
  EXPECT_EQ(expect_difference(other.files, with_note(written.note)).substr(0, 18), "note.txt, offset 0");
  const Written renamed = written_log(rng, 60, 0, "other/spine");
  EXPECT_EQ(expect_difference(written.files, with_note(renamed.note)),
            "note.txt, offset 0: expected a checkpoint of acme/spine, got other/spine");
  for (std::size_t bit = 0; bit < written.note.size() * 8; ++bit) {
    std::string note = written.note;
    note[bit / 8] = static_cast<char>(note[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_EQ(check(written.files, with_note(note)).difference->file, "note.txt") << "bit " << bit;
  }
  // Rolled back to its beginning, with an `acked` that agrees: only the note knows.
  Rng again(6, "outside");
  std::map<std::string, std::string> files = written.files;
  const std::vector<Span> spans = spans_of(written);
  std::string& last = files[spans.back().file];
  last.resize(spans.back().begin);
  files.erase("acked");
  ASSERT_FALSE(check(files).difference);
  spine::Checkpoint later{"acme/spine", written.next, written.root, written.chain, Instant{}};
  const std::string whole = spine::to_note(later, test_signer());
  ASSERT_FALSE(check(written.files, with_note(whole)).difference);
  EXPECT_NE(expect_difference(files, with_note(whole)).find("got the end of the log"), std::string::npos);
}

TEST(Log, whose_last_batch_is_torn_is_unfinished_only_below_what_was_acknowledged) {
  Rng rng(7, "torn");
  const Written written = written_log(rng, 20);
  const Span last = spans_of(written).back();
  std::map<std::string, std::string> files = written.files;
  files[last.file][last.end - 9] = static_cast<char>(files[last.file][last.end - 9] ^ 1);
  EXPECT_TRUE(check(files).difference) << "it was acknowledged";
  std::string acked;
  for (const std::uint64_t word : {written.next - 1, ~(written.next - 1)})
    acked.append(reinterpret_cast<const char*>(&word), sizeof word);
  files["acked"] = acked;
  const Finding torn = check(files);
  EXPECT_FALSE(torn.difference);
  ASSERT_TRUE(torn.unfinished);
  EXPECT_EQ(torn.unfinished->offset, last.begin);
  EXPECT_EQ(torn.summary.next, written.next - 1);
  // A record of another place is no torn one, and neither is a signature that does not hold.
  Pins pins;
  pins.key = written.key;
  (*pins.key)[0] ^= 1;
  files = written.files;
  files["acked"] = std::string(8, '\0') + std::string(8, '\xff');
  EXPECT_TRUE(check(files, pins).difference);
}

}  // namespace
}  // namespace ace::verify
