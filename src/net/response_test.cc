#include <gtest/gtest.h>

#include "net/http_testing.h"

namespace ace::net {
namespace {

ResponseHead parsed(std::string_view bytes, bool to_head, Fault want = Fault::none) {
  ResponseHead head;
  EXPECT_EQ(name_of(parse_response(bytes, kResponseLimits, to_head, head)), name_of(want)) << bytes;
  return head;
}

TEST(Response, ends_as_status_method_and_fields_say) {
  const struct {
    const char* why;
    const char* bytes;
    bool to_head;
    Framing framing;
    std::uint64_t length;
    bool keep_alive;
  } cases[] = {
      {"length", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", false, Framing::length, 5, true},
      {"no reason", "HTTP/1.1 200\r\nContent-Length: 5\r\n\r\n", false, Framing::length, 5, true},
      {"empty reason", "HTTP/1.1 200 \r\nContent-Length: 5\r\n\r\n", false, Framing::length, 5, true},
      {"chunked", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", false, Framing::chunked, 0, true},
      {"neither: until it closes", "HTTP/1.1 200 OK\r\n\r\n", false, Framing::until_close, 0, false},
      {"1.0 closes", "HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\n", false, Framing::length, 5, false},
      {"to HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", true, Framing::none, 0, true},
      {"204", "HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n", false, Framing::none, 0, true},
      {"304 tells a length it does not send", "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", false,
       Framing::none, 0, true},
      {"interim", "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", false, Framing::none, 0, true},
      {"close", "HTTP/1.1 500 X\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", false, Framing::length, 0, false},
  };
  for (const auto& c : cases) {
    const ResponseHead head = parsed(c.bytes, c.to_head);
    EXPECT_EQ(head.framing, c.framing) << c.why;
    EXPECT_EQ(head.length, c.length) << c.why;
    EXPECT_EQ(head.keep_alive, c.keep_alive) << c.why;
  }
}

TEST(Response, that_is_ambiguous_is_refused) {
  parsed("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", false, Fault::length_conflict);
  parsed("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\n", false, Fault::length_conflict);
  parsed("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", false, Fault::bad_transfer_coding);
  parsed("HTTP/1.1 204 No\r\nContent-Length: 5\r\n\r\n", false, Fault::body_not_allowed);
  parsed("HTTP/1.1 101 Switching Protocols\r\n\r\n", false, Fault::bad_status);
  parsed("HTTP/1.1 600 X\r\n\r\n", false, Fault::bad_status);
  parsed("HTTP/1.1 099 X\r\n\r\n", false, Fault::bad_status);
  parsed("HTTP/1.1 20 OK\r\n\r\n", false, Fault::bad_start_line);
  parsed("HTTP/1.1 2000 OK\r\n\r\n", false, Fault::bad_start_line);
  parsed("HTTP/1.1  200 OK\r\n\r\n", false, Fault::bad_start_line);
  parsed("HTTP/2.0 200 OK\r\n\r\n", false, Fault::bad_start_line);
  parsed("ICY 200 OK\r\n\r\n", false, Fault::bad_start_line);
  parsed("HTTP/1.1 200 OK\r\nA : b\r\n\r\n", false, Fault::bad_field);
  parsed("HTTP/1.1 200 O\x01K\r\n\r\n", false, Fault::bad_start_line);
}

TEST(Body, without_a_length_is_complete_only_when_the_peer_closes_and_may_not_grow_for_ever) {
  const Limits limits{.body_bytes = 8};
  BodyDecoder decoder(limits);
  decoder.start(Framing::until_close, 0);
  EXPECT_EQ(decoder.next("12345").data, "12345");
  EXPECT_TRUE(decoder.complete_at_close());
  EXPECT_EQ(decoder.next("6789").fault, Fault::body_too_large);
  EXPECT_FALSE(decoder.complete_at_close());
  decoder.start(Framing::length, 5);
  EXPECT_EQ(decoder.next("1234").data, "1234");
  EXPECT_FALSE(decoder.complete_at_close());
  const BodyDecoder::Step last = decoder.next("567");
  EXPECT_EQ(last.data, "5");
  EXPECT_TRUE(last.done);
  EXPECT_EQ(last.consumed, 1U);
}

TEST(Body, pieces_lie_in_the_input) {
  BodyDecoder decoder(kRequestLimits);
  decoder.start(Framing::chunked, 0);
  const std::string input = "5\r\nhello\r\n0\r\n\r\n";
  const BodyDecoder::Step step = decoder.next(input);
  EXPECT_EQ(step.data.data(), input.data() + 3);
}

}  // namespace
}  // namespace ace::net
