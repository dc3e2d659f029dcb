// The quick way through our own CSV gives what the careful way gives, whatever stands in it.
#include <gtest/gtest.h>

#include "core/testing.h"
#include "trace/trace.h"

namespace ace {
namespace {

struct Rows {
  std::string all;  ///< every field of every row, or the error
  std::size_t count = 0;
};

/// @param piece bytes that come at a time: with one, no whole row is ever seen ahead, so each goes the careful way
Rows read(const std::string& text, std::size_t piece) {
  ReadOptions options;
  options.masks = masks_with(MaskKey{1});
  options.on_bad_row = OnBadRow::skip;
  auto source = read_trace(bytes_of(text, piece), "own", options);
  if (!source) return {source.error().what(), 0};
  Rows rows;
  std::vector<Arrival> batch(7);
  while (true) {
    const Result<std::size_t> got = (*source)->next(batch);
    if (!got) return {got.error().what(), 0};
    if (*got == 0) break;
    for (const Arrival& a : std::span(batch).first(*got)) {
      for (const std::int64_t v : {nanos(a.at), a.row, std::int64_t{a.prompt}, std::int64_t{a.output},
                                   std::int64_t{a.cached}, std::int64_t{a.max_output}, std::int64_t{a.batch},
                                   std::int64_t{a.model}, std::int64_t{a.tenant}, std::int64_t{a.team}, a.cost_nano})
        rows.all += std::to_string(v) + ",";
      rows.all +=
          (*source)->models()[a.model] + "," + (*source)->tenants()[a.tenant] + "," + (*source)->teams()[a.team];
      for (const std::uint32_t block : a.blocks) rows.all += " " + std::to_string(block);
      rows.all += "\n";
    }
    rows.count += *got;
  }
  for (const SkippedRows& skipped : (*source)->skipped())
    rows.all += skipped.reason + " " + std::to_string(skipped.count) + "\n";
  for (const std::string& note : (*source)->notes()) rows.all += note + "\n";
  return rows;
}

constexpr const char* kHead = "at,model,tenant,team,prompt,output,max_output,batch,blocks\n";

TEST(OwnLayout, reads_what_we_write) {
  const std::string text = std::string(kHead) +
                           "2026-01-05T00:00:00Z,m,acme,search,10,5,,,\n"
                           "2026-01-05T00:00:00.25Z,m,acme,,20,6,256,true,\n"
                           "2026-01-06T23:59:59.123456789Z,,other,search,0,0,,,\n";
  const Rows quick = read(text, text.size());
  EXPECT_EQ(quick.count, 3U);
  EXPECT_EQ(quick.all, read(text, 1).all);
}

TEST(OwnLayout, agrees_with_the_careful_way_on_anything) {
  const std::string names[] = {"acme", "globex", "", "\"a,b\"", "\"two\nlines\"", "x y", "quo\"te"};
  const std::string counts[] = {"1", "999999999", "1000000001", "007", "12.0", "-3", "", "x", " 4", "5 "};
  const std::string times[] = {"2026-01-05T10:00:00Z",     "2026-01-05T10:00:00.5Z", "2026-01-05T24:00:00Z",
                               "2026-01-05T10:00:60Z",     "2026-01-05 10:00:00Z",   "2026-01-05T10:00:00+01:00",
                               "2026-01-05T10:00:00.Z",    "2026-02-30T10:00:00Z",   "2026-01-05T10:00:00.1234567891Z",
                               "2026-01-05T1a:00:00.000Z", "2026-01-05T10:00:00.5",  "1736071200"};
  for_each_seed(300, [&](Rng& rng) {
    std::string text = kHead;
    const auto odd = [&](const auto& from, const std::string& plain) {
      return rng.chance(0.05) ? from[rng.below(std::size(from))] : plain;
    };
    const std::size_t rows = 2 + rng.below(40);
    for (std::size_t i = 0; i < rows; ++i) {
      const std::string second = std::to_string(10 + i);
      text += odd(times, "2026-01-05T10:00:" + second + (rng.chance(0.5) ? ".125Z" : "Z"));
      text += "," + odd(names, "m" + std::to_string(rng.below(3)));
      text += "," + odd(names, "t" + std::to_string(rng.below(12)));
      text += "," + odd(names, rng.chance(0.5) ? "" : "team");
      text += "," + odd(counts, std::to_string(rng.below(5'000)));
      text += "," + odd(counts, std::to_string(rng.below(900)));
      text += "," + odd(counts, rng.chance(0.5) ? "" : "2048");
      text += rng.chance(0.2) ? ",true" : rng.chance(0.03) ? ",maybe" : ",";
      text += rng.chance(0.05) ? ",1 2 3" : ",";
      if (rng.chance(0.02)) text += ",more";
      text += rng.chance(0.03) ? "\r\n" : rng.chance(0.02) ? "\n\n" : "\n";
    }
    if (rng.chance(0.3)) text.pop_back();
    EXPECT_EQ(read(text, text.size()).all, read(text, 1).all) << text;
  });
}

}  // namespace
}  // namespace ace
