#include <gtest/gtest.h>

#include "core/testing.h"
#include "net/http_testing.h"
#include "net/write_head.h"

namespace ace::net {
namespace {

using std::string_literals::operator""s;

Transcript read(std::string_view bytes, Side side = Side::requests) {
  return read_messages(side, std::span(&bytes, 1), side == Side::requests ? kRequestLimits : kResponseLimits);
}

/// H is "Host: ace" with its CRLF; the ids are those of the list of bad inputs.
#define H "Host: ace\r\n"

TEST(Request, that_two_readers_could_understand_differently_is_refused) {
  const std::string huge(400, '9');
  const std::string letters(40, 'A');
  const struct {
    const char* id;
    std::string bytes;
    Fault want;
  } cases[] = {
      {"H01", "POST /v1 HTTP/1.1\r\n" H "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
       Fault::length_conflict},
      {"H01 other order", "POST /v1 HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n",
       Fault::length_conflict},
      {"H02 differ", "POST / HTTP/1.1\r\n" H "Content-Length: 5\r\nContent-Length: 6\r\n\r\n", Fault::length_conflict},
      {"H02 equal", "POST / HTTP/1.1\r\n" H "Content-Length: 5\r\nContent-Length: 5\r\n\r\n", Fault::length_conflict},
      {"H02 list", "POST / HTTP/1.1\r\n" H "Content-Length: 5, 5\r\n\r\n", Fault::bad_length},
      {"H05 2^64", "POST / HTTP/1.1\r\n" H "Content-Length: 18446744073709551616\r\n\r\n", Fault::bad_length},
      {"H05 400 digits", "POST / HTTP/1.1\r\n" H "Content-Length: " + huge + "\r\n\r\n", Fault::bad_length},
      {"signed", "POST / HTTP/1.1\r\n" H "Content-Length: +5\r\n\r\n", Fault::bad_length},
      {"negative", "POST / HTTP/1.1\r\n" H "Content-Length: -1\r\n\r\n", Fault::bad_length},
      {"hex", "POST / HTTP/1.1\r\n" H "Content-Length: 0x5\r\n\r\n", Fault::bad_length},
      {"no digits", "POST / HTTP/1.1\r\n" H "Content-Length: \r\n\r\n", Fault::bad_length},
      {"inner space", "POST / HTTP/1.1\r\n" H "Content-Length: 1 0\r\n\r\n", Fault::bad_length},
      {"H06", "POST / HTTP/1.1\r\n" H "Content-Length: 10485761\r\n\r\n", Fault::body_too_large},
      {"H07 ,chunked", "POST / HTTP/1.1\r\n" H "Transfer-Encoding: ,chunked\r\n\r\n", Fault::bad_transfer_coding},
      {"H07 twice in one", "POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked, chunked\r\n\r\n",
       Fault::bad_transfer_coding},
      {"H07 identity after", "POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked, identity\r\n\r\n",
       Fault::bad_transfer_coding},
      {"H07 identity", "POST / HTTP/1.1\r\n" H "Transfer-Encoding: identity\r\n\r\n", Fault::bad_transfer_coding},
      {"H07 xchunked", "POST / HTTP/1.1\r\n" H "Transfer-Encoding: xchunked\r\n\r\n", Fault::bad_transfer_coding},
      {"H07 vertical tab", "POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked\x0b\r\n\r\n", Fault::bad_field},
      {"H07 quoted", "POST / HTTP/1.1\r\n" H "Transfer-Encoding: \"chunked\"\r\n\r\n", Fault::bad_transfer_coding},
      {"H07 empty", "POST / HTTP/1.1\r\n" H "Transfer-Encoding:\r\n\r\n", Fault::bad_transfer_coding},
      {"H07 two fields", "POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
       Fault::bad_transfer_coding},
      {"chunked in 1.0", "POST / HTTP/1.0\r\n" H "Transfer-Encoding: chunked\r\n\r\n", Fault::bad_transfer_coding},
      {"H12 bare LF", "GET / HTTP/1.1\nHost: ace\n\n", Fault::bad_line_end},
      {"H12 bare LF at the end", "GET / HTTP/1.1\r\n" H "\n", Fault::bad_line_end},
      {"bare CR", "GET / HTTP/1.1\r\n" H "A: b\rc\r\n\r\n", Fault::bad_line_end},
      {"bare CR before CRLF", "GET / HTTP/1.1\r\n" H "A: b\r\r\n\r\n", Fault::bad_line_end},
      {"H14 in the method", "G\0T / HTTP/1.1\r\n" H "\r\n"s, Fault::bad_start_line},
      {"H14 in the target", "GET /\0 HTTP/1.1\r\n" H "\r\n"s, Fault::bad_target},
      {"H14 in a name", "GET / HTTP/1.1\r\n" H "A\0: b\r\n\r\n"s, Fault::bad_field},
      {"H14 in a value", "GET / HTTP/1.1\r\n" H "A: \0\r\n\r\n"s, Fault::bad_field},
      {"H15", "GET / HTTP/1.1\r\n" H "Foo: a\r\n b\r\n\r\n", Fault::obsolete_fold},
      {"H15 after chunked", "POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\n\tx\r\n\r\n", Fault::obsolete_fold},
      {"H16 space", "POST / HTTP/1.1\r\n" H "Content-Length : 5\r\n\r\n", Fault::bad_field},
      {"H16 tab", "GET / HTTP/1.1\r\nHost\t: ace\r\n\r\n", Fault::bad_field},
      {"H17", "GET / HTTP/1.1\r\n " H "\r\n", Fault::bad_field},
      {"H19 0x85", "GET / HTTP/1.1\r\n" H "a\x85: b\r\n\r\n", Fault::bad_field},
      {"H19 0xa0", "GET / HTTP/1.1\r\n" H "\xa0: b\r\n\r\n", Fault::bad_field},
      {"H19 quote", "GET / HTTP/1.1\r\n" H "\"a\": b\r\n\r\n", Fault::bad_field},
      {"H19 parenthesis", "GET / HTTP/1.1\r\n" H "a(: b\r\n\r\n", Fault::bad_field},
      {"H19 slash", "GET / HTTP/1.1\r\n" H "a/b: c\r\n\r\n", Fault::bad_field},
      {"H19 at", "GET / HTTP/1.1\r\n" H "a@b: c\r\n\r\n", Fault::bad_field},
      {"no name", "GET / HTTP/1.1\r\n" H ": c\r\n\r\n", Fault::bad_field},
      {"no colon", "GET / HTTP/1.1\r\n" H "abc\r\n\r\n", Fault::bad_field},
      {"H20 key", "GET / HTTP/1.1\r\n" H "x_api_key: k\r\n\r\n", Fault::underscore_twin},
      {"H20 length", "POST / HTTP/1.1\r\n" H "content_length: 5\r\n\r\n", Fault::underscore_twin},
      {"H20 ours", "GET / HTTP/1.1\r\n" H "x_ace_tenant: 5\r\n\r\n", Fault::underscore_twin},
      {"H21 none", "GET / HTTP/1.1\r\n\r\n", Fault::bad_host},
      {"H21 two", "GET / HTTP/1.1\r\n" H H "\r\n", Fault::bad_host},
      {"H21 list", "GET / HTTP/1.1\r\nHost: ace, evil\r\n\r\n", Fault::bad_host},
      {"H21 path", "GET / HTTP/1.1\r\nHost: localhost:4000/#@evil\r\n\r\n", Fault::bad_host},
      {"H21 user", "GET / HTTP/1.1\r\nHost: u:p@ace\r\n\r\n", Fault::bad_host},
      {"H21 port", "GET / HTTP/1.1\r\nHost: ace:99999\r\n\r\n", Fault::bad_host},
      {"H21 bracket", "GET / HTTP/1.1\r\nHost: [::1\r\n\r\n", Fault::bad_host},
      {"H21 empty", "GET / HTTP/1.1\r\nHost:\r\n\r\n", Fault::bad_host},
      {"H22", "GET http://169.254.169.254/latest/ HTTP/1.1\r\n" H "\r\n", Fault::misdirected},
      {"H24 %00", "GET /v1/chat/completions%00 HTTP/1.1\r\n" H "\r\n", Fault::bad_target},
      {"H24 backslash", "GET \\admin HTTP/1.1\r\n" H "\r\n", Fault::bad_target},
      {"backslash within", "GET /a\\b HTTP/1.1\r\n" H "\r\n", Fault::bad_target},
      {"broken escape", "GET /a%2 HTTP/1.1\r\n" H "\r\n", Fault::bad_target},
      {"fragment", "GET /a#b HTTP/1.1\r\n" H "\r\n", Fault::bad_target},
      {"H25 space", "GET /a b HTTP/1.1\r\n" H "\r\n", Fault::bad_target},
      {"H25 0x80", "GET /\x80 HTTP/1.1\r\n" H "\r\n", Fault::bad_target},
      {"tab instead of space", "GET\t/\tHTTP/1.1\r\n" H "\r\n", Fault::bad_start_line},
      {"H26 case", "GeT / HTTP/1.1\r\n" H "\r\n", Fault::unknown_method},
      {"H26 long", letters + " / HTTP/1.1\r\n" H "\r\n", Fault::unknown_method},
      {"H26 bytes", "G=\":<> / HTTP/1.1\r\n" H "\r\n", Fault::bad_start_line},
      {"CONNECT", "CONNECT evil:443 HTTP/1.1\r\n" H "\r\n", Fault::unknown_method},
      {"H27 1.10", "GET / HTTP/1.10\r\n" H "\r\n", Fault::bad_version},
      {"H27 2.0", "GET / HTTP/2.0\r\n" H "\r\n", Fault::unsupported_version},
      {"H27 1.", "GET / HTTP/1.\r\n" H "\r\n", Fault::bad_version},
      {"H27 huge", "GET / HTTP/4294967295.255\r\n" H "\r\n", Fault::bad_version},
      {"H27 simple", "GET /\r\n" H "\r\n", Fault::bad_start_line},
      {"small letters", "GET / http/1.1\r\n" H "\r\n", Fault::bad_version},
      {"h2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", Fault::unsupported_version},
      {"TLS to a plain port", "\x16\x03\x01\x02\x00\x01\x00\n"s, Fault::bad_line_end},
      {"empty first line", "\r\nGET / HTTP/1.1\r\n" H "\r\n", Fault::bad_start_line},
      {"H29 line", "GET /" + std::string(8193 - 14, 'a') + " HTTP/1.1\r\n" H "\r\n", Fault::line_too_long},
      {"H29 field", "GET / HTTP/1.1\r\n" H "A: " + std::string(8190, 'a') + "\r\n\r\n", Fault::head_too_large},
      {"H30", "POST / HTTP/1.1\r\n" H "Expect: 200-ok\r\nContent-Length: 1\r\n\r\n", Fault::bad_expectation},
      {"H31", "GET / HTTP/1.1\r\n" H "Connection: close, Authorization, X-Request-Id\r\n\r\n", Fault::bad_connection},
      {"Connection empty item", "GET / HTTP/1.1\r\n" H "Connection: close,,te\r\n\r\n", Fault::bad_connection},
      {"H34 gzip", "POST / HTTP/1.1\r\n" H "Content-Encoding: gzip\r\nContent-Length: 1\r\n\r\n",
       Fault::unsupported_encoding},
      {"H34 twice", "POST / HTTP/1.1\r\n" H "Content-Encoding: gzip, gzip\r\nContent-Length: 1\r\n\r\n",
       Fault::unsupported_encoding},
      {"H36 GET", "GET / HTTP/1.1\r\n" H "Content-Length: 5\r\n\r\nhello", Fault::body_not_allowed},
      {"H36 GET chunked", "GET / HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
       Fault::body_not_allowed},
      {"H36 POST", "POST / HTTP/1.1\r\n" H "\r\n", Fault::length_required},
  };
  for (const auto& c : cases) {
    const Transcript got = read(c.bytes);
    EXPECT_EQ(name_of(got.fault), name_of(c.want)) << c.id;
    EXPECT_TRUE(got.messages.empty()) << c.id;
  }
}

TEST(Request, that_is_unusual_but_clear_is_read) {
  const struct {
    const char* why;
    std::string bytes, start, body;
    bool keep_alive;
  } cases[] = {
      {"H04: leading zeros", "POST / HTTP/1.1\r\n" H "Content-Length: 010\r\n\r\n0123456789", "POST /", "0123456789",
       true},
      {"H32: an upgrade is not taken up", "GET / HTTP/1.1\r\n" H "Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n", "GET /",
       "", true},
      {"absolute form for this host", "GET http://ace/x?y HTTP/1.1\r\n" H "\r\n", "GET /x?y", "", true},
      {"absolute form without a path", "GET http://ace HTTP/1.1\r\n" H "\r\n", "GET /", "", true},
      {"no space after the colon, tabs around the value", "GET / HTTP/1.1\r\nHost:\tace \r\n\r\n", "GET /", "", true},
      {"IPv6", "GET / HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n", "GET /", "", true},
      {"1.0 closes", "GET / HTTP/1.0\r\n\r\n", "GET /", "", false},
      {"1.0 may stay", "GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", "GET /", "", true},
      {"1.1 may close", "GET / HTTP/1.1\r\n" H "Connection: x, CLOSE\r\n\r\n", "GET /", "", false},
      {"chunked in capitals",
       "POST / HTTP/1.1\r\n" H "Transfer-Encoding: CHUNKED\r\n\r\n0A\r\n0123456789\r\n000\r\n\r\n", "POST /",
       "0123456789", true},
      {"trailers vanish", "POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nA: b\r\n\r\n",
       "POST /", "x", true},
      {"a name with an underscore that is nobody's twin", "GET / HTTP/1.1\r\n" H "session_id: 5\r\n\r\n", "GET /", "",
       true},
      {"brackets in a query", "GET /r?include[]=x%0A HTTP/1.1\r\n" H "\r\n", "GET /r?include[]=x%0A", "", true},
      {"all of OPTIONS", "OPTIONS * HTTP/1.1\r\n" H "\r\n", "OPTIONS *", "", true},
      {"encoding identity", "POST / HTTP/1.1\r\n" H "Content-Encoding: identity\r\nContent-Length: 1\r\n\r\nx",
       "POST /", "x", true},
  };
  for (const auto& c : cases) {
    const Transcript got = read(c.bytes);
    EXPECT_EQ(name_of(got.fault), "none") << c.why;
    ASSERT_EQ(got.messages.size(), 1U) << c.why;
    EXPECT_EQ(got.messages[0].start, c.start) << c.why;
    EXPECT_EQ(got.messages[0].body, c.body) << c.why;
    EXPECT_EQ(got.messages[0].keep_alive, c.keep_alive) << c.why;
  }
}

TEST(Request, bodies_in_chunks_have_one_spelling) {
  const std::string head = "POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\n\r\n";
  const struct {
    const char* id;
    std::string body;
    Fault want;
  } cases[] = {
      {"H09 underscore", "0_2e\r\n", Fault::bad_chunk},
      {"H09 0x", "0x5\r\nhello\r\n0\r\n\r\n", Fault::bad_chunk},
      {"H09 plus", "+5\r\nhello\r\n0\r\n\r\n", Fault::bad_chunk},
      {"H09 minus", "-1\r\n", Fault::bad_chunk},
      {"H09 space before", " 5\r\nhello\r\n", Fault::bad_chunk},
      {"H09 space after", "5 \r\nhello\r\n", Fault::bad_chunk},
      {"H09 tab", "5\t\r\nhello\r\n", Fault::bad_chunk},
      {"H09 empty", "\r\nhello\r\n", Fault::bad_chunk},
      {"H09 17 digits", "00000000000000005\r\nhello\r\n", Fault::bad_chunk},
      {"H10 LF in extension", "2;\nxx\r\n", Fault::bad_chunk},
      {"H10 CR CR", "5\r\r;A\r\n", Fault::bad_chunk},
      {"H10 quoted", "5;a=\"\r\nb\"\r\n", Fault::bad_chunk},
      {"H10 plain extension", "5;a=b\r\nhello\r\n0\r\n\r\n", Fault::bad_chunk},
      {"H11 no CRLF", "5\r\nhelloXX0\r\n\r\n", Fault::bad_chunk},
      {"H11 last", "0\r\nX", Fault::none},  // the first letter of a trailer, so far
      {"H11 last and more", "0\r\nX\r\n\r\n", Fault::bad_trailer},
      {"H12", "0\n\r\n", Fault::bad_chunk},
      {"LF after data", "5\r\nhello\n0\r\n\r\n", Fault::bad_chunk},
      {"LF ends trailers", "0\r\n\n", Fault::bad_line_end},
      {"H35 authorization", "0\r\nAuthorization: x\r\n\r\n", Fault::bad_trailer},
      {"H35 length", "0\r\nContent-Length: 5\r\n\r\n", Fault::bad_trailer},
      {"H35 host", "0\r\nHost: x\r\n\r\n", Fault::bad_trailer},
      {"too large", "a00001\r\n", Fault::body_too_large},
      {"2^64 - 1", "ffffffffffffffff\r\n", Fault::body_too_large},
      {"a long trailer", "0\r\nA: " + std::string(9000, 'a') + "\r\n\r\n", Fault::bad_trailer},
  };
  for (const auto& c : cases) {
    const Transcript got = read(head + c.body);
    EXPECT_EQ(name_of(got.fault), name_of(c.want)) << c.id;
    EXPECT_TRUE(got.messages.empty()) << c.id;
  }
}

TEST(Request, limits_are_noticed_when_they_are_crossed) {
  const Limits limits{.line_bytes = 20, .head_bytes = 60, .fields = 2, .body_bytes = 10};
  const auto fault = [&](std::string_view bytes) {
    return read_messages(Side::requests, std::span(&bytes, 1), limits).fault;
  };
  EXPECT_EQ(fault("GET /0123456 HTTP/1.1"), Fault::none);  // 21 bytes, of which one could be a CR
  EXPECT_EQ(fault("GET /01234567890 HTTP/1."), Fault::line_too_long);
  EXPECT_EQ(fault("GET / HTTP/1.1\r\nA: 0123456789012345678"), Fault::none);
  EXPECT_EQ(fault("GET / HTTP/1.1\r\nA: 01234567890123456789"), Fault::head_too_large);
  EXPECT_EQ(fault("GET / HTTP/1.1\r\nA: b\r\nC: d\r\nE: f\r\n"), Fault::too_many_fields);
  EXPECT_EQ(fault("GET / HTTP/1.1\r\nA: 01234567890123456\r\nB: 01234567890123456\r\nC"), Fault::head_too_large);
  EXPECT_EQ(fault("POST / HTTP/1.1\r\n" H "Content-Length: 11\r\n\r\n"), Fault::body_too_large);
}

TEST(Request, kept_to_101_fields) {
  std::string bytes = "GET / HTTP/1.1\r\n" H;
  for (int i = 1; i < 100; ++i) bytes += "A: b\r\n";
  EXPECT_EQ(read(bytes + "\r\n").fault, Fault::none);
  EXPECT_EQ(read(bytes + "A: b\r\n\r\n").fault, Fault::too_many_fields);
}

TEST(Request, follows_the_one_before_it_on_the_same_connection) {
  const std::string one = "POST /a HTTP/1.1\r\n" H "Content-Length: 2\r\n\r\nhi";
  const std::string two = "GET /b HTTP/1.1\r\n" H "\r\n";
  const Transcript got = read(one + two + "GET");
  ASSERT_EQ(got.messages.size(), 2U);
  EXPECT_EQ(got.messages[1].start, "GET /b");
  EXPECT_TRUE(got.inside);
}

std::string random_message(Side side, Rng& rng) {
  std::string out;
  HeadWriter writer(out);
  const bool chunked = rng.chance(0.5);
  std::string body(rng.below(60), '\0');
  for (char& c : body) c = static_cast<char>(rng.below(256));
  if (side == Side::requests) {
    writer.request("POST", "/v1/" + std::string(rng.below(20), 'p'));
    writer.field("Host", "ace");
  } else {
    writer.status(200);
  }
  for (std::uint64_t i = rng.below(6); i > 0; --i)
    writer.field("X-" + std::to_string(i), std::string(rng.below(30), 'v'));
  if (chunked) {
    writer.field("Transfer-Encoding", "chunked");
  } else {
    writer.field("Content-Length", std::uint64_t{body.size()});
  }
  writer.end();
  if (!chunked) return out + body;
  std::string_view rest = body;
  while (!rest.empty()) {
    const std::string_view piece = rest.substr(0, 1 + rng.below(rest.size()));
    out.append(ChunkHead(piece.size()).text()).append(piece).append(kChunkEnd);
    rest.remove_prefix(piece.size());
  }
  return out.append(kLastChunk);
}

TEST(Message, is_the_same_however_it_was_cut_also_when_it_is_damaged) {
  for_each_seed(2000, [](Rng& rng) {
    const Side side = rng.chance(0.5) ? Side::requests : Side::responses;
    std::string bytes;
    for (std::uint64_t i = 1 + rng.below(3); i > 0; --i) bytes += random_message(side, rng);
    for (std::uint64_t i = rng.below(4); i > 0; --i) {
      const char damage[] = {'\r', '\n', ' ', ':', '\0', 'x', ';', '0'};
      bytes[rng.below(bytes.size())] = damage[rng.below(sizeof damage)];
    }
    const Limits limits{.line_bytes = 40, .head_bytes = 200, .fields = 5, .body_bytes = 50};
    const std::string_view whole = bytes;
    const Transcript want = read_messages(side, std::span(&whole, 1), limits);
    EXPECT_EQ(read_messages(side, cut_at_random(bytes, rng), limits), want);
    std::vector<std::string_view> bytewise;
    for (std::size_t i = 0; i < bytes.size(); ++i) bytewise.push_back(whole.substr(i, 1));
    EXPECT_EQ(read_messages(side, bytewise, limits), want);
  });
}

TEST(HeadWriter, lets_no_value_start_a_line) {
  const std::string_view values[] = {
      "a\r\nSet-Cookie: x", "a\nb", "a\rb", std::string_view("a\0b", 3), "\x7f", " a", "a\t"};
  for (const std::string_view value : values) {
    std::string out;
    HeadWriter writer(out);
    EXPECT_FALSE(writer.field("X-Model", value)) << value;
    EXPECT_EQ(out, "");
  }
  std::string out;
  HeadWriter writer(out);
  EXPECT_TRUE(writer.field("X-Model", "gr\xc3\xbc\xc3\x9f dich"));
  writer.field("X-Count", std::uint64_t{18446744073709551615U});
  writer.status(429);
  EXPECT_EQ(out,
            "X-Model: gr\xc3\xbc\xc3\x9f dich\r\nX-Count: 18446744073709551615\r\nHTTP/1.1 429 Too Many Requests\r\n");
}

TEST(Fields, are_found_in_any_case_and_nominated_in_any_case) {
  const std::vector<Field> fields = {{"Connection", "close, X-Trace"}, {"X-Trace", "1"}};
  ASSERT_NE(find(fields, "x-trace"), nullptr);
  EXPECT_EQ(find(fields, "x-trace")->value, "1");
  EXPECT_EQ(find(fields, "x-tracer"), nullptr);
  EXPECT_TRUE(is_nominated(fields, "x-tRACE"));
  EXPECT_FALSE(is_nominated(fields, "x-other"));
}

}  // namespace
}  // namespace ace::net
