#include "adapters/event_stream.h"

#include <gtest/gtest.h>

#include "adapters/provider_testing.h"
#include "core/testing.h"

namespace ace {
namespace {

struct Read {
  std::vector<std::string> messages;
  bool good = true, inside = false;
  friend bool operator==(const Read&, const Read&) = default;
};

Read read(std::string_view bytes, const std::vector<std::size_t>& cuts, std::size_t limit = std::size_t{1} << 20) {
  EventStreamParser parser(limit);
  Read out;
  std::size_t from = 0;
  const auto feed = [&](std::size_t to) {
    const std::string piece(bytes.substr(from, to - from));
    out.good = parser.feed(piece, [&](const EventStreamMessage& m) {
      out.messages.push_back(std::string(m.message_type) + "/" + std::string(m.event_type) +
                             std::string(m.exception_type) + ":" + std::string(m.payload));
      return true;
    });
    from = to;
  };
  for (const std::size_t cut : cuts)
    if (cut > from && cut < bytes.size()) feed(cut);
  feed(bytes.size());
  out.inside = parser.inside_message();
  return out;
}

TEST(EventStream, reads_the_published_example) {
  // The vector "empty_message" of the encoding: neither headers nor payload. Source: awslabs, 2026-11.
  const std::string empty("\0\0\0\x10\0\0\0\0\x05\xc2\x48\xeb\x7d\x98\xc8\xff", 16);
  const Read got = read(empty, {});
  EXPECT_TRUE(got.good);
  EXPECT_EQ(got.messages, (std::vector<std::string>{"/:"}));
}

TEST(EventStream, hands_on_messages_with_their_kinds) {
  const std::string bytes = event_stream_message("one") + event_stream_message("", "exception", "throttlingException") +
                            event_stream_message(std::string(5000, 'x'));
  const Read got = read(bytes, {});
  EXPECT_TRUE(got.good);
  EXPECT_FALSE(got.inside);
  EXPECT_EQ(got.messages, (std::vector<std::string>{"event/chunk:one", "exception/throttlingException:",
                                                    "event/chunk:" + std::string(5000, 'x')}));
}

TEST(EventStream, does_not_depend_on_how_it_was_cut) {
  for_each_seed(300, [](Rng& rng) {
    std::string bytes;
    for (std::uint64_t i = 0, n = rng.below(5); i < n; ++i)
      bytes += event_stream_message(std::string(rng.below(200), static_cast<char>('a' + rng.below(26))));
    if (rng.chance(0.3) && !bytes.empty()) bytes[rng.below(bytes.size())] ^= static_cast<char>(1U << rng.below(8));
    if (rng.chance(0.3)) bytes.resize(rng.below(bytes.size() + 1));
    const Read whole = read(bytes, {}), cut = read(bytes, random_cuts(rng, bytes.size()));
    EXPECT_EQ(whole.messages, cut.messages);
    EXPECT_EQ(whole.good, cut.good);
    EXPECT_EQ(whole.good && whole.inside, cut.good && cut.inside);
  });
}

TEST(EventStream, refuses_every_single_bit_that_was_changed) {
  const std::string good = event_stream_message("payload");
  for (std::size_t i = 0; i < good.size() * 8; ++i) {
    std::string bad = good;
    bad[i / 8] = static_cast<char>(bad[i / 8] ^ static_cast<char>(1U << (i % 8)));
    EXPECT_TRUE(read(bad, {}).messages.empty()) << "bit " << i;
  }
}

TEST(EventStream, is_bounded) {
  EXPECT_TRUE(read(event_stream_message(std::string(100, 'x')), {}, 400).good);
  const Read large = read(event_stream_message(std::string(400, 'x')).substr(0, 12), {}, 400);
  EXPECT_FALSE(large.good) << "refused by its length, before the rest comes";
  EXPECT_FALSE(read(std::string(16, '\0'), {}).good);
}

}  // namespace
}  // namespace ace
