#include "net/sse.h"

#include <gtest/gtest.h>

#include <optional>
#include <utility>
#include <vector>

#include "core/testing.h"
#include "net/http_testing.h"

namespace ace::net {
namespace {

using std::string_literals::operator""s;
using Events = std::vector<std::pair<std::string, std::string>>;  // type, data

Events read(const std::vector<std::string_view>& pieces, std::size_t limit = 1 << 20) {
  Events out;
  SseParser parser(limit);
  for (const std::string_view piece : pieces) {
    // A copy that goes away, so that a view which outlives its piece is seen by the sanitizers.
    const std::string copy(piece);
    if (!parser.feed(copy, [&](const SseEvent& e) { out.emplace_back(e.type, e.data); })) {
      out.emplace_back("failed", "");
      break;
    }
  }
  return out;
}

TEST(Sse, reads_what_the_standard_says) {
  const struct {
    const char* why;
    std::string bytes;
    Events want;
  } cases[] = {
      {"one event", "data: a\n\n", {{"", "a"}}},
      {"only one space is taken", "data:  a\n\n", {{"", " a"}}},
      {"S05: no space", "data:{\"a\":1}\n\n", {{"", "{\"a\":1}"}}},
      {"S05: no colon", "data\n\n", {{"", ""}}},
      {"S05: two lines", "data: a\ndata: b\n\n", {{"", "a\nb"}}},
      {"three lines, one empty", "data: a\ndata\ndata: c\n\n", {{"", "a\n\nc"}}},
      {"S05: unknown field, id with NUL, retry", "x: y\nid: a\0b\nretry: -5\ndata: a\n\n"s, {{"", "a"}}},
      {"a type", "event: message_start\ndata: {}\n\n", {{"message_start", "{}"}}},
      {"the last type counts", "event: a\nevent: b\ndata: {}\n\n", {{"b", "{}"}}},
      {"a type without data is no event, and is forgotten", "event: a\n\ndata: b\n\n", {{"", "b"}}},
      {"comments", ": ping\n\n:\n\ndata: a\n: in between\n\n", {{"", "a"}}},
      {"S02: CR", "data: a\r\rdata: b\r\r", {{"", "a"}, {"", "b"}}},
      {"S02: CRLF", "data: a\r\n\r\ndata: b\r\n\r\n", {{"", "a"}, {"", "b"}}},
      {"S02: mixed", "data: a\r\n\ndata: b\n\r\ndata: c\r\r\n", {{"", "a"}, {"", "b"}, {"", "c"}}},
      {"S03: mark",
       "\xef\xbb\xbf"
       "data: a\n\n",
       {{"", "a"}}},
      {"S03: only one mark, only at the start",
       "\xef\xbb\xbf\xef\xbb\xbf"
       "data: a\n\ndata: b\n\n",
       {{"", "b"}}},
      {"half a mark is text",
       "\xef\xbb"
       "data: a\n\ndata: b\n\n",
       {{"", "b"}}},
      {"S07: cut", "data: {\"choices\":[{\"del", {}},
      {"no blank line", "data: a\n", {}},
      {"S13: a raw line feed ends the event early",
       "data: {\"x\":\"a\n\ndata: b\"}\n\n",
       {{"", "{\"x\":\"a"}, {"", "b\"}"}}},
      {"U+2028 and U+0085 are no ends of lines",
       "data: a\xe2\x80\xa8"
       "b\xc2\x85\n\n",
       {{"",
         "a\xe2\x80\xa8"
         "b\xc2\x85"}}},
      {"NUL", "data: a\0\n\n"s, {{"", "a\0"s}}},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(read({c.bytes}), c.want) << c.why;
    for (std::size_t cut = 0; cut <= c.bytes.size(); ++cut)  // S01
      EXPECT_EQ(read({c.bytes.substr(0, cut), c.bytes.substr(cut)}), c.want) << c.why << ", cut at " << cut;
  }
}

TEST(Sse, events_do_not_depend_on_how_the_bytes_were_cut) {
  for_each_seed(1000, [](Rng& rng) {
    const std::string_view parts[] = {"data: ", "data:", "event: ", "x",  "\xc3\xa9", "\n",
                                      "\n",     "\r",    "\r\n",    ": ", "id: 1",    "data"};
    std::string bytes = rng.chance(0.2) ? "\xef\xbb\xbf" : "";
    for (std::uint64_t i = rng.below(40); i > 0; --i) bytes += parts[rng.below(std::size(parts))];
    const std::size_t limit = rng.chance(0.5) ? 1000 : 1 + rng.below(30);
    EXPECT_EQ(read(cut_at_random(bytes, rng), limit), read({bytes}, limit)) << testing::PrintToString(bytes);
  });
}

TEST(Sse, hands_an_event_on_with_the_byte_that_ends_it_and_keeps_nothing_after) {
  SseParser parser;
  int events = 0;
  const auto count = [&](const SseEvent&) { ++events; };
  EXPECT_TRUE(parser.feed("data: a\r\n", count));
  EXPECT_TRUE(parser.inside_event());
  EXPECT_TRUE(parser.feed("\r", count));
  EXPECT_EQ(events, 1);
  EXPECT_FALSE(parser.inside_event());
  EXPECT_EQ(parser.buffered(), 0U);
  EXPECT_TRUE(parser.feed("\ndata: b\n\n", count));
  EXPECT_EQ(events, 2);
  EXPECT_EQ(parser.buffered(), 0U);
}

TEST(Sse, data_of_one_piece_is_not_copied) {
  SseParser parser;
  const std::string bytes = "event: x\ndata: hello\n\n";
  const char* where = nullptr;
  parser.feed(bytes, [&](const SseEvent& e) { where = e.data.data(); });
  EXPECT_EQ(where, bytes.data() + 15);
}

TEST(Sse, an_event_beyond_its_limit_fails_before_it_is_kept) {
  // S08: "data: " and 94 bytes are 100; one more is too many, also when it comes alone or in a second line.
  SseParser parser(100);
  const auto ignore = [](const SseEvent&) {};
  EXPECT_TRUE(parser.feed("data: " + std::string(94, 'x'), ignore));
  EXPECT_FALSE(parser.feed("x", ignore));
  EXPECT_FALSE(parser.feed("\n\ndata: a\n\n", ignore));
  EXPECT_LE(parser.buffered(), 100U);
  SseParser lines(100);
  EXPECT_FALSE(lines.feed("data: " + std::string(60, 'x') + "\ndata: " + std::string(60, 'x') + "\n\n", ignore));
  SseParser comments(100);
  EXPECT_FALSE(comments.feed(":" + std::string(200, ' '), ignore));
}

TEST(Sse, is_framed_again_in_one_spelling) {
  std::string out;
  append_event(out, {"message_stop", "{}"});
  append_event(out, {"", "a\n\nb"});
  append_event(out, {"", ""});
  EXPECT_EQ(out, "event: message_stop\ndata: {}\n\ndata: a\ndata: \ndata: b\n\ndata: \n\n");
  EXPECT_EQ(read({out}), (Events{{"message_stop", "{}"}, {"", "a\n\nb"}, {"", ""}}));
}

}  // namespace
}  // namespace ace::net
