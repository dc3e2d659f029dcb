/// Broken logs and what must come of them; the numbers are those of our list of bad inputs.
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <thread>

#include <gmock/gmock.h>

#include "trace/csv.h"
#include "trace/trace_testing.h"

namespace ace {
namespace {

using ::testing::HasSubstr;

const std::string kRow = "2023-11-16 18:17:03.9799600,4808,10";
std::string azure(const std::string& rows) { return kAzureHeader + rows; }
std::string generic(const std::string& rows) { return "at,prompt,output\n" + rows; }
std::string with_id(const std::string& rows) { return "id,at,prompt,output\n" + rows; }

TEST(BadTrace, is_an_error_that_says_where_and_why) {
  ReadOptions plain, utc, semicolon, as_azure, as_csv, cest, berlin;
  utc.tz = "UTC";
  cest.tz = "CEST";
  berlin.tz = "Europe/Berlin";
  as_azure.format = TraceFormat::azure;
  as_csv.format = TraceFormat::csv;
  semicolon.delimiter = ';';
  const std::string good = kRow + "\n";
  const struct {
    const char* why;
    std::string text;
    ReadOptions options;
    Errc code;
    const char* says;
  } cases[] = {
      {"C02 lone CR", azure(good + "2023-11-16 18:17:04,1\r,2\n"), plain, Errc::bad_input, "line 3: a lone carriage"},
      {"C02 lone CR at the end", azure(good + "2023\r"), plain, Errc::bad_input, "line 3: a lone carriage"},
      {"C04 unclosed quote", azure(good + "\"2023,1,2\n3,4\n"), plain, Errc::bad_input, "line 3: a quote opens here"},
      {"C04 quote in a bare field", azure("20\"23,1,2\n"), plain, Errc::bad_input, "line 2: a quote inside"},
      {"C04 text after a quote", azure("\"2023\"x,1,2\n"), plain, Errc::bad_input, "line 2: expected a delimiter"},
      {"C06 missing column", "TIMESTAMP,ContextTokens\n", as_azure, Errc::bad_input, "missing column GeneratedTokens"},
      {"C06 ambiguous case", "AT,At,prompt,output\n1,1,1,1\n", as_csv, Errc::bad_input, "twice but for its case"},
      {"C07 duplicate name", "at,at,prompt,output\n1,1,1,1\n", plain, Errc::bad_input, "column at appears twice"},
      {"C07 no header", "1,2,3\n4,5,6\n", as_csv, Errc::bad_input, "looks like a row of data"},
      {"C07 empty", "", plain, Errc::bad_input, "the file is empty"},
      {"C08 short row", azure(good + "2023-11-16 18:17:04.0,1\n"), plain, Errc::bad_input,
       "line 3: expected 3 fields, got 2"},
      {"C08 long row", azure("2023-11-16 18:17:04.0,1,2,3\n"), plain, Errc::bad_input, "expected 3 fields, got 4"},
      {"C08 trailing comma", azure("2023-11-16 18:17:04.0,1,2,\n"), plain, Errc::bad_input, "expected 3 fields, got 4"},
      {"C09 semicolons", "at;prompt;output\n1;2;3\n", plain, Errc::bad_input, "--delimiter \";\""},
      {"C09 decimal comma", "at;prompt;output;cost_usd\n1;2;3;0,5\n", semicolon, Errc::bad_input,
       "cost_usd: expected a decimal"},
      {"C11 2^63 tokens", generic("1,9223372036854775808,1\n"), plain, Errc::out_of_range,
       "line 2: prompt: out_of_range"},
      {"C11 10^30 tokens", generic("1,1000000000000000000000000000000,1\n"), plain, Errc::out_of_range, "out_of_range"},
      {"C11 negative", generic("1,-5,1\n"), plain, Errc::bad_input, "prompt: expected a whole number"},
      {"C11 half a token", generic("1,1.5,1\n"), plain, Errc::bad_input, "prompt: expected a whole number"},
      {"C12 back in time", azure("2023-11-16 18:17:04.0000000,1,2\n" + good), plain, Errc::bad_input,
       "row 2: time goes back by"},
      {"C13 naive in a generic file", generic("2026-01-01 00:00:00,1,1\n"), plain, Errc::bad_input, "--tz"},
      {"C13 zoned, then naive", generic("2026-01-01T00:00:00Z,1,1\n2026-01-01 00:00:01,1,1\n"), utc, Errc::bad_input,
       "line 3: at: expected time with a zone"},
      {"C13 seconds, then milliseconds", generic("1700000000,1,1\n1700000001000,1,1\n"), plain, Errc::bad_input,
       "expected seconds as in the rows before"},
      {"C13 unknown zone", generic("1,1,1\n"), cest, Errc::bad_input, "IANA name"},
      {"C13 an hour that never was", generic("2026-03-29 02:30:00,1,1\n"), berlin, Errc::bad_input,
       "no such local time"},
      {"C14 30 February", azure("2025-02-30 00:00:00.0000000,1,1\n"), plain, Errc::bad_input, "no such date"},
      {"C14 24:00", azure("2025-02-20 24:00:00.0000000,1,1\n"), plain, Errc::bad_input, "no such time of day"},
      {"C14 year 9999", azure("9999-02-20 00:00:00.0000000,1,1\n"), plain, Errc::bad_input, "1970 to 2261"},
      {"C14 year 1969", azure("1969-02-20 00:00:00.0000000,1,1\n"), plain, Errc::bad_input, "1970 to 2261"},
      {"C14 no time", azure(",1,1\n"), plain, Errc::bad_input, "TIMESTAMP: expected a time"},
      {"C16 same id, other content", with_id("a,1,1,1\nb,2,1,1\na,3,1,1\n"), plain, Errc::conflict,
       "line 4: the id of line 2"},
      {"C17 end before start", "at,end,prompt,output\n5,4,1,1\n", plain, Errc::bad_input, "ends before it starts"},
      {"a token both read from a cache and written to it", "at,prompt,output,cached,cache_write\n1,10,1,6,5\n", plain,
       Errc::bad_input, "line 2: more cached and cache-write tokens than prompt tokens"},
      {"C21 a line of 1 MiB and 1", azure(std::string((1U << 20) + 1, '1')), plain, Errc::out_of_range,
       "longer than 1048576"},
      {"C21 257 columns", "at,prompt,output" + std::string(254, ',') + "\n", plain, Errc::out_of_range, "256 columns"},
      {"JSON line cut", "{\"timestamp\":1,\"input_length\":2,\"output_length\":3", plain, Errc::truncated, "truncated"},
      {"JSON value of the wrong kind", "{\"timestamp\":1,\"input_length\":[2],\"output_length\":3}\n", plain,
       Errc::bad_input, "input_length: expected one value"},
      {"JSON member twice", "{\"timestamp\":1,\"input_length\":2,\"input_length\":2,\"output_length\":3}\n", plain,
       Errc::bad_input, "input_length: given twice"},
      {"JSON member missing", "{\"timestamp\":1,\"output_length\":3,\"x\":\"input_length\"}\n", plain, Errc::bad_input,
       "input_length is missing"},
      {"JSON block beyond 32 bits",
       "{\"timestamp\":1,\"input_length\":2,\"output_length\":3,\"hash_ids\":[4294967296]}", plain, Errc::out_of_range,
       "block number"},
  };
  for (const auto& c : cases) {
    const Read read = read_text(c.text, c.options);
    EXPECT_THAT(read.error, HasSubstr(c.says)) << c.why;
    EXPECT_EQ(read.code, c.code) << c.why << ": " << read.error;
    EXPECT_TRUE(read.rows.empty()) << c.why << ": rows before an error are no result";
  }
}

TEST(Trace, accepts_what_only_looks_odd) {
  ReadOptions plain, berlin, sorted_rows;
  berlin.tz = "Europe/Berlin";
  sorted_rows.sort = true;
  const struct {
    const char* why;
    std::string text;
    ReadOptions options;
    std::size_t rows;
    const char* first_at;
    const char* note;
  } cases[] = {
      {"C01 BOM", "\xef\xbb\xbf" + azure(kRow), plain, 1, "2023-11-16T18:17:03.97996Z", ""},
      {"C02 CRLF and LF mixed", azure(kRow + "\r\n" + kRow + "\n" + kRow + "\r\n"), plain, 3,
       "2023-11-16T18:17:03.97996Z", ""},
      {"C03 quotes over lines", "x,at,prompt,output\n\"a,\r\n\"\"b\",7,1,2\n", plain, 1, "1970-01-01T00:00:07Z",
       "not used: x"},
      {"C06 reordered, case, blanks", " Generatedtokens , TimeStamp,extra,CONTEXTTOKENS\n3,2023-11-16 00:00:00,z,4\n",
       plain, 1, "2023-11-16T00:00:00Z", "columns not used: extra"},
      {"C07 header only", azure(""), plain, 0, "", "0 rows"},
      {"C08 blank lines", azure("\n" + kRow + "\n\n"), plain, 1, "2023-11-16T18:17:03.97996Z", "2 blank lines"},
      {"C11 the most tokens", generic("1,1000000000,0\n"), plain, 1, "1970-01-01T00:00:01Z", ""},
      {"C11 a data frame's integers", generic("1,12.0,3.00\n"), plain, 1, "1970-01-01T00:00:01Z", ""},
      {"C12 sorted", azure("2023-11-16 18:17:05.0000000,1,2\n" + kRow + "\n"), sorted_rows, 2,
       "2023-11-16T18:17:03.97996Z", "1 rows went back in time, at most by 1.020040 s"},
      {"C13 Z and an offset", generic("2026-01-01T00:00:00Z,1,1\n2026-01-01T02:00:01+02:00,1,1\n"), plain, 2,
       "2026-01-01T00:00:00Z", ""},
      {"C13 milliseconds", generic("1700000000123,1,1\n"), plain, 1, "2023-11-14T22:13:20.123Z", ""},
      {"C13 microseconds", generic("1700000000123456,1,1\n"), plain, 1, "2023-11-14T22:13:20.123456Z", ""},
      {"C13 nanoseconds", generic("1700000000123456789,1,1\n"), plain, 1, "2023-11-14T22:13:20.123456789Z", ""},
      {"C13 a named zone in summer", generic("2026-07-01 02:00:00,1,1\n"), berlin, 1, "2026-07-01T00:00:00Z", ""},
      {"C13 the earlier of two hours", generic("2026-10-25 02:30:00,1,1\n"), berlin, 1, "2026-10-25T00:30:00Z", ""},
      {"C14 leap second", azure("2016-12-31 23:59:60.5000000,1,1\n"), plain, 1, "2016-12-31T23:59:59.999Z",
       "1 leap seconds"},
      {"C16 rows without an id", azure(kRow + "\n" + kRow + "\n"), plain, 2, "2023-11-16T18:17:03.97996Z", ""},
      {"C16 exact duplicate", with_id("a,1,1,1\nb,2,1,1\na,1,1,1\nb,2,1,1\nc,3,1,1\n"), plain, 3,
       "1970-01-01T00:00:01Z", "2 exact duplicates dropped (compared with every id)"},
      {"C17 no time at all", "at,end,prompt,output\n5,5,1,1\n", plain, 1, "1970-01-01T00:00:05Z", ""},
      {"C17 400 days", "at,end,prompt,output\n5,34560005,1,1\n", plain, 1, "1970-01-01T00:00:05Z",
       "1 requests took 400 days"},
      {"C21 256 columns", "at,prompt,output" + std::string(253, ',') + "\n1,2,3" + std::string(253, ',') + "\n", plain,
       1, "1970-01-01T00:00:01Z", ""},
  };
  for (const auto& c : cases) {
    const Read read = read_text(c.text, c.options);
    EXPECT_EQ(read.error, "") << c.why;
    ASSERT_EQ(read.rows.size(), c.rows) << c.why;
    if (c.rows > 0) {
      EXPECT_EQ(to_rfc3339(read.arrivals[0].at), c.first_at) << c.why;
    }
    std::string notes;
    for (const std::string& note : read.notes) notes += note + "\n";
    EXPECT_THAT(notes, HasSubstr(c.note)) << c.why;
  }
}

TEST(SkippedRows, are_counted_by_reason_with_their_lines) {
  ReadOptions skip;
  skip.on_bad_row = OnBadRow::skip;
  const Read read =
      read_text(azure(kRow + "\nnever,1,2\n" + kRow + "\n2023-11-16 18:17:04.0,1\nsoon,1,2\n" + kRow + "\n"), skip);
  EXPECT_EQ(read.error, "");
  EXPECT_EQ(read.rows.size(), 3U);
  EXPECT_EQ(read.arrivals[2].row, 6);  // rows are counted as they stand in the file, bad ones included
  ASSERT_EQ(read.skipped.size(), 2U);
  EXPECT_EQ(read.skipped[0].reason, "TIMESTAMP: not readable");
  EXPECT_EQ(read.skipped[0].count, 2U);
  EXPECT_EQ(read.skipped[0].lines, (std::vector<std::int64_t>{3, 6}));
  EXPECT_EQ(read.skipped[1].reason, "too few fields");
}

TEST(SkippedRows, are_those_whose_cached_and_written_tokens_exceed_the_prompt) {
  ReadOptions skip;
  skip.on_bad_row = OnBadRow::skip;
  const Read read = read_text("at,prompt,output,cached,cache_write\n1,10,1,6,5\n2,10,1,6,4\n3,10,1,,10\n", skip);
  EXPECT_EQ(read.error, "");
  ASSERT_EQ(read.arrivals.size(), 2U) << "6 + 4 of 10 fit, and so do 10 of 10";
  ASSERT_EQ(read.skipped.size(), 1U);
  EXPECT_EQ(read.skipped[0].reason, "more cached and cache-write tokens than prompt tokens");
  EXPECT_EQ(read.skipped[0].lines, std::vector<std::int64_t>{2});
}

TEST(Errors, never_repeat_what_may_be_a_name_or_a_prompt) {
  const Read read = read_text(azure("jane.doe@example.com asked for,1,2\n"));
  EXPECT_THAT(read.error, HasSubstr("a text of 30 bytes"));
  EXPECT_THAT(read.error, ::testing::Not(HasSubstr("jane")));
}

TEST(Gzip, is_read_whole_or_not_at_all) {
  const std::string text = azure(kRow + "\n"), more = kRow + "\n";
  const std::string zipped = gzip_of(text);
  std::string bad_crc = zipped;
  bad_crc[bad_crc.size() - 8] = static_cast<char>(bad_crc[bad_crc.size() - 8] ^ 1);
  std::string bad_size = zipped;
  bad_size[bad_size.size() - 1] = static_cast<char>(bad_size[bad_size.size() - 1] ^ 1);
  const struct {
    const char* why;
    std::string bytes;
    std::size_t rows;
    const char* error;
  } cases[] = {
      {"one member", zipped, 1, ""},
      {"C19 two members", zipped + gzip_of(more), 2, ""},
      {"C19 trailing zeros", zipped + std::string(1000, '\0'), 1, ""},
      {"C19 trailing garbage", zipped + "garbage", 0, "corrupt"},
      {"C19 zeros, then garbage", zipped + std::string(10, '\0') + zipped, 0, "corrupt"},
      {"C18 cut in the member", zipped.substr(0, zipped.size() - 20), 0, "truncated"},
      {"C18 cut in the trailer", zipped.substr(0, zipped.size() - 1), 0, "truncated"},
      {"C18 wrong CRC", bad_crc, 0, "corrupt"},
      {"C18 wrong size", bad_size, 0, "corrupt"},
  };
  for (const auto& c : cases) {
    for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{1} << 20}) {
      const Read read = read_text(c.bytes, {}, piece);
      EXPECT_EQ(read.rows.size(), c.rows) << c.why << ": " << read.error;
      EXPECT_THAT(read.error, HasSubstr(c.error)) << c.why;
    }
  }
}

TEST(Zstd, is_read_whole_or_not_at_all) {
  const std::string text = azure(kRow + "\n");
  std::string zipped(ZSTD_compressBound(text.size()), '\0');
  zipped.resize(ZSTD_compress(zipped.data(), zipped.size(), text.data(), text.size(), 3));
  EXPECT_EQ(read_text(zipped).rows.size(), 1U);
  EXPECT_EQ(read_text(zipped, {}, 1).rows.size(), 1U);
  EXPECT_THAT(read_text(zipped.substr(0, zipped.size() - 3)).error, HasSubstr("truncated"));
  EXPECT_THAT(read_text(zipped + "garbage").error, HasSubstr("corrupt"));
}

class Files : public ::testing::Test {
 protected:
  Files() : folder_(std::filesystem::temp_directory_path() / ("ace-trace-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~Files() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path folder_;
};

TEST_F(Files, that_change_while_they_are_read_are_no_result) {  // C23
  const std::string path = folder_ / "grows.csv";
  std::ofstream(path) << azure(kRow + "\n");
  auto bytes = open_file(path);
  ASSERT_TRUE(bytes);
  std::vector<char> piece(16);
  ASSERT_EQ((*bytes)->read(piece).value_or(0), 16U);
  std::ofstream(path, std::ios::app) << kRow << "\n";
  Result<std::size_t> got = std::size_t{1};
  while (got && *got > 0) got = (*bytes)->read(piece);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code(), Errc::conflict);
  EXPECT_THAT(got.error().what(), HasSubstr("changed_during_read"));
}

TEST_F(Files, that_are_folders_or_absent_are_errors_and_pipes_are_streams) {  // C23
  const auto folder = open_trace(folder_);
  ASSERT_FALSE(folder);
  EXPECT_THAT(folder.error().what(), HasSubstr("is a directory"));
  EXPECT_EQ(open_trace(folder_ / "absent.csv").error().code(), Errc::unavailable);

  const std::string pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::thread writer([&] { std::ofstream(pipe) << azure(kRow + "\n" + kRow + "\n"); });
  auto source = open_trace(pipe);
  ASSERT_TRUE(source) << source.error().what();
  std::vector<Arrival> batch(8);
  EXPECT_EQ((*source)->next(batch).value_or(0), 2U);
  EXPECT_EQ((*source)->next(batch).value_or(9), 0U);
  EXPECT_EQ((*source)->rewind().error().code(), Errc::unavailable);  // spooled() is for that
  writer.join();
}

}  // namespace
}  // namespace ace
